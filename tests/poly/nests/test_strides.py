"""Loops with a step whose first iteration is a quotient of the loops around."""

from __future__ import annotations

import pytest

import polysched as ps
from polysched.testing import check


@pytest.mark.parametrize("odd", [0, 1])
def test_where_no_iteration_is_needed_none_runs(odd: int) -> None:
    """What is read at every second iteration alone is copied in these alone. The copy runs at one
    index, which is told by half of a loop variable; the other half of them is a fraction."""
    n = ps.sizes("n")
    i = ps.vars("i")
    x, f = ps.Input("x", ps.int32, (n,)), ps.Func("f", (n,))
    r = ps.RVar("r", 0, n)
    f[i] = ps.cast(ps.int32, 0)
    f[r // 2] += ps.select((r % 3 < n) & (r % 2 == odd), x[r % 3], 0)
    s = ps.Schedule(f)
    s["f.update(0)"].stage("x", at="r")
    check(s)
