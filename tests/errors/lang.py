"""Messages of the language and of calls."""

from __future__ import annotations

import numpy as np

import polysched as ps

from .case import says

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
NARROW = ps.cast(ps.int64, ps.cast(ps.int32, n))


@says(
    """
    the region of g that is needed follows from itself: g is a recurrence inside a sequential \
and has no shape
      at FILE:LINE
      hint: declare it: ps.Func('g', (n, m))
    """,
    ps.LanguageError,
)
def recurrence_without_a_shape_in_a_sequential() -> None:
    a, g = ps.InOut("a", ps.float32, (n,)), ps.Func("g")
    with ps.sequential("t", 0, n) as t:
        g[i] = ps.select(i == 0, a[t], g[ps.maximum(i - 1, 0)])
        a[t] = g[t]
    ps.Schedule(a)


@says(
    """
    shape= names 'q', which is no output
      hint: outputs are f; an InOut is updated in place
    """,
    ps.CallTypeError,
)
def shape_of_what_is_no_output() -> None:
    f = ps.Func("f", dtype=ps.float32)
    f[i] = 1.0
    ps.interpret(f, shape={"q": (3,)})


@says(
    """
    n ^ 1 on the left of f is not affine in sizes
      at FILE:LINE
    """,
    ps.LanguageError,
    file="sched/poly/model/pieces.py",
)
def constant_of_a_piece_that_is_not_affine() -> None:
    f = ps.Func("f", (n,), ps.float32)
    f[n ^ 1] = 1.0
    f[i] = 0.0
    ps.Schedule(f)


@says(
    """
    e reads x over [0, n ^ 1), which is not affine in sizes
      at FILE:LINE
    """,
    ps.LanguageError,
    file="sched/poly/model/domains.py",
)
def region_of_an_extern_that_is_not_affine() -> None:
    x = ps.Input("x", ps.float32, (n,))
    ps.Schedule(ps.extern("e", abs, [(x, ((0, n ^ 1),))], (n,), ps.float32))


@says(
    """
    the extent n ^ 1 of x is not affine in sizes
      at FILE:LINE
      hint: make it a size of its own: nz = ps.size('nz', default=...)
    """,
    ps.LanguageError,
    file="sched/poly/model/space.py",
)
def extent_that_is_not_affine() -> None:
    x, f = ps.Input("x", ps.float32, (n ^ 1,)), ps.Func("f", (n,))
    f[i] = x[0]
    ps.Schedule(f)


@says(
    """
    the bound int64(int32(n)) of sequential('t', 0, int64(int32(n))) may not fit in 64 bits: \
int32(n), where sizes are below 2**40 and loops within 2**44 of 0
      at FILE:LINE
      hint: make it a size of its own: nz = ps.size('nz', default=...)
    """,
    ps.LanguageError,
)
def bound_of_a_sequential_that_may_wrap() -> None:
    a = ps.InOut("a", ps.float32, (n,))
    with ps.sequential("t", 0, NARROW):
        a[0] += 1
    ps.Schedule(a)


@says(
    """
    the bounds of the RVar k are not affine in sizes, Vars and RVars: [0, n ^ 1)
      at FILE:LINE
      hint: run over an affine range and restrict it: ps.RVar('k', 0, n, where=lambda k: ...)
    """,
    ps.LanguageError,
    file="sched/poly/model/domains.py",
)
def bound_of_an_rvar_that_only_proofs_find_not_affine() -> None:
    f = ps.Func("f", (), ps.int64)
    f[()] = 0
    f[()] += ps.RVar("k", 0, n ^ 1)
    ps.Schedule(f)


def filled(second: object) -> None:
    """Fills two arrays of an output with two values."""
    f = ps.Func("f", (n,), dtype=(ps.int32, ps.int32))
    f[i] = (i, i)
    ps.interpret(f, out=(np.empty(3, np.int32), second))


@says(
    """
    out= of f, value 1, is a list, not an array
      hint: np.empty(shape, np.int32)
    """,
    ps.CallTypeError,
)
def second_value_into_a_list() -> None:
    filled([1, 2, 3])


@says(
    """
    out= of f, value 1, is read-only
      hint: pass a writable array
    """,
    ps.CallValueError,
)
def second_value_into_a_read_only_array() -> None:
    filled(np.broadcast_to(np.int32(0), 3))


@says(
    """
    the name of an RVar must be a string, not 3
      at FILE:LINE
    """,
    ps.LanguageTypeError,
)
def number_as_a_name() -> None:
    ps.RVar(3, 0, n)
