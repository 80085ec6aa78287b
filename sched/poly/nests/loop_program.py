"""The loop program, which is all that code generation gets: loop nests with bounds, instances and
storage. It has no sets: all results of proofs have become expressions over sizes and loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Read, RVar, Var
from ...lang.program.program import Program
from ...lang.program.scalars import symbols_of
from ...lang.tensors.definitions import Definition
from ...lang.tensors.inout import InOut
from ...lang.tensors.tensors import Func
from ...records import dataclass
from ..sets.simplify import without
from ..tree.hints import Hints
from ..tree.kinds import Kind
from ..tree.memory import Memory, Window


@dataclass(frozen=True, eq=False)
class Instance:
    """What a stage runs at one point of its loops: one definition.

    Attributes:
        stage: its name.
        statement: that of its statement, which all stages share that it was taken apart into.
        guard: what is to be tested, over the dimensions of the definition.
        data_bounds: bounds of RVars that are read from data. They are tested, too, unless the
            loop around is within them.
        decided: comparisons that are the same wherever the stage runs, and remainders that need
            no division there, each with what it is.
        safe: the reads that are in bounds wherever it runs.
        reads: all of them, each with its index.
    """

    stage: str
    statement: str
    definition: Definition
    guard: Node | None
    data_bounds: frozenset[Node]
    decided: Mapping[Node, Node]
    safe: frozenset[Read]
    reads: tuple[tuple[Read, tuple[Node, ...]], ...]

    @property
    def names(self) -> frozenset[str]:
        """What directives may call it."""
        return frozenset((self.stage, self.statement))

    def tests(self, covered: frozenset[Node]) -> Iterator[Node]:
        """What tells whether the values of RVars are within bounds that are read from data.

        Args:
            covered: RVars whose loops run within such bounds.
        """
        for r in self.definition.rvars:
            if r not in covered:
                for test in (ix.compare("ge", r, r.lo), ix.compare("lt", r, r.hi)):
                    if test.operands[1] in self.data_bounds:
                        yield test

    def simplified(self, roots: tuple[Node, ...]) -> tuple[Node, ...]:
        """Expressions over its dimensions with what is decided in its place."""
        return without(roots, self.decided)


@dataclass(frozen=True, slots=True)
class Run:
    """One instance; `point` gives its dimensions in terms of the loops, and the other terms of its
    indices. `real` is the condition under which it is no padding iteration; None if it never is."""

    instance: Instance
    point: Mapping[Node, Node]
    real: Node | None = None


@dataclass(frozen=True, slots=True)
class DataRange:
    """Bounds that a loop reads from data: it runs within these as well. They are over the
    dimensions of what runs inside.

    Where the loop takes the values of an RVar one by one, moved or mirrored, nothing else need be
    tested of it: `covers` is that RVar.
    """

    run: Run
    lo: Node
    hi: Node
    covers: RVar | None = None

    def covering(self, covered: frozenset[Node]) -> frozenset[Node]:
        """The RVars that need no test inside of the loop, with those of the loops around."""
        return covered if self.covers is None else covered | {self.covers}


@dataclass(frozen=True, slots=True)
class Loop:
    """for var in range(lo, hi, step)"""

    name: str
    kind: Kind
    var: Var
    lo: Node
    hi: Node
    step: int
    body: Nest
    data: DataRange | None = None
    #: The most iterations it can have; known of vector and unrolled loops.
    count: int | None = None


@dataclass(frozen=True, slots=True)
class If:
    """The body, where the condition holds."""

    condition: Node
    body: Nest


@dataclass(frozen=True, slots=True)
class Seq:
    """One after the other."""

    parts: tuple[Nest, ...]


@dataclass(frozen=True, slots=True)
class Alloc:
    """The storage of a Func, for one execution of the body: from `origin` on, over the loops
    around, with `extents`, over sizes."""

    func: Func
    origin: tuple[Node, ...]
    extents: tuple[Node, ...]
    body: Nest


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A private accumulator: what a stage accumulates is copied in, the body uses it, and it is
    copied out.

    Attributes:
        stage: the name of what accumulates.
        users: what begins or accumulates elements there, inside.
        lanes: the axes along which lanes accumulate different elements.
    """

    stage: str
    func: Func
    origin: tuple[Node, ...]
    extents: tuple[Node, ...]
    users: frozenset[Instance]
    lanes: frozenset[int]
    copy_in: Nest
    body: Nest
    copy_out: Nest


Nest = Loop | If | Run | Seq | Alloc | Accumulator


def children(nest: Nest) -> tuple[Nest, ...]:
    """What stands directly in a nest, in the order of execution; not the copies around a
    private accumulator."""
    match nest:
        case Run():
            return ()
        case Seq(parts=parts):
            return parts
        case _:
            return (nest.body,)


def walk(*nests: Nest) -> Iterator[Nest]:
    """Nests and all that is in them, in the order of execution."""
    waiting = list(reversed(nests))
    while waiting:
        found = waiting.pop()
        yield found
        waiting += reversed(children(found))


@dataclass(frozen=True, slots=True)
class Box:
    """Room for a Func: where it begins and how far it reaches, along each axis."""

    origin: tuple[Node, ...]
    extents: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class LoopProgram:
    """A scheduled program without sets.

    Attributes:
        program: what is computed, and the order of its arguments.
        nests: what runs, one after the other.
        boxes: room for what is stored between inputs and outputs; the origin of what lives inside
            of loops is a variable, which its `Alloc` gives a value.
        windows: how many planes are kept of what is not stored whole.
        copied: InOuts whose initial values are kept apart: copies come first.
        memory: how Funcs lie in memory, where a directive says so.
        atomic: the stages whose accumulations are atomic.
        reassociated: the stages for which the order of a float sum does not matter.
        hints: what is said of caches.
        constants: sizes that are known, by name.
    """

    program: Program
    nests: tuple[Nest, ...]
    boxes: Mapping[Func, Box]
    windows: Mapping[Func, Window]
    copied: tuple[InOut, ...]
    memory: Mapping[Func, Memory]
    atomic: frozenset[str]
    reassociated: frozenset[str]
    hints: Hints
    constants: Mapping[str, Node]

    @property
    def symbols(self) -> dict[str, Node]:
        """The sizes and Params that bounds and conditions are made of, by name."""
        return symbols_of(self.program)

    @property
    def local(self) -> frozenset[Func]:
        """The Funcs whose storage lives inside of loops."""
        return frozenset(x.func for x in walk(*self.nests) if isinstance(x, Alloc))
