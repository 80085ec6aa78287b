"""A call like an earlier one is checked as if it were the first."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.runtime import call_cache

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def scaled() -> ps.Kernel:
    x, a = ps.Input("x", ps.float32, (n,)), ps.Param("a", ps.float32)
    f = ps.Func("f", (n,))
    f[i] = x[i] * a
    return ps.Schedule(f).compile()


def test_other_data_and_other_scalars() -> None:
    kernel, x, out = scaled(), np.ones(9, "f4"), np.empty(9, "f4")
    for k in (1.0, 2.0, 2.0, 3):
        x[:] = k + 1
        assert kernel(x, a=k, out=out) is out
        assert (out == (k + 1) * k).all()
    assert len(kernel._cached_calls) == 3
    kernel(x, a=0.0, out=out)
    assert not np.signbit(out).any()
    kernel(x, a=-0.0, out=out)
    assert np.signbit(out).all()


@pytest.mark.parametrize("dtype", [ps.float32, ps.int32])
def test_a_param_may_be_an_array_without_axes(dtype: ps.DType) -> None:
    x, a = ps.Input("x", ps.float32, (n,)), ps.Param("a", dtype)
    f = ps.Func("f", (n,))
    f[i] = x[i] * ps.cast(ps.float32, a)
    kernel, whole, value = ps.Schedule(f).compile(), np.ones(3, "f4"), np.array(1, dtype.numpy)
    for k in range(1, 5):
        value[()] = k
        assert (kernel(whole, a=value) == k).all()
        assert (kernel(whole, a=np.array(2 * k, dtype.numpy)) == 2 * k).all()


def test_other_memory_shapes_and_strides() -> None:
    kernel, whole = scaled(), np.arange(40, dtype="f4")
    for x in (whole[:20], whole[20:], whole[::2], whole[::-1], whole[:7], whole[:20]):
        out = np.empty(len(x), "f4")
        for _ in range(2):
            assert np.array_equal(kernel(x, a=2.0, out=out), 2 * x)


def test_several_outputs_and_arguments_that_are_changed() -> None:
    x, y = ps.Input("x", ps.int32, (n,)), ps.InOut("y", ps.int32, (n,))
    f = ps.Func("f", (n,), ps.int32)
    y[i] += x[i]
    f[i] = x[i] * 2
    kernel = ps.Schedule((f, y)).compile()
    a, b, out = np.arange(5, dtype="i4"), np.zeros(5, "i4"), np.empty(5, "i4")
    for k in range(1, 4):
        first, second = kernel(x=a, y=b, out=out)
        assert first is out
        assert second is b
        assert np.array_equal(b, k * a)
    assert len(kernel._cached_calls) == 1


def test_results_that_are_made_anew() -> None:
    x, f, g = ps.Input("x", ps.int32, (n,)), ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = x[i] + f[n - 1 - i]
    kernel, a = ps.Schedule((f, g)).compile(), np.arange(7, dtype="i4")
    first = kernel(a)
    for _ in range(2):
        a += 1
        again = kernel(a)
        assert not any(x is y for x in again for y in first)
        assert np.array_equal(again[0], 2 * a)
        assert np.array_equal(again[1], a + 2 * a[::-1])
    assert len(kernel._cached_calls) == 1
    assert np.array_equal(kernel(a, out=(again[0], again[1]))[1], a + 2 * a[::-1])
    assert np.array_equal(first[0], 2 * np.arange(7))


def test_results_of_several_components() -> None:
    x, r = ps.Input("x", ps.int32, (n, m)), ps.RVar("r", 0, m)
    f = ps.Func("f", (n,))
    f[i] = ps.argmax(x[i, r], r)
    kernel, a = ps.Schedule(f).compile(), np.array([[1, 5, 2], [7, 0, 7]], "i4")
    for k in range(3):
        assert np.array_equal(kernel(a), np.argmax(a, axis=1)), k
        a[1, k] += 9


def test_one_array_for_two_arguments() -> None:
    x, y, f = ps.Input("x", ps.int32, (n,)), ps.Input("y", ps.int32, (n,)), ps.Func("f", (n,))
    f[i] = x[i] - 2 * y[i]
    kernel = ps.Schedule(f).compile()
    a, b, out = np.arange(5, dtype="i4"), np.arange(5, dtype="i4") ** 2, np.empty(5, "i4")
    for p, q in ((a, a), (a, b), (b, a), (b, b), (a, a), (b, a)):
        assert np.array_equal(kernel(p, q), p - 2 * q)
        assert np.array_equal(kernel(q, p, out=out), q - 2 * p)
        assert np.array_equal(kernel(y=p, x=q, out=out), q - 2 * p)


def test_new_arrays_of_known_shapes() -> None:
    kernel, rng = scaled(), np.random.default_rng(0)
    for k in range(60):
        x = rng.random(3 + k % 4).astype("f4")
        out = np.empty_like(x)
        assert np.array_equal(kernel(x, a=2.0), 2 * x)
        assert kernel(x, a=2.0, out=out) is out
        assert np.array_equal(out, 2 * x)
    assert len(kernel._cached_calls) == 8
    assert all(len(call.disjoint) <= call_cache.MOST for call in kernel._cached_calls.values())


@pytest.mark.slow
def test_nothing_is_kept_alive() -> None:
    kernel, x, out = scaled(), np.ones(9, "f4"), np.empty(9, "f4")
    kernel(x, a=1.0, out=out)
    assert kernel._cached_calls
    gone = weakref.ref(x), weakref.ref(out)
    del x, out
    gc.collect()
    assert [r() for r in gone] == [None, None]


def test_few_calls_are_remembered() -> None:
    kernel, x, out = scaled(), np.ones(9, "f4"), np.empty(9, "f4")
    for k in range(3 * call_cache.MOST):
        kernel(x, a=k, out=out)
        assert (out == k).all()
    assert len(kernel._cached_calls) <= call_cache.MOST


def test_threads_may_change_in_between() -> None:
    x = ps.Input("x", ps.float32, (n, m))
    f, g = ps.Func("f"), ps.Func("g", (n, m))
    f[i, j] = x[i, j] + 1
    g[i, j] = f[i, j] * f[i, m - 1 - j]
    s = ps.Schedule(g)
    s["g"].parallel("i")
    s["f"].compute_at("g", "i")
    kernel, a = s.compile(), np.random.default_rng(0).random((300, 70), "f4")
    out, wanted = np.empty_like(a), (a + 1) * (a + 1)[:, ::-1]
    for threads in (1, 3, 2, 8, 1):
        with ps.threads(threads):
            assert np.array_equal(kernel(a, out=out), wanted)


# refused ------------------------------------------------------------------------------------------
def test_refuses_what_has_become_of_an_array() -> None:
    kernel, x, out = scaled(), np.ones(9, "f4"), np.empty(9, "f4")
    kernel(x, a=1.0, out=out)
    out.flags.writeable = False
    with pytest.raises(ps.CallValueError, match=r"read-only|write"):
        kernel(x, a=1.0, out=out)
    out.flags.writeable = True
    kernel(x, a=1.0, out=out)
    with pytest.raises(ps.CallTypeError):
        kernel(x, a=1.0, b=2, out=out)
    with pytest.raises(ps.CallError):
        kernel(x, a=1.0, out=out[1:])
    with pytest.raises(ps.CallError):
        kernel(x, out=out)


def test_refuses_the_same_arrays_passed_in_another_way() -> None:
    kernel, x, out = scaled(), np.ones(9, "f4"), np.empty(9, "f4")
    kernel(x, a=1.0, out=out)
    kernel(x, a=1.0)
    for given, options in (
        ((x, out), {"a": 1.0}),
        ((x,), {"a": 1.0, "b": out}),
        ((x,), {"a": out}),
        ((), {"x": x, "out": out}),
        ((x, 1.0), {"out": out}),
    ):
        with pytest.raises(ps.CallTypeError):
            kernel(*given, **options)


def test_refuses_memory_that_overlaps() -> None:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = x[ps.maximum(i - 1, 0)]
    kernel, memory = ps.Schedule(f).compile(), np.ones(20, "f4")
    kernel(memory[:9], out=memory[9:18])
    with pytest.raises(ps.CallValueError, match=r"overlap|share"):
        kernel(memory[:9], out=memory[8:17])


def test_refuses_data_that_have_become_wrong() -> None:
    at, table = ps.Input("at", ps.int32, (n,)), ps.Input("table", ps.int32, (m,))
    f = ps.Func("f", (n,), ps.int32)
    f[i] = table[at[i]]
    kernel = ps.Schedule(f).compile()
    a, t, out = np.array([0, 2], "i4"), np.arange(3, dtype="i4"), np.empty(2, "i4")
    kernel(a, t, out=out)
    assert len(kernel._cached_calls) == 1
    for wrong in (3, -1):
        a[1] = wrong
        with pytest.raises(ps.CallValueError, match="used as an index"):
            kernel(a, t, out=out)
    a[1] = 0
    assert kernel(a, t, out=out).tolist() == [0, 0]


def test_refuses_data_outside_of_a_range_that_is_declared() -> None:
    x = ps.Input("x", ps.int32, (n,), range=(0, n))
    f = ps.Func("f", (n,), ps.int32)
    f[i] = x[x[i]]
    kernel = ps.Schedule(f).compile()
    a, out = np.array([1, 0], "i4"), np.empty(2, "i4")
    kernel(a, out=out)
    assert len(kernel._cached_calls) == 1
    for wrong in (2, -1):
        a[1] = wrong
        with pytest.raises(ps.CallValueError, match="outside the declared range"):
            kernel(a, out=out)


@pytest.mark.parametrize(
    ("bounds", "fits", "wrong"),
    [
        ((-2.5, -1.5), [-2, -1.7], -1.2), ((0.5, 2.0), [0.6, 1], 0.2),
        ((0, float("inf")), [0, 1e30], -1), ((0, 1), [0, 0.5], float("nan")),
    ],
)  # fmt: skip
def test_refuses_floats_outside_of_a_range(bounds, fits, wrong) -> None:
    x, y = ps.Input("x", ps.float32, (n,), range=bounds), ps.InOut("y", ps.float32, (n,))
    y[i] += x[i]
    kernel, a, b = ps.Schedule(y).compile(), np.array(fits, "f4"), np.zeros(2, "f4")
    for k in range(1, 4):
        kernel(x=a, y=b)
        assert (b == k * a).all()
    assert len(kernel._cached_calls) == 1
    a[0] = wrong
    with pytest.raises(ps.CallValueError, match="outside the declared range"):
        kernel(x=a, y=b)


def test_counts_divisions_by_zero_each_time() -> None:
    x, f = ps.Input("x", ps.int32, (n,)), ps.Func("f", (n,), ps.int32)
    f[i] = 7 // x[i]
    kernel = ps.Schedule(f).compile(checks=True)
    a, out = np.array([1, 2], "i4"), np.empty(2, "i4")
    kernel(a, out=out)
    a[1] = 0
    for _ in range(2):
        with pytest.raises(ps.CallValueError, match="1 integer division by zero"):
            kernel(a, out=out)


def test_the_bits_of_a_scalar_are_what_counts() -> None:
    p, f = ps.Param("p", ps.float64), ps.Func("f", (n,))
    f[i] = ps.bitcast(ps.int64, p)
    kernel = ps.Schedule(f).compile()
    for value in (float("nan"), -float("nan"), 0.0, -0.0, float("nan")):
        assert kernel(n=1, p=value).tolist() == [np.float64(value).view(np.int64)]
