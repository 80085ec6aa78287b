"""The order of a recurrence as isl's scheduler finds it: skewed, shifted, in parts.

isl's scheduler gives each statement a vector of affine times. It is used twice: for uncut
statements, then for statements that are cut where the conditions of their reads change (as even
from odd points, or the left half from the right); the coordinates of a statement that was cut are
selects. isl may return orders that violate a dependence of a statement on itself, and the LoopTree
that is made of an order also fixes what isl left open. So every pair is checked on the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Const, Node, Op, RVar, Var
from ...lang.tensors.tensors import Func
from ..model.model import Model
from ..model.statements import Statement
from ..sets.affine import affine_value
from ..sets.expressions import Translator
from ..sets.hulls import simple_hull
from ..sets.isl import Map, Set, coalesced, conditions_of
from ..tree.looptree import Loop, Seq, Tree, leaves
from ..tree.stage import Stage, iterations, loop_map
from ..tree.time_maps import time_maps
from .isl_scheduler import Part, symbols_by_name, times_by_isl
from .simpler_times import with_fewer_times, with_levels_numbered, with_plainer_times

if TYPE_CHECKING:
    from .recurrence import OrderConstraint

PARTS_LIMIT = 12
"""The statements are cut into no more parts than this, all together."""

PIECES_LIMIT = 4
"""Convex pieces of a statement, at most: loops over more are hard to read, and slow."""

WAYS_LIMIT = 12
"""No more ways than this to cut one statement in two are tried."""


def scheduled(
    model: Model, statements: Sequence[Statement], pairs: Sequence[OrderConstraint]
) -> Tree | None:
    """The nest that isl's scheduler finds for whole statements, if every pair obeys it."""
    whole = [Part(f"S{k}", s, s.domain) for k, s in enumerate(statements)]
    return _attempt(model, whole, pairs)


