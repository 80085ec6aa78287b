"""unroll_and_jam: bodies of an outer loop together inside."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import gauss_seidel, i, plane, product
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(product())
    s["C"].update(0).unroll_and_jam(i, 2)
    listed(
        s,
        """
        for i in [0, n):
          for j in [0, m):
            C[i, j] = 0.0
        for i in [0, (n - 1) // 2 + 1):
          for j in [0, m):
            for k in [0, l):
              for ii in [0, min(n - i * 2, 2)) (unrolled):
                C[i, j] = fma(A[i, k], B[k, j], C[i, j])  # C.i = i * 2 + ii
    """,
    )


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1, 2, 3, 8])
def test_values(factor: int) -> None:
    s = ps.Schedule(product())
    s["C"].update(0).unroll_and_jam(i, factor)
    same(s, over=(0, 1, 3, 8))


@pytest.mark.slow
def test_legal_where_tiles_are() -> None:
    s = ps.Schedule(gauss_seidel())
    s["a"].unroll_and_jam("r", 3)
    same(s, over=(2, 3, 5, 9))


def test_refuses_what_tiling_would() -> None:
    s = ps.Schedule(gauss_seidel(north_east=True))
    with refused(s, "unroll_and_jam('r', 2) is refused", kind="flow"):
        s["a"].unroll_and_jam("r", 2)


def test_refuses_no_such_loop() -> None:
    s = ps.Schedule(plane())
    with refused(s, "f has no loop k", hint="i, j"):
        s["f"].unroll_and_jam("k", 2)
    with pytest.raises(TypeError, match="the factor of unroll_and_jam"):
        s["f"].unroll_and_jam(i, None)
