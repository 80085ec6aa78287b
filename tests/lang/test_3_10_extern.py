"""Rule 3.10: stages in Python and C, over declared regions of arrays."""

from __future__ import annotations

import builtins
import ctypes
import gc
import shutil
import signal
import subprocess
import threading
import traceback
import warnings

import numpy as np
import pytest
from gallery.variants import VIEWS
from hypothesis import given, settings, strategies as st
from lang.support import ALL, refused, run

import polysched as ps
from polysched.codegen.llvm import compile_module
from polysched.targets.host import default_target

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
A = ps.Input("A", ps.float32, (n,))
B = ps.Input("B", ps.float32, (n, m))
a = np.float32([3, -1, 2, 7])
b = np.arange(12, dtype=np.float32).reshape(4, 3)


def everywhere(make, /, *args, **kwargs):
    """The result, which must not depend on who runs the program: the interpreter, a kernel of the
    program as written, or one of the default schedule."""
    func = make()
    found = run(func, *args, **kwargs)
    written = ps.Schedule(func).compile()(*args, **kwargs)
    for x, y in zip(_flat(found), _flat(written), strict=True):
        assert np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
    return found


def _flat(result):
    return result if isinstance(result, tuple) else (result,)


def every_runner(func):
    """A function for each way to run a program of one output or several."""
    default, written = ps.Schedule.default(func).compile(), ps.Schedule(func).compile()
    return [lambda *x, **k: ps.interpret(func, *x, **k), default, written]


# what is called, and with what -----------------------------------------------------------------
def test_3_10_a_function_that_returns_an_array():
    found = everywhere(lambda: ps.extern("s", np.sort, [A], (n,), ps.float32), a)
    assert found.tolist() == sorted(a)


def test_3_10_a_function_that_fills_out():
    def twice(x, *, out):
        out[...] = 2 * x

    found = everywhere(lambda: ps.extern("s", twice, [A], (n,), ps.float32), a)
    assert np.array_equal(found, 2 * a)


