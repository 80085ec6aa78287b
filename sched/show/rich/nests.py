"""Loops as they are listed, coloured by kind, each foldable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ...lang.nodes.printer import expr_text
from ...poly.nests.loop_nest import NestAccumulator, NestAlloc, NestIf, NestLoop, NestStage
from ...poly.report.analysis import Analysis
from ...poly.report.listing import Line, lines, loop_extent
from ...poly.report.loop_notes import loop_notes, note_text
from ...poly.tree import looptree
from ...poly.tree.stage import Stage
from ..parts.markup import Content, Markup, tag

STYLE = (
    ".polysched .nest{padding-left:1.6em}"
    ".polysched .nest,.polysched .nest summary{font:12px/1.55 ui-monospace,SFMono-Regular,Menlo,"
    "Consolas,monospace}"
    ".polysched .nest details,.polysched .nest .line{margin-left:1.3em;white-space:pre-wrap}"
    ".polysched .nest>details{margin-left:1.1em}"
    ".polysched .nest summary{margin-left:-1.1em;list-style-position:outside}"
    ".polysched .nest .note{color:var(--ps-warn)}"
    ".polysched .nest .kind{font-weight:600}"
    ".polysched .nest .parallel>summary .kind{color:var(--ps-parallel)}"
    ".polysched .nest .vector>summary .kind{color:var(--ps-vector)}"
    ".polysched .nest .unrolled>summary .kind{color:var(--ps-unrolled)}"
    ".polysched .nest .storage>summary{color:var(--ps-storage)}"
)

MOST_LINES = 60
"""Lines that are shown unfolded."""


def nest(a: Analysis, *, with_notes: bool) -> Markup:
    """The loops of a schedule with their bounds.

    Args:
        with_notes: whether to look for notes beside loops, which asks isl.
    """
    beside = (lambda loop: note_text(loop_notes(a, loop))) if with_notes else (lambda loop: "")
    found = [x for one in a.nests for x in lines(one, a.program.names, beside)]
    return tag("div", _blocks(a, found, 0, len(found) <= MOST_LINES), class_="nest")


def _blocks(a: Analysis, found: Sequence[Line], depth: int, is_open: bool) -> Iterator[Markup]:
    """Lines at a depth, each with those inside of it."""
    number = 0

    def which(line: Line) -> int:
        nonlocal number
        number += line.depth == depth
        return number

    for _, run in groupby(found, which):
        head, *inside = run
        if not inside:
            yield tag("div", _shown(a, head), class_="line", title=_hover(a, head))
            continue
        # The outermost loops of a long listing are open, so that its shape is seen.
        yield tag(
            "details", tag("summary", _shown(a, head), title=_hover(a, head)),
            list(_blocks(a, inside, depth + 1, is_open)),
            class_=_kind(head), open=is_open or depth < 1,
        )  # fmt: skip


def _kind(line: Line) -> str | None:
    match line.node:
        case NestLoop(loop=loop):
            return loop.kind
        case NestAlloc() | NestAccumulator():
            return "storage"
        case _:
            return None


def _shown(a: Analysis, line: Line) -> Content:
    note = tag("span", f"  # {line.note}", class_="faint") if line.note else None
    if not isinstance(line.node, NestLoop) or line.node.loop.kind == "serial":
        return [line.text, note]
    before, kind, after = line.text.rpartition(f"({line.node.loop.kind})")
    return [before, tag("span", kind, class_="kind"), after, note]


def _hover(a: Analysis, line: Line) -> str:
    """What is said when the pointer rests on a line."""
    match line.node:
        case NestLoop(loop=loop):
            return f"{loop.name}: {loop.kind}, {loop_extent(a.nests, loop)} iterations"
        case NestAlloc(func=func) | NestAccumulator(func=func):
            size = sum(t.itemsize for t in func.dtypes)
            elements = " * ".join(f"({expr_text(e)})" for e in line.node.extents)
            return f"{func.name}: {elements} elements of {size} bytes"
        case NestStage(stage=stage):
            point = ", ".join(
                f"{expr_text(x)} = {expr_text(y)}" for x, y in line.node.point.items()
            )
            return f"{stage.name}: {point}" if point else stage.name
        case NestIf():
            return "only where the condition holds"
        case _:
            return ""


def tree(a: Analysis) -> Markup:
    """The loops without bounds, which asks nothing of isl."""
    return tag("div", list(_tree(a.tree)), class_="nest")


def _tree(found: looptree.Tree) -> Iterator[Markup]:
    match found:
        case Stage(statement=statement):
            yield tag("div", statement.definition.listing(), class_="line")
        case looptree.Loop(name=name, kind=kind, body=body):
            shown = [] if kind == "serial" else [" ", tag("span", f"({kind})", class_="kind")]
            inside = [x for b in body for x in _tree(b)]
            yield tag(
                "details", tag("summary", "for ", name, shown, ":"), inside,
                class_=kind, open=len(inside) < MOST_LINES,
            )  # fmt: skip
        case _:
            for b in found.body:
                yield from _tree(b)
