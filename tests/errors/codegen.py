"""Messages of kernels, of what checks them, and of machines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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


# machines -----------------------------------------------------------------------------------------
def other(**given: Any) -> ps.Target:
    return replace(ps.machine("x86-64-v3").target, **given)


@says("the cpu of a target is text, not None", ps.TargetError)
def a_target_without_a_processor() -> None:
    other(cpu=None)


@says("the vector_bytes of a target are a power of two, not 24", ps.TargetError)
def vectors_of_24_bytes() -> None:
    other(vector_bytes=24)


@says("the vector_registers of a target is a number from 1 on, not 0", ps.TargetError)
def no_registers() -> None:
    other(vector_registers=0)


@says("the features of a target are a tuple, not ['+fma']", ps.TargetError)
def features_in_a_list() -> None:
    other(features=["+fma"])


@says(
    """
    x86-64-v3 has no cache
      hint: blocks are made for one at least
    """,
    ps.TargetError,
)
def a_target_without_caches() -> None:
    other(caches=())


@says(
    """
    there is no cache 0
      at FILE:LINE
      hint: caches count from 1, at the core
    """,
    ps.LanguageError,
)
def the_cache_before_the_first() -> None:
    other().cache(0)