def test_3_10_functions_of_numpy():
    x, y = np.float32([5, -7, 9]), np.float32([2, 3, -4])
    C = ps.Input("C", ps.float32, (n,))

    def check(function, wanted, reads, writes, dtype, *arrays):
        found = everywhere(lambda: ps.extern("s", function, reads, writes, dtype), *arrays)
        for f, w in zip(_flat(found), _flat(wanted), strict=True):
            assert np.array_equal(f, w)

    check(np.cumsum, np.cumsum(x), [A], (n,), ps.float32, x)
    check(np.add, x + y, [A, C], (n,), ps.float32, x, y)
    check(np.divmod, np.divmod(x, y), [A, C], (n,), (ps.float32, ps.float32), x, y)
    check(np.argsort, np.argsort(x), [A], (n,), ps.int64, x)
    check(np.matmul, b.T @ b, [B_T, B], (m, m), ps.float32, b)
    spectrum = np.fft.rfft(x.astype(np.float64))
    check(fft, (spectrum.real, spectrum.imag), [A], (n // 2 + 1,), (ps.float64,) * 2, x)


B_T = ps.Func("B_T", (m, n))
B_T[j, i] = B[i, j]


def fft(x):
    found = np.fft.rfft(x.astype(np.float64))
    return found.real, found.imag


def test_3_10_several_values_at_each_point():
    def both(x, out):
        low, high = out
        low[...], high[...] = np.minimum(x, 0), x > 0

    def make():
        s = ps.extern("s", both, [A], (n,), (ps.float32, ps.bool_))
        f = ps.Func("f", (n,))
        f[i] = ps.select(s[i][1], 1.0, s[i][0])
        return f, s

    f, s = make()
    assert everywhere(lambda: f, a).tolist() == [1, -1, 1, 1]
    assert [x.tolist() for x in everywhere(lambda: s, a)] == [[0, -1, 0, 0], (a > 0).tolist()]


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_3_10_every_dtype(dtype):
    x = np.array([1, 0, 1, 1], dtype.numpy)
    X = ps.Input("X", dtype, (n,))

    def make():
        g = ps.Func("g", (n,))
        g[i] = X[n - 1 - i]
        return ps.extern("s", lambda x: x[::-1], [g], (n,), dtype)

    assert np.array_equal(everywhere(make, x), x)


def test_3_10_sources_of_several_values_are_one_array_each():
    z = ps.Func("z", (n,))
    z[i] = (A[i], i)

    def total(x, k):
        assert (x.dtype, k.dtype) == (np.float32, np.int64)
        return x + k.astype(np.float32)

    found = everywhere(lambda: ps.extern("s", total, [z], (n,), ps.float32), a)
    assert np.array_equal(found, a + np.arange(4))


def test_3_10_tensors_without_axes():
    total = ps.Func("total", ())
    total[()] = A[0] * 2

    def spread(x):
        assert isinstance(x, np.ndarray)
        assert x.shape == ()
        return np.float32([x, x + 1])

    assert everywhere(lambda: ps.extern("s", spread, [total], (2,), ps.float32), a).tolist() == [
        6,
        7,
    ]
    found = everywhere(lambda: ps.extern("s", np.max, [A], (), ps.float32), a)
    assert found.shape == ()
    assert found == 7


def test_3_10_without_reads_it_makes_an_array():
    def ones(out):
        out[...] = 1

    found = everywhere(lambda: ps.extern("s", ones, [], (n, 2), ps.int8), n=3)
    assert found.tolist() == [[1, 1]] * 3


@pytest.mark.parametrize("view", VIEWS)
def test_3_10_arguments_of_any_strides(view):
    make = lambda: ps.extern("s", lambda x: x.cumsum(0), [B], (n, m), ps.float32)
    assert np.array_equal(everywhere(make, VIEWS[view](b)), b.cumsum(0))
    out = VIEWS[view](np.zeros_like(b))
    if not out.flags.writeable:
        return
    assert ps.Schedule(make()).compile()(b, out=out) is out
    assert np.array_equal(out, b.cumsum(0))


# regions ---------------------------------------------------------------------------------------
@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_3_10_regions_are_slices(data):
    lo, hi = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    left, right = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))

    def size(x):
        return np.int64([*x.shape, int(x.sum())])

    region = ((lo, hi), (left, right))
    found = everywhere(lambda: ps.extern("s", size, [(B, region)], (3,), ps.int64), b)
    wanted = b[lo : max(lo, hi), left : max(left, right)]
    assert found.tolist() == [*wanted.shape, int(wanted.sum())]


def test_3_10_a_region_of_a_func_begins_below_zero():
    def make():
        g = ps.Func("g", dtype=ps.float32)
        g[i, j] = 10 * i + j + 0 * A[0]
        first = ps.extern(
            "first", lambda x: x[::-1], [(g, ((-2, n), (-1, 2)))], (n + 2, 3), ps.float32
        )
        f = ps.Func("f", (n + 2, 3))
        f[i, j] = first[i, j] + g[i + 5, j - 7]
        return f

    rows = np.arange(-2, 4)[:, None] * 10 + np.arange(-1, 2)
    wanted = rows[::-1] + 10 * (np.arange(6)[:, None] + 5) + np.arange(3) - 7
    assert np.array_equal(everywhere(make, a), wanted)


def test_3_10_only_the_region_of_a_func_is_computed():
    def make():
        g = ps.Func("g", dtype=ps.float32)
        g[i] = A[i]  # out of bounds anywhere else
        return ps.extern("s", np.cumsum, [(g, ((1, n - 1),))], (n - 2,), ps.float32)

    assert everywhere(make, a).tolist() == [-1, 1]


def test_3_10_regions_of_tables_and_arrays_in_place():
    table = ps.Const("table", np.int32([1, 2, 3, 4]).repeat(2)[::2])
    found = everywhere(lambda: ps.extern("s", np.flip, [(table, ((1, 3),))], (2,), ps.int32))
    assert found.tolist() == [3, 2]
    for part, wanted in (("initial", [7, 2]), ("final", [8, 3])):
        X = ps.InOut("X", ps.float32, (n,))
        X[i] += 1
        tail = (getattr(X, part), ((2, 4),))
        s = ps.extern("s", lambda x: x[::-1].copy(), [tail], (2,), ps.float32)
        for call in every_runner((s, X)):
            mine = a.copy()
            assert call(X=mine)[0].tolist() == wanted
            assert np.array_equal(mine, a + 1)


