"""Schedules, and the handles of their stages and loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...lang.errors.errors import LanguageTypeError
from ...lang.errors.frames import bounded
from ...lang.nodes.tensor import Tensor
from ...lang.program.program import Program
from ...lang.tensors.tensors import Func
from ...poly.report.analysis import FEW, Analysis
from ...poly.report.explain import hint_lines, memory_lines
from ...poly.report.requires import conditions
from ...poly.schedule.queries import ScheduleQueries
from ...poly.tree.edits import stages
from ...poly.tree.looptree import loops_of, produced
from ..parts.markup import Content, tag
from ..parts.theme import display
from ..spaces.picture import Picture
from .graphs import MOST, draw, graph_of
from .nests import STYLE, nest, tree
from .programs import picture


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
    """The loops of a schedule, with bounds and notes where these are found soon."""
    a = shown.analysis
    count = sum(1 for _ in stages(a.tree))
    found = a.glance(lambda: list(_with_bounds(a))) if count <= FEW else None
    if found is not None:
        yield from found
        return
    yield nest(a, with_notes=False) if a.knows_bounds else tree(a)
    words = "1 stage" if count == 1 else f"{count} stages"
    more = "notes" if a.knows_bounds else "bounds and notes"
    yield tag("div", f"{words}; print(s) shows {more}", class_="faint")


def _with_bounds(a: Analysis) -> Iterator[Content]:
    yield nest(a, with_notes=True)
    said = [*memory_lines(a), *hint_lines(a), *(f"requires {c}" for c in conditions(a))]
    said += [f"keeps {k} of {a.program.names[f]}" for f, k in a.windows.items()]
    if said:
        yield tag("div", [tag("div", line) for line in said], class_="faint")


def _directives(shown: ScheduleQueries) -> Content:
    source = shown.source()
    count = len(shown.directives)
    parts: list[Content] = [_comments(shown)]
    if count:
        words = "1 directive" if count == 1 else f"{count} directives"
        parts.append(tag("details", tag("summary", words), tag("pre", source)))
    found = graph_of(shown.base, placements_of(shown) if shown._builder._place.is_made else {})
    if len(found.nodes) > 2:
        drawn = picture(found, shown.base.signature())
        parts.append(tag("details", tag("summary", "stages"), drawn))
    return parts


def _comments(shown: ScheduleQueries) -> Content:
    """What was said of the schedule: of an automatic one, why it is as it is."""
    lines = [tag("div", text, style="white-space:pre-line") for _, text in shown.comments]
    if not lines:
        return None
    words = "1 comment" if len(lines) == 1 else f"{len(lines)} comments"
    return tag("details", tag("summary", words), lines, open=len(lines) <= FEW)


def placements_of(shown: ScheduleQueries) -> dict[Tensor, str]:
    """A line for each Func that is computed at a loop, or nowhere by itself."""
    found: dict[Tensor, str] = {}
    for path, node in produced(shown.tree):
        around = loops_of(path)
        for func in node.funcs:
            found[func] = f"computed at {around[-1].name}" if around else "computed before"
    stored = set(shown.funcs)
    for func in shown.base.funcs:
        if func not in stored:
            found[func] = "inlined"
    return found


@bounded
def graph(shown: Any) -> Picture:
    """The graph of stages: who reads whom, and where Funcs are computed.

    Args:
        shown: a Schedule, a Program, or a Func, as the output of a program.

    Returns:
        What a notebook shows and `save("x.svg")` writes; `data` has the nodes and edges.

    Raises:
        LanguageTypeError: it is none of these, or has more than 60 nodes.
    """
    if isinstance(shown, ScheduleQueries):
        found, label = graph_of(shown.base, placements_of(shown)), shown.base.signature()
    elif isinstance(shown, Program | Func):
        program = Program(shown) if isinstance(shown, Func) else shown
        found, label = graph_of(program), program.signature()
    else:
        raise LanguageTypeError(
            f"a graph is of a Schedule, a Program or a Func, and not of {shown!r}"
        )
    if len(found.nodes) > MOST:
        raise LanguageTypeError(
            f"{len(found.nodes)} inputs and stages are too many for a picture: {MOST} are drawn",
            hint="the graph of a part of the program: graph(f) of one of its Funcs",
        )
    return Picture(draw(found, f"the stages of {label}"), found)


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
