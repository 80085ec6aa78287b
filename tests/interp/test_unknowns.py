"""Indices that intervals say too little of: what is read in them is tried value by value, as native
code proves them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

import polysched as ps
from polysched.interp import unknowns

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
x = ps.Input("x", ps.int64, (m,))
at = ps.Input("at", ps.int32, (n,), range=(0, m))
row = ps.Input("row", ps.int32, (n + 1,), range=(0, m + 1))
r = ps.RVar("r", row[i], row[i + 1])
XS, AT, ROW = np.arange(5) * 10, np.int32([0, 3, 4]), np.int32([0, 2, 2, 5])
twice = ps.Func("twice")
twice[j] = x[j] * 2


def total(value: ps.Expr) -> ps.Func:
    """A sum over a row whose ends are read."""
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += value
    return f


def gathered(value: ps.Expr) -> ps.Func:
    f = ps.Func("f", (n,))
    f[i] = value
    return f


def of_rows(value: Callable[[int], int]) -> list[int]:
    return [sum(map(value, range(*ends))) for ends in pairwise(ROW)]


ROWS = {
    "a guard": (lambda: ps.select(r >= 1, x[r - 1], 7), lambda k: XS[k - 1] if k else 7),
    "two guards": (
        lambda: ps.select(r >= 1, x[r - 1], 0) + ps.select(r < m - 1, x[r + 1], 0),
        lambda k: (XS[k - 1] if k else 0) + (XS[k + 1] if k < 4 else 0),
    ),
    "a select": (lambda: x[ps.select(r < 1, m - 1, r - 1)], lambda k: XS[k - 1]),
    "twice the same": (lambda: x[r - r // 2], lambda k: XS[k - k // 2]),
    "a Func": (lambda: ps.select(r >= 1, twice[r - 1], 7), lambda k: 2 * XS[k - 1] if k else 7),
}
POINTS = {
    "a select": (lambda: x[ps.select(at[i] < 1, m - 1, at[i] - 1)], lambda k: XS[k - 1]),
    "twice the same": (lambda: x[at[i] - at[i] // 2], lambda k: XS[k - k // 2]),
    "a Func": (lambda: twice[ps.select(at[i] > 0, at[i] - 1, 0)], lambda k: 2 * XS[max(k - 1, 0)]),
}


@pytest.mark.parametrize(("value", "meant"), ROWS.values(), ids=ROWS)
def test_values_of_rvars_that_data_bound(value: Callable[[], ps.Expr], meant: object) -> None:
    assert ps.interpret(total(value()), row=ROW, x=XS).tolist() == of_rows(meant)  # type: ignore[arg-type]


@pytest.mark.parametrize(("value", "meant"), POINTS.values(), ids=POINTS)
def test_values_that_are_read(value: Callable[[], ps.Expr], meant: Callable[[int], int]) -> None:
    found = ps.interpret(gathered(value()), at=AT, x=XS)
    assert found.tolist() == [meant(int(k)) for k in AT]


def test_an_update_at_an_index_of_what_is_read() -> None:
    f = ps.Func("f", (m,))
    k = ps.RVar("k", 0, n)
    f[j] = 0
    f[ps.select(at[k] > 0, at[k] - 1, 0)] += 1
    assert ps.interpret(f, at=AT, m=5).tolist() == [1, 0, 1, 1, 0]


def test_native_code_takes_what_the_interpreter_does() -> None:
    f, g = total(ROWS["two guards"][0]()), gathered(POINTS["a select"][0]())
    assert f(row=ROW, x=XS).tolist() == of_rows(ROWS["two guards"][1])
    assert g(at=AT, x=XS).tolist() == [40, 20, 30]


# refusals ---------------------------------------------------------------------------------------
def test_one_value_that_is_outside_is_refused_and_all_of_the_range_is_said() -> None:
    with pytest.raises(ps.CallValueError, match=r"lies in -1\.\.4 as far as types"):
        ps.interpret(gathered(x[ps.select(at[i] < 2, at[i] - 1, at[i])]), at=AT, x=XS)
    with pytest.raises(ps.LanguageError, match=r"the index r - 1 lies in -1\.\.3"):
        ps.interpret(total(ps.select(r >= 0, x[r - 1], 7)), row=ROW, x=XS)


def test_a_value_in_the_middle_of_a_range_is_tried() -> None:
    with pytest.raises(ps.CallValueError, match=r"the index .* lies in "):
        ps.interpret(gathered(x[ps.select(at[i] == 2, -1, at[i])]), at=AT, x=XS)


def test_many_values_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unknowns, "MOST", 4)
    with pytest.raises(ps.CallValueError, match=r"lies in -1\.\.4"):
        ps.interpret(gathered(POINTS["a select"][0]()), at=AT, x=XS)


def test_a_bound_that_is_read_for_nothing_is_read_all_the_same() -> None:
    """The bound is 2, whatever is read, and native code does not read it."""
    few = ps.Input("few", ps.uint8, (n,), range=(0, 4))
    k = ps.RVar("k", 1, ps.cast(ps.int32, ps.widening_mul(0, few[n - 1])) + 2)
    f = ps.Func("f", (n + 1,))
    f[i] = 0
    f[i] += k
    assert f(few=np.zeros(1, np.uint8)).tolist() == [1, 1]
    for call in (f, lambda **given: ps.interpret(f, **given)):
        with pytest.raises(ps.CallValueError, match="out of bounds"):
            call(few=np.zeros(0, np.uint8))
