"""Whether bounds have gaps is asked no longer than until isl's numbers get large."""

from __future__ import annotations

import pytest

from polysched.lang.nodes import index as ix
from polysched.poly.nests import bounds
from polysched.poly.nests.bounds import Bounds, has_gaps
from polysched.poly.sets.budget import BudgetExceeded, budget, spent
from polysched.poly.sets.isl import Set

VISITED = (
    "[n, m] -> { [i] : exists (e0, e1: 0 <= i < n and 0 <= e1 <= 7 and -39 - m - 15e1 <= "
    "40*floor((-16 - 16e0 - 15e1)/40) <= -40 - 16e0 - 15e1 and "
    "200*floor((-16 - 16e0 - 15e1)/40) <= -196 - i - 75e1 and -295 - 96e0 - 95e1 <= "
    "240*floor((-16 - 16e0 - 15e1)/40) <= -216 - 96e0 - 95e1) }"
)


def asked(visited: str, described: str) -> bool:
    """Whether bounds that describe some numbers, in no loop, include more than is visited."""
    found = Bounds(ix.ZERO, ix.ZERO, 1, Set(described))
    return has_gaps(Set(visited), found, Set.universe(found.described.get_space()))


def test_existentials_that_are_not_soon_found_are_not_compared() -> None:
    """It took half a minute of operations on ever larger numbers."""
    with budget(1_000_000):
        with pytest.raises(BudgetExceeded):
            asked(VISITED, "[n, m] -> { [i] : 0 <= i < 5m and i < n }")
        assert spent() < 2 * bounds.KNOWN_DIVS


def test_existentials_that_are_found_are_compared() -> None:
    """Multiples of 2 and of 3 leave out 1 and 5."""
    visited = "[n] -> { [i] : exists (e: 0 <= i < n and (i = 2e or i = 3e)) }"
    with budget(1_000_000):
        assert asked(visited, "[n] -> { [i] : 2 <= i < 6 <= n }")
        assert not asked(visited, "[n] -> { [i] : 2 <= i < 5 and n >= 6 }")
