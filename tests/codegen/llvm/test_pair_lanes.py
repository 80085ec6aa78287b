"""Statements of bfloat16 whose lanes are computed in pairs: the same bits, and no shuffles."""

from __future__ import annotations

import inspect
import platform
from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps

n, i = ps.size("n"), ps.vars("i")
x, y = (ps.Input(name, ps.bfloat16, (n,)) for name in "xy")
v = ps.Input("v", ps.float32, (n,))
EVERY = np.arange(1 << 16, dtype=np.uint16)
OTHER = np.random.default_rng(7).permutation(EVERY)
X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="code for x86")


def single(e: ps.Expr) -> ps.Expr:
    return ps.cast(ps.float32, e)


def narrow(e: ps.Expr) -> ps.Expr:
    return ps.cast(ps.bfloat16, e)


def schedule(value: ps.Expr, lanes: int | None, target: str | None = None) -> ps.Schedule:
    f = ps.Func("f", (n,), ps.bfloat16)
    f[i] = value
    s = ps.Schedule(f, target=target)
    if lanes is not None:
        s[f].vectorize(i, lanes)
    return s


def bits(array: np.ndarray) -> np.ndarray:
    found = array.view(np.uint16)
    return np.where(found & 0x7FFF > 0x7F80, 0x7FFF, found)


def result(s: ps.Schedule, count: int = EVERY.size) -> np.ndarray:
    """The bits at all numbers, each beside another one; the last ones fill no vector."""
    given = {"x": EVERY[:count].view(ps.bfloat16.numpy), "y": OTHER[:count].view(ps.bfloat16.numpy)}
    kernel = s.compile()
    names = inspect.signature(kernel).parameters
    return bits(kernel(**{name: array for name, array in given.items() if name in names}))


VALUES: dict[str, Callable[[], ps.Expr]] = {
    "a sum": lambda: narrow(single(x[i]) + single(y[i])),
    "ties and payloads": lambda: narrow(single(x[i]) * (1 + 2.0**-7)),
    "of bfloat16": lambda: x[i] * y[i] - y[i],
    "that is exact": lambda: ps.minimum(ps.floor(x[i]), -y[i]),
    "chosen by words": lambda: narrow(
        ps.select(single(x[i]) < single(y[i]), single(x[i]) / 3, ps.sqrt(single(y[i])))
    ),
    "chosen among halves": lambda: ps.select(x[i] < y[i], x[i] + 1, y[i]),
    "by bits": lambda: narrow(
        ps.bitcast(ps.float32, ps.bitcast(ps.uint32, single(x[i])) + ps.cast(ps.uint32, 1 << 15))
    ),
    "with the number of the lane": lambda: narrow(single(x[i]) + ps.cast(ps.float32, i % 7)),
    "of what is the same": lambda: narrow(single(x[i]) * single(y[0]) + single(y[1])),
    "turned": lambda: narrow(single(x[n - 1 - i]) + single(y[i])),
    "guarded": lambda: narrow(ps.select(i >= 3, single(x[i - 3]), 1) * 3),
    "integers": lambda: narrow(ps.cast(ps.int32, x[i]) + ps.cast(ps.int32, y[i])),
    "a truth": lambda: narrow((x[i] < y[i]) | (single(x[i]) > 5)),
    "a function": lambda: narrow(ps.exp(single(x[i]))),
}


@pytest.mark.parametrize("name", VALUES)
def test_lanes_in_pairs_have_the_bits_of_one_lane(name: str) -> None:
    """Of 32 lanes, which are two registers at least, and at an end of seven."""
    count = EVERY.size - 25
    wanted = result(schedule(VALUES[name](), None), count)
    np.testing.assert_array_equal(result(schedule(VALUES[name](), 32), count), wanted)


def beside(step: int, lanes: int | None, target: str | None = None) -> ps.Schedule:
    """Three numbers that are so far from each other, the one in the middle twice."""
    z = ps.Input("z", ps.bfloat16, (n + 2 * step,))
    a, b, c = (single(z[i + k * step]) for k in range(3))
    return schedule(narrow(a - b * 3 + c / b), lanes, target)


@pytest.mark.parametrize("step", [1, 2])
def test_neighbours_have_the_bits_of_one_lane(step: int) -> None:
    given, count = OTHER.view(ps.bfloat16.numpy), OTHER.size - 25
    one, many = (beside(step, lanes).compile()(given[: count + 2 * step]) for lanes in (None, 32))
    np.testing.assert_array_equal(bits(many), bits(one))


@X86
@pytest.mark.parametrize(("target", "lanes"), [("v3", 16), ("v4", 32)])
def test_neighbours_are_widened_once(target: str, lanes: int) -> None:
    """Of three loads two share half of their numbers with the one before."""
    near, far = (beside(step, lanes, target).compile().asm for step in (1, 2))
    widened = [sum(asm.count(op) for op in ("vpslld", "vpblendw", "vpand")) for asm in (near, far)]
    assert widened[0] < widened[1]


@pytest.mark.parametrize("lanes", [16, 64])
def test_words_of_a_register_are_rounded_as_one_is(lanes: int) -> None:
    """Every upper half, with lower ones that are less than half a unit, half of one, or more."""
    lower = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    words = (EVERY.astype(np.uint32) << 16 | lower[:, None]).ravel()
    found, wanted = (
        schedule(narrow(v[i]), count).compile()(words.view(np.float32)) for count in (lanes, None)
    )
    np.testing.assert_array_equal(found.view(np.uint16), wanted.view(np.uint16))


