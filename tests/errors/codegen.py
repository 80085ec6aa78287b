"""Messages of kernels, and of what checks them."""

from __future__ import annotations

import polysched as ps
from polysched.testing import check

from .case import says

n = ps.sizes("n")
i, j = ps.vars("i j")


@says(
    """
    the output f of shape (549755813888, 549755813888) does not fit into memory: Maximum allowed \
dimension exceeded
      hint: ask for smaller sizes, or pass out= with a memory-mapped array
    """,
    ps.CallValueError,
)
def output_larger_than_any_memory() -> None:
    f = ps.Func("f", (n, n))
    f[i, j] = 1.0
    ps.Schedule(f).compile()(n=2**39)


@says(
    """
    no small sizes were found that the schedule takes and at which anything runs
      hint: give some: check(s, sizes={...})
    """,
    ps.CallValueError,
)
def check_without_sizes() -> None:
    f = ps.Func("f", (n,), ps.int32)
    f[i] = 1
    ps.require(n * n == 2, "a size that there is not")
    check(ps.Schedule(f))


@says(
    """
    checks=True counts nothing in the bounds and conditions of loops, where m of n // m in f.update\
(0) may be 0
      at FILE:LINE
      hint: ps.maximum(m, 1) may not; or leave out checks=True
    """,
    ps.LanguageError,
)
def division_that_cannot_be_counted() -> None:
    f = ps.Func("f", ())
    f[()] = 0
    f[()] += ps.RVar("r", 0, n // ps.size("m"))
    ps.Schedule(f).compile(checks=True)
