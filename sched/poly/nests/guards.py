"""Guards: the conditions under which a stage runs in iterations of its loops, where bounds include
more than its domain. Each stands as far outside as the loops that it depends on allow."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress

from ...lang.errors.errors import InternalError
from ..sets.budget import BudgetExceeded, attempt
from ..sets.hulls import simple_hull
from ..sets.isl import BasicSet, Set, coalesced, isl
from ..sets.projections import outermost

_SET = isl.dim_type.set


def remaining(
    domain: Set, described: Set, context: Set, free: Callable[[], Set] | None = None
) -> Set | None:
    """What must still be tested of an iteration that the loops visit; None if nothing.

    Proves that bounds and guard together describe the domain.

    Args:
        domain: at sizes of the context alone.
        free: the same at all sizes, which is simpler where the context has many pieces.
    """
    around = described.intersect_params(context)
    for said in (lambda: domain, free):
        if said is None:
            continue
        with suppress(BudgetExceeded), attempt(OPERATIONS):
            guard = _shortest(said(), around)
            visited = around if guard is None else around.intersect(guard)
            if not visited.is_equal(domain):
                raise InternalError(f"the loops visit {visited} instead of {domain}")
            return guard
    if not domain.is_subset(around):
        raise InternalError(f"the loops visit {around}, and not all of {domain}")
    return domain


OPERATIONS = 250_000
"""So much work may isl put into simplifying a guard."""


def _shortest(domain: Set, around: Set) -> Set | None:
    """What must be tested of what is visited, without what is known of it."""
    if around.is_subset(domain):
        return None
    return coalesced(_outermost(domain, around).gist(around))


def _outermost(domain: Set, around: Set) -> Set:
    """A condition on as few loops as possible, from the outermost on, that holds in the domain and
    nowhere else in the iterations of the loops."""
    count = int(domain.dim(_SET))

    def of_outer(depth: int) -> Set:
        return outermost(domain, depth).add_dims(_SET, count - depth)

    def is_enough(depth: int) -> bool:
        return around.intersect(of_outer(depth)).is_subset(domain)

    # What is enough at a depth is enough at any depth beyond it.
    depth = bisect_left(range(count), True, key=is_enough)
    return of_outer(depth) if depth < count else domain


def split_guard(guard: Set) -> list[tuple[int, Set]]:
    """The guard as conditions with the number of outer loops each depends on."""
    pieces = guard.get_basic_sets()
    if len(pieces) != 1:
        return _split_pieces(guard)
    by_depth: dict[int, Set] = {}
    plain = Set.universe(guard.get_space())
    tied = False
    for c in pieces[0].get_constraints():
        if c.involves_dims(isl.dim_type.div, 0, int(c.dim(isl.dim_type.div))):
            tied = True  # existentials tie constraints together: they stay one condition
            continue
        part = Set.from_basic_set(BasicSet.from_constraint(c).remove_divs())
        plain = plain.intersect(part)
        _put(by_depth, _depth(part), part)
    if tied:
        rest = guard.gist(plain)
        _put(by_depth, _depth(rest), rest)
    return sorted(by_depth.items(), key=lambda item: item[0])


def _split_pieces(guard: Set) -> list[tuple[int, Set]]:
    """The conditions of a guard of several pieces: a condition on sizes alone that all pieces imply
    is tested outside of the loops."""
    alone = guard.drop_constraints_involving_dims(_SET, 0, int(guard.dim(_SET)))
    sizes = simple_hull(coalesced(alone.remove_divs().params()))
    if guard.is_empty() or sizes.plain_is_universe():
        return [(_depth(guard), guard)]
    outside = Set.universe(guard.get_space()).intersect_params(sizes)
    return [(0, outside), (_depth(guard), coalesced(guard.gist_params(sizes)))]


def _put(by_depth: dict[int, Set], depth: int, part: Set) -> None:
    by_depth[depth] = by_depth[depth].intersect(part) if depth in by_depth else part


def _depth(condition: Set) -> int:
    count = int(condition.dim(_SET))
    involved = [k for k in range(count) if condition.involves_dims(_SET, k, 1)]
    return max(involved) + 1 if involved else 0