@pytest.mark.parametrize("shape", [(4, 0), (0, 3), (0, 0), (1, 1)])
def test_3_10_empty_arrays_keep_their_shape(shape):
    seen = []

    def note(x):
        seen.append(x.shape)
        return x * 1

    def make():
        g, f = ps.Func("g", (n, m)), ps.Func("f", (n, m))
        g[i, j] = B[i, j]
        f[i, j] = ps.extern("s", note, [g], (n, m), ps.float32)[i, j]
        return f

    assert everywhere(make, np.ones(shape, np.float32)).shape == shape
    assert seen == [shape] * len(seen)
    assert len(seen) >= 3


@pytest.mark.slow
def test_3_10_an_empty_region_keeps_its_shape_beside_another():
    """What is stored of a Func is smaller than the empty region then."""
    p, q = ps.sizes("p q")

    def shape(x):
        return np.int64(x.shape)

    def make():
        g = ps.Func("g", dtype=ps.float32)
        g[i, j] = i + j
        s = ps.extern("s", shape, [(g, ((0, n), (0, m)))], (2,), ps.int64)
        t = ps.extern("t", shape, [(g, ((0, p), (0, q)))], (2,), ps.int64)
        f = ps.Func("f", (2,))
        f[i] = s[i] + 10 * t[i]
        return f

    assert everywhere(make, n=4, m=0, p=2, q=3).tolist() == [24, 30]
    assert everywhere(make, n=0, m=5, p=0, q=3).tolist() == [0, 35]


# where it stands -------------------------------------------------------------------------------
def test_3_10_between_funcs():
    """A producer is neither inlined nor folded: the function is given its values."""

    def make():
        g, f = ps.Func("g", (n,)), ps.Func("f", (n,))
        g[i] = A[i] * 2
        s = ps.extern("s", np.cumsum, [g], (n,), ps.float32)
        f[i] = s[i] + s[n - 1 - i] + g[i]
        return f

    c = np.cumsum(2 * a)
    assert np.array_equal(everywhere(make, a), c + c[::-1] + 2 * a)


def test_3_10_a_recurrence_that_it_reads_is_stored_whole():
    def make():
        h, f = ps.Func("h", (n, 2)), ps.Func("f", (n,))
        h[0, j] = 1.0
        h[i, j] = h[i - 1, j] + A[i]
        s = ps.extern("s", lambda x: x.sum(1), [h], (n,), ps.float32)
        f[i] = s[i]
        return f

    s = ps.Schedule(make())
    assert not s.windows
    wanted = [2, 0, 4, 18]
    assert everywhere(make, a).tolist() == wanted


def test_3_10_an_update_may_follow():
    def make():
        s = ps.extern("s", np.sort, [A], (n,), ps.float32)
        s[i] += 10
        return s

    assert np.array_equal(everywhere(make, a), np.sort(a) + 10)


@pytest.mark.slow
def test_3_10_scratch_memory_is_not_shared_while_it_is_read():
    """Many intermediates, of which the function holds several at once."""

    def make():
        stages = []
        for k in range(6):
            g = ps.Func(f"g{k}", (n,))
            g[i] = A[i] + k if not stages else stages[-1][i] + k
            stages.append(ps.extern(f"s{k}", lambda *x: sum(x), [g, *stages], (n,), ps.float32))
        return stages[-1]

    everywhere(make, a)


def test_3_10_inside_a_sequential_it_runs_once_an_iteration():
    calls = []

    def step(x, row):
        calls.append(row.tolist())
        return x[::-1].copy()

    X = ps.Func("X", (n,))
    X[i] = A[i]
    with ps.sequential("t", 0, 3) as t:
        s = ps.extern("s", step, [X, (A, ((t, t + 1),))], (n,), ps.float32)
        X[i] = s[i] + t
    wanted = a.copy()
    for k in range(3):
        wanted = wanted[::-1] + np.float32(k)
    for call in every_runner(X):
        calls.clear()
        assert np.array_equal(call(a), wanted)
        assert calls == [[3], [-1], [2]]


