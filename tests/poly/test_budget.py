"""isl is given up on beyond a number of operations, and works again afterwards."""

from __future__ import annotations

import pytest

import polysched as ps
from polysched.poly import proven, scan
from polysched.poly.isl import CONTEXT, BudgetExceeded, Frame, Val, budget, counted
from polysched.testing import check


def work() -> bool:
    frame = Frame(("n",), ("i", "j", "k"))
    where = frame.empty
    for c in range(1, 6):
        i = frame.dim("i").scale_val(Val(c))
        where = where.union(i.le_set(frame.dim("j")).intersect(frame.dim("k").ge_set(i)))
    return bool(where.complement().complement().is_equal(where))


def test_exceeded_and_reset() -> None:
    with pytest.raises(BudgetExceeded), budget(50):
        work()
    assert work()
    with budget(10_000_000):
        assert work()


def test_other_errors_pass_through() -> None:
    with pytest.raises(ValueError, match="mine"), budget(10_000_000):
        raise ValueError("mine")
    assert work()


def test_a_program_that_is_too_intricate(monkeypatch: pytest.MonkeyPatch) -> None:
    n = ps.sizes("n")
    i = ps.vars("i")
    x = ps.Input("x", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = x[ps.clip(i - 1, 0, n - 1)]
    monkeypatch.setattr(proven, "BUDGET", 20)
    with pytest.raises(ps.LanguageError, match="too intricate for the time allowed"):
        ps.Schedule(f)
    monkeypatch.undo()
    assert ps.Schedule(f).conditions == ()


def test_the_budget_around_is_in_force_again() -> None:
    with budget(1_000_000):
        with budget(1_000):
            assert CONTEXT.get_max_operations() == 1_000
        assert CONTEXT.get_max_operations() == 1_000_000
    assert CONTEXT.get_max_operations() == 0


def test_operations_are_counted_across_budgets() -> None:
    with counted() as once:
        work()
    with counted() as thrice, budget(1_000_000):
        work()
        with budget(1_000_000):
            work()
        work()
    with counted() as none:
        pass
    assert once.operations > 50
    assert none.operations < 50
    assert 3 * once.operations <= thrice.operations < 3 * once.operations + 200


def test_counting_leaves_limits_as_they_are() -> None:
    with counted() as outer:
        with counted() as inner, pytest.raises(BudgetExceeded), budget(50):
            work()
        assert 50 <= inner.operations < 100
        assert CONTEXT.get_max_operations() == 0
        work()
    assert outer.operations > inner.operations
    assert work()


def test_ends_that_are_too_intricate_are_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard says what the bounds of a loop do not."""
    n = ps.sizes("n")
    i = ps.vars("i")
    x, f = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n // 2 * 2,))
    f[i] = x[i]

    def split() -> ps.Schedule:
        s = ps.Schedule(f)
        s["f"].split("i", 8)
        return s

    assert "if " not in str(split())
    monkeypatch.setattr(scan, "OPERATIONS", 1)
    s = split()
    assert "if " in str(s)
    check(s, sizes={"n": 13})
