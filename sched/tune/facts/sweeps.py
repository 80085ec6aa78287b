"""Reductions that one sweep over what they read can compute together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...lang.nodes.nodes import Node, RVar, Var
from ...poly.model.statements import Statement
from ...records import dataclass
from .operations import Varying, computed_of, operations_of

if TYPE_CHECKING:
    from .facts import StatementFacts

Dims = tuple[Var | RVar, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Reductions over one domain that read something in common, none of which needs another.

    Attributes:
        statements: in the order in which they run as written. All but the last can be computed in
            the loops of the last one: what they compute is not needed before.
        varying: for each of them, what it computes that none of those behind it does: as
            `StatementFacts.varying`.
    """

    statements: tuple[str, ...]
    varying: tuple[Varying, ...]


class Swept:
    """A reduction that may be computed with others.

    Args:
        dims: of the statement, in the order of its loops.
        at: its position among the statements as they run.
        needed: the position of the next statement that uses its results; its own if there is none.
    """

    def __init__(
        self, statement: Statement, facts: StatementFacts, dims: Dims, at: int, needed: int
    ) -> None:
        self.statement, self.facts, self.dims = statement, facts, dims
        self.at, self.needed = at, needed

    def is_alike(self, other: Swept) -> bool:
        """Whether another one runs over the same points in the same loops."""
        a, b = self.facts, other.facts
        if a.axes != b.axes or [_shape(a, k) for k in range(len(a.loops))] != [
            _shape(b, k) for k in range(len(b.loops))
        ]:
            return False
        own, theirs = (x.statement.domain.reset_tuple_id() for x in (self, other))
        return bool(own.is_equal(theirs))

    def reads(self) -> set[tuple[object, ...]]:
        """What it reads but for its own results, and how that moves."""
        own = self.facts.func
        return {(a.tensor, a.strides) for a in self.facts.accesses if a.tensor != own}


def is_swept(statement: Statement, s: StatementFacts, dims: Dims) -> bool:
    """Whether a reduction may be computed with others: in loops of its own, of which neither data
    nor conditions say how far they go."""
    if s.kind not in ("reduction", "float reduction") or statement.guard is not None:
        return False
    if statement.data_bounds or dims != statement.loops:
        return False
    return not any(x.is_shared or x.is_ragged for x in s.loops)


def sweeps(found: Sequence[Swept]) -> tuple[Sweep, ...]:
    """The reductions that one sweep can compute, those together that can.

    Args:
        found: in the order in which they run as written.
    """
    groups: list[list[Swept]] = []
    for one in reversed(found):
        for group in groups:
            last = group[0]
            if (
                not one.at < one.needed <= last.at
                and one.reads() & last.reads()
                and one.is_alike(last)
            ):
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
    for one in group:
        as_last: Mapping[Node, Node] = dict(zip(one.dims, group[0].dims, strict=True))
        values = computed_of(one.statement.definition, as_last)
        varying.append(operations_of(values, group[0].dims, seen))
        names.append(one.facts.name)
        seen |= values.computed
    return Sweep(tuple(reversed(names)), tuple(reversed(varying)))


def _shape(s: StatementFacts, k: int) -> tuple[object, ...]:
    x = s.loops[k]
    return x.extent, x.is_reduction, x.parallel, x.is_short
