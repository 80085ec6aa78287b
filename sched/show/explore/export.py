"""An exploration as a page that is only read."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from ..parts.markup import Markup, tag
from ..parts.theme import page

KIND_COLOURS = ("serial", "parallel", "vector", "unrolled", "storage")
STYLE = (
    "".join(f".polysched .row.{k}{{border-left-color:var(--ps-{k})}}" for k in KIND_COLOURS)
    + ".polysched .row{white-space:pre-wrap;border-left:3px solid transparent;padding:0 6px;"
    "font:12px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}"
    ".polysched .row.here{background:var(--ps-panel)}"
    ".polysched .move{display:inline-block;margin:2px;padding:1px 7px;border-radius:9px;"
    "border:1px solid var(--ps-line);font:12px/1.5 ui-monospace,Menlo,Consolas,monospace;"
    "background:none;color:inherit}"
    ".polysched .move.legal{border-color:var(--ps-good);color:var(--ps-good)}"
    ".polysched .move.refused{color:var(--ps-faint);text-decoration:line-through}"
    ".polysched button.move{cursor:pointer}"
    ".polysched .why{white-space:pre-wrap;color:var(--ps-bad)}"
    ".polysched .beside{display:flex;flex-wrap:wrap;gap:8px 24px;align-items:flex-start}"
    ".polysched .explored{flex:1 1 22em;min-width:0}"
    ".polysched.explorer .explored{max-height:34em;overflow:auto}"
    ".polysched .picture{flex:0 1 auto;min-width:0;max-width:34em;font-size:12px}"
    ".polysched .picture.old{opacity:.4}"
    ".polysched .loop{margin:6px 0}.polysched .loop>b{display:inline-block;min-width:5em}"
)
"""What the page and the widget have beside the common style. Other displays of a notebook's page
have rules that go before these: so no class here is one of theirs that says the same in another
way, as `mono` and `nest` do."""


def exported(view: dict[str, Any]) -> Markup:
    """The page of what `Exploration.view` gives."""
    return page(
        view["title"],
        tag("div", view["title"], class_="head mono"),
        tag(
            "div",
            tag("div", [_row(*row) for row in view["rows"]], class_="explored"),
            _picture(view["picture"]),
            class_="beside",
        ),
        tag("p", f"What is legal next for {view['stage']}:"),
        [_of_loop(view, loop, moves) for loop, moves in _by_loop(view)],
        tag("div", "Steps", class_="head"),
        tag("table", [_step(view, k) for k in range(len(view["steps"]))]),
        tag("div", "As Python", class_="head"),
        tag("pre", view["source"]),
        style=STYLE,
    )


def _by_loop(view: dict[str, Any]) -> list[tuple[str, list[int]]]:
    numbers = range(len(view["moves"]))
    return [(k, list(of)) for k, of in groupby(numbers, lambda k: view["moves"][k][0])]


def _row(depth: int, text: str, kind: str, is_here: bool) -> Markup:
    return tag("div", "  " * depth + text, class_=f"row {kind}{' here' * is_here}")


def _picture(picture: dict[str, Any] | None) -> Markup | None:
    if picture is None:
        return None
    notes = [tag("div", note, class_="faint") for note in picture["notes"]]
    return tag("div", Markup(picture["svg"]), notes, class_="picture")


def _of_loop(view: dict[str, Any], loop: str, numbers: list[int]) -> Markup:
    verdicts = view["verdicts"]
    legal = [k for k in numbers if verdicts[k][0] != "refused"]
    refused = [k for k in numbers if verdicts[k][0] == "refused"]
    reasons = [
        tag("tr", tag("td", tag("code", view["moves"][k][2])), tag("td", tag("pre", why)))
        for k in refused
        for why in [verdicts[k][1]]
    ]
    folded = tag("details", tag("summary", f"{len(refused)} refused"), tag("table", reasons))
    return tag(
        "div", tag("b", loop or "the stage"), [_move(view, k) for k in legal],
        folded if refused else None, class_="loop",
    )  # fmt: skip


def _move(view: dict[str, Any], k: int) -> Markup:
    kind, _ = view["verdicts"][k]
    _, _, label, text = view["moves"][k]
    return tag("span", label, class_=f"move {kind}", title=text)


def _step(view: dict[str, Any], k: int) -> Markup:
    text, time = view["steps"][k]
    mark = "→" if k == view["at"] else ""
    return tag("tr", tag("td", mark), tag("td", tag("code", text)), tag("td", time))
