"""Calls that cannot be profiled."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps

n, i = ps.size("n"), ps.Var("i")


def kernel(*, traced: bool) -> ps.Kernel:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = ps.trace(x[i], "x") if traced else x[i] + 1
    return ps.Schedule(f).compile()


def test_a_region_is_not_profiled() -> None:
    given, region = np.ones(5, np.float32), [(0, 2)]
    with pytest.raises(ps.CallTypeError, match="profile takes no region="):
        kernel(traced=False).profile(given, region=region)
    with pytest.raises(ps.CallTypeError, match="advice takes no region="):
        kernel(traced=False).advice(given, region=region)


def test_functions_of_users_run_only_where_that_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    traced = kernel(traced=True)
    with pytest.raises(ps.CallValueError, match="functions of yours") as info:
        traced.profile(np.ones(2, np.float32))
    assert "side_effects=True" in str(info.value)
    assert not capsys.readouterr().out
    traced.profile(np.ones(2, np.float32), side_effects=True)


def test_arguments_are_checked_as_in_a_call() -> None:
    with pytest.raises(ps.CallTypeError, match="float64"):
        kernel(traced=False).profile(np.ones(5))
