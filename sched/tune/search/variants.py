"""Where sizes are far from those that a schedule is found for, and another one is faster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import and_

from ...lang.errors.errors import PolyschedError
from ...lang.expr.expr import Expr
from ...lang.nodes.nodes import Size
from ...records import dataclass, replace
from ..facts.facts import Facts
from ..plans.effort import BRIEF
from ..plans.plan import FuncPlan
from .decided import Partial
from .search import Search

THIN, SMALL = 4, 64
"""One size is thin, or all are small, up to these numbers. What is left is large."""

THIN_ONES = 3
"""Sizes of which each may be thin: where there are more, it is not asked which."""

MOST = 3
"""Variants of a schedule: each is code of its own."""

GAIN, SAVED = 1.5, 2e-6
"""How many times faster a variant must be, and by how many seconds a call."""

STATEMENTS = 12
"""Larger programs have none: each takes as long to prove and to compile as the rest."""


@dataclass(frozen=True, slots=True)
class Case:
    """Sizes that have something in common.

    Attributes:
        most: by name, the largest number.
        samples: what sizes count as there.
    """

    most: Mapping[str, int]
    samples: tuple[Mapping[str, int], ...]

    def condition(self, sizes: Mapping[str, Size]) -> Expr:
        """The condition under which sizes are of this kind."""
        parts = [Expr(sizes[name]) <= number for name, number in self.most.items()]
        found: Expr = reduce(and_, parts)
        return found


def cases(free: Sequence[str]) -> list[Case]:
    """The kinds of sizes of which some may want a schedule of their own."""
    if not free:
        return []
    small = dict.fromkeys(free, SMALL // 4), dict.fromkeys(free, SMALL)
    thin = [Case({x: THIN}, ({x: 1}, {x: THIN})) for x in free if len(free) <= THIN_ONES]
    return [*thin, Case(dict.fromkeys(free, SMALL), small)]


def worthwhile(
    base: Partial,
    free: Sequence[str],
    facts_at: Callable[[Mapping[str, int]], Facts],
    search_of: Callable[..., Search],
) -> list[tuple[Case, Facts]]:
    """The kinds of sizes for which the model finds another plan much better, each with the facts
    to look for it; the one that gains most is first.

    Args:
        base: the plan for all other sizes.
        free: the sizes that it was not asked to be good for.
        facts_at: the facts of the program where some sizes are others.
        search_of: what looks for plans, given facts and an effort.
    """
    plans = [d.plan for d in base.funcs.values()]
    found: list[tuple[float, Case, Facts]] = []
    for case in cases(free):
        try:
            facts = [facts_at(sample) for sample in case.samples]
        except PolyschedError:
            continue  # the program takes no such sizes
        searches = [search_of(f, effort=replace(BRIEF, calls=0, waits=False)) for f in facts]
        now = [s.decided(plans) for s in searches]
        known = [p.seconds for p in now if p is not None]
        if len(known) < len(now) or max(known) < SAVED:
            continue  # whatever is found saves next to nothing
        gains = [
            (_gain(plans, s.best(), searches), f) for s, f in zip(searches, facts, strict=True)
        ]
        gain, best = max(gains, key=lambda x: x[0])
        if gain >= GAIN:
            found.append((gain, case, best))
    found.sort(key=lambda x: -x[0])
    return [(case, facts) for _, case, facts in found[:MOST]]


def _gain(plans: Sequence[FuncPlan], other: Partial, searches: Sequence[Search]) -> float:
    """How many times faster another plan is, at those sizes where that is least; 0 where facts do
    not allow a plan, or where it saves next to nothing."""
    others = [d.plan for d in other.funcs.values()]
    gains: list[float] = []
    saved = 0.0
    for search in searches:
        a, b = search.decided(plans), search.decided(others)
        if a is None or b is None:
            return 0.0
        gains.append(a.seconds / b.seconds)
        saved = max(saved, a.seconds - b.seconds)
    return min(gains) if saved >= SAVED else 0.0
