"""How many values a loop takes."""

from __future__ import annotations

import pytest

from polysched.poly.sets.budget import budget
from polysched.poly.sets.isl import CONTEXT, Set
from polysched.poly.tree.extents import span_of


@pytest.mark.parametrize("modulus", [5, 2**31 - 1, 2**44 + 1, 2**63 - 1])
def test_pieces_that_ask_of_remainders_are_spanned_with_few_operations(modulus: int) -> None:
    """The first and the last value of each iteration of i0 would be found in minutes."""
    tiles = f"i0 >= 0 and 0 <= i1 <= 3 and 0 <= j <= 3 and 16 i0 + 4 i1 + j < n and {modulus} *"
    point = f"floor((16 i0 + 4 i1 + j)/{modulus})"
    pieces = [
        f"(exists j: {tiles}{point} {sign} 16 i0 + 4 i1 + j - {shift})"
        for sign, shift in (("<=", 1), ("=", 0), ("<=", 2), (">=", 1))
    ]
    visited = Set.read_from_str(CONTEXT, f"[n] -> {{ [i0, i1] : {' or '.join(pieces)} }}")
    with budget(200_000):
        assert span_of(visited, 1) == 4


def test_spans_are_the_largest_of_any_iteration() -> None:
    visited = Set.read_from_str(
        CONTEXT, "[n] -> { [i, j] : 0 <= i < n and i % 3 <= j <= 4 and (j = 0 or j >= 2) }"
    )
    assert span_of(visited, 1) == 5
    assert span_of(visited, 0) is None
    assert span_of(visited.subtract(visited), 1) == 0
