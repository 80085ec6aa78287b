"""Small programs for the tests of kernels on disk."""

from __future__ import annotations

from typing import Any

import numpy as np

import polysched as ps


def product(scale: Any = 1, dtype: Any = ps.float32, name: str = "C") -> ps.Func:
    """A matrix product."""
    n, p, m = ps.sizes("n p m")
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, p)
    a, b = ps.Input("A", dtype, (n, p)), ps.Input("B", dtype, (p, m))
    c = ps.Func(name, (n, m))
    c[i, j] = 0
    c[i, j] += a[i, k] * b[k, j] * scale
    return c


def gathered() -> ps.Func:
    """A gather from a table: data are checked at each call."""
    (n,), i = (ps.sizes("n"),), ps.vars("i")
    where = ps.Input("where", ps.int32, (n,))
    table = ps.Input("table", ps.float32, (ps.size("m"),))
    f = ps.Func("f", (n,))
    f[i] = table[where[i]] * 2
    return f


def smoothed(weights: Any = (1.0, 2.0, 1.0)) -> ps.Func:
    """Two stages, a table of constants, scratch memory and a precondition."""
    n, i = ps.sizes("n"), ps.vars("i")
    k = ps.RVar("k", 0, 3)
    x = ps.Input("x", ps.float64, (n,))
    w = ps.Const("w", np.array(weights))
    first, f = ps.Func("first"), ps.Func("f", (n - 4,))
    first[i] = x[i] * x[i] + 1
    f[i] = 0
    f[i] += first[i + k] * w[k] + first[i + k + 2]
    return f


def arrays(seed: int = 0, size: int = 37) -> tuple[np.ndarray, np.ndarray]:
    """Arguments of a product."""
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal((size, size)).astype(np.float32) for _ in range(2))  # type: ignore[return-value]
