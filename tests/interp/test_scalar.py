"""Scalar operators against NumPy, Python integers and rational arithmetic."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from polysched.lang.arithmetic.fma import LIBM, exact_fma, fma_function, round_fraction
from polysched.lang.arithmetic.scalar import as_value, conversion, integer_to_float, meaning
from polysched.lang.nodes import dtypes as dt
from polysched.lang.nodes.ops import FUNCTIONS, OPS

INTEGERS = [t for t in dt.ALL if t.is_int]
FLOATS = [dt.float32, dt.float64]
SPECIAL = [math.nan, -math.inf, -1.5, -0.0, 0.0, 1.5, math.inf]


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


def same(a, b) -> bool:
    """Equal bits, all NaNs being equal."""
    return type(a) is type(b) and (a == b or (a != a and b != b)) and np.signbit(a) == np.signbit(b)


def nearest(x: Fraction, t: dt.DType):
    """The float nearest to `x`, ties to even, by trying the candidates around it."""
    guess = t.numpy.type(float(x))
    candidates = [guess, np.nextafter(guess, t.numpy.type(-math.inf)),
                  np.nextafter(guess, t.numpy.type(math.inf))]  # fmt: skip
    finite = [c for c in candidates if np.isfinite(c)]
    word = np.uint32 if t.bits == 32 else np.uint64
    return min(finite, key=lambda c: (abs(Fraction(float(c)) - x), int(c.view(word)) & 1))


def corners(t: dt.DType) -> list[int]:
    near = {t.min, t.min + 1, -3, -2, -1, 0, 1, 2, 3, 7, t.max // 3, t.max - 1, t.max}
    return sorted(v for v in near if t.min <= v <= t.max)


# integers -------------------------------------------------------------------------------------
@pytest.mark.parametrize("t", [dt.int8, dt.uint8], ids=str)
@pytest.mark.parametrize(
    ("op", "ufunc"),
    [
        ("add", np.add), ("sub", np.subtract), ("mul", np.multiply),
        ("floordiv", np.floor_divide), ("mod", np.remainder), ("min", np.minimum),
        ("max", np.maximum), ("and", np.bitwise_and), ("or", np.bitwise_or),
        ("xor", np.bitwise_xor),
    ],
)  # fmt: skip
def test_eight_bits_exhaustively(t, op, ufunc):
    every = np.arange(t.min, t.max + 1).astype(t.numpy)
    expected = ufunc(every[:, None], every[None, :])
    f = meaning(op, t, t)
    values = every.tolist()
    assert [[f(a, b) for b in values] for a in values] == expected.tolist()


@pytest.mark.parametrize("t", [dt.int8, dt.uint8], ids=str)
def test_distances_of_eight_bits_exhaustively(t):
    values = np.arange(t.min, t.max + 1).tolist()
    f = meaning("absd", dt.uint8, t)
    assert all(f(a, b) == abs(a - b) <= 255 for a in values for b in values)


@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_distances_never_wrap(t):
    result = dt.concrete(dt.unsigned(t))
    f = meaning("absd", result, t)
    for a, b in itertools.product(corners(t), repeat=2):
        assert f(a, b) == max(a, b) - min(a, b) <= result.max


@pytest.mark.parametrize("t", INTEGERS, ids=str)
@pytest.mark.parametrize(
    ("op", "exact"),
    [
        ("add", lambda a, b: a + b), ("sub", lambda a, b: a - b), ("mul", lambda a, b: a * b),
        ("floordiv", lambda a, b: math.floor(Fraction(a, b)) if b else 0),
        ("mod", lambda a, b: a - b * math.floor(Fraction(a, b)) if b else 0),
    ],
)  # fmt: skip
def test_arithmetic_wraps(t, op, exact):
    f = meaning(op, t, t)
    for a, b in itertools.product(corners(t), repeat=2):
        result = f(a, b)
        assert t.min <= result <= t.max
        assert (result - exact(a, b)) % 2**t.bits == 0


@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_unary_integers(t):
    for a in corners(t):
        for op, exact in (("neg", -a), ("abs", abs(a)), ("not", -1 - a)):
            result = meaning(op, t, t)(a)
            assert t.min <= result <= t.max
            assert (result - exact) % 2**t.bits == 0


def test_smallest_integer_by_minus_one_wraps():
    assert meaning("floordiv", dt.int32, dt.int32)(-(2**31), -1) == -(2**31)
    assert meaning("mod", dt.int32, dt.int32)(-(2**31), -1) == 0


@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_shifts(t):
    left, right = meaning("shl", t, t), meaning("shr", t, t)
    for a in corners(t):
        sign = -1 if a < 0 else 0
        for count in (0, 1, t.bits - 1):
            assert (left(a, count) - a * 2**count) % 2**t.bits == 0
            assert right(a, count) == math.floor(Fraction(a, 2**count))
        for count in (t.bits, t.bits + 1, 100, -1, -t.bits):
            assert left(a, count) == 0
            assert right(a, count) == sign


def test_bools():
    table = list(itertools.product([False, True], repeat=2))
    for op, f in {
        "and": lambda a, b: a and b, "or": lambda a, b: a or b, "xor": lambda a, b: a != b,
        "min": lambda a, b: a and b, "max": lambda a, b: a or b,
    }.items():  # fmt: skip
        for a, b in table:
            result = meaning(op, dt.bool_, dt.bool_)(a, b)
            assert result is f(a, b)
    assert meaning("not", dt.bool_, dt.bool_)(True) is False


# floats ---------------------------------------------------------------------------------------
def float_samples(t: dt.DType, count: int) -> list:
    """Random bit patterns, so all exponents, and values near one another."""
    rng = np.random.default_rng(5)
    word = np.uint32 if t.bits == 32 else np.uint64
    wild = rng.integers(0, 2**t.bits, count, dtype=word).view(t.numpy)
    tame = rng.standard_normal(count).astype(t.numpy)
    return [x for x in [*wild, *tame] if np.isfinite(x)]


@pytest.mark.parametrize("t", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("op", "exact"),
    [
        ("add", lambda a, b: a + b), ("sub", lambda a, b: a - b), ("mul", lambda a, b: a * b),
        ("div", lambda a, b: a / b),
    ],
)  # fmt: skip
def test_float_arithmetic_rounds_once(t, op, exact):
    values = float_samples(t, 300)
    f = meaning(op, t, t)
    checked = 0
    for a, b in itertools.pairwise(values):
        if op == "div" and b == 0:
            continue
        x = exact(Fraction(float(a)), Fraction(float(b)))
        result = f(a, b)
        if x != 0 and np.isfinite(result):
            assert same(result, nearest(x, t))
            checked += 1
    assert checked > 200


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_square_root(t):
    for a in float_samples(t, 200):
        root = meaning("sqrt", t, t)(abs(a))
        exact = Fraction(float(abs(a)))
        below, above = (
            Fraction(float(np.nextafter(root, t.numpy.type(to)))) for to in (0, math.inf)
        )
        middle = Fraction(float(root))
        assert ((below + middle) / 2) ** 2 <= exact <= ((middle + above) / 2) ** 2
    assert np.isnan(meaning("sqrt", t, t)(t.numpy.type(-1)))


def test_division_by_zero_is_ieee():
    one, zero = np.float32(1), np.float32(0)
    assert meaning("div", dt.float32, dt.float32)(one, zero) == np.inf
    assert np.isnan(meaning("div", dt.float32, dt.float32)(zero, zero))


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_minimum_and_maximum_of_2019(t):
    """NaN wins over all, and -0 is below +0."""
    make = t.numpy.type
    for x, y in itertools.product(SPECIAL, repeat=2):
        low = meaning("min", t, t)(make(x), make(y))
        high = meaning("max", t, t)(make(x), make(y))
        if x != x or y != y:
            assert np.isnan(low)
            assert np.isnan(high)
            continue
        ordered = sorted((x, y), key=lambda v: (v, math.copysign(1, v)))
        assert same(low, make(ordered[0]))
        assert same(high, make(ordered[1]))


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_floor_division_and_remainder_are_numpys(t):
    values = np.array([*SPECIAL, 7.25, -7.25, 0.1, 1e30, -3.0], t.numpy)
    for op, ufunc in (("floordiv", np.floor_divide), ("mod", np.remainder)):
        expected = ufunc(values[:, None], values[None, :])
        for i, j in np.ndindex(expected.shape):
            assert same(meaning(op, t, t)(values[i], values[j]), expected[i, j])


def test_rounding_to_integers():
    table = [(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0), (-2.5, -2.0), (2.6, 3.0)]
    for x, expected in table:
        assert same(meaning("round", dt.float64, dt.float64)(np.float64(x)), np.float64(expected))
    assert same(meaning("ceil", dt.float32, dt.float32)(np.float32(-0.5)), np.float32(-0.0))
    assert same(meaning("floor", dt.float32, dt.float32)(np.float32(-0.5)), np.float32(-1))


def test_denormals_are_kept():
    tiny = np.float32(2.0**-149)
    assert meaning("mul", dt.float32, dt.float32)(tiny, np.float32(1)) == tiny
    assert meaning("add", dt.float32, dt.float32)(tiny, tiny) == np.float32(2.0**-148)


def test_comparisons_give_bools():
    nan, one = np.float64("nan"), np.float64(1)
    results = {op: meaning(op, dt.bool_, dt.float64)(nan, one) for op in
               ("lt", "le", "gt", "ge", "eq", "ne")}  # fmt: skip
    assert results == {
        "lt": False, "le": False, "gt": False, "ge": False, "eq": False, "ne": True,
    }  # fmt: skip
    assert all(type(r) is bool for r in results.values())


# conversions ----------------------------------------------------------------------------------
@pytest.mark.parametrize("source", FLOATS, ids=str)
@pytest.mark.parametrize("target", INTEGERS, ids=str)
def test_float_to_integer_truncates_and_saturates(source, target):
    cast = conversion(source, target)
    make = source.numpy.type
    assert cast(make(math.nan)) == 0
    assert cast(make(math.inf)) == target.max
    assert cast(make(-math.inf)) == target.min
    assert cast(make(1e30)) == target.max
    assert cast(make(-1e30)) == target.min
    assert cast(make(2.9)) == 2
    assert cast(make(-2.9)) == max(-2, target.min)


def test_an_integer_is_rounded_to_float32_once():
    """These fall on a float32 tie after rounding to float64, and not before."""
    twice = [2**54 + 2**30 + 1, 2**60 + 2**36 + 1, 2**62 + 3 * 2**38 - 1]
    differs = 0
    for a in [*twice, *(-v for v in twice), 2**24 + 1, 2**24 + 3, 2**63 - 1, 2**64 - 1, 0, 1]:
        expected = nearest(Fraction(a), dt.float32) if a else np.float32(0)
        assert same(integer_to_float(dt.float32)(a), expected)
        differs += int(np.float32(float(a)) != expected)
    assert differs >= 4, "the cases do not tell one rounding from two"


def test_integers_are_rounded_to_float32_as_by_the_processor():
    rng = np.random.default_rng(1)
    for a in rng.integers(-(2**63), 2**63 - 1, 500, dtype=np.int64):
        assert same(integer_to_float(dt.float32)(int(a)), a.astype(np.float32))


@pytest.mark.parametrize("source", INTEGERS, ids=str)
@pytest.mark.parametrize("target", INTEGERS, ids=str)
def test_integers_convert_as_numpys(source, target):
    values = corners(source)
    expected = np.array(values, source.numpy).astype(target.numpy).tolist()
    assert [conversion(source, target)(v) for v in values] == expected


def test_to_and_from_bool():
    assert conversion(dt.float32, dt.bool_)(np.float32("nan")) is True
    assert conversion(dt.float32, dt.bool_)(np.float32(-0.0)) is False
    assert conversion(dt.int8, dt.bool_)(-3) is True
    assert conversion(dt.bool_, dt.uint8)(True) == 1
    assert same(conversion(dt.bool_, dt.float32)(True), np.float32(1))


def test_bitcast():
    assert meaning("bitcast", dt.uint32, dt.float32)(np.float32(1)) == 0x3F800000
    assert same(meaning("bitcast", dt.float64, dt.int64)(-(2**63)), np.float64(-0.0))
    assert meaning("bitcast", dt.int8, dt.uint8)(255) == -1


def test_every_operator_has_a_meaning():
    """A row in the table of operators without one here would only fail when it is used."""
    for name, info in OPS.items():
        is_lazy = name in ("select", "rarely")
        if is_lazy or name in FUNCTIONS or info.rule in ("widening", "saturate"):
            continue
        of_integers = ("bits", "not", "distance", "integer", "counted")
        t = dt.uint8 if info.rule in of_integers else dt.float32
        result = dt.bool_ if info.rule == "compare" else t
        operands = [as_value(1, t)] * info.arity
        meaning(name, result, t)(*operands)


# fused multiply-add ---------------------------------------------------------------------------
@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_fma_rounds_once(t):
    """Three oracles: libm, rational arithmetic with our rounding, and nearest candidates."""
    fma, make = fma_function(t), t.numpy.type
    values = [tuple(map(make, row)) for row in LIBM[t][2]]
    samples = float_samples(t, 300)
    values += list(zip(samples, samples[1:], samples[2:], strict=False))
    for a, b, c in values:
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        result = fma(a, b, c)
        assert same(result, exact_fma(a, b, c, t))
        if exact != 0 and np.isfinite(result):
            assert same(result, nearest(exact, t))


@pytest.mark.parametrize("use", [fma_function(dt.float32), exact_fma], ids=["libm", "exact"])
def test_fma_of_float32_is_not_float64_arithmetic(use):
    """2**-24 +- 2**-60 next to one: float64 rounds the sum onto a tie of float32."""
    unit = 2.0**-30
    cases = [
        (658529 * unit, 104353 * unit, 1.0, 1 + 2.0**-23),
        (294409 * unit, 233415 * unit, 1 + 2.0**-23, 1 + 2.0**-23),
        (-658529 * unit, 104353 * unit, -1.0, -1 - 2.0**-23),
    ]
    for *row, expected in cases:
        a, b, c = map(np.float32, row)
        twice = np.float32(np.float64(a) * np.float64(b) + np.float64(c))
        assert twice != np.float32(expected), "the case does not tell one rounding from two"
        once = use(a, b, c, dt.float32) if use is exact_fma else use(a, b, c)
        assert same(once, np.float32(expected))


def test_libm_is_asked_before_it_is_trusted(monkeypatch):
    """A library whose fma rounds twice is not used."""
    from polysched.lang.arithmetic import fma as module

    def fmaf(a, b, c):
        return float(a) * float(b) + float(c)

    monkeypatch.setattr(module.ctypes, "CDLL", lambda name: SimpleNamespace(fmaf=fmaf))
    assert module._libm_function(dt.float32) is None


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_fma_of_special_values(t):
    fma, make = fma_function(t), t.numpy.type
    big = float(np.finfo(t.numpy).max)
    for row in itertools.product([*SPECIAL, big, -big], repeat=3):
        a, b, c = map(make, row)
        assert same(fma(a, b, c), exact_fma(a, b, c, t)), row


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_rational_rounding(t):
    tiny = Fraction(2) ** (-149 if t.bits == 32 else -1074)
    huge = Fraction(float(np.finfo(t.numpy).max))
    step = huge - Fraction(float(np.nextafter(t.numpy.type(float(huge)), t.numpy.type(0))))
    make = t.numpy.type
    assert same(round_fraction(tiny, t), make(float(tiny)))
    assert same(round_fraction(tiny / 2, t), make(0))
    assert same(round_fraction(tiny * Fraction(3, 2), t), make(float(2 * tiny)))
    assert same(round_fraction(-tiny * Fraction(51, 100), t), make(float(-tiny)))
    assert same(round_fraction(huge + step * Fraction(49, 100), t), make(float(huge)))
    assert same(round_fraction(huge + step / 2, t), make(math.inf))
