"""The loop nest as rows: each line of the listing, with the loop and the stages that it is of."""

from __future__ import annotations

from collections.abc import Iterator

from ...lang.errors.errors import PolyschedError
from ...poly.nests.loop_nest import (
    LoopNest,
    NestAlloc,
    NestIf,
    NestLoop,
    NestSeq,
    NestStage,
    children,
    walk,
)
from ...poly.report.listing import text
from ...poly.report.loop_notes import loop_notes, note_text
from ...poly.schedule.schedule import Schedule
from ...records import dataclass


@dataclass(frozen=True)
class Row:
    """A line of the listing.

    Attributes:
        depth: how many lines it stands inside of.
        text: the line.
        kind: of its loop ("serial", "parallel", "vector", "unrolled"), else "stage", "guard" or
            "storage".
        loop: the name of its loop; empty if it is none.
        stages: the names of the stages in it.
    """

    depth: int
    text: str
    kind: str
    loop: str
    stages: tuple[str, ...]


def rows(schedule: Schedule) -> tuple[Row, ...]:
    """The loop nest of a schedule; one row that says why, where its bounds are not known."""
    try:
        with schedule.in_time() as a:
            names = a.program.names
            return tuple(
                row
                for nest in a.nests
                for row in _rows(
                    nest, text(nest, 0, names, lambda loop: note_text(loop_notes(a, loop)))
                )
            )
    except PolyschedError as error:
        return (Row(0, error.what, "guard", "", ()),)


def _rows(nest: LoopNest, listing: str) -> Iterator[Row]:
    """The lines of a listing, each with what has written it: they have one order."""
    lines = iter(listing.splitlines())
    for found in _heads(nest):
        for _ in range(_count(found)):
            line = next(lines)
            inside = tuple(
                dict.fromkeys(x.stage.name for x in walk(found) if isinstance(x, NestStage))
            )
            depth = (len(line) - len(line.lstrip())) // 2
            yield Row(depth, line.strip(), _kind(found), _loop(found), inside)


def _heads(nest: LoopNest) -> Iterator[LoopNest]:
    """What has lines of its own, in the order of the listing."""
    if not isinstance(nest, NestSeq):
        yield nest
        if isinstance(nest, NestAlloc):  # one line names all that is stored for one body
            while isinstance(nest.body, NestAlloc):
                nest = nest.body
    for child in children(nest):
        yield from _heads(child)


def _count(found: LoopNest) -> int:
    """How many lines are of it alone."""
    return len(text(found).splitlines()) if isinstance(found, NestStage) else 1


def _kind(found: LoopNest) -> str:
    match found:
        case NestLoop():
            return found.loop.kind
        case NestStage():
            return "stage"
        case NestIf():
            return "guard"
    return "storage"


def _loop(found: LoopNest) -> str:
    return found.loop.name if isinstance(found, NestLoop) else ""
