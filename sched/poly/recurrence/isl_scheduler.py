"""Affine times of statements, as isl's scheduler finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Param, Size
from ...lang.program.scalars import output_sizes
from ...records import dataclass
from ..model.model import Model
from ..model.statements import Statement
from ..sets.expressions import Translator
from ..sets.isl import Map, Set, UnionMap, UnionSet, compute_schedule, isl

if TYPE_CHECKING:
    from .recurrence import OrderConstraint

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out

Times = dict["Part", list[Node]]


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the instances of a statement, and their tuple name in isl."""

    label: str
    statement: Statement
    domain: Set


def times_by_isl(
    model: Model, parts: Sequence[Part], pairs: Sequence[OrderConstraint]
) -> Times | None:
    """The time of each part, over the dimensions of its statement; None if isl finds none."""
    nothing = model.parameters.space.params()
    domain, order = UnionSet.empty(nothing), UnionMap.empty(nothing)
    for p in parts:
        inside = p.domain.intersect_params(model.context).set_tuple_name(p.label)
        domain = domain.union(UnionSet.from_set(inside))
    for pair in pairs:
        for a in (p for p in parts if p.statement is pair.first):
            for b in (p for p in parts if p.statement is pair.second):
                between = pair.map.intersect_domain(a.domain).intersect_range(b.domain)
                named = between.set_tuple_name(_IN, a.label).set_tuple_name(_OUT, b.label)
                order = order.union(UnionMap.from_map(named))
    asked = isl.ScheduleConstraints.on_domain(domain).set_context(model.context)
    found = compute_schedule(asked.set_validity(order).set_proximity(order))
    if found is None:
        return None
    by_label = {p.label: p for p in parts}
    maps: list[Map] = []
    found.foreach_map(maps.append)
    times: Times = {}
    for m in maps:
        part = by_label[str(m.get_tuple_name(_IN))]
        nodes = _nodes(model, part, m.reset_tuple_id(_IN))
        if nodes is None:
            return None
        times[part] = nodes
    depth = max(map(len, times.values()), default=0)
    padding: list[Node] = [ix.ZERO] * depth  # all there is where a part has no instances
    return {p: [*times.get(p, ()), *padding][:depth] for p in parts}


def _nodes(model: Model, part: Part, time: Map) -> list[Node] | None:
    """A time as expressions; None where it is not one affine value at each level."""
    names = Translator(symbols_by_name(model), part.statement.loops)
    values, nodes = time.as_pw_multi_aff(), []
    for k in range(int(time.dim(_OUT))):
        pieces = values.get_pw_aff(k).gist(part.domain).get_pieces()
        if len(pieces) != 1:
            return None
        nodes.append(names.aff(pieces[0][1]))
    return nodes


def symbols_by_name(model: Model) -> dict[str, Node]:
    """The sizes and Params that isl knows by name."""
    program = model.program
    extents = [s for f in program.outputs for s in output_sizes(program, f)]
    found: list[Size | Param] = [*program.sizes.values(), *extents, *program.params.values()]
    return {symbol.name: symbol for symbol in found}
