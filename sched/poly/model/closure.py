"""Regions of Funcs that need themselves or each other and have no declared shape.

With D what consumers outside read, and M { element -> elements that its definition reads }, the
region R is the least solution of

    R = D union M(R).

If M has no cycle, each bounded solution is the least one: the readers of an element within R lead,
step by step, to an element of D. So any bounded solution will do, and it is guessed; that M has no
cycle is proven when an order of the recurrence is found. The guesses are, in turn: D and what it
reads in a few steps; the hull of that, without the bounds that move from step to step; isl's
transitive closure. Each guess is narrowed by a few steps of the equation. An update runs over the
box around its region; the elements that this adds are demanded, too, until a fixed point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...lang.errors.errors import LanguageError
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Func
from ..sets.hulls import filled, simple_hull
from ..sets.isl import (
    Map,
    Set,
    UnionMap,
    UnionSet,
    coalesced,
    dim_count,
    has_bounds,
    isl,
    transitive_closure,
    union_sets,
)
from .pieces import claims
from .statements import Access, Statement

if TYPE_CHECKING:
    from .model import Model

STEPS = 4
"""Steps of the equation that are taken before a solution is guessed, and again after it."""

NEAR = 2
"""Points at most so far from needed ones may be computed, too, where that makes loops simpler."""

PIECES, READS = 12, 4
"""Regions of more pieces than this are not followed, and no closure taken of more reads: both
would take too long, and the loops would be past reading."""

Regions = Mapping[Func, Set]


def closed_regions(model: Model, group: Sequence[Func], demand: Regions) -> Regions:
    """What is needed of Funcs that read each other.

    Args:
        demand: what their consumers outside the group read.

    Raises:
        LanguageError: it has no end, or no exact form of it is found.
    """
    equation = _Equation(model, group, _reads(model, group))
    for _ in range(STEPS):
        regions = equation.solved(demand)
        boxes = _with_updates(model, regions)
        if _is_within(boxes, regions):
            return regions if model.exact else _simpler(model, equation, regions)
        demand = boxes
    raise _not_found(group[0])


def _with_updates(model: Model, regions: Regions) -> Regions:
    """The regions, and the points at which updates change them."""
    found = dict(regions)
    for f in found:
        for d in reversed([d for d in model.definitions[f] if d.is_update]):
            touched = model.domains.update(d, found[f]).write.map.range()
            found[f] = coalesced(found[f].union(touched).intersect_params(model.context))
    return found


def _simpler(model: Model, equation: _Equation, regions: Regions) -> Regions:
    """The regions filled up, if what is needed for that is within them."""
    for fill in (_filled, _hulls):
        simpler = {f: fill(model, f, region) for f, region in regions.items()}
        needed = equation.step(simpler, _with_updates(model, simpler))
        regions = simpler if _is_within(needed, simpler) else regions
    return regions


def _filled(model: Model, func: Func, region: Set) -> Set:
    return filled(region, model.context, exact=False)


def _hulls(model: Model, func: Func, region: Set) -> Set:
    """The hull of the region of a Func that is computed at a loop, where all of the hull is near to
    needed points: a cone of a recurrence whose selects leave out some points at the sides. The
    region itself at other sizes and in other iterations of the loops around."""
    limit = model.limits.get(func)
    if limit is None or region.n_basic_set() <= 1:
        return region
    hull = coalesced(simple_hull(region).intersect(limit))
    far = hull.subtract(region.apply(_nearby(region))).params()
    found = coalesced(hull.intersect_params(far.complement()).union(region.intersect_params(far)))
    return found if found.n_basic_set() < region.n_basic_set() else region


def _nearby(region: Set) -> Map:
    """{ x -> y : y is at most NEAR away from x along each axis }"""
    space = region.get_space().map_from_set()
    sides = isl.dim_type.in_, isl.dim_type.out
    result = Map.universe(space)
    for k in range(dim_count(region)):
        for a, b in (sides, sides[::-1]):
            limit = isl.Constraint.alloc_inequality(isl.LocalSpace.from_space(space))
            limit = limit.set_coefficient_val(a, k, isl.Val(1))
            limit = limit.set_coefficient_val(b, k, isl.Val(-1)).set_constant_val(isl.Val(NEAR))
            result = result.intersect(Map.from_basic_map(isl.BasicMap.from_constraint(limit)))
    return result


def _is_intricate(regions: Regions) -> bool:
    return any(r.n_basic_set() > PIECES for r in regions.values())


def _is_within(a: Regions, b: Regions) -> bool:
    return all(a[f].is_subset(b[f]) for f in a)


Read = tuple[Func, Func, Map]
"""{ element of the first -> element of the second that its definition reads }"""


def _reads(model: Model, group: Sequence[Func]) -> list[Read]:
    """What the definitions of a group read of it. An update stays at its own point, so what it
    reads of its own Func adds nothing."""
    found: list[Read] = []
    for f in group:
        for s in _statements(model, f):
            for a in s.reads:
                own = a.tensor is f and s.definition.is_update
                if isinstance(a.tensor, Func) and a.tensor in group and not own:
                    found.append((f, a.tensor, _exact(model, s, a)))
    return found


def _exact(model: Model, s: Statement, access: Access) -> Map:
    if access.relation.may:
        raise LanguageError(
            f"the region of {access.tensor.name} that is needed follows from itself, through an "
            "index that depends on data",
            where=s.definition.span,
            hint=_declare(access.tensor),
        )
    found = s.write.map.reverse().apply_range(access.map)
    for f, limit in model.limits.items():
        found = found.intersect_domain(limit) if f is s.func else found
        found = found.intersect_range(limit) if f is access.tensor else found
    return coalesced(found.intersect_params(model.context))


class _Equation:
    """R = D union M(R)"""

    def __init__(self, model: Model, group: Sequence[Func], reads: Sequence[Read]) -> None:
        self.model = model
        self.group = group
        self.reads = reads

    def step(self, demand: Regions, regions: Regions) -> Regions:
        """One step of the equation: D union M(R)."""
        return {
            f: union_sets(
                [m.intersect_domain(regions[g]).range() for g, to, m in self.reads if to is f],
                demand[f],
            )
            for f in self.group
        }

    def solved(self, demand: Regions) -> Regions:
        """The least solution.

        Raises:
            LanguageError: none is found, or it has no bounds.
        """
        for regions in self._guesses(demand):
            for _ in range(STEPS):
                if _is_intricate(regions):
                    break
                following = self.step(demand, regions)
                if _is_within(regions, following) and _is_within(following, regions):
                    if _endless(regions) is None:
                        return regions
                    break
                regions = following
        raise _not_found(self.group[0])

    def _guesses(self, demand: Regions) -> Iterator[Regions]:
        steps = [demand]
        for _ in range(STEPS):
            following = self.step(demand, steps[-1])
            steps.append({f: coalesced(steps[-1][f].union(following[f])) for f in self.group})
            if _is_intricate(steps[-1]):
                break
        yield steps[-1]
        reached = self._reached(steps[-1])
        widened: Regions = {f: _widened(steps[-2][f], steps[-1][f]) for f in self.group}
        for _ in range(STEPS):
            widened = reached.step(demand, widened)
        yield widened
        if sum(int(m.n_basic_map()) for _, _, m in reached.reads) <= READS:
            yield reached._closure(demand)

    def _reached(self, regions: Regions) -> _Equation:
        """The equation with M restricted to what some regions reach: other parts of M, as those
        beyond a base case, could make it grow without bound."""
        parts = [
            (f, g, Map.from_basic_map(b)) for f, g, m in self.reads for b in m.get_basic_maps()
        ]
        met = [(f, g, m) for f, g, m in parts if not m.intersect_domain(regions[f]).is_empty()]
        return _Equation(self.model, self.group, met)

    def _closure(self, demand: Regions) -> Regions:
        """D and all that follows from it, or more, by isl's transitive closure.

        Raises:
            LanguageError: it is exact and has no bounds.
        """
        names = {f: f"F{k}" for k, f in enumerate(self.group)}
        nothing = self.model.parameters.space.params()
        start, reads = UnionSet.empty(nothing), UnionMap.empty(nothing)
        for f, region in demand.items():
            start = start.union(UnionSet.from_set(region.set_tuple_name(names[f])))
        for f, g, m in self.reads:
            named = m.set_tuple_name(isl.dim_type.in_, names[f])
            named = named.set_tuple_name(isl.dim_type.out, names[g])
            reads = reads.union(UnionMap.from_map(named))
        closure, exact = transitive_closure(reads)
        found = start.union(start.apply(closure))
        regions = {f: _extract(found, names[f], demand[f]) for f in self.group}
        endless = _endless(regions) if exact else None
        if endless is not None:
            raise _has_no_end(*endless)
        return regions


def _extract(found: UnionSet, name: str, like: Set) -> Set:
    named = like.set_tuple_name(name)
    return coalesced(found.extract_set(named.get_space()).reset_tuple_id())


def _statements(model: Model, func: Func) -> Iterator[Statement]:
    """The definitions of a Func at all points, needed or not."""
    frame = model.element_frame(func)
    pieces = [d for d in model.definitions[func] if not d.is_update]
    for d, own in zip(pieces, claims(pieces, frame, frame.universe), strict=True):
        yield model.domains.piece(d, None, own)
    for d in model.definitions[func]:
        if d.is_update:
            yield model.domains.update_at(d, model.domains.frame(d).universe)


def _widened(smaller: Set, larger: Set) -> Set:
    """The hull of the smaller set without the bounds that the larger one violates."""
    result = Set.universe(larger.get_space())
    for c in smaller.simple_hull().get_constraints():
        half = Set.from_basic_set(isl.BasicSet.from_constraint(c))
        if larger.is_subset(half):
            result = result.intersect(half)
    return result


def _endless(regions: Regions) -> tuple[Func, int, str] | None:
    """A Func, the axis along which its region has no end, and in which direction."""
    for f, region in regions.items():
        for axis in range(dim_count(region)):
            below, above = has_bounds(region, axis)
            if not (below and above):
                return f, axis, "upwards" if below else "downwards"
    return None


def _declare(func: Tensor) -> str:
    return f"declare a shape: ps.Func({func.name!r}, (n, m))"


def _has_no_end(func: Func, axis: int, direction: str) -> LanguageError:
    zeros = ", ".join("0" if k == axis else f"i{k}" for k in range(func.ndim))
    return LanguageError(
        f"the region of {func.name} that is needed follows from itself and has no end: along axis "
        f"{axis} it goes on {direction}",
        where=func.history.recorded[0].span,
        hint=f"say where it starts, {func.name}[{zeros}] = ..., or read under a select that ends "
        f"it; or {_declare(func)}",
    )


def _not_found(func: Func) -> LanguageError:
    return LanguageError(
        f"the region of {func.name} that is needed follows from itself, and no exact form of it "
        "was found",
        where=func.history.recorded[0].span,
        hint=_declare(func),
    )
