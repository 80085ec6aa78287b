"""Bounds as expressions visit what they are said to describe: guards are proven on that alone."""

from __future__ import annotations

from itertools import product

import pytest

import polysched as ps
from polysched.lang.arithmetic.evaluate import compile_nodes
from polysched.lang.nodes.nodes import Node, Size
from polysched.poly.nests.bounds import (
    Bounds,
    bounds_from_first,
    exact_bounds,
    loop_bounds,
    rounded_bounds,
)
from polysched.poly.sets.expressions import Translator
from polysched.poly.sets.isl import Set, isl
from polysched.testing import check

_PARAM, _SET = isl.dim_type.param, isl.dim_type.set
NAMES = ("n", "m", "i")
KNOWN = Set("[n, m] -> { [i, x] : n >= 0 and m >= 0 and 0 <= i < n }")
NEEDED = [
    "n <= x < m and m < n + 4",
    "0 <= x < n and n < 8 and (n - m - x) mod 8 = 0",
    "m <= x < 8 and (n + x + i) mod 3 = 0 and i > 1",
    "2x = m - i - 3 and 0 <= x < 8",
    "3x = m - i and 0 <= x < 8",
    "(m <= x < m + 3 and n mod 3 = 0) or (2m <= x < 2m + 3 and n mod 3 = 1)",
    "0 <= x < 8 and (i > m or 2x < n) and x + i < 2*floor(n/2)",
]


def all_bounds(needed: Set) -> dict[str, Bounds | None]:
    sizes: dict[str, Node] = {n: Size(n, None) for n in NAMES}
    i, x = sizes["i"], Size("x", None)
    names, whole = Translator(sizes, (i,)), Translator(sizes, (i, x))
    plain = loop_bounds(needed, KNOWN, whole)
    found: dict[str, Bounds | None] = {"plain": plain}
    found["from first"] = bounds_from_first(needed, plain, names)
    if plain.step == 1:
        found["exact"] = exact_bounds(needed, KNOWN, names)
        found["rounded"] = rounded_bounds(needed, KNOWN, names)
    return found


def values(where: Set, at: dict[str, int]) -> set[int]:
    """The values of x in a set."""
    for k, name in enumerate(("n", "m")):
        where = where.fix_val(_PARAM, k, isl.Val(at[name]))
    line = where.fix_val(_SET, 0, isl.Val(at["i"])).project_out(_PARAM, 0, 2)
    line = line.lower_bound_val(_SET, 1, isl.Val(-40)).upper_bound_val(_SET, 1, isl.Val(40))
    points: list[isl.Point] = []
    line.foreach_point(points.append)
    return {int(p.get_coordinate_val(_SET, 1).to_python()) for p in points}


@pytest.mark.parametrize("condition", NEEDED)
def test_loops_visit_what_is_needed_and_nothing_that_is_not_described(condition: str) -> None:
    """Also in iterations of the loops around in which they need not run."""
    needed = KNOWN.intersect(Set(f"[n, m] -> {{ [i, x] : {condition} }}"))
    for name, bounds in all_bounds(needed).items():
        if bounds is None:
            continue
        ends = compile_nodes([bounds.lo, bounds.hi])
        for n, m in product((1, 2, 3, 5, 8, 9), (0, 1, 3, 4, 7, 8, 12)):
            for i in range(n):
                at = {"n": n, "m": m, "i": i}
                visited = set(range(*ends(at), bounds.step))
                assert values(needed, at) <= visited, (name, at)
                assert visited <= values(bounds.described, at), (name, at)


@pytest.mark.parametrize("directive", ["vectorize", "unroll"])
def test_a_short_loop_runs_nowhere_but_where_it_is_needed(directive: str) -> None:
    """It began at 0 where m <= n, and ran up to m."""
    n, m = ps.sizes("n m")
    i = ps.vars("i")
    f = ps.Func("f", (4,), ps.int32)
    k = ps.RVar("k", n, m, where=lambda _: m < n + 4)
    f[i] = 0
    f[i] += ps.cast(ps.int32, k - n + i + 1)
    s = ps.Schedule(f)
    getattr(s["f.update(0)"], directive)("k")
    for sizes in ({"n": 5, "m": 3}, {"n": 5, "m": 8}, {"n": 5, "m": 9}):
        check(s, sizes=sizes)


def test_a_vector_of_every_eighth_iteration_runs_nowhere_but_where_it_is_needed() -> None:
    """It began at 0 at sizes at which none of the iterations is one of those steps."""
    n, m = ps.sizes("n m")
    i = ps.vars("i")
    f = ps.Func("f", (n,), ps.int32)
    k = ps.RVar("k", 0, 3, where=lambda _: ((n - m - i) % 8 == 0) & (n < 8))
    f[i] = 0
    f[i] += ps.cast(ps.int32, k + 1)
    s = ps.Schedule(f)
    s["f.update(0)"].vectorize("i", 8)
    for sizes in ({"n": 5, "m": 8}, {"n": 5, "m": 2}, {"n": 9, "m": 1}):
        check(s, sizes=sizes)
