"""The order of a recurrence: Funcs that read themselves or each other share one loop nest.

What must hold is what the equations say: every write of an element comes before each read of it
by another definition, and the definitions of one Func touch an element in the order written. The
nest shares some axes of the left sides, each up or down; inside, statements stand one after the
other. The first order of that kind which all pairs obey is taken, one in which the axes stand as
declared before any other; where there is none, what isl's scheduler finds (`affine_order`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ...lang.errors.errors import LanguageError
from ...lang.nodes.dtypes import int64
from ...lang.nodes.nodes import Node, Op, Var
from ...lang.tensors.tensors import Func
from ...records import dataclass, replace
from ..model.model import Model
from ..model.statements import Access, Statement
from ..sets.coordinates import coordinate_map
from ..sets.isl import Map, coalesced, equal_dims, isl
from ..sets.memo import Same
from ..tree.edits import map_stages
from ..tree.looptree import Loop, Tree
from ..tree.stage import Stage
from ..tree.written import block_coordinates
from .affine_order import scheduled, scheduled_in_parts
from .cycles import larger_cycle, small_cycle


@dataclass(frozen=True, eq=False)
class OrderConstraint:
    """{ first -> second }: instances that must run in this order."""

    first: Statement
    second: Statement
    map: Map


def nest(model: Model, group: Sequence[Func]) -> Tree:
    """One loop nest for the statements of a recurrence.

    Raises:
        LanguageError: no order of this kind exists; with a cycle if there is one at small sizes.
    """
    statements = [s for s in model.statements if s.func in group]
    pairs = [p for p in map(_in_one_iteration, required(model, statements)) if not p.map.is_empty()]
    found = _found_along_axes(model, statements, pairs)
    # What is fresh in each iteration of loops around has an order of its axes, or none.
    fresh = bool(statements[0].definition.loops)
    if found is None and not fresh:
        found = scheduled(model, statements, pairs)
    if found is not None:
        return found
    cycle = small_cycle(model, pairs)
    if cycle is None and not fresh:
        found = scheduled_in_parts(model, statements, pairs)
        if found is not None:
            return found
        cycle = larger_cycle(model, pairs)
    raise _no_order(group) if cycle is None else _needs_itself(group, *cycle)


def _in_one_iteration(p: OrderConstraint) -> OrderConstraint:
    """The pair within each iteration of the loops around."""
    return OrderConstraint(
        p.first, p.second, equal_dims(p.map, range(len(p.first.definition.loops)))
    )


Plan = tuple[tuple[int, int], ...]
"""Which axes are shared, outermost first, each up (1) or down (-1)."""


def _found_along_axes(
    model: Model, statements: Sequence[Statement], pairs: Sequence[OrderConstraint]
) -> Tree | None:
    """The nest that shares some axes, looked for once: most rewrites of a program change what a
    recurrence reads, and none of the pairs that must run in order."""
    memo, number = model.memo, {s: k for k, s in enumerate(statements)}
    over = [
        (d.serial, d.lhs, d.block, s.loops, Same(memo.alike(("domain", d.serial), s.domain)))
        for s, d in ((s, s.definition) for s in statements)
    ]
    between = [
        (first, second, Same(memo.alike(("order", over[first][0], over[second][0]), p.map)))
        for first, second, p in ((number[p.first], number[p.second], p) for p in pairs)
    ]
    find = partial(_along_axes, statements, pairs)
    key = ("axes", tuple(over), tuple(between))
    before, found = memo.of(key, lambda: (statements, find()))
    if found is None or before is statements:
        return found
    made = dict(zip(before, statements, strict=True))
    return map_stages(found, lambda stage: replace(stage, statement=made[stage.statement]))


def _along_axes(statements: Sequence[Statement], pairs: Sequence[OrderConstraint]) -> Tree | None:
    """The nest that shares some axes; those as declared are tried before any other choice."""
    late: set[Plan] = set()
    for plan in _plans(min(len(s.definition.lhs) for s in statements)):
        if any(plan[:k] in late for k in range(1, len(plan))):
            continue
        left = _unordered(statements, pairs, plan)
        if left is None:
            late.add(plan)
            continue
        found = _nest(statements, left, plan)
        if found is not None:
            return found
    return None


def _plans(shared: int) -> Iterator[Plan]:
    chosen = [
        axes
        for count in range(1, shared + 1)
        for axes in itertools.permutations(range(shared), count)
    ]
    for axes in sorted(chosen, key=lambda axes: axes != tuple(range(len(axes)))):
        for signs in itertools.product((1, -1), repeat=len(axes)):
            yield tuple(zip(axes, signs, strict=True))


def required(model: Model, statements: Sequence[Statement]) -> Iterator[OrderConstraint]:
    """Every pair of instances whose order the meaning fixes."""
    written = {id(s): k for k, s in enumerate(statements)}
    for a, b in itertools.product(statements, repeat=2):
        same = a.func is b.func
        for write in (x for x in a.accesses if x.is_write):
            for other in b.accesses_of(write.tensor):
                touched = _touched(model, write, other)
                if not same:
                    yield OrderConstraint(a, b, touched)  # the final value is read
                elif a is b:
                    yield from _own(a, touched, other)
                elif written[id(a)] < written[id(b)]:
                    yield OrderConstraint(a, b, touched)
                elif other.is_write or not b.definition.is_update:
                    # A pure definition reads final values, also of its own Func.
                    yield OrderConstraint(
                        *((b, a, touched.reverse()) if other.is_write else (a, b, touched))
                    )
                else:
                    yield OrderConstraint(b, a, touched.reverse())


def _own(statement: Statement, touched: Map, other: Access) -> Iterator[OrderConstraint]:
    """Pairs of instances of one statement."""
    if not statement.definition.is_update:
        if not other.is_write:
            yield OrderConstraint(statement, statement, touched)
        return
    # The order of an update is that of its RVars alone, whatever its Vars are.
    first = len(statement.definition.loops) + len(statement.definition.vars)
    earlier = _lexicographic(touched, first)
    yield OrderConstraint(statement, statement, touched.union(touched.reverse()).intersect(earlier))


def _lexicographic(pairs: Map, first: int) -> Map:
    """{ x -> y : x before y in the coordinates from `first` on }"""
    space = pairs.get_space().domain()
    count = int(space.dim(isl.dim_type.set))
    if first >= count:
        return Map.empty(pairs.get_space())
    keep = Map.identity(space.map_from_set()).project_out(isl.dim_type.out, 0, first)
    order = Map.lex_lt(keep.get_space().range())
    return keep.apply_range(order).apply_range(keep.reverse())


def _touched(model: Model, a: Access, b: Access) -> Map:
    return coalesced(a.map.apply_range(b.map.reverse()).intersect_params(model.context))


def _unordered(
    statements: Sequence[Statement], pairs: Sequence[OrderConstraint], plan: Plan
) -> list[OrderConstraint] | None:
    """The pairs within one iteration of the shared loops; None if one goes backwards there."""
    prefix = {s: _prefix(s, plan) for s in statements}
    left: list[OrderConstraint] = []
    for p in pairs:
        late = _compare(prefix[p.first], prefix[p.second], p.map, Map.lex_gt)
        if not late.is_empty():
            return None
        same = _compare(prefix[p.first], prefix[p.second], p.map, _equal)
        if not same.is_empty():
            left.append(OrderConstraint(p.first, p.second, same))
    return left


def _nest(
    statements: Sequence[Statement], left: Sequence[OrderConstraint], plan: Plan
) -> Tree | None:
    """The nest that shares these axes, if the pairs that are left can be obeyed inside."""
    order = _sorted(statements, [p for p in left if p.first is not p.second])
    if order is None:
        return None
    bodies: list[Tree] = []
    for s in order:
        body = _inside(s, plan, [p for p in left if p.first is s and p.second is s])
        if body is None:
            return None
        bodies.append(body)
    tree: tuple[Tree, ...] = tuple(bodies)
    for name, (_, sign) in zip(_shared_names(statements, plan)[::-1], plan[::-1], strict=True):
        tree = (Loop(name if sign > 0 else f"{name}.down", tree),)
    return tree[0]


def _coordinates(s: Statement, plan: Plan) -> tuple[Node, ...]:
    """The shared coordinates of a statement: indices on its left side."""
    chosen = ((s.definition.lhs[axis], sign) for axis, sign in plan)
    return tuple(x if sign > 0 else Op("neg", (x,), int64) for x, sign in chosen)


def _prefix(s: Statement, plan: Plan) -> Map:
    return _time(s, _coordinates(s, plan))


def _equal(space: isl.Space) -> Map:
    return Map.identity(space.map_from_set())


def _compare(a: Map, b: Map, pairs: Map, order: Callable[[isl.Space], Map]) -> Map:
    """The pairs whose times are in an order."""
    related = a.apply_range(order(a.get_space().range())).apply_range(b.reverse())
    return pairs.intersect(related)


def _sorted(
    statements: Sequence[Statement], pairs: Sequence[OrderConstraint]
) -> list[Statement] | None:
    """The statements so that every pair goes forward, as written where that is free."""
    waiting = {s: {p.first for p in pairs if p.second is s} for s in statements}
    order: list[Statement] = []
    while waiting:
        free = next((s for s, before in waiting.items() if not before & waiting.keys()), None)
        if free is None:
            return None
        order.append(free)
        del waiting[free]
    return order


def _inside(s: Statement, plan: Plan, pairs: Sequence[OrderConstraint]) -> Tree | None:
    """The loops of one statement inside the shared ones, each up or down."""
    shared = {s.definition.lhs[axis] for axis, _ in plan} | set(s.definition.loops)
    rest = [x for x in s.loops if x not in shared]
    for directions in itertools.product((1, -1), repeat=len(rest)):
        inner = tuple(
            x if sign > 0 else Op("neg", (x,), int64)
            for x, sign in zip(rest, directions, strict=True)
        )
        time = _time(s, inner)
        if all(_compare(time, time, p.map, Map.lex_ge).is_empty() for p in pairs):
            around = block_coordinates(s.definition)
            tree: Tree = Stage(s, (*around, *_coordinates(s, plan), *inner))
            for x, sign in zip(rest[::-1], directions[::-1], strict=True):
                tree = Loop(x.name if sign > 0 else f"{x.name}.down", (tree,))
            return tree
    return None


def _time(s: Statement, coordinates: tuple[Node, ...]) -> Map:
    return coordinate_map(s.frame, coordinates).intersect_domain(s.domain)


def _shared_names(statements: Sequence[Statement], plan: Plan) -> list[str]:
    """What the shared loops are called: as the Vars of the definition that has most of them."""
    names = []
    for k, (axis, _) in enumerate(plan):
        at = [s.definition.lhs[axis] for s in statements]
        found = [x.name for x in at if isinstance(x, Var)]
        names.append(found[-1] if found else f"c{k}")
    return names


def _needs_itself(
    group: Sequence[Func], sizes: Mapping[str, int], steps: Sequence[str]
) -> LanguageError:
    at = ", ".join(f"{k}={v}" for k, v in sizes.items())
    cycle = " <- ".join([*steps, steps[0]])
    return LanguageError(
        f"{steps[0]} needs itself: {cycle}" + (f", at {at}" if at else ""),
        where=group[-1].history.recorded[-1].span,
        hint="an update changes values step by step: give it an RVar, or define the values it "
        "starts from by a piece with a constant on the left",
    )


def _no_order(group: Sequence[Func]) -> LanguageError:
    names = ", ".join(f.name for f in group)
    return LanguageError(
        f"no affine order found in which {names} can be computed: tried the axes in any order, "
        "each up and down, and skewed and shifted ones",
        where=group[-1].history.recorded[-1].span,
        hint="write the recurrence so that each axis goes one way",
    )