def test_3_10_inside_a_sequential_it_reads_current_values():
    """Whatever LLVM believes of the buffers: a store before the call is seen by it, and what the
    call stores is seen behind it."""

    def make():
        X, Y = ps.Func("X", (n,)), ps.Func("Y", (n,))
        X[i], Y[i] = A[i], 0.0
        with ps.sequential("t", 1, n) as t:
            X[t] += X[t - 1]
            s = ps.extern("s", lambda x: 2 * x, [(X, ((t, t + 1),))], (1,), ps.float32)
            Y[t] = s[0] + X[t]
        return Y

    assert np.array_equal(everywhere(make, a), [0, *3 * np.cumsum(a)[1:]])


def test_3_10_buffers_are_not_kept_in_registers_across_a_call():
    """One element is added to in each iteration, and another one is read that only calls write."""

    def make():
        total, Y = ps.Func("total", ()), ps.Func("Y", (n,))
        total[()], Y[i] = A[0] * 0, 0.0
        with ps.sequential("t", 0, n) as t:
            total[()] += A[t]
            s = ps.extern("s", lambda x: 2 * x, [total], (), ps.float32)
            Y[t] = s[()] + total[()]
        return Y

    assert np.array_equal(everywhere(make, a), 3 * np.cumsum(a))
    text = ps.Schedule(make()).compile().llvm
    nests = [x for x in text.split("define ") if "%Y" in x.split("\n")[0]]
    called = [x.split("\n")[0] for x in nests if "%words = alloca" in x]
    assert called
    assert not any("noalias" in head for head in called)


