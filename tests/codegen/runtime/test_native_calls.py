"""Calls that run without the interpreter do what calls through Python do, and refuse as they do."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import polysched as ps
from polysched.codegen.llvm.text.layout import PYTHON, STATE
from polysched.codegen.runtime import kernel as kernels, native_calls, python_api
from polysched.codegen.runtime.calls import poll_address

pytestmark = pytest.mark.skipif(
    not python_api.is_native(ps.Kernel), reason="calls go through Python here"
)

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


class Slow:
    """How many calls went through Python."""

    def __init__(self) -> None:
        self.count = 0

    def during(self, call: Callable[[], Any]) -> int:
        before = self.count
        call()
        return self.count - before


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    """Counts calls through Python; a call gets a record when it comes the second time."""
    monkeypatch.setattr(native_calls, "AFTER", 1)
    found, given_to = Slow(), kernels.given_to

    def counted(*args: Any) -> Any:
        found.count += 1
        return given_to(*args)

    monkeypatch.setattr(kernels, "given_to", counted)
    return found


def api() -> python_api.PythonApi:
    found = python_api.python_api(poll_address())
    assert found is not None
    return found


@pytest.fixture
def word() -> Iterator[Callable[[str, int], None]]:
    """Changes a word of the table of functions for a test."""
    table, before = api(), list(api()._words)
    yield table._set
    for name, at in PYTHON.items():
        table._set(name, before[at // 8])


def sums() -> ps.Kernel:
    a, b = ps.Input("a", ps.float32, (n, m)), ps.Input("b", ps.float32, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = a[i, j] + 2 * b[i, j]
    return ps.Schedule(f).compile()


def matrices(rows: int = 3, columns: int = 5, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    one, two = random.random((2, rows, columns), "f4")
    return one.copy(), two.copy()


def warm(call: Callable[[], Any]) -> None:
    for _ in range(3):
        call()


# what runs natively -------------------------------------------------------------------------------
def test_calls_in_any_form_are_native(slow: Slow) -> None:
    kernel, (a, b) = sums(), matrices()
    out = np.empty_like(a)
    calls: list[Callable[[], Any]] = [
        lambda: kernel(a, b),
        lambda: kernel(a, b=b),
        lambda: kernel(b=b, a=a),
        lambda: kernel(a, b, out=out),
        lambda: kernel(out=(out,), b=b, a=a),
    ]
    for call in calls:
        warm(call)
        assert slow.during(call) == 0
        a += 1
        assert np.array_equal(call(), a + 2 * b)
    assert kernel(a, b, out=out) is out
    assert kernel(a, b) is not kernel(a, b)


def test_other_arrays_of_the_same_layout_are_native(slow: Slow) -> None:
    kernel = sums()
    warm(lambda: kernel(*matrices()))
    for seed in range(5):
        a, b = matrices(seed=seed)
        assert slow.during(lambda a=a, b=b: kernel(a, b)) == 0
        assert np.array_equal(kernel(a, b), a + 2 * b)


@pytest.mark.slow
def test_few_records_are_made_for_many_layouts(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[int] = []
    install = native_calls.NativeCalls._install

    def counted(self: native_calls.NativeCalls, *args: Any) -> None:
        laid_out.append(len(self._records))
        install(self, *args)

    monkeypatch.setattr(native_calls.NativeCalls, "_install", counted)
    kernel = sums()
    arrays = [matrices(1, k + 1) for k in range(native_calls.MOST + 4)]
    for _ in range(200):
        for a, b in arrays:
            assert np.array_equal(kernel(a, b), a + 2 * b)
    assert len(laid_out) < 200


def test_arrays_with_dtypes_of_their_own_are_native(slow: Slow) -> None:
    kernel, (a, b) = sums(), matrices()
    warm(lambda: kernel(pickle.loads(pickle.dumps(a)), b))
    for x, y in (matrices(), pickle.loads(pickle.dumps(matrices()))):
        assert slow.during(lambda x=x, y=y: kernel(x, y)) == 0
        assert np.array_equal(kernel(x, y), x + 2 * y)
    for other in (a.astype(">f4"), pickle.loads(pickle.dumps(a.astype("i4")))):
        with pytest.raises(ps.CallTypeError):
            kernel(other, b)


def test_several_outputs_and_one_that_is_updated(slow: Slow) -> None:
    x, y = ps.Input("x", ps.int32, (n,)), ps.InOut("y", ps.int32, (n,))
    f, g = ps.Func("f", (n,), ps.int32), ps.Func("g", (), ps.int32)
    k = ps.RVar("k", 0, n)
    y[i] += x[i]
    f[i] = x[i] * 2
    g[()] = ps.sum(x[k], k)
    kernel = ps.Schedule((f, y, g)).compile()
    a, b = np.arange(5, dtype="i4"), np.zeros(5, "i4")
    made, place = np.empty(5, "i4"), np.empty((), "i4")
    warm(lambda: kernel(x=a, y=b))
    warm(lambda: kernel(x=a, y=b, out=(made, place)))
    b[:] = 0
    before = slow.count
    first, second, third = kernel(x=a, y=b)
    fourth = kernel(x=a, y=b, out=(made, place))
    assert slow.count == before
    assert second is b
    assert np.array_equal(b, 2 * a)
    assert np.array_equal(first, 2 * a)
    assert third.shape == ()
    assert third == a.sum()
    assert fourth[0] is made
    assert fourth[1] is b
    assert fourth[2] is place


@pytest.mark.parametrize("shape", [(0, 4), (1, 1), (7, 9), (40, 30), (150, 130)])
def test_new_outputs_are_like_those_of_python(shape: tuple[int, int], slow: Slow) -> None:
    kernel, (a, b) = sums(), matrices(*shape)
    first = kernel(a, b)
    warm(lambda: kernel(a, b))
    before = slow.count
    again = kernel(a, b)
    assert slow.count == before
    assert np.array_equal(first, again)
    assert again.dtype is first.dtype
    assert again.strides == first.strides
    assert again.flags.num == first.flags.num
    assert (again.base is None) == (first.base is None)
    for alignment in (64, 4096):
        assert again.nbytes < alignment * 16 or again.ctypes.data % alignment == 0


def test_intermediates_lie_in_a_block_of_the_kernel(slow: Slow) -> None:
    x = ps.Input("x", ps.int32, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = x[i] * 3
    g[i] = f[n - 1 - i] + f[i]
    s = ps.Schedule(g)
    s[f].compute_root()
    kernel = s.compile()
    for size in (4, 100, 4, 1000):
        a = np.arange(size, dtype="i4")
        warm(lambda a=a: kernel(a))
        before = slow.count
        assert np.array_equal(kernel(a), 3 * (a + a[::-1]))
        assert slow.count == before


# scalars ------------------------------------------------------------------------------------------
def scaled(dtype: Any, **limits: float) -> ps.Kernel:
    x, p = ps.Input("x", ps.float64, (n,)), ps.Param("p", dtype, **limits)
    f = ps.Func("f", (n,))
    f[i] = x[i] + ps.cast(ps.float64, p)
    return ps.Schedule(f).compile()


FLOATS = (0.1, -0.0, 1e30, float("inf"), -float("inf"), float("nan"), 1e-320)


@pytest.mark.parametrize("dtype", [ps.float32, ps.float64])
def test_a_param_of_floats_may_have_any_value(dtype: Any, slow: Slow) -> None:
    kernel, x = scaled(dtype), np.zeros(3)
    warm(lambda: kernel(x, p=1.0))
    before = slow.count
    for value in FLOATS:
        expected = np.float64(dtype.numpy.type(value)) + 0.0
        assert np.array_equal(kernel(x, p=value), np.full(3, expected), equal_nan=True)
    assert slow.count == before


def test_a_param_with_limits_is_checked(slow: Slow) -> None:
    kernel, x = scaled(ps.float64, min=0.0, max=1.0), np.zeros(3)
    warm(lambda: kernel(x, p=0.5))
    assert slow.during(lambda: kernel(x, p=0.5)) == 0
    with pytest.raises(ps.CallValueError, match="outside its declared bounds"):
        kernel(x, p=1.5)


def test_a_param_that_is_required_to_be_something_is_checked() -> None:
    x, p = ps.Input("x", ps.float64, (n,)), ps.Param("p", ps.float64)
    f = ps.Func("f", (n,))
    f[i] = x[i] + p
    ps.require(p > 0.0, "p is positive")
    kernel = ps.Schedule(f).compile()
    warm(lambda: kernel(np.zeros(2), p=1.0))
    with pytest.raises(ps.CallValueError, match="p is positive"):
        kernel(np.zeros(2), p=-1.0)


def test_a_param_that_decides_what_runs_is_looked_at(slow: Slow) -> None:
    x, p = ps.Input("x", ps.float64, (n,)), ps.Param("p", ps.float64)
    f = ps.Func("f", (n,))
    f[i] = x[i] + p
    s = ps.Schedule(f)
    s.specialize(p > 0.0)["f"].vectorize(i, 4)
    kernel, x = s.compile(), np.zeros(3)
    warm(lambda: kernel(x, p=-1.0))
    assert slow.during(lambda: kernel(x, p=1.0)) == 1
    ((_, special),) = kernel._special
    assert special._variants


def test_refuses_a_float_that_float32_does_not_hold() -> None:
    kernel = scaled(ps.float32)
    warm(lambda: kernel(np.zeros(2), p=1.0))
    with pytest.raises(ps.CallValueError, match="does not fit in float32"):
        kernel(np.zeros(2), p=1e39)


@pytest.mark.parametrize("value", [3, True, -1, 2**40, 2**63, 2**64])
def test_integers_count_by_their_values(value: int) -> None:
    x, p = ps.Input("x", ps.int64, (n,)), ps.Param("p", ps.uint64)
    f = ps.Func("f", (n,))
    f[i] = x[i] + ps.cast(ps.int64, ps.cast(ps.uint64, p))
    kernel = ps.Schedule(f).compile()
    warm(lambda: kernel(np.zeros(2, "i8"), p=2))
    if 0 <= value < 2**64:
        assert kernel(np.zeros(2, "i8"), p=value)[0] == np.uint64(value).astype("i8")
        return
    with pytest.raises(ps.CallError):
        kernel(np.zeros(2, "i8"), p=value)


@pytest.mark.parametrize("dtype", [ps.uint64, ps.float64])
def test_an_integer_is_not_taken_for_one_that_64_bits_do_not_hold(dtype: Any) -> None:
    x, p = ps.Input("x", ps.int64, (n,)), ps.Param("p", dtype)
    f = ps.Func("f", (n,))
    f[i] = ps.cast(ps.float64, x[i]) + ps.cast(ps.float64, ps.cast(dtype, p))
    kernel, x = ps.Schedule(f).compile(), np.zeros(2, "i8")
    warm(lambda: kernel(x, p=2**64 - 5))
    if dtype == ps.float64:
        assert kernel(x, p=-5)[0] == -5.0
        return
    with pytest.raises(ps.CallValueError, match="does not fit in uint64"):
        kernel(x, p=-5)


# what has become of an array ----------------------------------------------------------------------
def changed_shape(a: Any) -> Any:
    a.resize((5, 3), refcheck=False)  # as many elements in the same place
    return a


def resized(a: Any) -> Any:
    a.resize((9, 9), refcheck=False)
    return a


def retyped(a: Any) -> Any:
    with warnings.catch_warnings():  # this way to do it goes away
        warnings.simplefilter("ignore", DeprecationWarning)
        a.dtype = np.int32
    return a


CHANGES = {
    "shape": changed_shape,
    "size": resized,
    "dtype": retyped,
    "rank": lambda a: a[0],
    "subclass": lambda a: np.ma.masked_array(a),
    "order": lambda a: a.astype(">f4"),
    "alignment": lambda a: np.frombuffer(bytearray(a.nbytes + 1), "f4", a.size, 1).reshape(3, 5),
    "list": lambda a: a.tolist(),
    "none": lambda a: None,
    "func": lambda a: ps.Func("g"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_refuses_what_an_array_has_become(change: str) -> None:
    kernel, (a, b) = sums(), matrices()
    warm(lambda: kernel(a, b))
    with pytest.raises(ps.CallError) as native:
        kernel(CHANGES[change](a), b)
    with pytest.raises(ps.CallError) as fresh:
        sums()(CHANGES[change](matrices()[0]), b)
    assert str(native.value) == str(fresh.value)


def test_refuses_an_output_that_has_become_read_only() -> None:
    kernel, (a, b) = sums(), matrices()
    out = np.empty_like(a)
    warm(lambda: kernel(a, b, out=out))
    out.flags.writeable = False
    with pytest.raises(ps.CallValueError, match="read-only"):
        kernel(a, b, out=out)


def test_refuses_outputs_that_overlap_an_input() -> None:
    kernel, memory = sums(), np.zeros(60, "f4")
    a, b, out = (memory[k : k + 15].reshape(3, 5) for k in (0, 15, 30))
    warm(lambda: kernel(a, b, out=out))
    kernel(a, b, out=memory[45:].reshape(3, 5))
    for start in (1, 14, 16, 29):
        with pytest.raises(ps.CallValueError, match="shares memory"):
            kernel(a, b, out=memory[start : start + 15].reshape(3, 5))


BAD: dict[str, Callable[[ps.Kernel, Any, Any], Any]] = {
    "too many": lambda k, a, b: k(a, b, a),
    "missing": lambda k, a, b: k(a),
    "twice": lambda k, a, b: k(a, b, a=a),
    "unknown": lambda k, a, b: k(a, b, c=a),
    "out too long": lambda k, a, b: k(a, b, out=(a, b)),
    "out is a list": lambda k, a, b: k(a, b, out=[1]),
    "out of another shape": lambda k, a, b: k(a, b, out=np.empty((2, 2), "f4")),
    "out of another dtype": lambda k, a, b: k(a, b, out=np.empty((3, 5), "f8")),
    "size": lambda k, a, b: k(a, b, n=4),
    "shape": lambda k, a, b: k(a, b, shape=(2, 2)),
}


@pytest.mark.parametrize("bad", BAD)
def test_refuses_what_a_call_through_python_refuses(bad: str) -> None:
    kernel, (a, b) = sums(), matrices()
    warm(lambda: kernel(a, b))
    warm(lambda: kernel(a, b, out=np.empty_like(a)))
    with pytest.raises(ps.CallError) as native:
        BAD[bad](kernel, a, b)
    with pytest.raises(ps.CallError) as fresh:
        BAD[bad](sums(), a, b)
    assert str(native.value) == str(fresh.value)


@pytest.mark.slow
def test_refuses_more_arguments_than_the_stack_holds() -> None:
    kernel, (a, b) = sums(), matrices()
    warm(lambda: kernel(a, b))
    for count in (126, 127, 128, 129, 3_000_000):
        with pytest.raises(ps.CallTypeError, match=f"{count} arguments by position"):
            kernel(*[1] * count)
    with pytest.raises(ps.CallTypeError, match="there is no argument 'c0'"):
        kernel(a, b, **{f"c{k}": a for k in range(200)})


def test_a_call_of_many_arguments_without_memory(word: Callable[[str, int], None]) -> None:
    kernel, (a, b) = sums(), matrices()
    warm(lambda: kernel(a, b))
    no_memory = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(lambda size: None)
    word("allocate", ctypes.cast(no_memory, ctypes.c_void_p).value or 0)
    with pytest.raises(MemoryError):
        kernel(*[a] * 1000)


def test_names_that_are_not_interned(slow: Slow) -> None:
    kernel, (a, b) = sums(), matrices()
    warm(lambda: kernel(a, b))
    made = {"".join(("a", "")): a, "b b"[:1]: b}
    assert np.array_equal(kernel(**made), a + 2 * b)
    assert np.array_equal(kernel(a, b, out=None), a + 2 * b)


strides = st.sampled_from((1, 2, -1, -3))


@given(
    st.lists(
        st.tuples(
            st.integers(0, 4), st.integers(0, 4), strides, strides, st.booleans(), st.booleans()
        ),
        min_size=4,
        max_size=12,
    )
)
@settings(max_examples=40)
def test_any_calls_in_turn_are_those_of_numpy(calls: list[tuple[Any, ...]]) -> None:
    kernel, random = shared(), np.random.default_rng(1)
    for rows, columns, down, across, is_flipped, has_out in calls * 3:
        whole = random.random((12, 12), "f4")
        a = whole[::down, ::across][:rows, :columns]
        b = random.random((columns, rows), "f4").T if is_flipped else random.random(a.shape, "f4")
        out = np.full((rows, 2 * columns), 7, "f4")[:, ::2] if has_out else None
        found = kernel(a, b, out=out)
        assert out is None or found is out
        assert np.array_equal(found, a + 2 * b)
        if out is not None and out.size:
            assert (out.base[:, 1::2] == 7).all()


_kernel: list[ps.Kernel] = []


def shared() -> ps.Kernel:
    if not _kernel:
        _kernel.append(sums())
    return _kernel[0]


# memory, threads, forks ---------------------------------------------------------------------------
def test_references_and_memory_stay_what_they_are() -> None:
    kernel, (a, b) = sums(), matrices()
    out, given_out = np.empty_like(a), (np.empty_like(a),)
    tracked = [a, b, out, given_out, given_out[0], a.dtype, None, kernel, "out"]

    def calls() -> None:
        for _ in range(200):
            kernel(a, b)
            kernel(a=a, b=b, out=out)
            kernel(a, b, out=given_out)

    calls()
    before = [sys.getrefcount(x) for x in tracked]
    calls()
    after = [sys.getrefcount(x) for x in tracked]
    assert all(abs(x - y) < 10 for x, y in zip(before, after, strict=True))


def test_a_kernel_and_its_records_go_when_it_is_dropped() -> None:
    kernel, (a, b) = sums(), matrices()
    warm(lambda: kernel(a, b))
    gone = [weakref.ref(kernel), weakref.ref(kernel._variants[False])]
    assert kernel._native._records
    kernel = sums()
    gc.collect()
    assert [x() for x in gone] == [None, None]


def test_a_result_without_memory_is_left_to_python(
    word: Callable[[str, int], None], slow: Slow
) -> None:
    kernel, (a, b) = sums(), matrices(50, 60)
    warm(lambda: kernel(a, b))
    no_memory = ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value
    word("new_array", no_memory or 0)
    before = slow.count
    assert np.array_equal(kernel(a, b), a + 2 * b)
    assert slow.count == before + 1


def parallel() -> ps.Kernel:
    x = ps.Input("x", ps.float32, (n, m))
    f, g = ps.Func("f", (n, m)), ps.Func("g", (n, m))
    f[i, j] = ps.exp(x[i, j])
    g[i, j] = f[i, j] + f[n - 1 - i, j]
    s = ps.Schedule(g)
    s[f].compute_root().parallel(i)
    s[g].parallel(i)
    return s.compile()


def test_the_number_of_threads_is_asked_for(slow: Slow, word: Callable[[str, int], None]) -> None:
    kernel, x = parallel(), np.random.default_rng(0).random((60, 200), "f4")
    expected = kernel(x)
    for threads in (1, 2, 3):
        with ps.threads(threads):
            warm(lambda: kernel(x))
            before = slow.count
            assert np.array_equal(kernel(x), expected)
            assert slow.count == before

    def fails() -> int:
        raise KeyboardInterrupt

    word("threads", id(fails))
    with pytest.raises(KeyboardInterrupt):
        kernel(x)


def test_threads_that_call_at_once() -> None:
    kernel = parallel()
    random = np.random.default_rng(0)
    given_to = [random.random((40, 100 + 10 * k), "f4") for k in range(4)]
    expected = [kernel(x) for x in given_to]
    wrong: list[int] = []

    def run(k: int) -> None:
        out = np.empty_like(expected[k])
        for _ in range(150):
            found = kernel(given_to[k])
            kernel(given_to[k], out=out)
            if not (np.array_equal(found, expected[k]) and np.array_equal(out, expected[k])):
                wrong.append(k)

    threads = [threading.Thread(target=run, args=(k % 4,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_another_thread_makes_a_record_between_any_two_steps(slow: Slow) -> None:
    kernel, (a, b) = sums(), matrices()
    warm(lambda: kernel(a, b))
    records: dict[Any, Any] = kernel._native._records

    def other_thread(frame: Any, event: str, value: object) -> Any:
        frame.f_trace_opcodes = frame.f_code.co_filename == native_calls.__file__
        if event == "opcode":
            records[object()] = -1, None
        return other_thread

    c, d = matrices(4, 4)
    before = sys.gettrace()
    sys.settrace(other_thread)
    try:
        warm(lambda: kernel(c, d))
    finally:
        sys.settrace(before)
    warm(lambda: kernel(c, d))
    assert slow.during(lambda: kernel(c, d)) == 0


def test_a_call_that_needs_no_block_leaves_it_to_another(slow: Slow) -> None:
    x, y = ps.Input("x", ps.float64, (n,)), ps.Input("y", ps.float64, (m,))
    f, g, h = ps.Func("f", (n,)), ps.Func("g", (n,)), ps.Func("h", (m,))
    f[i] = x[i] + 1
    g[i] = f[n - 1 - i]
    h[i] = ps.exp(ps.exp(-y[i]))
    s = ps.Schedule((g, h))
    s[f].compute_root()
    kernel, nothing, much = s.compile(), np.empty(0), np.zeros(4000)
    warm(lambda: kernel(nothing, much))
    busy = ctypes.c_int64.from_address(kernel._state + STATE["busy"])
    for taken in (0, 1):  # by another thread, while it has let go of the GIL
        busy.value = taken
        assert slow.during(lambda: kernel(nothing, much)) == 0
        assert busy.value == taken


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_makes_records_of_its_own(slow: Slow) -> None:
    kernel, x = parallel(), np.random.default_rng(0).random((60, 200), "f4")
    expected = kernel(x)
    warm(lambda: kernel(x))
    child = os.fork()
    if child == 0:
        counts = [slow.during(lambda: kernel(x)) for _ in range(4)]
        good = np.array_equal(kernel(x), expected)
        os._exit(0 if good and counts == [1, 0, 0, 0] else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(kernel(x), expected)


def costly() -> ps.Kernel:
    """Much work for each element."""
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    r = ps.RVar("r", 0, m)
    f[i] = 0
    f[i] += ps.tanh(x[i] + r)
    return ps.Schedule(f).compile()


@pytest.mark.parametrize(("times", "through"), [(100, 0), (100_000, 1)])
def test_long_calls_go_through_python(slow: Slow, times: int, through: int) -> None:
    kernel, x = costly(), np.zeros(100, np.float32)
    estimates = kernel._variant(False).time
    assert (estimates({"n": 100, "m": times}) < native_calls.LONG) == (not through)
    out = np.empty_like(x)
    warm(lambda: kernel(x, m=times, out=out))
    assert kernel._native.has(kernel._variant(False)) == (not through)
    assert slow.during(lambda: kernel(x, m=times, out=out)) == through


def test_intermediate_results_have_one_memory(slow: Slow) -> None:
    x, f, g = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m)), ps.Func("g", (n, m))
    f[i, j] = x[i, j] + 1
    g[i, j] = f[i, j] * 2
    s = ps.Schedule(g)
    s[f].compute_root()
    kernel, array = s.compile(), np.zeros((50, 200), np.float32)
    kernel(array)
    assert [block.nbytes >= array.nbytes for block in kernel._pool._free] == [True]
    warm(lambda: kernel(array))
    assert slow.during(lambda: kernel(array)) == 0
    assert kernel._pool._free == []


def test_data_that_are_looked_at_go_through_python(slow: Slow) -> None:
    x, at = ps.Input("x", ps.float32, (n,)), ps.Input("at", ps.int32, (m,), range=(0, n))
    f = ps.Func("f", (m,))
    f[i] = x[at[i]]
    kernel, where = ps.Schedule(f).compile(), np.array([2, 0, 1], "i4")
    warm(lambda: kernel(x=np.ones(3, "f4"), at=where))
    assert slow.during(lambda: kernel(x=np.ones(3, "f4"), at=where)) == 1
    where[1] = 3
    with pytest.raises(ps.CallValueError):
        kernel(x=np.ones(3, "f4"), at=where)


def test_divisions_by_zero_are_counted_in_each_call() -> None:
    x, y = ps.Input("x", ps.int32, (n,)), ps.Input("y", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = x[i] // y[i]
    kernel, a, b = ps.Schedule(f).compile(checks=True), np.arange(5, dtype="i4"), np.ones(5, "i4")
    warm(lambda: kernel(a, b))
    b[2] = 0
    with pytest.raises(ps.CallValueError, match="1 integer division by zero"):
        kernel(a, b)


PORTABLE = """
import numpy as np, polysched as ps
from polysched.codegen.runtime import python_api
n, = [ps.size("n")]
i, = [ps.vars("i")]
x = ps.Input("x", ps.float32, (n,))
f = ps.Func("f", (n,))
f[i] = x[i] + 1
kernel = ps.Schedule(f).compile()
a = np.arange(7, dtype="f4")
for _ in range(20):
    assert np.array_equal(kernel(a), a + 1) and np.array_equal(f(a), a + 1)
assert not python_api.is_native(ps.Kernel) and kernel._entry == 0
try:
    kernel(a[None])
except ps.CallError as error:
    print(type(error).__name__)
"""


def test_calls_through_python_alone() -> None:
    environment = {**os.environ, python_api.VARIABLE: "0"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", PORTABLE], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "CallValueError\n", done.stderr
