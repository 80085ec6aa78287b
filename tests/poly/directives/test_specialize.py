"""specialize: variants that run where a condition on sizes and Params holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polysched as ps

from .cases import i, j, jacobi, l, m, n, plane, product
from .support import listed, refused, same


def data(rows: int, columns: int) -> np.ndarray[Any, Any]:
    return np.arange(rows * columns).reshape(rows, columns)


def test_listing() -> None:
    s = ps.Schedule(plane())
    v = s.specialize(m % 8 == 0)
    v["f"].vectorize(j, 8)
    listed(
        s,
        """
        for i in [0, n):
          for j in [0, m):
            f[i, j] = x[i, j] * 2 + i
    """,
    )
    assert "  note: where m % 8 == 0: another variant" in str(s).splitlines()
    listed(
        v,
        """
        for i in [0, n):
          for j in [0, (m - 8) // 8 + 1):
            for ji in [0, 8) (vector):
              f[i, j] = x[i, j] * 2 + i  # f.j = j * 8 + ji
        requires m % 8 == 0: assumed
    """,
    )


@pytest.mark.slow
def test_values() -> None:
    s = ps.Schedule(plane())
    s.specialize(m % 8 == 0)["f"].vectorize(j, 8)
    s.specialize(n == 1)["f"].parallel(j)
    same(s)


def test_a_call_takes_the_first_whose_condition_holds() -> None:
    ran: list[str] = []
    s = ps.Schedule(plane())
    s.specialize(m == 8)
    s.specialize(n == 1)
    kernel = s.compile()
    assert len(kernel._special) == 2
    for label, k in zip(("m == 8", "n == 1"), (x for _, x in kernel._special), strict=True):
        k._outputs = _spied(k._outputs, ran, label)
    kernel._outputs = _spied(kernel._outputs, ran, "neither")
    for shape in ((1, 8), (2, 8), (1, 9), (2, 9)):
        kernel(data(*shape))
    assert ran == ["m == 8", "m == 8", "n == 1", "neither"]


def _spied(function: Any, ran: list[str], label: str) -> Any:
    """The same function, which says that it has run."""

    def run(bound: Any) -> Any:
        ran.append(label)
        return function(bound)

    return run


def test_a_variant_has_what_came_before_and_goes_its_own_way() -> None:
    s = ps.Schedule(plane())
    s["f"].split(i, 4)
    v = s.specialize(m == 8)
    s["f"].parallel("io")
    v["f"].vectorize(j)
    assert [x.kind for x in v["f"].loops] == ["serial", "serial", "vector"]
    assert [x.kind for x in s["f"].loops] == ["parallel", "serial", "serial"]
    assert s.conditions == ()
    same(s, over=(0, 1, 7, 8))


def test_a_param() -> None:
    p, x, f = ps.Param("p", ps.int64), ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,))
    f[i] = x[i] * p
    s = ps.Schedule(f)
    s.specialize(p == 0)["f"].parallel(i)
    kernel = s.compile()
    assert [kernel(np.arange(3), p=p).tolist() for p in (0, 2)] == [[0, 0, 0], [0, 2, 4]]


def test_variants_of_variants() -> None:
    s = ps.Schedule(plane())
    v = s.specialize(m == 8)
    v.specialize(n == 1)["f"].parallel(i)
    v["f"].vectorize(j)
    same(s, over=(0, 1, 7, 8))


def test_another_order_where_the_sizes_allow_it() -> None:
    """With one step there is nothing that the second one needs."""
    s = ps.Schedule(jacobi())
    with refused(s, "is refused", kind="race"):
        s["f"].parallel("t")
    v = s.specialize(ps.size("T") <= 1)
    v["f"].parallel("t")
    same(s, over=(1, 2, 5))


# as values --------------------------------------------------------------------------------------
def test_a_copy_has_variants_of_its_own() -> None:
    s = ps.Schedule(plane())
    v = s.specialize(m == 8)
    t = s.copy()
    assert t == s
    v["f"].vectorize(j)
    assert t != s
    assert t.variants[0][1]["f"][j].kind == "serial"


def test_a_kernel_keeps_its_variants() -> None:
    """Strided arguments are compiled for when they are first met."""
    s = ps.Schedule(plane())
    v = s.specialize(m == 8)
    kernel = s.compile()
    v["f"].vectorize(j)
    kernel(data(8, 3).T[:, :8])
    assert all("(vector)" not in k.loops for _, k in kernel._special)


def test_a_result_is_bit_exact_if_it_is_in_every_variant() -> None:
    s = ps.Schedule(product())
    v = s.specialize(l >= 8)
    assert s.bit_exact
    v["C"].update(0).reassociate().vectorize("k", 8)
    assert not s.bit_exact
    assert s.broken_by == ("C.update(0)",)
    assert "note: not bit-exact: C.update(0)" in str(s)


def test_trust_in_a_variant_is_said() -> None:
    x, h = ps.Input("x", ps.int64, (n,), range=(0, n)), ps.InOut("h", ps.int64, (n,))
    r = ps.RVar("r", 0, n)
    h[x[r]] = r
    s = ps.Schedule(h)
    v = s.specialize(n >= 8)
    with v.trust("x is a permutation"):
        v["h"].parallel("r")
    assert "note: trusted, x is a permutation" in str(s)


def test_trust_does_not_go_into_variants() -> None:
    s = ps.Schedule(jacobi())
    with s.trust("of this line"):
        v, t = s.specialize(n >= 8), s.copy()
    for other in (v, t):
        with refused(other, "is refused", kind="race"):
            other["f"].parallel("t")


def test_a_kernel_for_one_size_keeps_the_variants_that_can_run() -> None:
    s = ps.Schedule(plane())
    s.specialize(m == 8)["f"].vectorize(j)
    s.specialize(n == 1)["f"].parallel(j)
    kernel = s.compile(m=16)
    assert len(kernel._special) == 1
    for shape in ((1, 16), (2, 16)):
        found = ps.interpret(s.program.outputs, data(*shape))[0]
        np.testing.assert_array_equal(kernel(data(*shape)), found)
    for shape in ((1, 8), (2, 8)):
        with pytest.raises(ps.CallError, match="assumes that m == 16"):
            kernel(data(*shape))


# refusals ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("earlier", [False, True])
def test_refuses_what_no_sizes_meet(earlier: bool) -> None:
    s = ps.Schedule(plane())
    if earlier:
        s.assume(m > 8)
    with refused(s, "no sizes meet the assumption m < ", status="malformed", kind=None, sizes={}):
        s.specialize(m < (8 if earlier else 0))
    assert s.variants == ()


def test_refuses_conditions_on_more_than_sizes() -> None:
    s = ps.Schedule(plane())
    with pytest.raises(ps.LanguageError, match="about sizes and Params, and cannot contain i"):
        s.specialize(i < 3)
    assert s.variants == ()


def test_a_variant_asks_what_it_assumes() -> None:
    s = ps.Schedule(plane())
    s.specialize(n >= 2)["f"].split(j, 4, tail="round_up")
    kernel = s.compile()
    kernel(data(1, 5))
    with pytest.raises(ps.CallError, match="j is a multiple of 4, which fails at n=2, m=5"):
        kernel(data(2, 5))


def test_refuses_a_batch_with_its_variants() -> None:
    s = ps.Schedule(plane())
    with refused(s, "f has no loop q"), s.batch():
        s.specialize(m == 8)
        s["f"].split("q", 4)
    assert s.variants == ()


def test_refuses_to_compile_an_unproven_variant() -> None:
    s = ps.Schedule(jacobi())
    v = s.specialize(n >= 8)
    with v.batch():
        v["f"].transform(("t",), lambda t: -t)
        with pytest.raises(ps.ScheduleError, match=r"in a batch is refused"):
            s.compile()
        v["f"].transform(("t",), lambda t: -t)
    s.compile()


def test_a_variant_s_refusal_beside_a_float_param() -> None:
    """The instances of a refusal are named by sizes: a float is none."""
    p, x, k = ps.Param("p", ps.float32), ps.Input("x", ps.int32, (n,), range=(0, n)), ps.vars("k")
    r = ps.RVar("r", 0, n)
    f = ps.Func("f", (n,), ps.float32)
    f[k] = p
    f[x[r]] *= 2
    s = ps.Schedule(f)
    with refused(s, "two iterations would run concurrently"):
        s["f"].update(0).parallel("r")
    v = s.specialize(n < 4)
    with refused(v, "two iterations would run concurrently"):
        v["f"].update(0).parallel("r")
