"""Conditions and indices in terms of the number of a lane, which are the same for statements whose
lanes have other variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Var, has_below, leaves_below, replaced_all
from ...lang.nodes.printer import expr_text
from .inequalities import strongest
from .ir import Buffer, Lanes, Load
from .simplify import conjuncts

LANE = Var("#lane")
"""The number of a lane, in conditions and indices of several statements."""

Conditions = frozenset[Node]


def guard_parts(guard: Node | None, lanes: Lanes | None) -> list[Node]:
    """The conditions that a guard joins, in terms of the number of the lane, and in a normal form:
    equal ones may have been written in the variables of different loops."""
    return [] if guard is None else list(_parts(guard, lanes))


@lru_cache(4096)
def _parts(guard: Node | None, lanes: Lanes | None) -> tuple[Node, ...]:
    return strongest(at_lane(list(conjuncts(guard)), lanes))


def in_lanes(condition: Node | None, lanes: Lanes | None) -> Node | None:
    """A condition on the number of the lane in terms of the variable of the lanes."""
    if condition is None or lanes is None:
        return condition
    return replaced_all((condition,), {LANE: ix.sub(lanes.var, lanes.lo)})[0]


def load_key(load: Load, lanes: Lanes | None) -> tuple[Buffer, tuple[Node, ...]]:
    """What is loaded, the same for lanes of any variable."""
    return load.buffer, tuple(at_lane(load.index, lanes))


def at_lane(nodes: Sequence[Node], lanes: Lanes | None) -> list[Node]:
    """Indices or conditions in terms of the number of the lane."""
    if lanes is None:
        return list(nodes)
    where = ix.add(lanes.lo, ix.mul(LANE, ix.wrapped(lanes.step)))
    return list(replaced_all(tuple(nodes), {lanes.var: where}))


def with_guard(load: Load, parts: Sequence[Node], lanes: Lanes | None) -> Load:
    """The load under some conditions in terms of the number of the lane."""
    guard = in_lanes(ix.conjunction(parts), lanes)
    return Load(load.buffer, load.index, guard, load.type)


def lasting(parts: Iterable[Node], inner: frozenset[Node]) -> Conditions:
    """Those that stay what they are while the tile lives."""
    return frozenset(
        x for x in parts if not has_below(Load, x) and leaves_below(x).isdisjoint(inner)
    )


def ordered(conditions: Conditions) -> list[Node]:
    """In an order that is the same in every process."""
    return sorted(conditions, key=expr_text)