@X86
def test_registers_of_avx512_are_rounded_without_comparisons() -> None:
    asm = schedule(VALUES["by bits"](), 32, "v4").compile().asm
    assert "vfixupimmps" in asm
    assert not any(op in asm for op in ("vcmpunordps", "vpermt2w"))


SHORT: dict[str, Callable[[], ps.Expr]] = {
    "of widened numbers": lambda: narrow(ps.sqrt(single(x[i]) * 3 - single(y[i])) / 7),
    "chosen among such": lambda: narrow(ps.select(x[i] < y[i], -single(x[i]), 2)),
    "of bfloat16": lambda: x[i] * y[i],
    "with the number of the lane": VALUES["with the number of the lane"],
}
LONG: dict[str, Callable[[], ps.Expr]] = {
    "of memory": lambda: narrow(v[i] * 3),
    "of a number from outside": lambda: narrow(single(x[i]) + ps.Param("p", ps.float32)),
    "of bits": VALUES["by bits"],
    "of both operands": lambda: narrow(ps.minimum(single(x[i]), single(y[i]))),
    "of float16": lambda: narrow(single(ps.Input("h", ps.float16, (n,))[i]) * 3),
    "of float64": lambda: narrow(single(ps.Input("d", ps.float64, (n,))[i])),
    "chosen": lambda: narrow(ps.select(x[i] < y[i], v[i], single(x[i]))),
}


@X86
@pytest.mark.parametrize("target", [pytest.param("v3", marks=pytest.mark.slow), "v4"])
def test_only_nans_that_bfloat16_has_not_are_looked_for(target: str) -> None:
    def looks(value: ps.Expr) -> bool:
        asm = schedule(value, 32, target).compile().asm
        return "vfixupimmps" in asm or "vcmpunordps" in asm

    assert [name for name, value in SHORT.items() if looks(value())] == []
    assert [name for name, value in LONG.items() if not looks(value())] == []


@pytest.mark.parametrize("lanes", [1, 16, 32])
def test_nans_of_memory_stay_nans_where_they_are_kept_in_between(lanes: int) -> None:
    """Rows on the stack: one of such sums, and one of what has been read beside them."""
    words = np.array([0x7FFFFFFF, 0xFFFF8000, 0x7F800001, 0x7FC08000, 0x3F808000], np.uint32)
    given = np.tile(words, 13).view(np.float32)
    kept, f = ps.Func("kept"), ps.Func("f", (n,), ps.bfloat16)
    kept[i] = ps.select(i % 2 == 0, v[i], v[i] + 1)
    f[i] = narrow(kept[i] + kept[ps.minimum(i, n - 1)])
    s = ps.Schedule(f)
    outer, inner = s[f].split(i, 32)
    s[kept].compute_at(f, outer).vectorize("i", lanes)
    s[f].vectorize(s[f].split(inner, lanes)[1])
    found = bits(s.compile()(given))
    np.testing.assert_array_equal(found == 0x7FFF, np.isnan(given))


@X86
@pytest.mark.parametrize(("target", "lanes"), [("v3", 16), ("v4", 32)])
def test_pairs_are_widened_and_rounded_without_shuffles(target: str, lanes: int) -> None:
    asm = schedule(narrow(single(x[i]) + single(y[i])), lanes, target).compile().asm
    for shuffle in ("vpmovzxwd", "vpermq", "vpshufb"):
        assert shuffle not in asm


@X86
@pytest.mark.parametrize("name", ["chosen among halves", "with the number of the lane"])
def test_what_is_in_the_order_of_memory_keeps_statements_in_it(name: str) -> None:
    assert "vpmovzxwd" in schedule(VALUES[name](), 16, "v3").compile().asm


@X86
def test_float32_from_memory_are_not_put_in_pairs() -> None:
    w = ps.Input("w", ps.float32, (n,))
    assert "vpmovzxwd" in schedule(narrow(single(x[i]) + w[i]), 16, "v3").compile().asm
    assert "vpmovzxwd" in schedule(narrow(single(x[i]) + 1), 8, "v3").compile().asm


def blur(lanes: int | None, is_stored: bool) -> ps.Schedule:
    """Sums of three sums, which are on the stack: in registers, or else in a row."""
    j = ps.vars("j")
    image = ps.Input("image", ps.bfloat16, (n + 2, n + 2))
    across, f = ps.Func("across"), ps.Func("f", (n, n), ps.bfloat16)
    across[i, j] = single(image[i, j]) + single(image[i, j + 1]) + single(image[i, j + 2])
    f[i, j] = narrow((across[i, j] + across[i + 1, j] + across[i + 2, j]) / 9)
    s = ps.Schedule(f)
    if lanes is None:
        return s
    *_, column, row, _ = s[f].tile(i, j, 4, lanes)
    s[f].vectorize("ji", lanes).unroll(row)
    s["across"].compute_at(f, column).vectorize("j", lanes)
    if not is_stored:
        s["across"].unroll("i")
    return s


@pytest.mark.parametrize("is_stored", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_sums_on_the_stack_are_in_pairs_too(is_stored: bool) -> None:
    for size in (1, 33, 71):
        image = ps.bfloat16.array(np.random.default_rng(size).normal(size=(size + 2, size + 2)))
        wanted = bits(blur(None, False).compile()(image))
        np.testing.assert_array_equal(bits(blur(32, is_stored).compile()(image)), wanted)
