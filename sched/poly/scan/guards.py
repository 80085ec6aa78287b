"""What bounds of loops do not say of the instances of a stage: conditions around it, each as far
outside as it is known."""

from __future__ import annotations

from contextlib import suppress

from ...lang.errors.errors import InternalError
from ..sets.budget import BudgetExceeded, attempt
from ..sets.hulls import PIECES_LIMIT, simple_hull
from ..sets.isl import BasicSet, Set, coalesced, isl, union_sets
from ..sets.projections import outermost

_SET = isl.dim_type.set


def remaining(domain: Set, described: Set, context: Set) -> Set | None:
    """What must still be tested of an iteration that the loops visit; None if nothing.

    Proves that bounds and guard together describe the domain.
    """
    around = described.intersect_params(context)
    needed = domain.intersect_params(context)
    with suppress(BudgetExceeded), attempt(OPERATIONS):
        guard = _shortest(domain, around)
        visited = around if guard is None else around.intersect(guard)
        if not visited.is_equal(needed):
            raise InternalError(f"the loops visit {visited} instead of {domain}")
        return guard
    if not needed.is_subset(around):
        raise InternalError(f"the loops visit {around}, and not all of {domain}")
    return domain


def by_sizes(domain: Set) -> tuple[Set | None, Set]:
    """What a domain of many pieces asks of the sizes alone, and the few pieces that it is at such
    sizes; or None and the domain, if these two do not say all of it.

    Bounds and guards of a few pieces are found far sooner, and said in fewer words.
    """
    if int(domain.n_basic_set()) <= PIECES_LIMIT:
        return None, domain
    with suppress(BudgetExceeded), attempt(TO_PART):
        sizes = Set.universe(domain.get_space()).intersect_params(domain.params().coalesce())
        around = coalesced(_of_loops(domain))
        if int(around.n_basic_set()) * int(sizes.n_basic_set()) < int(domain.n_basic_set()):
            return None, domain  # there would be fewer pieces
        loops = _of_all_sizes(domain, around)
        if domain.is_subset(loops) and loops.intersect(sizes).is_subset(domain):
            return sizes, loops
    return None, domain


def _of_loops(where: Set) -> Set:
    """Without what is asked of the sizes alone."""
    return where.drop_constraints_not_involving_dims(_SET, 0, int(where.dim(_SET)))


def _of_all_sizes(domain: Set, around: Set) -> Set:
    """What all pieces of a domain ask of the loops that are in one piece of what is around them:
    what some of them ask may follow, in others, from what these ask of the sizes."""
    pieces = _pieces(domain)
    parts = []
    for part in _pieces(around):
        mine = [piece for piece in pieces if piece.is_subset(part)]
        all_ask = [union_sets(mine[1:], mine[0]).unshifted_simple_hull()] if mine else []
        parts += [_of_loops(Set.from_basic_set(x)) for x in all_ask]
    return coalesced(union_sets(parts[1:], parts[0])) if parts else domain


def _pieces(where: Set) -> list[Set]:
    return [Set.from_basic_set(piece) for piece in where.get_basic_sets()]


TO_PART = 1_500_000
"""So much work may isl put into parting a domain: it saves several times as much."""

OPERATIONS = 250_000
"""So much work may isl put into saying a guard in few words."""


def _shortest(domain: Set, around: Set) -> Set | None:
    """What must be tested of what is visited, without what is known of it."""
    if around.is_subset(domain):
        return None
    return _outermost(domain, around).gist(around).coalesce()


def _outermost(domain: Set, around: Set) -> Set:
    """A condition on as few loops as possible, from the outermost on, that tells the domain from
    what else is visited."""
    count = int(domain.dim(_SET))
    for depth in range(count):
        outer = outermost(domain, depth).add_dims(_SET, count - depth)
        if around.intersect(outer).is_subset(domain):
            return outer
    return domain


def split_guard(guard: Set, around: Set) -> list[tuple[int, Set]]:
    """The guard of what loops visit as conditions with the number of outer loops each depends on.

    What all of its pieces ask is tested apart from what each asks: mostly farther outside.
    """
    if int(guard.n_basic_set()) == 1:
        return _by_depth(guard)
    if not guard.is_empty():
        with suppress(BudgetExceeded), attempt(OPERATIONS):
            return _split_pieces(guard, around)
    return [(_depth(guard), guard)]


def _split_pieces(guard: Set, around: Set) -> list[tuple[int, Set]]:
    alone = guard.drop_constraints_involving_dims(_SET, 0, int(guard.dim(_SET)))
    sizes = simple_hull(alone.remove_divs().params().coalesce())
    common = Set.from_basic_set(guard.plain_unshifted_simple_hull()).intersect_params(sizes)
    rest = guard.gist(common).coalesce()
    told = common.gist(around)
    found = _by_depth(told if int(told.n_basic_set()) == 1 else common)
    return sorted([*found, (_depth(rest), rest)], key=lambda item: item[0])


def _by_depth(guard: Set) -> list[tuple[int, Set]]:
    """The same for a guard of one piece."""
    by_depth: dict[int, Set] = {}
    plain = Set.universe(guard.get_space())
    tied = False
    for c in guard.get_basic_sets()[0].get_constraints():
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


def _put(by_depth: dict[int, Set], depth: int, part: Set) -> None:
    by_depth[depth] = by_depth[depth].intersect(part) if depth in by_depth else part


def _depth(condition: Set) -> int:
    count = int(condition.dim(_SET))
    involved = [k for k in range(count) if condition.involves_dims(_SET, k, 1)]
    return max(involved) + 1 if involved else 0