# C ---------------------------------------------------------------------------------------------
SOURCE = """
#include <stdint.h>
#include <xmmintrin.h>
void running(const float *x, float *y, int64_t n, int64_t k) {
    float total = 0;
    for (int64_t i = 0; i < n; i++) y[i] = total += x[i];
}
void shapes(const float *x, int64_t *y, int64_t n, int64_t m, int64_t k) {
    y[0] = n; y[1] = m; y[2] = k;
}
void flush(const float *x, float *y, int64_t n, int64_t k) {
    _mm_setcsr(_mm_getcsr() | 0x8040);
    for (int64_t i = 0; i < n; i++) y[i] = 1;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Functions in C."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("library")
    source, made = folder / "library.c", folder / "library.so"
    source.write_text(SOURCE)
    found = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", made, source], capture_output=True, text=True
    )
    if found.returncode != 0:
        pytest.skip(found.stderr)
    return ctypes.CDLL(str(made))


DECLARED = {
    "nothing": None,
    "pointers": [ctypes.POINTER(ctypes.c_float)] * 2 + [ctypes.c_int64] * 2,
    "addresses": [ctypes.c_void_p] * 2 + [ctypes.c_int64] * 2,
    "ndpointers": [
        np.ctypeslib.ndpointer(np.float32, 1, flags="C"),
        np.ctypeslib.ndpointer(np.float32, 1, flags="C,W"),
        ctypes.c_int64,
        ctypes.c_int64,
    ],
}


@pytest.mark.parametrize("declared", DECLARED)
def test_3_10_a_c_function(library, declared):
    running = library["running"]  # an object of its own each time
    if DECLARED[declared] is not None:
        running.argtypes = DECLARED[declared]
    running.restype = None
    found = everywhere(lambda: ps.extern("s", running, [A], (n,), ps.float32), a)
    assert np.array_equal(found, np.cumsum(a))


def test_3_10_a_c_function_gets_all_extents(library):
    found = everywhere(lambda: ps.extern("s", library.shapes, [B], (3,), ps.int64), b)
    assert found.tolist() == [4, 3, 3]


def test_3_10_a_c_function_takes_whole_planes(library):
    rows = (B, ((1, 3), (0, m)))
    found = everywhere(lambda: ps.extern("s", library.shapes, [rows], (3,), ps.int64), b)
    assert found.tolist() == [2, 3, 3]
    columns = (B, ((0, n), (1, 2)))
    s = ps.extern("s", library.shapes, [columns], (3,), ps.int64)
    with refused("s is a C function", "strides", hint="contiguous", error=ps.CallValueError):
        s(b)


def test_3_10_denormals_are_kept_whatever_the_function_leaves_behind(library):
    """A function may set flush-to-zero, as loading a library that was built with fast-math does."""
    library.flush.restype = None
    tiny = np.float32([1e-41, 3e-42])

    def make():
        s, f = ps.extern("s", library.flush, [A], (n,), ps.float32), ps.Func("f", (n,))
        f[i] = A[i] * 0.5 * s[i]
        return f

    f = make()
    try:
        found = f(tiny)
    finally:
        library.flush.argtypes = None
    assert np.array_equal(found, tiny * np.float32(0.5))
    assert found.all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.float32(1e-40) * np.float32(0.5) != 0  # and the caller's mode is its own


# what goes wrong -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("function", "said", "error"),
    [
        (lambda x: None, "returned a NoneType, not an array", ps.CallTypeError),
        (lambda x: x.tolist(), "returned a list, not an array", ps.CallTypeError),
        (lambda x: np.ma.masked_less(x, 2), "masked array: the mask would be", ps.CallTypeError),
        (lambda x: (x, x), "returned a tuple, not an array", ps.CallTypeError),
        (lambda x: x[:-1], "returned float32[3], declared as float32[4]", ps.CallValueError),
        (lambda x: x[:1], "returned float32[1], declared as float32[4]", ps.CallValueError),
        (lambda x: x[None], "returned float32[1, 4], declared as float32[4]", ps.CallValueError),
        (lambda x: x * 1.0j, "returned complex64[4], declared as float32[4]", ps.CallValueError),
        (lambda x: x.astype(float), "returned float64[4]", ps.CallValueError),
        (lambda x, out: x, "takes out= and also returns a ndarray", ps.CallTypeError),
    ],
)
def test_3_10_wrong_results(function, said, error):
    for call in every_runner(ps.extern("s", function, [A], (n,), ps.float32)):
        with refused("the extern stage s", said, error=error):
            call(a)


def test_3_10_a_wrong_number_of_results():
    for function, count in ((lambda x: x, 1), (lambda x: (x, x, x), 3)):
        for call in every_runner(ps.extern("s", function, [A], (n,), (ps.float32, ps.float32))):
            with refused(f"returned {count} arrays, and has 2 values", error=ps.CallTypeError):
                call(a)


def test_3_10_what_is_read_cannot_be_written():
    mine = a.copy()
    g = ps.Func("g", (n,))
    g[i] = A[i]
    for source in (A, g, ps.Const("table", a)):
        only = ps.extern("only", lambda x, y, out: x.sort(), [source, A], (n,), ps.float32)
        for call in every_runner(only):
            with pytest.raises(ValueError, match="read-only"):
                call(mine)
    assert mine.flags.writeable
    assert np.array_equal(mine, a)


class Failure(Exception):
    """What the functions here raise."""


def failing(x):
    raise Failure("inside")


def test_3_10_exceptions_pass_through_with_their_traceback():
    g, f = ps.Func("g", (n,)), ps.Func("f", (n,))
    g[i] = A[i] + 1
    f[i] = ps.extern("s", failing, [g], (n,), ps.float32)[i] + 1
    for call in every_runner(f):
        with pytest.raises(Failure, match="inside") as found:
            call(a)
        assert "failing" in [x.name for x in traceback.extract_tb(found.tb)]


def test_3_10_the_first_exception_counts_and_nothing_runs_behind_it():
    ran = []

    def second(x):
        ran.append("second")
        raise KeyError("later")

    s = ps.extern("s", failing, [A], (n,), ps.float32)
    t = ps.extern("t", second, [s], (n,), ps.float32)
    f = ps.Func("f", (n,))
    f[i] = ps.trace(t[i], "printed")
    for call in every_runner(f):
        with pytest.raises(Failure):
            call(a)
    assert not ran


def test_3_10_a_kernel_is_as_good_as_new_after_an_exception():
    fail = [True]

    def sometimes(x):
        if fail[0]:
            raise Failure
        return x * 2

    g, f = ps.Func("g", (n,)), ps.Func("f", (n,))
    g[i] = A[i] + 1
    f[i] = ps.extern("s", sometimes, [g], (n,), ps.float32)[i]
    kernel = ps.Schedule(f).compile()
    for fail[0] in (False, True, True, False):
        if fail[0]:
            with pytest.raises(Failure):
                kernel(a)
        else:
            assert np.array_equal(kernel(a), 2 * (a + 1))
    assert len(kernel._pool._free) == 1  # the scratch memory has come back each time


def test_3_10_an_exception_comes_before_divisions_by_zero():
    I = ps.Input("I", ps.int32, (n,))
    f = ps.Func("f", (n,))
    s = ps.extern("s", lambda x: x * failing(x) if x[0] else x * 1, [I], (n,), ps.int32)
    f[i] = s[i] // I[i]
    kernel = ps.Schedule(f).compile(checks=True)
    with pytest.raises(Failure):
        kernel(np.int32([1, 0]))
    with refused("2 integer divisions by zero", error=ps.CallValueError):
        kernel(np.int32([0, 0]))


def test_3_10_floating_point_errors_are_handled_as_the_caller_says():
    s = ps.extern("s", lambda x: x / np.float32(0), [A], (n,), ps.float32)
    for call in every_runner(s):
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            call(a)
        with np.errstate(divide="ignore"):
            assert np.isinf(call(a)).all()


class Unusual(BaseException):
    """Neither an Exception nor one of Python's own."""


