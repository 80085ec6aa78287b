"""Animations as markup: pictures of a few steps for readers without scripts, a player for others.

The script is a constant. What it shows stands in an attribute as JSON, and it makes nothing but
text and shapes of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..parts.markup import Content, Markup, tag
from ..parts.theme import SERIES, display, page
from .animation import Animation, lines_of
from .draw import Layout, drawing, layout, legend, look, said

SCRIPT = Path(__file__).with_name("player.js").read_text(encoding="utf-8")
STILLS = 4
"""Pictures of steps without scripts."""

STYLE = (
    ".polysched .animation .bar{display:flex;gap:8px;align-items:center;margin:6px 0;"
    "flex-wrap:wrap}"
    ".polysched .animation button{border:1px solid var(--ps-line);border-radius:6px;"
    "background:var(--ps-panel);color:inherit;font:inherit;padding:1px 9px;cursor:pointer}"
    ".polysched .animation input{flex:1;min-width:160px;accent-color:var(--ps-accent)}"
    ".polysched .animation .loops{margin:6px 0}"
    ".polysched .animation .loops div{white-space:pre-wrap;padding:0 6px;"
    "border-left:3px solid transparent;font:12px/1.5 ui-monospace,Menlo,Consolas,monospace}"
    ".polysched .animation .loops .here{background:var(--ps-panel);"
    "border-left-color:var(--ps-accent)}"
    ".polysched .animation .now-at{min-height:1.5em;white-space:pre-wrap}"
    ".polysched .animation .legend{display:flex;gap:14px;flex-wrap:wrap}"
    ".polysched .animation .legend svg{vertical-align:-2px;margin-right:5px}"
)


def shown_in_page(made: Animation) -> Markup:
    """An animation as a display."""
    body = _body(made)
    return display(body, tag("script", Markup(SCRIPT)), style=STYLE)


def whole_page(made: Animation) -> Markup:
    """An animation as a page of its own."""
    return page(f"animation of {made.title}", _body(made), style=STYLE, script=SCRIPT)


def _body(made: Animation) -> Markup:
    if not made.steps:
        return tag("div", f"{made.title}: nothing is computed", class_="animation")
    where = layout(made.grids)
    last = len(made.steps) - 1
    stills = sorted({round(last * k / STILLS) for k in range(1, STILLS + 1)})
    return tag(
        "div",
        tag("div", made.title, class_="head"),
        tag("div", _controls(last), drawing(made, where, 0).svg(),
            tag("div", class_="now-at mono faint"), class_="player", hidden=True),
        tag("div", [_still(made, where, k) for k in stills], class_="stills"),
        tag("div", [_legend(*x) for x in legend()], class_="legend faint"),
        tag("div", [tag("div", "  " * x.depth + x.text) for x in made.lines], class_="loops"),
        [tag("div", note, class_="faint") for note in _notes(made)],
        class_="animation",
        data_animation=json.dumps(_data(made, where), separators=(",", ":")),
    )  # fmt: skip


def _controls(last: int) -> Markup:
    def button(name: str, words: str, label: str) -> Markup:
        return tag("button", words, type="button", class_=name, aria_label=label, title=label)

    slider = tag("input", type="range", min=0, max=last, value=0, step=1, aria_label="step")
    return tag(
        "div", button("play", "play", "play or stop"), button("back", "\u2039", "a step back"),
        button("next", "\u203a", "a step on"), slider, tag("span", class_="count mono"),
        class_="bar",
    )  # fmt: skip


def _still(made: Animation, where: Layout, step: int) -> Markup:
    head = tag("div", f"step {step + 1} of {len(made.steps)}", class_="faint")
    return tag("div", head, drawing(made, where, step).svg())


def _legend(words: str, shape: str) -> Markup:
    drawn = tag(
        "svg", shape, xmlns="http://www.w3.org/2000/svg", width=14, height=14,
        viewBox="-1 -1 14 14",
    )  # fmt: skip
    return tag("span", drawn, words)


def _notes(made: Animation) -> list[Content]:
    notes: list[Content] = list(made.notes)
    if len(made.threads) > 1:
        notes.append(
            "Colours are parallel iterations, which take the same steps, as if there were a "
            "thread for each."
        )
    return notes


def _data(made: Animation, where: Layout) -> dict[str, Any]:
    """What the script shows. Elements are numbers of cells, lines those of the loops."""
    number = where.numbers
    grid = {g.name: k for k, g in enumerate(g for g in made.grids if g.kind != "given")}
    thread = {t: k for k, t in enumerate(made.threads)}
    return {
        "colours": SERIES,
        "looks": {str(x): {k.replace("_", "-"): v for k, v in look(x).items()} for x in _LOOKS},
        # The array that a cell belongs to, of those whose elements are counted; -1 for others.
        "grids": [grid.get(name, -1) for name, _ in where.cells],
        "steps": [
            [
                [number[e] for e in s.gone],
                [
                    [thread[w.thread], [number[e] for e in w.reads], [number[e] for e in w.writes],
                     lines_of(made, w)]
                    for w in s.work
                ],
                [number[e] for e in s.replaced],
                "\n".join(said(made, k)),
            ]
            for k, s in enumerate(made.steps)
        ],
    }  # fmt: skip


_LOOKS = (-3, -2, -1, 0)


__all__ = ["SCRIPT", "shown_in_page", "whole_page"]
