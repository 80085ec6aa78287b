"""Which iterations nothing orders, and which of them have storage of their own."""

from __future__ import annotations

import gc
import weakref

import numpy as np

import polysched as ps

from ..directives.support import refused, same

n = ps.sizes("n")
i, j = ps.vars("i j")


def stored_inside() -> ps.Schedule:
    """Each iteration of i stores `c`; each one of r overwrites what the one before it reads."""
    x, c, f = ps.Input("x", ps.int64, (5,)), ps.Func("c"), ps.Func("f", (n,))
    r = ps.RVar("r", 0, 4)
    c[j] = x[j]
    c[r] = c[r + 1] * 2
    f[i] = c[0] + c[1] + c[4]
    s = ps.Schedule(f)
    s["c"].compute_at("f", "i")
    return s


def test_iterations_around_storage_each_have_their_own() -> None:
    s = stored_inside()
    s["f"].parallel("i")
    same(s)


def test_iterations_directly_inside_of_storage_share_it() -> None:
    s = stored_inside()
    with refused(
        s, "two iterations would run concurrently", "reads c[1]", "writes it", kind="race"
    ):
        s["c.update(0)"].parallel("r")


def test_what_is_found_of_orders_goes_with_the_program() -> None:
    """Also the arrays that are part of it. The last definition that was made is kept by others."""

    def made() -> list[weakref.ref[object]]:
        n, i = ps.size("n"), ps.vars("i")
        x, table = ps.Input("x", ps.int32, (n + 2,)), ps.Const("table", np.arange(10))
        g, f = ps.Func("g"), ps.Func("f", (n,))
        g[i] = x[i] + x[i + 1]
        f[i] = g[i] + g[i + 1] + table[ps.clip(i, 0, 9)]
        s = ps.Schedule(f)
        s[f].split(i, 8)
        s[g].compute_at(f, "io")
        s[f].parallel("io")
        return [weakref.ref(f), weakref.ref(table)]

    first = made()
    made()
    gc.collect()
    assert [x() for x in first] == [None, None]