@pytest.mark.slow
def test_3_10_whatever_is_raised_arrives():
    """Also what Python's generators take for their own end; through a kernel around it, too."""
    found = [x for x in vars(builtins).values() if isinstance(x, type)]
    kinds = [x for x in found if issubclass(x, BaseException) and not issubclass(x, UnicodeError)]
    raised = Unusual()

    def fail(x):
        raise raised

    inner = ps.Schedule(ps.extern("s", fail, [A], (n,), ps.float32)).compile()
    outer = ps.extern("s", lambda x: inner(x), [A], (n,), ps.float32)
    for kind in (Unusual, *kinds):
        group = issubclass(kind, BaseExceptionGroup)
        raised = kind("several", [ValueError()]) if group else kind()
        for call in (*every_runner(outer), inner):
            with pytest.raises(kind) as seen:
                call(a)
            assert seen.value is raised


def test_3_10_interrupts_from_inside():
    def interrupted(x):
        raise KeyboardInterrupt

    for call in every_runner(ps.extern("s", interrupted, [A], (n,), ps.float32)):
        with pytest.raises(KeyboardInterrupt):
            call(a)


def raised_natively(signal_number):
    """A C function of an Input and a Func that copies nothing and sends its thread a signal."""
    send = ctypes.cast(ctypes.CDLL(None)["raise"], ctypes.c_void_p).value
    code = compile_module(
        f"""define void @"polysched.send"(ptr %x, ptr %y, i64 %n, i64 %k) {{
          %done = call i32 inttoptr (i64 {send} to ptr)(i32 {int(signal_number)})
          ret void
        }}""",
        default_target(),
    )
    function = ctypes.CFUNCTYPE(None)(code.address("send"))
    function.code = code  # lives as long
    return function


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs a signal of the system")
def test_3_10_interrupts_while_native_code_runs():
    """Python sees a signal where it is entered next, which is a function that native code calls."""
    sent = ps.extern("sent", raised_natively(signal.SIGALRM), [A], (n,), ps.float32)
    more = ps.Func("more", (n,))
    more[i] = sent[i] * 0 + A[i]
    entered = []
    s = ps.extern("s", lambda x: entered.append(x) or x * 1, [more], (n,), ps.float32)
    kernel = ps.Schedule.default(s).compile()
    x = np.ones(3, np.float32)
    arrived = []

    def stop(*_):
        arrived.append(1)
        raise Failure

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(Failure):
            kernel(x)
        assert (arrived, entered) == ([1], [])
        signal.signal(signal.SIGALRM, lambda *_: arrived.append(2))
        assert kernel(x).shape == (3,)
        assert (arrived, len(entered)) == ([1, 2], 1)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.slow
def test_3_10_what_a_function_keeps_stays_in_memory():
    kept = []

    def keep(x):
        kept.append(x)
        return x * 2

    g = ps.Func("g", (n,))
    g[i] = A[i] + 1
    s = ps.extern("s", keep, [g], (n,), ps.float32)
    kernel = ps.Schedule(s).compile()
    kernel(np.zeros(100_000, np.float32))
    del kernel
    gc.collect()
    assert kept[0].sum() == 100_000


