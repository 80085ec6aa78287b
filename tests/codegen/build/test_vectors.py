"""Vector loops: which instructions they become, and that these mean what the scalar ones do."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.lower import assembly
from polysched.lang.nodes.dtypes import Array
from polysched.targets.host import target_of

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
SIZES = (0, 1, 3, 7, 8, 9, 31, 33)


def kernel_text(s: ps.Schedule) -> str:
    """LLVM's text of the first loop nest."""
    return s.compile().llvm.partition("unpacks the slots")[0]


def equal(s: ps.Schedule, make: Callable[[int], dict[str, Array]], sizes: tuple[int, ...]) -> None:
    """The same bits with and without lanes; whatever lies around the arrays is left alone."""
    plain, kernel = ps.Schedule(s.program.outputs).compile(), s.compile()
    for size in sizes:
        given = make(size)
        wanted, found = plain(**given), kernel(**given)
        assert np.array_equal(wanted, found, equal_nan=wanted.dtype.kind == "f"), size


def inputs(dtype: str, *lengths: Callable[[int], int]) -> Callable[[int], dict[str, Array]]:
    """Arrays a, b, ... of lengths that depend on a size."""

    def make(size: int) -> dict[str, Array]:
        numbers = np.random.default_rng(size)
        return {
            name: numbers.integers(0, 100, max(length(size), 0)).astype(dtype)
            for name, length in zip("ab", lengths, strict=False)
        }

    return make


TYPES = ("int8", "uint16", "int32", "int64", "float32", "float64")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("lanes", [2, 4, 16])
def test_contiguous_and_reversed(dtype: str, lanes: int) -> None:
    a = ps.Input("a", getattr(ps, dtype), (n,))
    f = ps.Func("f", (n,))
    f[i] = a[i] * 3 + a[n - 1 - i]
    s = ps.Schedule(f)
    s[f].vectorize(i, lanes)
    equal(s, inputs(dtype, lambda k: k), SIZES)


