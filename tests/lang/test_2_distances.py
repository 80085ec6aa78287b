"""Rule 2.6: absd, the distance of two values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from lang.support import FLOATS, INTEGERS, refused, run

import polysched as ps

n = ps.sizes("n")
i, j = ps.vars("i j")


def pair(s, t=None):
    return ps.Input("X", s, (n,))[i], ps.Input("Y", t or s, (n,))[i]


def of(*operands):
    f = ps.Func("f", (n,))
    f[i] = ps.absd(*operands)
    return f


def columns(t):
    near = {t.min, t.min + 1, t.max, t.max - 1, 0, 1, 2, t.max // 3}
    rows = list(itertools.product(sorted(near), repeat=2))
    return (np.array(column, t.numpy) for column in zip(*rows, strict=True))


@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_2_6_integers_are_apart_by_an_unsigned_number(t):
    f = of(*pair(t))
    assert f.dtype.name == f"uint{t.bits}"
    x, y = columns(t)
    wanted = [abs(a - b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert run(f, X=x, Y=y).tolist() == wanted


@pytest.mark.parametrize("lanes", [2, 4, 8, 32, 64])
@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_2_6_in_lanes(t, lanes):
    f = of(*pair(t))
    s = ps.Schedule(f)
    s[f].vectorize(i, lanes)
    x, y = columns(t)
    wanted = [abs(a - b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert s.compile()(X=x, Y=y).tolist() == wanted


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_2_6_floats_are_subtracted(t):
    a, b = pair(t)
    f = of(a, b)
    assert f.dtype == t
    assert "abs(X[i] - Y[i])" in str(f)
    values = np.array([0, -0.0, 1.5, -3e30, np.inf, -np.inf, np.nan], t.numpy)
    x, y = np.repeat(values, 7), np.tile(values, 7)
    with np.errstate(all="ignore"):
        wanted = np.abs(x - y)
    np.testing.assert_array_equal(run(f, X=x, Y=y), wanted)


def test_2_6_a_product_is_fused_as_in_a_difference():
    a, b = pair(ps.float32)
    assert "abs(fma(-X[i], Y[i], X[i]))" in str(of(a, a * b))
    assert "abs(X[i] - strict(X[i] * Y[i]))" in str(of(a, ps.strict(a * b)))


@pytest.mark.parametrize(
    ("s", "t", "wanted"),
    [
        (ps.int8, ps.uint8, ps.uint16), (ps.int16, ps.int64, ps.uint64),
        (ps.uint8, ps.uint32, ps.uint32), (ps.int32, ps.float32, ps.float64),
        (ps.int64, ps.uint64, ps.float64), (ps.bool_, ps.int8, ps.uint8),
    ],
)  # fmt: skip
def test_2_6_operands_are_promoted(s, t, wanted):
    assert of(*pair(s, t)).dtype == wanted


def test_2_6_literals_and_indices():
    assert of(ps.Input("X", ps.uint8, (n,))[i], 200).dtype == ps.uint8
    f = of(i, 3)
    assert f.dtype == ps.uint64
    assert run(f, n=6).tolist() == [3, 2, 1, 0, 1, 2]


def test_2_6_refuses_bools():
    with refused("absd of bools: absd(X[i] > 0, Y[i] > 0)"):
        a, b = pair(ps.int8)
        of(a > 0, b > 0)


def test_2_6_a_distance_of_indices_is_an_affine_index():
    """Which elements are read is known exactly: none of them is out of bounds."""
    x, f = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,))
    f[i] = x[ps.absd(i, n - 1)]
    s = ps.Schedule(f)
    assert "requires" not in str(s)
    s[f].vectorize(i, 4)
    np.testing.assert_array_equal(s.compile()(np.arange(9)), np.arange(9)[::-1])
    far = ps.Func("far", (n, n))
    far[i, j] = x[ps.absd(i, j + 1)]
    with pytest.raises(ps.LanguageError, match=r"far\[i=0, j=0\] touches x\[1\], at n=1"):
        far(np.arange(4))


def test_2_6_a_distance_is_bounded_by_what_data_are_declared_as():
    at = ps.Input("at", ps.uint8, (n,), range=(0, 8))
    table, f = ps.Input("table", ps.int64, (8,)), ps.Func("f", (n,))
    f[i] = table[ps.absd(at[i], 3)]
    data = np.array([0, 3, 7], np.uint8)
    assert run(f, at=data, table=np.arange(8) ** 2).tolist() == [9, 0, 16]
