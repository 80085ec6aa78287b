"""Facts of a program that no schedule changes: what each statement does, how often, on which data,
and what must come before what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache, partial
from math import prod
from typing import Literal

from ...garbage import uncollected
from ...lang.errors.frames import bounded
from ...lang.nodes.dtypes import DType, as_dtype
from ...lang.nodes.nodes import Read, RVar, Var, postorder
from ...lang.nodes.shown import Shown
from ...lang.program.program import Program
from ...lang.tensors.definitions import Definition
from ...lang.tensors.tensors import Func
from ...poly.model.model import Model
from ...poly.model.proven import unproved
from ...poly.model.statements import Statement
from ...poly.program.accumulation import accumulates, finds_place, folds, is_exact
from ...poly.program.rule import without_recomputation
from ...poly.schedule.schedule import Schedule
from ...poly.sets.budget import BudgetExceeded, allowance, budget
from ...poly.sets.memo import Same
from ...poly.sets.simplify import reads_memory
from ...poly.state.rewritten import RewrittenProgram, rewritten_program
from ...poly.tree.times import ScheduledStage, scheduled_stages
from ...records import dataclass
from ...steps import Log
from .accesses import Layouts, MemoryAccess, memory_accesses
from .boxes import Ranges
from .distances import Distance, by_nest, distances, nest_of, shared_loops, within
from .operations import Operations, operations, operations_by_loops, waiting_operations
from .sizes import chosen_sizes
from .sweeps import Sweep, Swept, is_swept, needing, sweeps
from .windows import Window, windows
from .written_nest import LoopFacts, written_nest

Kind = Literal[
    "pointwise", "reduction", "float reduction", "fold", "scatter", "gather", "recurrence", "extern"
]


@dataclass(frozen=True, slots=True)
class StatementFacts(Shown):
    """What is known of a statement: of one definition of a Func.

    Attributes:
        name: as schedules call it.
        func: what it computes.
        kind: `pointwise`, or what keeps it from being that. A `reduction` gives the same bits in
            any order, a `float reduction` does not, and of a `fold` nobody can say: it computes an
            element from what it was.
        loops: outermost first.
        axes: for each loop, the axis of what it computes that it moves along; None for none.
        operations: of one instance, by class and type: `{"multiply-add float32": 1}`.
        varying: the same, apart for the loops that change their operands.
        accesses: of one instance; what it writes is among them.
        distances: of dependences along its loops, also of those between others in these loops.
        permutable: its loops in groups of neighbours that may come in any order.
        skewable: for a loop along which dependences go backwards, the least factors by which it
            must be skewed by loops around it so that none does; of the loops as they are written,
            so skew the innermost one first.
        is_exact: whether it accumulates over loops of its own what is the same in any order.
        values: how many an element has: several of a tuple.
        waiting: of a recurrence, the operations that need what its Func, or another one that drives
            it, has computed before: by class and type. Of others none.
    """

    name: str
    func: str
    kind: Kind
    loops: tuple[LoopFacts, ...]
    axes: tuple[int | None, ...]
    operations: Mapping[str, int] = field(hash=False)
    varying: tuple[tuple[str, tuple[bool, ...], int], ...]
    accesses: tuple[MemoryAccess, ...]
    distances: tuple[Distance, ...]
    permutable: tuple[tuple[str, ...], ...]
    skewable: Mapping[str, Mapping[str, int]] = field(hash=False)
    is_exact: bool = False
    values: int = 1
    waiting: Operations = ()

    @property
    def instances(self) -> int:
        """About how many there are: exactly, where loops do not depend on each other."""
        return prod(loop.middle for loop in self.loops)

    @property
    def is_update(self) -> bool:
        """Whether it changes what there is of its Func."""
        return ".update(" in self.name

    @property
    def widest(self) -> int:
        """Bytes of the widest element that is touched, or float that is computed with. Of integers
        of 64 bits alone, which say where something is or whether it is taken, there may be several
        vectors."""
        return self._widest(self.accesses)

    @property
    def widest_beside(self) -> int:
        """The same without what it changes, where that is a tuple, as of a value and its place: one
        vector of values has two of places then, at most."""
        if self.values == 1:
            return self.widest
        others = self._widest([a for a in self.accesses if a.tensor != self.func])
        return max(others, self.widest // 2)

    def _widest(self, accesses: Sequence[MemoryAccess]) -> int:
        computed = map(_type_of, self.operations)
        sizes = [a.widest for a in accesses]
        sizes += [x.itemsize for x in computed if x.itemsize < 8 or x.is_float]
        return min(8, max(sizes, default=4))


@cache
def _type_of(operation: str) -> DType:
    """The type that an operation of a class works in."""
    return as_dtype(operation.split()[-1])


def main_of(own: Sequence[StatementFacts]) -> StatementFacts:
    """The statement of a Func that does most."""
    return max(own, key=lambda s: s.instances * (1 + sum(s.operations.values())))


@dataclass(frozen=True, slots=True)
class Facts(Shown):
    """What is known of a program at some sizes.

    Attributes:
        sizes: all that numbers were found for, given or not.
        statements: in the order in which they run as written.
        windows: what each consumer needs of each producer.
        distances: of dependences between statements that share loops.
        sweeps: what one sweep over what it reads can compute together.
    """

    sizes: Mapping[str, int] = field(hash=False)
    statements: tuple[StatementFacts, ...]
    windows: tuple[Window, ...]
    distances: tuple[Distance, ...]
    sweeps: tuple[Sweep, ...] = ()

    def statement(self, name: str) -> StatementFacts:
        """The facts of a statement.

        Raises:
            KeyError: there is none of that name.
        """
        for s in self.statements:
            if s.name == name:
                return s
        raise KeyError(name)


@bounded
def facts(
    program: Func | Sequence[Func] | Program | Schedule, sizes: Mapping[str, int] | None = None
) -> Facts:
    """What is known of a program that no schedule changes.

    Args:
        program: outputs, a program, or a schedule, of which only the program and what it inlines
            count. Of outputs and programs, definitions are inlined as a bare call does.
        sizes: numbers for sizes, and for integer Params that bound loops. Others count as 1024, or
            as the nearest number that the program accepts.

    Raises:
        LanguageError: the program is ill-formed.
        LanguageTypeError: a name is no size of the program.
        ScheduleError: the program does not accept these sizes, or is too intricate to be proven.
    """
    if isinstance(program, Schedule):
        return facts_of(program.rewritten, sizes)
    whole = program if isinstance(program, Program) else Program(program)
    return facts_of(_as_called(whole), sizes)


def _as_called(program: Program) -> RewrittenProgram:
    """A program with the definitions inlined that a bare call inlines."""
    try:
        with uncollected(), budget(allowance(len(program.definitions))):
            return rewritten_program(program, without_recomputation, Log())
    except BudgetExceeded:
        raise unproved(program) from None


def facts_of(
    rewritten: RewrittenProgram,
    given: Mapping[str, object] | None,
    usual: Mapping[str, int] = {},
) -> Facts:
    """The facts of a program with its definitions as they are inlined and rewritten.

    Args:
        usual: what sizes count as that are not given.
    """
    with uncollected():
        return _facts_of(rewritten, chosen_sizes(rewritten.model, given, usual))


def _facts_of(rewritten: RewrittenProgram, sizes: Mapping[str, int]) -> Facts:
    model = rewritten.model
    symbols = {**model.program.sizes, **model.program.params}
    known = Ranges({node: (sizes[x],) * 2 for x, node in symbols.items() if x in sizes})
    layouts = Layouts(model, sizes)
    found = distances(rewritten.prover)
    nests = {p.stage.statement.name: p for p in scheduled_stages(rewritten.written)}
    beside = by_nest(nests, found)
    statements: list[StatementFacts] = []
    needed: list[Window] = []
    dims: list[tuple[Var | RVar, ...]] = []
    for statement in model.statements:
        placed = nests[statement.name]
        others, distances_there = beside[nest_of(placed)]
        around = within(placed, nests, distances_there)
        nest = written_nest(placed, around, shared_loops(placed, others), sizes)
        own = model.memo.of(
            ("operations", statement, nest.dims, Same(rewritten.written), Same(model.context)),
            partial(_at_any_sizes, statement, nest.dims, around, nests, model),
        )
        statements.append(
            StatementFacts(
                statement.name,
                model.program.names[statement.func],
                own.kind,
                nest.loops,
                own.axes,
                own.operations,
                own.varying,
                memory_accesses(statement, nest.dims, nest.ranges, known, layouts),
                around,
                nest.permutable,
                nest.skewable,
                accumulates_exactly(statement.definition),
                len(statement.definition.values),
                own.waiting,
            )
        )
        dims.append(nest.dims)
        if nest.box is not None:
            needed += windows(statement, nest.dims, nest.box, known, layouts)
    together = _together(model.statements, statements, dims)
    return Facts(sizes, tuple(statements), tuple(needed), found, together)


@dataclass(frozen=True, slots=True)
class _AtAnySizes:
    """What is known of a statement whatever the sizes are: see `StatementFacts`."""

    kind: Kind
    axes: tuple[int | None, ...]
    operations: Mapping[str, int]
    varying: tuple[tuple[str, tuple[bool, ...], int], ...]
    waiting: Operations


def _at_any_sizes(
    statement: Statement,
    dims: Sequence[Var | RVar],
    around: Sequence[Distance],
    nests: Mapping[str, ScheduledStage],
    model: Model,
) -> _AtAnySizes:
    kind, d = kind_of(statement, model), statement.definition
    return _AtAnySizes(
        kind,
        tuple(axis_of(statement, x) for x in dims),
        operations(d),
        operations_by_loops(d, dims),
        _waiting(statement, around, nests) if kind == "recurrence" else (),
    )


def _waiting(
    statement: Statement, around: Sequence[Distance], nests: Mapping[str, ScheduledStage]
) -> Operations:
    """The operations of an instance that need what instances before it have computed.

    Args:
        around: the distances of dependences along its loops.
    """
    before = {nests[d.source].stage.statement.func for d in around}
    return waiting_operations(statement.definition, {statement.func, *before})


def _together(
    statements: Sequence[Statement],
    found: Sequence[StatementFacts],
    dims: Sequence[tuple[Var | RVar, ...]],
) -> tuple[Sweep, ...]:
    """What can be computed together."""
    definitions = Counter(s.func for s in found)
    swept = [
        (k, x)
        for k, (x, s) in enumerate(zip(statements, found, strict=True))
        if is_swept(x, s, dims[k]) and (s.is_update or definitions[s.func] == 1)
    ]
    if len(swept) < 2:
        return ()
    return sweeps([Swept(x, found[k], dims[k], needing(k, statements, found), k) for k, x in swept])


def axis_of(statement: Statement, dim: Var | RVar) -> int | None:
    """The axis of what a statement computes that a dimension of it moves along; none where data say
    which element an instance changes, as all instances may change any of them."""
    lhs = enumerate(statement.definition.lhs)
    return next((k for k, x in lhs if dim in postorder(x) and not reads_memory(x)), None)


def accumulates_exactly(d: Definition) -> bool:
    """Whether a definition accumulates over loops of its own, and gives the same bits in any order
    of them."""
    return d.is_update and bool(d.rvars) and not d.loops and (is_exact(d) or finds_place(d))


def kind_of(statement: Statement, model: Model) -> Kind:
    """What a statement is, for the choice of a template."""
    d = statement.definition
    if d.opaque is not None:
        return "extern"
    if d.is_update and any(reads_memory(x) for x in d.lhs):
        return "scatter"
    if d.is_update and d.rvars and accumulates(d) and not d.loops:
        return "reduction" if is_exact(d) else "float reduction"
    if folds(d):
        return "reduction" if finds_place(d) else "fold"
    in_place = d.is_update and not accumulates(d) and not d.is_pointwise
    if model.program.is_recurrence(statement.func) or d.loops or in_place:
        return "recurrence"
    if d.is_update and not d.is_pointwise:
        return "scatter"
    reads = (n for n in postorder(*d.values) if isinstance(n, Read))
    return "gather" if any(reads_memory(x) for n in reads for x in n.index) else "pointwise"
