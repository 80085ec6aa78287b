"""Small programs that facts are asked of and schedules are found for."""

from __future__ import annotations

import polysched as ps

n, m, q = ps.sizes("n m q")
i, j = ps.vars("i j")


def product(dtype: ps.DType = ps.float32, columns: int | ps.Size = m) -> ps.Func:
    """A matrix product, with as many columns as asked for."""
    k = ps.RVar("k", 0, q)
    a, b = ps.Input("A", dtype, (n, q)), ps.Input("B", dtype, (q, columns))
    c = ps.Func("C", (n, columns))
    c[i, j] = 0
    c[i, j] += a[i, k] * b[k, j]
    return c
