"""Bounds: proven, turned into the weakest condition on sizes, checked at the call, or refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import polysched as ps
from polysched.lang.program.program import Program
from polysched.poly.model.conditions import conditions
from polysched.poly.model.model import Model
from polysched.poly.sets.isl import Set

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def holds(allowed: Set, model: Model, sizes: dict[str, int]) -> bool:
    frame = model.parameters
    point = model.context.intersect(allowed)
    for name in model.params:
        value = frame.constant(sizes[name])
        point = point.intersect(frame.param(name).eq_set(value).params())
    return not point.is_empty()


@pytest.mark.slow
@given(
    scale=st.integers(-2, 3), shift=st.integers(-3, 3), extra=st.integers(-1, 3),
    lower=st.integers(-1, 3),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_the_condition_is_the_weakest(scale: int, shift: int, extra: int, lower: int) -> None:
    """A[scale*i + shift] with A of extent m + extra, read where i >= lower."""
    a = ps.Input("a", ps.int32, (m + extra,))
    f = ps.Func("f", (n,))
    f[i] = ps.select(i >= lower, a[scale * i + shift], 0)
    model = Model(Program((f,)))

    def in_bounds(rows: int, extent: int) -> bool:
        return all(0 <= scale * at + shift < extent + extra for at in range(max(lower, 0), rows))

    try:
        found = conditions(model)
    except ps.LanguageError:
        assert not any(in_bounds(rows, k) for rows in range(1, 9) for k in range(40))
        return
    for rows in range(7):
        for k in range(9):
            sizes = {"n": rows, "m": k}
            allowed = all(holds(c.allowed, model, sizes) for c in found.sizes)
            assert allowed == in_bounds(rows, k)


def test_a_proven_access_asks_nothing() -> None:
    a = ps.Input("a", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = a[ps.clip(i - 1, 0, n - 1)] + a[n - 1 - i]
    found = conditions(Model(Program((f,))))
    assert found.sizes == ()
    assert found.checked == ()


def test_a_read_in_an_arm_is_judged_where_the_arm_is_chosen() -> None:
    a = ps.Input("a", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.select(i + 1 < n, a[i + 1], 0)
    found = conditions(Model(Program((f,))))
    assert found.sizes == ()
    assert not found.safe  # the guard must stay


def test_a_condition_on_data_does_not_make_an_index_safe() -> None:
    a, x = ps.Input("a", ps.int32, (m,)), ps.Input("x", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.select((x[i] + 1 >= 0) & (x[i] + 1 < m), a[x[i] + 1], 0)
    with pytest.raises(ps.LanguageError, match="nothing but its type bounds"):
        conditions(Model(Program((f,))))


def test_an_index_read_from_an_input_is_checked() -> None:
    a, x = ps.Input("a", ps.int32, (m,)), ps.Input("x", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = a[x[i]]
    found = conditions(Model(Program((f,))))
    assert [(s.source, s.tensor, s.axis) for s in found.checked] == [(x, a, 0)]
    assert found.sizes == ()


def test_an_index_read_from_a_copy_of_an_input_is_checked() -> None:
    """Staged, it was asked of the sizes that they allow any value of its type."""
    x, a = ps.Input("x", ps.uint8, (n,)), ps.Input("a", ps.float32, (m,))
    f = ps.Func("f", (n,))
    f[i] = a[x[i]]
    s = ps.Schedule(f)
    s["f"].stage("x", at="i")
    assert [(index.source, index.tensor) for index in s.proven.checked] == [(x, a)]
    assert s.conditions == ps.Schedule(f).conditions
    kernel = s.compile()
    found = kernel(np.array([2, 0], np.uint8), np.arange(3, dtype=np.float32))
    assert found.tolist() == [2, 0]
    with pytest.raises(ps.CallError, match=r"x\[0\] is 3, which is used as an index of a"):
        kernel(np.array([3, 0], np.uint8), np.arange(3, dtype=np.float32))


def test_an_index_that_is_copied_in_a_circle_is_checked_nowhere() -> None:
    x, a = ps.Input("x", ps.uint8, (n,)), ps.Input("a", ps.float32, (m,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,), ps.uint8)
    g[i] = g[ps.maximum(i - 1, 0)]
    f[i] = a[g[i]] + x[i]
    with pytest.raises(ps.LanguageError):
        ps.Schedule(f)


def test_a_declared_range_needs_no_check() -> None:
    a, x = ps.Input("a", ps.int32, (m,)), ps.Input("x", ps.int32, (n,), range=(0, m))
    f = ps.Func("f", (n,))
    f[i] = a[x[i]]
    found = conditions(Model(Program((f,))))
    assert (found.sizes, found.checked) == ((), ())


def test_an_empty_range_says_nothing_of_what_is_not_read() -> None:
    """Without elements `rows` may have none of which an index is in range(0, 0), and then the other
    arm is chosen, whose index is -1."""
    A = ps.Input("A", ps.uint8, (n,))
    rows = ps.Input("rows", ps.int16, (m,), range=(0, n))
    f = ps.Func("f", (1,))
    f[i] = A[ps.clip(ps.select(i < m, rows[i], n), 0, n - 1)]
    s = ps.Schedule(f)
    assert s.conditions[0].startswith("n >= 1: f reads A[")
    empty = np.zeros(0, np.uint8), np.zeros(0, np.int16)
    with pytest.raises(ps.CallValueError, match="the sizes must satisfy n >= 1"):
        s.compile()(*empty)


def test_an_empty_range_says_nothing_of_parts_of_conditions() -> None:
    A = ps.Input("A", ps.uint8, (n,))
    rows = ps.Input("rows", ps.int16, (m,), range=(0, n))
    f = ps.Func("f", (1,))
    known = ps.select(i < m, ps.cast(ps.bool_, rows[i] > 0), i < 1)
    f[i] = ps.select(known, A[n - 1], 0)
    assert ps.Schedule(f).conditions[0].startswith("n >= 1: f reads A[")


def test_a_range_is_used_where_all_that_is_read_is_read() -> None:
    A = ps.Input("A", ps.uint8, (n,))
    rows = ps.Input("rows", ps.int16, (m,), range=(0, n))
    f, g = ps.Func("f", (m,)), ps.Func("g", (m,))
    f[i] = A[rows[i]]
    g[i] = ps.select(i > 2, A[rows[i]], 0)
    assert ps.Schedule([f, g]).conditions == ()


def test_a_clamp_by_constants_is_a_condition_on_the_size() -> None:
    a, x = ps.Input("a", ps.int32, (m,)), ps.Input("x", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = a[ps.clip(x[i], 0, 9)]
    model = Model(Program((f,)))
    (found,) = conditions(model).sizes
    assert holds(found.allowed, model, {"n": 3, "m": 10})
    assert not holds(found.allowed, model, {"n": 3, "m": 9})
    assert holds(found.allowed, model, {"n": 0, "m": 0})


def test_out_of_bounds_for_every_size_is_refused_with_the_smallest_witness() -> None:
    a = ps.Input("a", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = a[i + 1]
    with pytest.raises(ps.LanguageError, match=r"f\[i=0\] touches a\[1\], at n=1"):
        conditions(Model(Program((f,))))


def test_requirements_are_used_in_proofs() -> None:
    a = ps.Input("a", ps.int32, (m,))
    f = ps.Func("f", (n,))
    ps.require(m >= n, "a is at least as long as f", f)
    f[i] = a[i]
    assert conditions(Model(Program((f,)))).sizes == ()


def test_bounds_of_params_are_used_in_proofs() -> None:
    a = ps.Input("a", ps.int32, (n + 5,))
    p = ps.Param("p", ps.int32, min=0, max=5)
    f = ps.Func("f", (n,))
    f[i] = a[i + p]
    assert conditions(Model(Program((f,)))).sizes == ()


def test_a_region_is_filled_only_where_that_asks_nothing() -> None:
    """g is needed on two diagonals; computing the square between them would read out of a."""
    a = ps.Input("a", ps.int32, (n,))
    g, f = ps.Func("g"), ps.Func("f", (n,))
    g[i, j] = a[i] + a[i - j]
    f[i] = g[i, i] + g[i, 0]
    schedule = ps.Schedule.default(f)
    assert schedule.conditions == ()
    assert list(schedule.compile()(a=np.arange(5, dtype=np.int32))) == [0, 3, 6, 9, 12]
