"""Loops with their bounds, and what is in them: what scanning a LoopTree gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...lang.nodes.nodes import Node, RVar, Var
from ...lang.tensors.tensors import Func
from ..tree.looptree import Keep, Loop, Stage


@dataclass(frozen=True, slots=True)
class DataBounds:
    """Bounds that a loop reads from data: it runs within these as well. They are over the
    dimensions of the stage inside.

    Where the loop takes the values of an RVar one by one, moved or mirrored, nothing else need be
    tested of it: that is `whole`.
    """

    stage: ScanStage
    lo: Node
    hi: Node
    whole: RVar | None = None

    def covering(self, covered: frozenset[Node]) -> frozenset[Node]:
        """The RVars that need no test inside of the loop, with those of the loops around."""
        return covered if self.whole is None else covered | {self.whole}


@dataclass(frozen=True, slots=True)
class ScanLoop:
    """for var in range(lo, hi, step)"""

    loop: Loop
    var: Var
    lo: Node
    hi: Node
    step: int
    body: Scan
    data: DataBounds | None = None
    #: The most iterations it can have; known of vector and unrolled loops.
    count: int | None = None


@dataclass(frozen=True, slots=True)
class ScanIf:
    """The body, where the condition holds."""

    condition: Node
    body: Scan


@dataclass(frozen=True, slots=True)
class ScanStage:
    """One instance of a statement; `point` gives its dimensions in terms of the loops, and what
    its indices are made of besides. What only fills up a tile is none: where it is one, if that
    is not everywhere, `real` holds."""

    stage: Stage
    point: Mapping[Node, Node]
    real: Node | None = None


@dataclass(frozen=True, slots=True)
class ScanSeq:
    """One after the other."""

    parts: tuple[Scan, ...]


@dataclass(frozen=True, slots=True)
class ScanAlloc:
    """The storage of a Func, for one execution of the body: from `origin` on, over the loops
    around, with `extents`, over sizes."""

    func: Func
    origin: tuple[Node, ...]
    extents: tuple[Node, ...]
    body: Scan


@dataclass(frozen=True, slots=True)
class ScanKeep:
    """What a stage accumulates is copied to storage of its own, which the body uses, and back."""

    keep: Keep
    origin: tuple[Node, ...]
    extents: tuple[Node, ...]
    load: Scan
    body: Scan
    store: Scan

    @property
    def func(self) -> Func:
        """What is accumulated."""
        return self.keep.func

    @property
    def name(self) -> str:
        """The stage that accumulates."""
        return self.keep.stage


Scan = ScanLoop | ScanIf | ScanStage | ScanSeq | ScanAlloc | ScanKeep


def children(scan: Scan) -> tuple[Scan, ...]:
    """What stands directly in a scan, in the order of execution; not the copies around what is
    kept."""
    match scan:
        case ScanStage():
            return ()
        case ScanSeq(parts=parts):
            return parts
        case _:
            return (scan.body,)


def walk(*scans: Scan) -> Iterator[Scan]:
    """Scans and all that is in them, in the order of execution."""
    waiting = list(reversed(scans))
    while waiting:
        found = waiting.pop()
        yield found
        waiting += reversed(children(found))
