"""The smallest point of sets of few and of many pieces, found by trying all."""

from __future__ import annotations

import random
from itertools import islice, product

import pytest

from polysched.poly.sets import smallest as own
from polysched.poly.sets.isl import Frame, Set, isl, val
from polysched.poly.sets.smallest import smallest_point

FRAME = Frame(("n", "m"), ("x", "y"))
SPAN = 12
Held = tuple[tuple[int, int], tuple[int, int]]
"""Sizes, and a point at these."""


def point_of(sizes: tuple[int, ...], at: tuple[int, ...]) -> Set:
    where = FRAME.universe
    for kind, values in ((isl.dim_type.param, sizes), (isl.dim_type.set, at)):
        for k, value in enumerate(values):
            where = where.fix_val(kind, k, isl.Val(value))
    return where


def scattered(seed: int, count: int, least: int = 0) -> tuple[Set, list[Held]]:
    """A union of single points and of short lines, at sizes from `least` on."""
    rng = random.Random(seed)
    where, held = FRAME.empty, []
    for _ in range(count):
        sizes = (rng.randrange(least, SPAN), rng.randrange(least, SPAN))
        x, y, length = rng.randrange(-3, 4), rng.randrange(-3, 2), rng.randrange(1, 3)
        line = point_of(sizes, (x, y)).drop_constraints_involving_dims(isl.dim_type.set, 1, 1)
        low, high = (FRAME.constant(v) for v in (y, y + length - 1))
        dim = FRAME.dim("y")
        where = where.union(line.intersect(dim.ge_set(low)).intersect(dim.le_set(high)))
        held += [(sizes, (x, y + k)) for k in range(length)]
    return where, held


@pytest.mark.parametrize("count", [1, 5, 200])
@pytest.mark.parametrize("least", [0, 3, 9])
def test_it_is_the_smallest(count: int, least: int) -> None:
    for seed in range(10):
        where, held = scattered(seed, count, least)
        sizes, at = min(held, key=lambda p: (sum(p[0]), *p))
        expected = ({"n": sizes[0], "m": sizes[1]}, list(at))
        assert smallest_point(where) == expected
        if where.n_basic_set() > 1:  # whatever is tried first
            for trials in (1, 5):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(own, "_MANY", 1)
                    patch.setattr(own, "_TRIALS", trials)
                    assert smallest_point(where) == expected


def test_parameters_below_zero_are_smaller() -> None:
    """An integer Param may be negative: no sum is the first one then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own, "_MANY", 1)
        where = point_of((0, 0), (1, 1)).union(point_of((-5, 2), (0, 0)))
        assert smallest_point(where) == ({"n": -5, "m": 2}, [0, 0])


def test_vectors_by_their_sum() -> None:
    found = list(islice(own._by_sum(3), 20))
    every = sorted(product(range(4), repeat=3), key=lambda v: (sum(v), v))
    assert found == every[:20]
    assert list(own._by_sum(0)) == [()]


def test_coordinates_beyond_64_bits() -> None:
    """A TypeError was raised."""
    far = 2**63 + 2
    where = FRAME.dim("x").eq_set(FRAME.constant(far))
    where = where.fix_val(isl.dim_type.set, 1, isl.Val(5))
    for k, value in enumerate((3, far)):
        where = where.fix_val(isl.dim_type.param, k, val(value))
    assert smallest_point(where) == ({"n": 3, "m": far}, [far, 5])
