"""What one sweep over what they read can compute together: reductions, or what is computed element
by element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...lang.nodes.nodes import Node, RVar, Var
from ...lang.tensors.tensors import Func
from ...poly.model.statements import Statement
from ...records import dataclass
from .operations import Varying, computed_of, operations_of

if TYPE_CHECKING:
    from .facts import StatementFacts

Dims = tuple[Var | RVar, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Reductions over one domain, none of which needs another; or Funcs of one definition that read
    the same and are computed element by element.

    Attributes:
        statements: in the order in which they run as written. All but the last can be computed in
            the loops of the last one: what they compute is not needed before.
        varying: for each of them, what it computes that none of those behind it does: as
            `StatementFacts.varying`.
        put_off: for each of them, the Funcs that run between it and the last one as written and
            need it. They can run behind the last one instead. None need what is no reduction.
    """

    statements: tuple[str, ...]
    varying: tuple[Varying, ...]
    put_off: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Needing:
    """What comes behind a reduction and needs it.

    Attributes:
        movable: the Funcs that can be put off, each with the position of its first statement.
        until: the position of the first statement that cannot.
    """

    movable: tuple[tuple[int, str], ...]
    until: int


class Swept:
    """A statement that may be computed with others.

    Args:
        dims: of the statement, in the order of its loops.
        needing: what comes behind it and needs it.
        at: its position among the statements as they run.
    """

    def __init__(
        self, statement: Statement, facts: StatementFacts, dims: Dims, needing: Needing, at: int
    ) -> None:
        self.statement, self.facts, self.dims = statement, facts, dims
        self.needing, self.at = needing, at

    def is_alike(self, other: Swept) -> bool:
        """Whether another one runs over the same points in the same loops, and has a reason to."""
        a, b = self.facts, other.facts
        if is_by_element(a) != is_by_element(b) or (is_by_element(a) and not _have_reads(a, b)):
            return False
        if a.axes != b.axes or [_shape(a, k) for k in range(len(a.loops))] != [
            _shape(b, k) for k in range(len(b.loops))
        ]:
            return False
        own, theirs = (x.statement.domain.reset_tuple_id() for x in (self, other))
        return bool(own.is_equal(theirs))

    def put_off(self, last: Swept) -> tuple[str, ...]:
        """The Funcs that need it and run before another one as written."""
        return tuple(name for at, name in self.needing.movable if at < last.at)


def is_swept(statement: Statement, s: StatementFacts, dims: Dims) -> bool:
    """Whether a statement may be computed with others: in loops of its own, of which neither data
    nor conditions say how far they go."""
    is_sum = s.kind in ("reduction", "float reduction")
    if not (is_sum or is_by_element(s)) or statement.guard is not None:
        return False
    if statement.data_bounds or dims != statement.loops:
        return False
    return not any(x.is_shared or x.is_ragged for x in s.loops)


def is_by_element(s: StatementFacts) -> bool:
    """Whether a statement computes each element of a Func by itself."""
    return s.kind == "pointwise" and not s.is_update and bool(s.loops)


def _have_reads(a: StatementFacts, b: StatementFacts) -> bool:
    """Whether two statements read a tensor along their innermost loop, both of them."""
    reads = [
        {x.tensor for x in s.accesses if not x.is_write and x.strides[-1] != 0} for s in (a, b)
    ]
    return bool(reads[0] & reads[1])


def needing(at: int, statements: Sequence[Statement], facts: Sequence[StatementFacts]) -> Needing:
    """What comes behind a statement and needs it, directly or by others: what is computed element
    by element, in loops of its own, can be put off. What is itself computed so puts off nothing."""
    if is_by_element(facts[at]):
        own = statements[at].func
        readers = (k for k in range(at + 1, len(statements)) if statements[k].reads_from(own))
        return Needing((), next(readers, len(statements)))
    fixed = {s.func for s in facts if s.kind not in ("pointwise", "gather")}
    fixed |= {s.func for s in facts if any(x.is_shared for x in s.loops)}
    own = statements[at].func
    needed: list[Func] = [own]
    movable: list[tuple[int, str]] = []
    for k in range(at + 1, len(statements)):
        s, name = statements[k], facts[k].func
        if s.func is not own and not s.reads_from(*needed):
            continue
        if name in fixed:
            return Needing(tuple(movable), k)
        if s.func not in needed:
            needed.append(s.func)
            movable.append((k, name))
    return Needing(tuple(movable), len(statements))


def sweeps(found: Sequence[Swept]) -> tuple[Sweep, ...]:
    """What one sweep can compute, those together that can.

    Args:
        found: in the order in which they run as written.
    """
    groups: list[list[Swept]] = []
    for one in reversed(found):
        for group in groups:
            last = group[0]
            if last.at < one.needing.until and one.is_alike(last):
                group.append(one)
                break
        else:
            groups.append([one])
    return tuple(_sweep(group) for group in reversed(groups) if len(group) > 1)


def _sweep(group: Sequence[Swept]) -> Sweep:
    """What is in a group, the last statement first."""
    seen: set[Node] = set()
    names: list[str] = []
    varying: list[Varying] = []
    put_off: list[tuple[str, ...]] = []
    for one in group:
        as_last: Mapping[Node, Node] = dict(zip(one.dims, group[0].dims, strict=True))
        values = computed_of(one.statement.definition, as_last)
        varying.append(operations_of(values, group[0].dims, seen))
        names.append(one.facts.name)
        put_off.append(one.put_off(group[0]))
        seen |= values.computed
    return Sweep(tuple(reversed(names)), tuple(reversed(varying)), tuple(reversed(put_off)))


def _shape(s: StatementFacts, k: int) -> tuple[object, ...]:
    x = s.loops[k]
    return x.extent, x.is_reduction, x.parallel, x.is_short