def test_3_10_several_threads():
    start = threading.Barrier(4)
    found = {}
    g, f = ps.Func("g", (n,)), ps.Func("f", (n,))
    g[i] = A[i] + 1

    def slow(x):
        start.wait(600)  # all are inside at once
        if x[0] == 3:
            raise Failure
        return x * 2

    f[i] = ps.extern("s", slow, [g], (n,), ps.float32)[i] - 1
    kernel = ps.Schedule(f).compile()

    def work(k):
        try:
            found[k] = kernel(np.full(50 + k, k, np.float32))
        except Failure as error:
            found[k] = error

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert isinstance(found[2], Failure)
    for k in (0, 1, 3):
        assert np.array_equal(found[k], np.full(50 + k, 2 * k + 1))


# refusals --------------------------------------------------------------------------------------
def test_3_10_refusals_of_the_declaration():
    with refused("extern s: 3 is not a function", error=ps.LanguageTypeError):
        ps.extern("s", 3, [A], (n,), ps.float32)
    with refused("extern s needs a dtype", hint="dtype=ps.float32"):
        ps.extern("s", np.sort, [A], (n,))
    with refused("the name of a Func must be a string", error=ps.LanguageTypeError):
        ps.extern(3, np.sort, [A], (n,), ps.float32)
    for reads in (A, 3, "A"):
        with refused("reads= is a list of tensors", hint="[A]", error=ps.LanguageTypeError):
            ps.extern("s", np.sort, reads, (n,), ps.float32)
    for read in (a, A[i], "A", (3, ((0, 1),))):
        with refused("extern s reads tensors, not", hint="reads=", error=ps.LanguageTypeError):
            ps.extern("s", np.sort, [read], (n,), ps.float32)


def test_3_10_refusals_of_regions():
    for region in ((0, n), ((0, n), (0, n)), ((0, n, 1),), (), 5, (n,)):
        with refused("the region of A has 1 pairs of bounds", hint="half-open"):
            ps.extern("s", np.sort, [(A, region)], (n,), ps.float32)
    for bound in (i, A[0], ps.trace(n, "n")):
        with refused("the region of A is made of sizes, Params and the loops around"):
            ps.extern("s", np.sort, [(A, ((0, bound),))], (n,), ps.float32)
    with refused("the index 1.5 is a Python float, not an integer", error=ps.LanguageTypeError):
        ps.extern("s", np.sort, [(A, ((0, 1.5),))], (n,), ps.float32)
    k = ps.RVar("k", 0, n)
    with refused("uses the RVar k"):
        ps.extern("s", np.sort, [(A, ((k, n),))], (n,), ps.float32)
    with refused("s reads A over [0, n * m), which is not affine"):
        ps.extern("s", np.sort, [(A, ((0, n * m),))], (n,), ps.float32)


def test_3_10_regions_outside_of_arrays():
    beyond = ps.extern("s", np.sort, [(A, ((0, n + 1),))], (n,), ps.float32)
    with pytest.raises(ps.LanguageError, match=r"A\[0:n \+ 1\] is read out of bounds"):
        ps.Schedule(beyond)
    with refused("A[4] is out of bounds", "A[0:n + 1], read by s", error=ps.CallValueError):
        ps.interpret(beyond, a)
    some = ps.extern("s", np.sort, [(A, ((0, m),))], (m,), ps.float32)
    assert "s reads A[0:m]" in ps.Schedule(some).conditions[0]
    with refused("out of bounds at", "s reads A[0:m]", error=ps.CallValueError):
        some(a, m=5)
    assert everywhere(lambda: some, a, m=2).tolist() == [-1, 3]


def test_3_10_it_cannot_need_itself():
    f = ps.Func("f", (n,), dtype=ps.float32)
    f[i] = ps.extern("s", np.sort, [f], (n,), ps.float32)[i]  # here
    with pytest.raises(ps.LanguageError, match="the extern stage s needs itself"):
        ps.Schedule(f)


def test_3_10_a_second_definition_is_refused():
    s = ps.extern("s", np.sort, [A], (n,), ps.float32)
    with pytest.raises(ps.LanguageError):
        s[i] = 1.0
