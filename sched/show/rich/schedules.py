"""Schedules, and the handles of their stages and loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...poly.report.explain import hint_lines, memory_lines
from ...poly.report.requires import conditions
from ...poly.schedule.queries import ScheduleQueries
from ...poly.tree.edits import stages
from ..parts.markup import Content, tag
from ..parts.theme import display
from .graphs import graph_of
from .nests import STYLE, nest, tree
from .programs import picture

FEW = 12
"""Stages up to which bounds are found for a display; more take longer than one may."""


def schedule(shown: ScheduleQueries) -> dict[str, str]:
    """A schedule: the loops, the graph of its stages, and the directives."""
    # What another process accepted has no loops here until somebody asks for them.
    is_made = shown._builder._place.is_made
    body: Content = list(loops(shown)) if is_made else [
        tag("div", "The loops are found when they are asked for: print(s) lists them.",
            class_="faint"),
    ]  # fmt: skip
    head = tag("div", "Schedule of ", tag("code", shown.base.signature()), class_="head")
    html = display(head, body, _directives(shown), style=STYLE)
    return {"text/html": str(html)}


def loops(shown: ScheduleQueries) -> Iterator[Content]:
    """The loops of a schedule, with bounds where these are found soon."""
    a = shown.analysis
    count = sum(1 for _ in stages(a.tree))
    if count > FEW:
        yield tree(a)
        yield tag("div", f"{count} stages; print(s) shows bounds and notes", class_="faint")
        return
    if a.nests_if_known is None:
        yield tree(a)
        return
    yield nest(a, with_notes=True)
    said = [*memory_lines(a), *hint_lines(a), *(f"requires {c}" for c in conditions(a))]
    said += [f"keeps {k} of {a.program.names[f]}" for f, k in a.windows.items()]
    if said:
        yield tag("div", [tag("div", line) for line in said], class_="faint")


def _directives(shown: ScheduleQueries) -> Content:
    source = shown.source()
    count = len(shown.directives)
    parts: list[Content] = []
    if count:
        words = "1 directive" if count == 1 else f"{count} directives"
        parts.append(tag("details", tag("summary", words), tag("pre", source)))
    graph = graph_of(shown.base)
    if len(graph.nodes) > 2:
        drawn = picture(graph, shown.base.signature())
        parts.append(tag("details", tag("summary", "stages"), drawn))
    return parts


def handle(shown: Any) -> dict[str, str]:
    """A stage or a loop: what its text says."""
    return {"text/html": str(display(tag("pre", _pretty(shown))))}


def _pretty(shown: Any) -> str:
    class Printer:
        found = ""

        def text(self, words: str) -> None:
            self.found += words

    printer = Printer()
    shown._repr_pretty_(printer, False)
    return printer.found