def scheduled_in_parts(
    model: Model, statements: Sequence[Statement], pairs: Sequence[OrderConstraint]
) -> Tree | None:
    """The nest that isl's scheduler finds for statements that are cut where their reads change: one
    of them in two, else all."""
    group = {s.func for s in statements}
    whole = {s: [s.domain] for s in statements}
    ways = [{**whole, s: halves} for s in statements for halves in _halves(s, group)]
    finest = {s: _cut(s, group, PARTS_LIMIT // len(statements)) for s in statements}
    for way in (*ways[:WAYS_LIMIT], finest):
        parts = [
            Part(f"S{k}.{number}", s, domain)
            for k, (s, domains) in enumerate(way.items())
            for number, domain in enumerate(domains)
        ]
        found = _attempt(model, parts, pairs) if len(parts) > len(statements) else None
        if found is not None:
            return found
    return None


def _halves(s: Statement, group: set[Func]) -> Iterator[list[Set]]:
    """The instances of a statement in two, on both sides of one condition of a read."""
    seen: list[Set] = []
    for access in s.reads_of(*group):
        for piece in access.domain.gist(s.domain).get_basic_sets():
            for where in conditions_of(piece):
                if not any(where.is_equal(other) for other in seen):
                    seen.append(where)
                    yield _divided([s.domain], where)


def _cut(s: Statement, group: set[Func], limit: int) -> list[Set]:
    """The instances of a statement in a few parts, by the reads of the group that they make."""
    parts = [s.domain]
    for access in s.reads_of(*group):
        finer = _divided(parts, access.domain)
        parts = finer if len(finer) <= limit else parts
    return parts


def _divided(parts: Sequence[Set], where: Set) -> list[Set]:
    """The parts inside and outside of a set."""
    halves = [half for p in parts for half in (p.intersect(where), p.subtract(where))]
    return [coalesced(half) for half in halves if not half.is_empty()]


def _attempt(model: Model, parts: Sequence[Part], pairs: Sequence[OrderConstraint]) -> Tree | None:
    times = times_by_isl(model, parts, pairs)
    if times is None:
        return None
    times = with_levels_numbered(with_plainer_times(with_fewer_times(times, pairs), pairs))
    timed = {
        s: _merged(model, s, [(p, time) for p, time in times.items() if p.statement is s])
        for s in dict.fromkeys(p.statement for p in times)
    }
    tree = Seq(_nests(list(timed.items()), 0, dict.fromkeys(timed, ())))
    if any(_is_ragged(stage) for _, stage in leaves(tree)):
        return None
    return tree if obeyed(tree, pairs) else None


def _is_ragged(stage: Stage) -> bool:
    allowed = max(PIECES_LIMIT, stage.statement.domain.n_basic_set())
    return bool(iterations(stage).n_basic_set() > allowed)


def obeyed(tree: Seq, pairs: Sequence[OrderConstraint]) -> bool:
    """Whether a tree runs each pair in its order, and no two instances concurrently."""
    for _, stage in leaves(tree):
        if not loop_map(stage).intersect_domain(stage.statement.domain).is_injective():
            return False
    times = time_maps(tree)
    for p in pairs:
        first, second = times[p.first], times[p.second]
        late = first.apply_range(Map.lex_ge(first.get_space().range()))
        if not p.map.intersect(late.apply_range(second.reverse())).is_empty():
            return False
    return True


# from times to a tree ----------------------------------------------------------------------------
def _merged(model: Model, s: Statement, parts: Sequence[tuple[Part, list[Node]]]) -> list[Node]:
    """The coordinates of a statement at each level, from those of its parts."""
    depth = len(parts[0][1])
    return [_chosen(model, s, [(p.domain, t[k]) for p, t in parts]) for k in range(depth)]


def _chosen(model: Model, s: Statement, parts: Sequence[tuple[Set, Node]]) -> Node:
    """One expression that has, on each part, the value given there."""
    cases: dict[Node, Set] = {}
    for domain, node in sorted(parts, key=lambda part: isinstance(part[1], Const)):
        same = next((other for other in cases if _agree(s, domain, node, other)), node)
        cases[same] = cases[same].union(domain) if same in cases else domain
    result, *others = cases
    for node in others:
        where = _simplified(coalesced(cases[node]), s.domain.intersect_params(model.context))
        result = ix.select(
            Translator(symbols_by_name(model), s.loops).condition(where), node, result
        )
    return result


def _simplified(where: Set, within: Set) -> Set:
    """A set that is the same within another one; one convex piece if there is such a one."""
    hull = simple_hull(where)
    convex = hull.intersect(within).is_equal(where.intersect(within))
    return coalesced((hull if convex else where).gist(within))


def _agree(s: Statement, domain: Set, a: Node, b: Node) -> bool:
    if a is b:
        return True
    x, y = affine_value(s.frame, a), affine_value(s.frame, b)
    return x is not None and y is not None and domain.intersect(x.ne_set(y)).is_empty()


Timed = tuple[Statement, list[Node]]


def _nests(
    timed: Sequence[Timed], level: int, outer: dict[Statement, tuple[Node, ...]]
) -> tuple[Tree, ...]:
    """The trees of statements that agree in all levels before this one.

    A level at which each statement has a constant orders them; any other one is a loop.

    Args:
        outer: the coordinates of the loops around them.
    """
    if level == len(timed[0][1]):
        return tuple(Stage(s, outer[s]) for s, _ in timed)
    here = {s: time[level] for s, time in timed}
    numbers = {s: ix.constant(node) for s, node in here.items()}
    if None not in numbers.values():
        trees: tuple[Tree, ...] = ()
        for number in sorted({n for n in numbers.values() if n is not None}):
            same = [(s, time) for s, time in timed if numbers[s] == number]
            trees += _nests(same, level + 1, outer)
        return trees
    inner = {s: (*outer[s], node) for s, node in here.items()}
    return (Loop(_name(here.values()), _nests(timed, level + 1, inner)),)


def _name(coordinates: Iterable[Node]) -> str:
    """What a loop is called: as the Var that it runs over, where it runs over one."""
    moving = [x for x in coordinates if not isinstance(x, Const)]
    plain = [x.name for x in moving if isinstance(x, (Var, RVar))]
    down = [x.name for x in map(_negated, moving) if x is not None]
    if len(plain) == len(moving):
        return plain[-1]
    if len(down) == len(moving):
        return f"{down[-1]}.down"
    return "part" if all(map(_is_choice, moving)) else "wave"


def _negated(x: Node) -> Var | RVar | None:
    match x:
        case Op(op="neg", operands=(Var() | RVar() as v,)):
            return v
        case _:
            return None


def _is_choice(x: Node) -> bool:
    """Whether a coordinate is one of some constants."""
    match x:
        case Op(op="select", operands=(_, a, b)):
            return _is_choice(a) and _is_choice(b)
        case _:
            return isinstance(x, Const)