def test_contiguous_loads_are_vectors_and_reversed_ones_shuffled() -> None:
    a = ps.Input("a", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = a[i] + a[n - 1 - i]
    s = ps.Schedule(f)
    s[f].vectorize(i, 8)
    text = kernel_text(s)
    assert text.count("load <8 x float>, ptr") == 2
    assert "<i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>" in text
    assert "llvm.masked.store" in text


@pytest.mark.parametrize("step", [2, 3, 4, 5, -2])
def test_strided_loads(step: int) -> None:
    """By shuffles of full vectors up to 4, none of which reads beyond the last element."""
    a = ps.Input("a", ps.int32, (4 * n + 1,)) if step == -2 else ps.Input("a", ps.int32, (m,))
    f = ps.Func("f", (n,))
    f[i] = a[2 * (n - 1 - i)] if step == -2 else a[step * i]
    s = ps.Schedule(f)
    s[f].vectorize(i, 8)
    if step == -2:
        equal(s, inputs("int32", lambda k: 4 * k + 1), SIZES)
        return
    kernel, plain = s.compile(), ps.Schedule(f).compile()
    for size in SIZES[1:]:
        given = np.arange(step * (size - 1) + 1, dtype="int32")
        out = np.full(size, -1, "int32")
        assert np.array_equal(kernel(given, out=out), plain(given, out=np.empty_like(out)))
    count = kernel_text(s).count("load <8 x i32>")
    assert count == (step if step <= 4 else 0)


NEAR: dict[str, Callable[[ps.Expr], ps.Expr]] = {
    "each twice": lambda x: x // 2,
    "a neighbour and itself": lambda x: x // 2 + x % 2,
    "the other of a pair": lambda x: x // 2 * 2 + 1 - x % 2,
    "thirds": lambda x: (5 * x + 4) // 3,
    "one of a tile": lambda x: x // 8,
    "backwards in tiles": lambda x: x // 4 * 4 + 3 - x % 4,
    "uneven": lambda x: x // 16 * 16 + 3 * x % 16,
    "far apart": lambda x: 40 * (x % 2) + x // 2,
}


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("where", NEAR)
def test_loads_of_elements_near_each_other(where: str, dtype: str, lanes: int) -> None:
    """None reads beyond the first and the last one that a lane needs."""
    a = ps.Input("a", getattr(ps, dtype), (m,))
    f = ps.Func("f", (n,))
    f[i] = a[NEAR[where](i)]
    s = ps.Schedule(f)
    s[f].vectorize(i, lanes)

    def last(size: int) -> int:
        index = NEAR[where](np.arange(max(size, 1)))  # type: ignore[arg-type]
        return int(np.max(index)) + 1  # type: ignore[call-overload]

    plain, kernel = ps.Schedule(f).compile(), s.compile()
    make = inputs(dtype, last)
    for size in SIZES:
        a_ = make(size)
        assert np.array_equal(plain(n=size, **a_), kernel(n=size, **a_))


def test_loads_near_each_other_are_shuffles() -> None:
    a = ps.Input("a", ps.float32, (m,))
    f = ps.Func("f", (n,))
    f[i] = a[i // 2 + i % 2]
    s = ps.Schedule(f)
    s[f].vectorize(i, 8)
    text = kernel_text(s)
    assert "<i32 0, i32 1, i32 1, i32 2, i32 2, i32 3, i32 3, i32 0>" in text
    assert "load <4 x float>, ptr" in text


def test_what_does_not_move_is_loaded_once() -> None:
    a = ps.Input("a", ps.float32, (n,))
    f = ps.Func("f", (n, m))
    f[i, j] = a[i] * 2
    s = ps.Schedule(f)
    s[f].vectorize(j, 8)
    text = kernel_text(s)
    assert "load <8 x float>" not in text
    assert re.search(r"load float, ptr", text)
    assert "zeroinitializer" in text or "i32 0, i32 0" in text


def test_gathers_where_data_say_the_place() -> None:
    a = ps.Input("a", ps.int32, (n,))
    b = ps.Input("b", ps.float64, (n,))
    f = ps.Func("f", (n,))
    f[i] = b[ps.clip(ps.cast(ps.int64, a[i]), 0, n - 1)]
    s = ps.Schedule(f)
    s[f].vectorize(i, 4)
    kernel, plain = s.compile(), ps.Schedule(f).compile()
    for size in SIZES[1:]:
        places = np.random.default_rng(size).integers(-3, size + 3, size).astype("int32")
        values = np.random.default_rng(1).random(size)
        assert np.array_equal(kernel(places, values), plain(places, values))


def test_clamped_reads_are_vectors_away_from_the_border() -> None:
    a = ps.Input("a", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = a[ps.clip(i - 1, 0, n - 1)] + a[i] + a[ps.clip(i + 1, 0, n - 1)]
    s = ps.Schedule(f)
    s[f].vectorize(i, 8)
    equal(s, inputs("float32", lambda k: k), SIZES)
    assert kernel_text(s).count("load <8 x float>") == 3


def test_nothing_is_loaded_that_a_condition_excludes() -> None:
    """Zeros around: lanes at the border are masked, also where their arms are not taken."""
    a = ps.Input("a", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.select((i > 1) & (i < n - 2), a[i - 2] + a[i + 2], 0)
    s = ps.Schedule(f)
    s[f].vectorize(i, 8)
    equal(s, inputs("float32", lambda k: k), SIZES)


def test_lanes_read_before_any_writes() -> None:
    a = ps.InOut("a", ps.int32, (n + 1,))
    r = ps.RVar("r", 0, n)
    a[r] = a[r + 1] * 2
    s = ps.Schedule(a)
    s[a].update(0).vectorize("r", 8)
    kernel = s.compile()
    for size in SIZES:
        before = np.arange(size + 1, dtype="int32")
        after = before.copy()
        kernel(a=after)
        assert np.array_equal(after[:size], 2 * before[1:])


def test_lanes_read_before_any_writes_where_reads_are_clamped() -> None:
    a = ps.InOut("a", ps.int32, (n + 1,))
    r = ps.RVar("r", 0, n)
    a[r] = a[ps.minimum(r + 2, n)] * 2
    s = ps.Schedule(a)
    s[a].update(0).vectorize("r", 8)
    kernel = s.compile()
    for size in SIZES:
        before = np.arange(size + 1, dtype="int32")
        after = before.copy()
        kernel(a=after)
        assert np.array_equal(after[:size], 2 * before[np.minimum(np.arange(size) + 2, size)])


def test_conditions_of_inner_loops_stay_there() -> None:
    """A triangle of vectors: how far the last one goes differs from row to row."""
    a = ps.Input("a", ps.float32, (n, n))
    f = ps.Func("f", (n,), ps.float32)
    k = ps.RVar("k", 0, n)
    r = ps.RVar("r", 0, k + 1)
    f[i] = 0
    f[r] += a[k, r]
    s = ps.Schedule(f)
    u = s[f].update(0)
    u.vectorize("r", 8)
    kernel, plain = s.compile(), ps.Schedule(f).compile()
    for size in SIZES:
        given = np.random.default_rng(size).random((size, size), "float32")
        assert np.array_equal(kernel(given), plain(given))


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "float64"])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "min", "max", "fma"])
def test_lanes_that_add_to_one_element(dtype: str, op: str) -> None:
    a, b = (ps.Input(x, getattr(ps, dtype), (n,)) for x in "ab")
    f = ps.Func("f", (), getattr(ps, dtype))
    r = ps.RVar("r", 0, n)
    f[()] = {"min": 100, "max": 0 if dtype == "uint8" else -100}.get(op, 1)
    if op == "add":
        f[()] += a[r]
    elif op == "sub":
        f[()] -= a[r]
    elif op == "mul":
        f[()] *= a[r] % 2 + 1
    elif op == "min":
        f[()] = ps.minimum(f[()], a[r])
    elif op == "max":
        f[()] = ps.maximum(f[()], a[r])
    else:
        f[()] += a[r] * b[r]
    s = ps.Schedule(f)
    if dtype.startswith("float") and op not in ("min", "max"):
        s[f].update(0).reassociate()
    s[f].update(0).vectorize(r, 8)
    kernel, plain = s.compile(), ps.Schedule(f).compile()
    assert "llvm.vector.reduce" in kernel.llvm
    for size in SIZES[:-2]:
        # Of a maximum all are below 0, where there is such a thing; of a minimum all are above.
        sign = -1 if op == "max" and dtype != "uint8" else 1
        given = {"a": (sign * (np.arange(size) % 7 + 2)).astype(dtype)}
        if op == "fma":
            given["b"] = np.arange(size).astype(dtype) % 5
        assert kernel(**given) == plain(**given), size


