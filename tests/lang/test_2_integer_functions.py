"""Rule 2.6: functions of integers, as users write them: types, counts, literals, indices."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from fuzz.meaning.integers import OF_INTEGERS, saturated
from lang.support import INTEGERS, at_points, refused, run

import polysched as ps

n = ps.sizes("n")
i = ps.vars("i")

OF_TWO = (
    "saturating_add", "saturating_sub", "saturating_mul", "halving_add", "rounding_halving_add",
)  # fmt: skip
OF_ONE = ("popcount", "clz", "ctz", "bit_reverse", "byte_swap")
SHIFTS = ("rotate_left", "rotate_right", "rounding_shift_right")
PRODUCTS = ("mul_shift_right", "rounding_mul_shift_right")


def columns(t: ps.DType) -> tuple[np.ndarray, np.ndarray]:
    near = [t.min, t.min + 1, t.max, t.max - 1, 0, 1, 2, t.max // 3, t.max // 2 + 1]
    values = np.array(near, t.numpy)
    return np.repeat(values, len(near)), np.tile(values, len(near))


def pair(s, t=None):
    return ps.Input("X", s, (n,))[i], ps.Input("Y", t or s, (n,))[i]


def of(value):
    f = ps.Func("f", (n,))
    f[i] = value
    return f


def values(f, x, y=None, lanes=None):
    """In vectors, if lanes are given; the interpreter must say the same."""
    given = {"X": x} if y is None else {"X": x, "Y": y}
    if lanes is None:
        return run(f, **given).tolist()
    s = ps.Schedule(f)
    s[f].vectorize(i, lanes)
    return s.compile()(**given).tolist()


@pytest.mark.parametrize("lanes", [None, 8], ids=str)
@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_2_6_all_types(t, lanes):
    x, y = columns(t)
    a, b = pair(t)
    for name in OF_TWO:
        f = of(getattr(ps, name)(a, b))
        assert f.dtype == t
        wanted = [OF_INTEGERS[name](t.name, int(p), int(q)) for p, q in zip(x, y, strict=True)]
        assert values(f, x, y, lanes) == wanted, name
    for name in OF_ONE:
        f = of(getattr(ps, name)(a))
        assert f.dtype == t
        assert values(f, x, None, lanes) == [OF_INTEGERS[name](t.name, int(p)) for p in x], name


@pytest.mark.parametrize("counted", [ps.int8, ps.uint64], ids=str)
@pytest.mark.parametrize("t", [ps.uint8, ps.int16, ps.int64], ids=str)
def test_2_6_counts_are_of_any_type_and_say_nothing_of_the_result(t, counted):
    """Also those that the type of the value does not hold, or that are below 0."""
    x = np.array([t.min, t.max, 5, 77], t.numpy)
    counts = [0, 1, 7, 8, 15, 16, 63, 64, 127, -1, -9, 2**63 + 3]
    counts = [k for k in counts if counted.min <= k <= counted.max]
    x, y = np.repeat(x, len(counts)), np.tile(np.array(counts, counted.numpy), len(x))
    a, k = pair(t, counted)
    for name in SHIFTS:
        f = of(getattr(ps, name)(a, k))
        assert f.dtype == t
        wanted = [OF_INTEGERS[name](t.name, int(p), int(q)) for p, q in zip(x, y, strict=True)]
        assert values(f, x, y) == wanted, name
    for name in PRODUCTS:
        f = of(getattr(ps, name)(a, a, k))
        assert f.dtype == t
        rows = zip(x.tolist(), y.tolist(), strict=True)
        assert values(f, x, y) == [OF_INTEGERS[name](t.name, p, p, q) for p, q in rows], name


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 16, 255, -1, -300])
def test_2_6_literal_counts(count):
    x = np.arange(-128, 128).astype(np.int8)
    a = ps.Input("X", ps.int8, (n,))[i]
    for name in SHIFTS:
        f = of(getattr(ps, name)(a, count))
        assert values(f, x) == [OF_INTEGERS[name]("int8", int(p), count) for p in x], name
    for name in PRODUCTS:
        f = of(getattr(ps, name)(a, 100, count))
        assert values(f, x) == [OF_INTEGERS[name]("int8", int(p), 100, count) for p in x], name


@pytest.mark.parametrize("source", [*INTEGERS, ps.float32, ps.bool_], ids=str)
def test_2_6_a_saturating_cast_gives_the_nearest_value(source):
    x = columns(source)[0] if source.is_int else np.array([0, 1, 1], source.numpy)
    if source.is_float:
        x = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 2.9, -2.9], source.numpy)
    a = ps.Input("X", source, (n,))[i]
    for to in INTEGERS:
        f = of(ps.saturating_cast(to, a))
        assert f.dtype == to
        assert values(f, x) == [saturated(p, to.name) for p in x.tolist()], to


@pytest.mark.parametrize("t", [t for t in INTEGERS if t.bits < 64], ids=str)
def test_2_6_widening_holds_all_sums_and_products(t):
    x, y = columns(t)
    a, b = pair(t)
    exact = list(zip(x.tolist(), y.tolist(), strict=True))
    for name, wanted in (
        ("widening_add", [p + q for p, q in exact]),
        ("widening_mul", [p * q for p, q in exact]),
    ):
        f = of(getattr(ps, name)(a, b))
        assert (f.dtype.kind, f.dtype.bits) == (t.kind, 2 * t.bits)
        assert values(f, x, y) == wanted, name


@pytest.mark.parametrize(
    ("s", "t", "wanted"),
    [
        (ps.int8, ps.uint8, ps.int16), (ps.uint16, ps.int64, ps.int64),
        (ps.uint8, ps.uint32, ps.uint32),
    ],
)  # fmt: skip
def test_2_6_operands_are_promoted_first(s, t, wanted):
    a, b = pair(s, t)
    for name in OF_TWO:
        assert of(getattr(ps, name)(a, b)).dtype == wanted
    assert of(ps.mul_shift_right(a, b, 3)).dtype == wanted
    assert of(ps.rotate_left(a, b)).dtype == s


def test_2_6_literals_take_the_type_of_their_neighbours():
    x = np.array([0, 200, 255], np.uint8)
    a = ps.Input("X", ps.uint8, (n,))[i]
    assert at_points(ps.saturating_add(a, 100), X=x).tolist() == [100, 255, 255]
    assert at_points(ps.clz(i), 4).tolist() == [64, 63, 62, 62]
    assert at_points(ps.saturating_cast(ps.uint8, 300), 1).tolist() == [255]
    with refused("the literal 256 does not fit in uint8"):
        of(ps.saturating_add(a, 256))


def test_2_6_printing_and_pickling_keep_the_functions():
    a, b = pair(ps.int16)
    for value in (
        ps.saturating_cast(ps.uint8, a), ps.widening_mul(a, b), ps.rotate_left(a, i),
        ps.rounding_mul_shift_right(a, b, 15),
    ):  # fmt: skip
        f = of(value)
        again = pickle.loads(pickle.dumps(f))
        assert str(again) == str(f)
        scope: dict[str, object] = {}
        exec(ps.Schedule(f).source(program=True), scope)
        assert any(isinstance(x, ps.Func) and str(x) == str(f) for x in scope.values())
    assert repr(ps.saturating_cast(ps.uint8, a)) == "saturating_cast(uint8, X[i])"


def test_2_6_values_as_indices_have_bounds():
    x = ps.Input("x", ps.uint32, (n,))
    table = ps.Input("table", ps.int64, (33,))
    f = of(table[ps.clz(x[i])] + table[ps.popcount(x[i])])
    data = np.array([0, 1, 2**32 - 1], np.uint32)
    assert run(f, x=data, table=np.arange(33) ** 2).tolist() == [32**2, 31**2 + 1, 32**2]
    short = ps.Input("short", ps.int64, (32,))
    with pytest.raises(ps.LanguageError, match="clz"):
        of(short[ps.clz(x[i])])(x=data, short=np.arange(32))


def test_2_6_means_of_indices_are_affine_indices():
    """What is read is known exactly: a size larger by one is not asked for."""
    x, f = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,))
    f[i] = x[ps.halving_add(i, n - 1)] + x[ps.saturating_sub(n - 1, i)]
    assert "requires" not in str(ps.Schedule(f))
    given = np.arange(9) ** 2
    at = np.arange(9)
    np.testing.assert_array_equal(run(f, x=given), given[(at + 8) // 2] + given[8 - at])
    far = ps.Func("far", (n,))
    far[i] = x[ps.rounding_halving_add(i, n)]
    with pytest.raises(ps.LanguageError, match=r"far\[i=0\] touches x\[1\], at n=1"):
        far(given)


def test_2_6_refuses_what_is_no_integer():
    a, b = pair(ps.float32)
    with refused("popcount works on integers, not on float32: popcount(X[i])", hint="bitcast"):
        of(ps.popcount(a))
    with refused("saturating_add of bools: saturating_add(X[i] > 0, Y[i] > 0)"):
        of(ps.saturating_add(a > 0, b > 0))
    whole = ps.Input("W", ps.int32, (n,))[i]
    with refused("the count of rotate_left is float32, not an integer: X[i]", hint="ps.int32"):
        of(ps.rotate_left(whole, a))
    with refused("saturating_cast to float32, which is no integer type", hint="ps.cast(ps.float32"):
        of(ps.saturating_cast(ps.float32, whole))


def test_2_6_refuses_types_that_nothing_holds():
    a, b = pair(ps.int64, ps.uint64)
    with refused("no integer type holds int64 and uint64: halving_add(X[i], Y[i])", hint="uint64"):
        of(ps.halving_add(a, b))
    with refused("widening_mul of int64, which has 64 bits", hint="ps.mul_shift_right"):
        of(ps.widening_mul(a, a))
    with refused("X[i] is not an element type: the dtype comes first", hint="(ps.uint8, x)"):
        ps.saturating_cast(a, ps.uint8)
