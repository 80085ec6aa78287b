"""Loop nests: loops with their bounds, and what is in them, as they are found for a LoopTree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...lang.nodes.nodes import Node, RVar, Var
from ...lang.tensors.tensors import Func
from ...records import dataclass
from ..tree.looptree import Accumulator, Loop
from ..tree.stage import Stage


@dataclass(frozen=True, slots=True)
class DataBounds:
    """Bounds that a loop reads from data: it runs within these as well. They are over the
    dimensions of the stage inside.

    Where the loop takes the values of an RVar one by one, moved or mirrored, nothing else need be
    tested of it: `covers` is that RVar.
    """

    stage: NestStage
    lo: Node
    hi: Node
    covers: RVar | None = None

    def covering(self, covered: frozenset[Node]) -> frozenset[Node]:
        """The RVars that need no test inside of the loop, with those of the loops around."""
        return covered if self.covers is None else covered | {self.covers}


@dataclass(frozen=True, slots=True)
class NestLoop:
    """for var in range(lo, hi, step)"""

    loop: Loop
    var: Var
    lo: Node
    hi: Node
    step: int
    body: LoopNest
    data: DataBounds | None = None
    #: The most iterations it can have; known of vector and unrolled loops.
    count: int | None = None


@dataclass(frozen=True, slots=True)
class NestIf:
    """The body, where the condition holds."""

    condition: Node
    body: LoopNest


@dataclass(frozen=True, slots=True)
class NestStage:
    """One instance of a statement; `point` gives its dimensions in terms of the loops, and the
    other terms of its indices. `real` is the condition under which it is no padding iteration;
    None if it never is."""

    stage: Stage
    point: Mapping[Node, Node]
    real: Node | None = None


@dataclass(frozen=True, slots=True)
class NestSeq:
    """One after the other."""

    parts: tuple[LoopNest, ...]


@dataclass(frozen=True, slots=True)
class NestAlloc:
    """The storage of a Func, for one execution of the body: from `origin` on, over the loops
    around, with `extents`, over sizes."""

    func: Func
    origin: tuple[Node, ...]
    extents: tuple[Node, ...]
    body: LoopNest


@dataclass(frozen=True, slots=True)
class NestAccumulator:
    """A private accumulator: what a stage accumulates is copied in, the body uses it, and it is
    copied out."""

    accumulator: Accumulator
    origin: tuple[Node, ...]
    extents: tuple[Node, ...]
    copy_in: LoopNest
    body: LoopNest
    copy_out: LoopNest

    @property
    def func(self) -> Func:
        """The Func that is accumulated."""
        return self.accumulator.func

    @property
    def name(self) -> str:
        """The stage that accumulates."""
        return self.accumulator.stage


LoopNest = NestLoop | NestIf | NestStage | NestSeq | NestAlloc | NestAccumulator


def children(nest: LoopNest) -> tuple[LoopNest, ...]:
    """What stands directly in a nest, in the order of execution; not the copies around a
    private accumulator."""
    match nest:
        case NestStage():
            return ()
        case NestSeq(parts=parts):
            return parts
        case _:
            return (nest.body,)


def walk(*nests: LoopNest) -> Iterator[LoopNest]:
    """Nests and all that is in them, in the order of execution."""
    waiting = list(reversed(nests))
    while waiting:
        found = waiting.pop()
        yield found
        waiting += reversed(children(found))
