"""Rule 2.2: the dtype of a Func is given, or the least solution over all its definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from lang.support import ALL, INTEGERS, refused, run

import polysched as ps

n = ps.sizes("n")
i, j = ps.vars("i j")
X = {t: ps.Input(f"X{t}", t, (n,)) for t in ALL}


def func(dtype=None):
    return ps.Func("f", (n,), dtype=dtype)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(0, ps.int64), (0.0, ps.float64), (True, ps.bool_), (np.int8(1), ps.int8), (i, ps.int64)],
)
def test_2_2_all_weak_gives_int64_float64_or_bool(value, dtype):
    f = func()
    f[i] = value
    assert f.dtype == dtype


@pytest.mark.parametrize("t", ALL, ids=str)
def test_2_2_weak_literals_say_nothing(t):
    f = func()
    f[i] = 0.0 if t.is_float else False if t.is_bool else 0
    f[i] = ps.minimum(f[i], X[t][i])
    assert f.dtype == t


def test_2_2_counting_conditions():
    k = ps.RVar("k", 0, n)
    f = ps.Func("f", ())
    f[()] = 0
    f[()] += X[ps.float32][k] > 1
    assert f.dtype == ps.int64
    assert run(f, Xfloat32=np.float32([1, 2, 3])) == 2
    g = ps.Func("g", ())
    g[()] = 5
    g[()] -= X[ps.float32][k] > 1
    assert run(g, Xfloat32=np.float32([1, 2, 3])) == 3


@pytest.mark.parametrize("first", [0, pytest.param(0.5, marks=pytest.mark.slow), False])
def test_2_2_the_order_of_updates_does_not_matter(first):
    for size in (2, 3) if first == 0.5 else (2,):
        for types in itertools.combinations(ALL, size):
            wanted = set()
            for order in itertools.permutations(types):
                f = func()
                f[i] = first
                for t in order:
                    f[i] += X[t][i]
                wanted.add(f.dtype)
            assert len(wanted) == 1, types
            (found,) = wanted
            common = np.result_type(*(t.numpy for t in types))
            if first == 0.5 and common.kind != "f":
                assert found == ps.float64
            elif found != ps.bool_ and common.kind != "b":
                assert found.numpy == common


def test_2_2_int16_uint16_and_float32_give_float32_in_any_order():
    a, b, c = ps.int16, ps.uint16, ps.float32
    for order in itertools.permutations((a, b, c)):
        f = func()
        f[i] = 1.5
        for t in order:
            f[i] += X[t][i]
        assert f.dtype == ps.float32


def test_2_2_an_update_widens():
    f = func()
    f[i] = X[ps.int8][i]
    assert f.dtype == ps.int8
    f[i] += X[ps.int16][i]
    assert f.dtype == ps.int16
    f[i] *= X[ps.float32][i]
    assert f.dtype == ps.float32
    f[i] /= X[ps.int32][i]
    assert f.dtype == ps.float64
    a = np.int8([100]), np.int16([1000]), np.float32([1.5]), np.int32([2])
    given = dict(zip(("Xint8", "Xint16", "Xfloat32", "Xint32"), a, strict=True))
    assert run(f, **given) == (100 + 1000) * 1.5 / 2


def test_2_2_true_division_makes_a_float():
    f = func()
    f[i] = 7
    f[i] /= 2
    assert f.dtype == ps.float64
    assert run(f, n=1) == 3.5


def test_2_2_reads_of_itself_say_nothing():
    f = func()
    f[i] = X[ps.float32][i]
    f[i] = (f[i] + 0.5) * X[ps.int8][i]
    assert f.dtype == ps.float32
    g = func()
    g[i] = X[ps.uint8][i]
    g[i] = ps.maximum(g[i], 3) - ps.select(g[i] > 1, g[i], 0)
    assert g.dtype == ps.uint8


def test_2_2_written_out_updates_have_the_type_of_operators():
    for t in ALL:
        f, g = func(), func()
        for h in (f, g):
            h[i] = 1.5
        f[i] += X[t][i]
        g[i] = g[i] + X[t][i]
        assert f.dtype == g.dtype


def test_2_2_pieces_share_a_dtype():
    f = func()
    f[0] = 1
    f[n - 1] = X[ps.int8][0]
    f[i] = X[ps.uint8][i]
    assert f.dtype == ps.int16


def test_2_2_a_definition_that_spoils_an_older_one_is_refused_where_it_stands():
    f = func()
    f[i] = 6
    f[i] |= 1
    with refused(
        "this definition changes the dtype of f, and then the one at ",
        "test_2_inference.py:",
        "is wrong: | works on integers and bools, not on ",
        error=ps.LanguageTypeError,
    ):
        f[i] *= 0.5
    assert f.dtype == ps.int64
    assert run(f, n=1) == 7


# given dtypes ---------------------------------------------------------------------------------
@pytest.mark.parametrize("given", ALL, ids=str)
def test_2_2_what_does_not_cast_same_kind_is_refused(given):
    for t in ALL:
        f = func(given)
        if np.can_cast(t.numpy, given.numpy, "same_kind"):
            f[i] = X[t][i]
            continue
        what = f"computes {t}, which does not fit in {given}, the dtype of f"
        hint = f"say so explicitly: ps.cast(ps.{given}, ...)"
        with refused(f"this definition of f {what}", hint=hint, error=ps.LanguageTypeError):
            f[i] = X[t][i]
        if given.is_bool:
            continue
        f[i] = 0
        with refused("this update of f computes", hint=hint):
            f[i] += X[t][i]


def test_2_2_literals_and_given_dtypes():
    for t in ALL:
        f = func(t)
        f[i] = False
        if t.is_bool:
            with refused("computes int64, which does not fit in bool", hint="ps.bool"):
                f[i] += 1
        else:
            f[i] += 1
        if not t.is_float:
            with refused("which does not fit in"):
                f[i] += 1.5


def test_2_2_narrowing_of_one_kind_wraps_or_rounds():
    f, g = func(ps.int8), func(ps.float32)
    f[i] = X[ps.int32][i]
    g[i] = X[ps.float64][i] + 0.1
    a = np.int32([127, 128, -129, 1000])
    assert np.array_equal(run(f, Xint32=a), a.astype(np.int8))
    b = np.array([1.0, 1e-3])
    assert np.array_equal(run(g, Xfloat64=b), (b + 0.1).astype(np.float32))


def test_2_2_an_index_may_be_stored_in_any_integer():
    f = func(ps.uint8)
    f[i] = i - 1
    assert run(f, n=3).tolist() == [255, 0, 1]


def test_2_2_an_update_in_a_given_dtype_is_computed_in_the_common_one():
    """uint8 += int literal stays uint8; uint8 += uint16 is computed in uint16, then wraps."""
    f = func(ps.uint8)
    f[i] = 200
    f[i] += X[ps.uint8][i]
    f[i] = (f[i] + X[ps.uint16][i]) // 2
    a, b = np.uint8([100]), np.uint16([300])
    assert run(f, Xuint8=a, Xuint16=b) == ((200 + 100) % 256 + 300) // 2


@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_2_2_accumulation_is_in_the_type_of_the_expression(t):
    k = ps.RVar("k", 0, n)
    f, wide = ps.Func("f", ()), ps.Func("wide", (), dtype=ps.int64)
    for g in (f, wide):
        g[()] = 0
    f[()] += X[t][k]
    wide[()] += ps.cast(ps.int64, X[t][k])
    a = np.array([t.max, t.max, 3], t.numpy)
    assert f.dtype == t
    with np.errstate(over="ignore"):
        assert run(f, **{f"X{t}": a}) == np.add.reduce(a, dtype=t.numpy)
    assert run(wide, **{f"X{t}": a}) == np.add.reduce(a.astype(np.int64))


# tuples ---------------------------------------------------------------------------------------
def test_2_2_each_value_of_a_tuple_has_its_own_dtype():
    f = func()
    f[i] = (0, 0.0)
    old, total = f[i]
    f[i] = (old + X[ps.int8][i], total + X[ps.float32][i])
    assert f.dtype == (ps.int8, ps.float32)


def test_2_2_a_hundred_updates():
    f = func()
    f[i] = 0
    for k in range(100):
        f[i] += X[ps.int16][i] * k
    f[i] += X[ps.float32][i]
    assert f.dtype == ps.float32
    assert len(f.history.typed()) == 102
