"""What is left to test in iterations that the bounds of loops include beyond a domain."""

from __future__ import annotations

from itertools import pairwise

import pytest
from counting import operations

from polysched.poly.nests.guards import remaining
from polysched.poly.sets.isl import Set, isl

CONTEXT = Set("[n] -> { : n >= 0 }")


def nest(count: int, condition: str = "") -> Set:
    """So many loops from 0 to n."""
    loops = [f"x{k}" for k in range(count)]
    bounds = [f"0 <= {x} < n" for x in loops]
    return Set(f"[n] -> {{ [{', '.join(loops)}] : {' and '.join(bounds)} {condition} }}")


@pytest.mark.parametrize("depth", range(1, 6))
def test_a_guard_depends_on_as_few_loops_as_possible(depth: int) -> None:
    around, domain = nest(5), nest(5, f"and 2 * x{depth - 1} <= n")
    guard = remaining(domain, around, CONTEXT)
    assert guard is not None
    assert around.intersect(guard).is_equal(domain)
    involved = [k for k in range(5) if guard.involves_dims(isl.dim_type.set, k, 1)]
    assert involved == [depth - 1]


@pytest.mark.slow
def test_a_guard_in_twice_as_many_loops_takes_little_more_than_twice_the_work() -> None:
    """One after the other, each number of loops was tried: four times the work, and in the end no
    guard that says only what is not known."""
    found = []
    for count in (16, 32, 64):
        around, domain = nest(count), nest(count, f"and x{count - 1} <= x0")
        found.append(operations(lambda a=around, d=domain: remaining(d, a, CONTEXT)))
        guard = remaining(domain, around, CONTEXT)
        assert guard is not None
        assert str(guard).endswith(f": x{count - 1} <= x0 }}")
    assert all(b < 2.8 * a for a, b in pairwise(found))
