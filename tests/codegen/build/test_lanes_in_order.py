"""Lanes that meet in one element: floats are added one by one, unless any order will do."""

from __future__ import annotations

import numpy as np
import pytest
from gallery.execute import assert_same

import polysched as ps

n = ps.sizes("n")
k = ps.vars("k")
X, Y = ps.Input("X", ps.float32, (n,)), ps.Input("Y", ps.float32, (n,))
rng = np.random.default_rng(0)


def products(dtype: ps.DType = ps.float32) -> tuple[ps.Schedule, ps.StageHandle]:
    f, r = ps.InOut("f", dtype, (n,)), ps.RVar("k", 0, n)
    f[r] += ps.cast(dtype, X[r] * Y[r]) if dtype is not ps.float32 else X[r] * Y[r]
    s = ps.Schedule(f)
    return s, s[f].update(0)


def cut(part: ps.Expr) -> ps.Schedule:
    """Vectors of which a part is one element: all lanes are at its index, and one of them runs."""
    s, u = products()
    u.split("k", 4, tail="guard", names=("ko", "ki"))
    u.vectorize("ki")
    u.partition(part)
    return s


@pytest.mark.parametrize("part", [k == 3, k < 1, k > 7], ids=["one", "first", "last"])
def test_one_lane_of_several_keeps_its_bits(part: ps.Expr) -> None:
    s = cut(part)
    assert s.bit_exact
    kernel, plain = s.compile(), ps.Schedule(products()[0].program.outputs[0]).compile()
    for size in (1, 4, 5, 9, 40):
        x, y, z = (rng.standard_normal(size).astype("f4") for _ in range(3))
        assert_same((kernel(X=x, Y=y, f=z.copy()),), (plain(X=x, Y=y, f=z.copy()),))


def test_they_are_not_added_in_a_tree() -> None:
    assert "vector.reduce.fadd" not in cut(k == 3).compile().llvm


def total(dtype: ps.DType) -> ps.Schedule:
    x, r = ps.Input("x", dtype, (n,)), ps.RVar("r", 0, n)
    f = ps.Func("f", ())
    f[()] = 0
    f[()] += x[r]
    s = ps.Schedule(f)
    s[f].update(0).reassociate()
    s[f].update(0).vectorize("r", 8)
    return s


@pytest.mark.parametrize(("dtype", "name"), [(ps.float32, "fadd"), (ps.int32, "add")])
def test_where_any_order_will_do_they_are(dtype: ps.DType, name: str) -> None:
    assert f"vector.reduce.{name}" in total(dtype).compile().llvm
