"""What is left to test in iterations that the bounds of loops include beyond a domain."""

from __future__ import annotations

from itertools import pairwise

import pytest
from counting import operations

import polysched as ps
from polysched.poly.nests import nests
from polysched.poly.nests.bounds import Bounds, has_gaps
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


@pytest.mark.slow
def test_a_guard_says_nothing_of_sizes_that_no_call_has() -> None:
    """What a call accepts has some twenty pieces here, since the outputs say no shapes. With these
    once more in each guard, their products took more work than there is for bounds."""
    n = ps.size("n")
    i, j = ps.vars("i j")
    a = ps.Input("a", ps.int64, (n,))
    p = ps.Param("p", ps.int64, min=1, max=2)
    f, g, h, e = ps.Func("f"), ps.Func("g"), ps.Func("h"), ps.Func("e", (1,))
    f[i, j] = i + j
    g[i, j] = f[ps.clip(j - p, 0, 3), j]
    h[i, j] = g[(i - j) % (n + 1), 4 * i]
    e[0] = 1
    r = ps.RVar("r", 0, n)
    e[i] = e[i - 1] * ps.sum(e[i - 1] + a[r], r)
    s = ps.Schedule((f, g, h, e))
    s["e.sum0"].split("i", 5, tail="guard")
    loops = str(s).partition("for io")[2].partition("requires")[0]
    assert [line.strip() for line in loops.splitlines() if " if " in line] == [
        "if ii == 0:", "if False:", "if False:"
    ]  # fmt: skip
    s.compile()


def test_gaps_of_loops_are_looked_for_without_the_conditions_on_sizes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is visited has them already, which are in several pieces here. Their products with
    themselves took most of the work of a compilation."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    a, b = ps.Input("a", ps.int64, (n,)), ps.Input("b", ps.int64, (m,))
    f, g, h = ps.Func("f"), ps.Func("g"), ps.Func("h")
    h[i] = 7 * i
    f[i, j] = a[ps.clip(i * j, 0, n - 1)] + h[i]
    g[i, j] = b[ps.clip(i * j, 0, m - 1)] + h[i + n]
    s = ps.Schedule((f, g))
    s[h].compute_root()
    pieces: list[int] = []

    def noted(visited: Set, bounds: Bounds, outside: Set) -> bool:
        pieces.append(int(outside.n_basic_set()))
        return has_gaps(visited, bounds, outside)

    monkeypatch.setattr(nests, "has_gaps", noted)
    loops = str(s).partition("f[i, j] =")[0]
    assert pieces
    assert set(pieces) == {1}
    assert " if " in loops.partition("for i ")[2]  # h has gaps
