"""Runs of schedules at small sizes: what was computed when, and what a check has found."""

from __future__ import annotations

from collections.abc import Sequence

from ...checking.report import Report
from ..order import Computed, Record
from ..parts.markup import Markup, tag
from ..parts.theme import display
from .machines import size


def record(shown: Record) -> dict[str, str]:
    """A row for each Func that was computed."""
    heads = ("", "elements", "computed", "first step", "last step", "values kept", "memory")
    rows = [_row(_computed(n, c, n in shown.outputs)) for n, c in shown.funcs.items()]
    top = tag("tr", [tag("th", x, class_="number" if k else None) for k, x in enumerate(heads)])
    words = "1 step" if shown.steps == 1 else f"{shown.steps} steps"
    more = "polysched.show.order_picture(record) draws it"
    html = display(
        tag("div", f"A run of {words}", class_="head"),
        tag("table", top, rows),
        tag("div", more, class_="faint"),
    )
    return {"text/html": str(html)}


def _computed(name: str, c: Computed, is_output: bool) -> Sequence[str]:
    times = sum(c.counts.values())
    kept = max(c.live, default=0)
    return (
        f"{name}, an output" if is_output else name,
        str(len(c.first)),
        f"{times} times" if times != len(c.first) else "once each",
        str(min(c.first.values())),
        str(max(c.first.values())),
        f"{kept} at most",
        size(c.bytes),
    )


def _row(cells: Sequence[str]) -> Markup:
    return tag("tr", [tag("td", x, class_="number" if k else None) for k, x in enumerate(cells)])


def report(shown: Report) -> dict[str, str]:
    """The breaches of a check, and what was counted."""
    found = [tag("div", tag("b", b.kind), f": {b.text}") for b in shown.breaches]
    rows = [_row((name, str(count))) for name, count in shown.counts.items()]
    head = "The schedule does what the program means" if not found else "The schedule is wrong"
    html = display(tag("div", head, class_="head"), found, tag("table", rows) if rows else None)
    return {"text/html": str(html)}