def test_bools_take_a_byte() -> None:
    a = ps.Input("a", ps.bool_, (n,))
    f = ps.Func("f", (n,))
    f[i] = ~a[i] & a[n - 1 - i]
    s = ps.Schedule(f)
    s[f].vectorize(i, 8)
    equal(s, inputs("bool", lambda k: k), SIZES)


def test_mixed_widths() -> None:
    a, b = ps.Input("a", ps.uint8, (n,)), ps.Input("b", ps.float64, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.cast(ps.float64, a[i]) * b[i]
    s = ps.Schedule(f)
    s[f].vectorize(i, 16)
    kernel, plain = s.compile(), ps.Schedule(f).compile()
    for size in SIZES:
        x = (np.arange(size) * 37 % 256).astype("uint8")
        y = np.random.default_rng(size).random(size)
        assert np.array_equal(kernel(x, y), plain(x, y))


def test_strided_arguments() -> None:
    a = ps.Input("a", ps.float32, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = a[i, j] + 1
    s = ps.Schedule(f)
    s[f].vectorize(j, 8)
    kernel = s.compile()
    whole = np.arange(40 * 42, dtype="float32").reshape(40, 42)
    assert np.array_equal(kernel(whole[::2, ::3]), whole[::2, ::3] + 1)
    assert np.array_equal(kernel(whole.T), whole.T + 1)


@pytest.mark.parametrize("channels", [3, 4])
def test_lanes_of_fused_loops_are_next_to_each_other(channels: int) -> None:
    """Pixels and their colours, read clamped: as one row of numbers."""
    a, c = ps.Input("a", ps.float32, (n, channels)), ps.vars("c")
    f = ps.Func("f", (n, channels))
    f[i, c] = a[ps.clip(i - 1, 0, n - 1), c] + a[i, c] * a[ps.clip(i + 1, 0, n - 1), c]
    s = ps.Schedule(f)
    s[f].vectorize(s[f].fuse(i, c), 16)
    assert kernel_text(s).count("load <16 x float>") == 3
    plain, kernel = ps.Schedule(f).compile(), s.compile()
    for size in SIZES[1:]:
        given = np.random.default_rng(size).random((size, channels), "float32")
        assert np.array_equal(kernel(given), plain(given))


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_streams_where_vectors_are_aligned(dtype: str) -> None:
    """There is no such store elsewhere: that one goes through the caches."""
    a = ps.Input("a", getattr(ps, dtype), (n,))
    f = ps.Func("f", (n,))
    f[i] = a[i] + 1
    s = ps.Schedule(f)
    s[f].vectorize(i, 8).stream()
    size = 8 * np.dtype(dtype).itemsize
    assert f"align {size}, !nontemporal" in kernel_text(s)
    kernel = s.compile()
    whole = np.zeros(1000, dtype)
    given = np.arange(100).astype(dtype)
    for start in range(9):
        out = whole[start : start + 100]
        assert kernel(given, out=out).tolist() == (given + 1).tolist()
        assert not whole[:start].any()
        assert not whole[start + 100 :].any()
        out[:] = 0


def test_large_results_begin_at_a_line_of_the_cache() -> None:
    f = ps.Func("f", (n,))
    f[i] = i * 2
    for size in (0, 1, 500, 512, 4097, 100_000):
        found = ps.Schedule(f).compile()(n=size)
        assert found.tolist() == list(range(0, 2 * size, 2))
        assert found.flags.writeable
        assert found.nbytes < 4096 or found.ctypes.data % 64 == 0


INTEGERS = [getattr(ps, f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("source", [ps.float32, ps.float64], ids=str)
@pytest.mark.parametrize("to", INTEGERS, ids=str)
def test_floats_to_integers_saturate_in_all_lanes(source: ps.DType, to: ps.DType) -> None:
    x, f = ps.Input("x", source, (n,)), ps.Func("f", (n,))
    f[i] = ps.cast(to, x[i])
    ends = np.array([to.min, to.max, 0, 2.0**31, 2.0**63, 2.0**64], source.numpy)
    near = [np.nextafter(ends, source.numpy.type(d)) for d in (-np.inf, np.inf)]
    extreme = np.array([np.nan, -np.nan, np.inf, -np.inf, 1e-40, 3.0e38], source.numpy)
    values = np.concatenate([ends, *near, extreme, ends + 0.5, ends - 0.5, ends - 1, -ends])
    s = ps.Schedule(f)
    s["f"].vectorize("i", 16)
    wanted = ps.Schedule(f).compile()(values)
    assert np.array_equal(s.compile()(values), wanted)
    assert np.array_equal(ps.interpret(f, values), wanted)


@pytest.mark.parametrize("lanes", [2, 4, 8, 16, 3])
@pytest.mark.parametrize("dtype", [ps.uint8, ps.int16, ps.float32, ps.float64], ids=str)
def test_what_follows_each_other_where_data_say(dtype: ps.DType, lanes: int) -> None:
    """Runs of several lengths, with gaps, in some order; and one that data say whether to load."""
    at, table = ps.Input("at", ps.int32, (n,)), ps.Input("table", dtype, (m, 11))
    f = ps.Func("f", (n,), ps.float64)
    row = ps.clip(at[i], 0, m - 2)

    def t(k: int, column: int) -> ps.Expr:
        return ps.cast(ps.float64, table[row + k, column])

    f[i] = (
        t(0, 3) - 2 * t(0, 1) + 3 * t(0, 2) - 5 * t(0, 0) + 7 * t(0, 5) - 11 * t(1, 0)
        + 13 * t(0, 6) + ps.select(at[i] > 2, 17 * t(1, 4), t(0, 9)) - 19 * t(0, 7) + t(1, 3)
    )  # fmt: skip
    s = ps.Schedule(f)
    s["f"].vectorize("i", lanes)
    if lanes == 16:
        assert re.search("load <4 x", kernel_text(s))
        assert re.search("load <2 x", kernel_text(s))
    rng = np.random.default_rng(lanes)
    for count, rows in ((1, 2), (lanes, 3), (37, 9)):
        data = {
            "at": rng.integers(-3, rows + 3, count).astype("i4"),
            "table": rng.integers(0, 100, (rows, 11)).astype(dtype.numpy),
        }
        assert np.array_equal(s.compile()(**data), ps.interpret(f, **data))


def test_where_a_condition_holds_for_all_lanes_and_where_it_does_not() -> None:
    """What is loaded inside of a branch, here where lanes are, is not known behind it."""
    x = ps.Input("x", ps.int32, (n,), range=(0, 16))
    y, z = (ps.Input(name, ps.float32, (n, 32)) for name in "yz")
    g, f = ps.Func("g"), ps.Func("f", (n, 16))
    g[i] = x[i] + 1
    at = ps.clip(g[i], 0, 16) + j
    f[i, j] = z[i, at] + ps.select(i >= 1, y[i - 1, at], 0.0) + ps.select(i >= 2, y[i - 2, at], 1.0)
    s = ps.Schedule(f)
    s[g].compute_root()
    s[f].vectorize(j, 16)
    rng = np.random.default_rng(0)
    given = {"x": rng.integers(0, 16, 5).astype(np.int32)}
    given |= {name: rng.random((5, 32), np.float32) for name in "yz"}
    assert np.array_equal(s.compile()(**given), ps.interpret(f, **given))


# narrow stores ----------------------------------------------------------------------------------
def behind_the_first_column(dtype: ps.DType, lanes: int) -> ps.Schedule:
    """The first iteration of a row has one lane less than a vector, where rows are long."""
    x, f = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n, m), dtype)
    f[i, 0] = ps.cast(dtype, 1)
    f[i, j] = ps.cast(dtype, 1000 * i + j + x[i])
    s = ps.Schedule(f)
    s["f.piece(1)"].vectorize("j", lanes)
    return s


@pytest.mark.parametrize("dtype", [ps.int8, ps.uint16, ps.int32, ps.bool], ids=str)
@pytest.mark.parametrize("lanes", [2, 3, 16, 64])
def test_masked_stores_of_narrow_integers(dtype: ps.DType, lanes: int) -> None:
    """LLVM makes one wide store of one lane: what lies behind the array would change, too."""
    s = behind_the_first_column(dtype, lanes)
    kernel = s.compile()
    x = np.arange(5)
    for columns in (1, 2, 3, lanes, lanes + 1, 2 * lanes + 1):
        memory = np.zeros(5 * columns + 16, dtype.numpy)
        found = kernel(x, out=memory[: 5 * columns].reshape(5, columns))
        wanted = ps.interpret(s.program.outputs[0], x=x, m=columns)
        assert np.array_equal(found, wanted)
        assert not memory[5 * columns :].any()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="makes x86 code")
def test_no_store_is_wider_than_what_is_stored() -> None:
    """Also where this machine has no AVX-512, which it takes."""
    text = assembly(behind_the_first_column(ps.int8, 2).loop_program, target_of("x86-64-v4"))
    stores = re.findall(
        r"^\s+(\S+)\s+(?:\$\d+, )?%[xyz]mm\d+, \S*\(%(?!rsp|rbp)", text, re.MULTILINE
    )
    assert "vpmovqb" in stores
    assert not {"vmovq", "vmovlps", "vpextrq"} & set(stores)
