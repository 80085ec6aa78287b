"""reassociate: a float sum in any order."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import i, n, plane, product
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(product())
    assert s["C"].update(0).reassociate().name == "C.update(0)"
    assert "  note: not bit-exact: C.update(0) may be summed in any order" in str(s)
    listed(
        s,
        """
        for i in [0, n):
          for j in [0, m):
            C[i, j] = 0.0
        for i in [0, n):
          for j in [0, m):
            for k in [0, l):
              C[i, j] = fma(A[i, k], B[k, j], C[i, j])
    """,
    )


@pytest.mark.slow
def test_it_alone_changes_nothing() -> None:
    s = ps.Schedule(product())
    s["C"].update(0).reassociate()
    assert not s.bit_exact
    same(s, over=(0, 1, 3, 8))


def test_of_a_reduction() -> None:
    x, f = ps.Input("x", ps.float64, (n, n)), ps.Func("f", (n,))
    f[i] = ps.sum(x[i, ps.RVar("k", 0, n)], ps.RVar("k", 0, n))
    s = ps.Schedule(f)
    with refused(s, "vectorize", hint="reassociate()"):
        s["f"].reduction(0).vectorize("k", 4)
    s["f"].reduction(0).reassociate().vectorize("k", 4)


@pytest.mark.parametrize("op", ["product", "difference"])
def test_frees_products_and_differences(op: str) -> None:
    x, f = ps.Input("x", ps.float64, (n,)), ps.Func("f", ())
    k = ps.RVar("k", 0, n)
    f[()] = 1.0
    if op == "product":
        f[()] *= x[k]
    else:
        f[()] -= x[k]
    s = ps.Schedule(f)
    s["f"].update(0).reassociate().transform((k,), lambda k: -k)


def test_does_not_free_what_is_no_sum() -> None:
    A, r = ps.InOut("A", ps.float64, (n,)), ps.RVar("r", 1, n)
    A[r] = A[r - 1] * 0.5 + A[r]
    s = ps.Schedule(A)
    with pytest.raises(ps.ScheduleError, match=r"A.update\(0\) is no sum"):
        s["A"].reassociate()
    with refused(s, "vectorize", kind="lane"):
        s["A"].vectorize("r", 4)


def test_frees_one_stage_alone() -> None:
    x, f, g = ps.Input("x", ps.float64, (n,)), ps.Func("f", ()), ps.Func("g", ())
    k = ps.RVar("k", 0, n)
    f[()] = 0.0
    f[()] += x[k]
    g[()] = 0.0
    g[()] += x[k]
    s = ps.Schedule((f, g))
    s["f"].update(0).reassociate()
    with refused(s, "vectorize", kind="lane"):
        s["g"].update(0).vectorize(k, 4)


def test_refuses_a_stage_that_is_gone() -> None:
    s = ps.Schedule(plane())
    f = s["f"]
    f.partition(i < 2)
    with refused(s, "there is no stage f"):
        f.reassociate()


def test_what_is_no_sum_has_no_order_to_give_up() -> None:
    s = ps.Schedule(product())
    with pytest.raises(ps.ScheduleError, match="C is no sum: it does not add to"):
        s["C"].reassociate()
    assert s.bit_exact
