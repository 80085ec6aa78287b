"""Sorting in place, by ordered blocks."""

from __future__ import annotations

import numpy as np

import polysched as ps

from .case import Array, Case, integers, normal


def bitonic_sort(length: int = 16) -> ps.Func:
    """Each row sorted by a bitonic network; the length of a row is a power of two.

    Stage by stage, the elements at a distance are compared and exchanged: upwards in blocks of
    even number, downwards in the others.
    """
    m = ps.sizes("m")
    rows = ps.InOut("rows", ps.int32, (m, length))
    y, q = ps.vars("y q")

    block = 2
    while block <= length:
        distance = block // 2
        while distance:
            first = q // distance * (2 * distance) + q % distance
            with ps.sequential():
                low = ps.Func("low", (m, length // 2))
                high = ps.Func("high", (m, length // 2))
                a, b = rows[y, first], rows[y, first + distance]
                upwards = first // block % 2 == 0
                low[y, q] = ps.select(upwards, ps.minimum(a, b), ps.maximum(a, b))
                high[y, q] = ps.select(upwards, ps.maximum(a, b), ps.minimum(a, b))
                rows[y, first] = low[y, q]
                rows[y, first + distance] = high[y, q]
            distance //= 2
        block *= 2
    return rows


def odd_even_sort() -> ps.Func:
    """A vector sorted in as many rounds as it has elements: neighbours change places."""
    n = ps.sizes("n")
    x = ps.InOut("x", ps.float32, (n,))
    i = ps.vars("i")
    with ps.sequential("t", 0, n) as t:
        old = ps.Func("old", (n,))
        old[i] = x[i]
        left, right = ps.clip(i - 1, 0, n - 1), ps.clip(i + 1, 0, n - 1)
        x[i] = ps.select(
            (i + t) % 2 == 0, ps.minimum(old[i], old[right]), ps.maximum(old[left], old[i])
        )
        # At the ends there may be no partner: the clamped one is the element itself.
    return x


def _rows(rng: np.random.Generator, m: int) -> dict[str, Array]:
    return {"rows": integers(rng, np.int32, m, 16)}


CASES: tuple[Case, ...] = (
    Case(
        name="bitonic_sort",
        build=bitonic_sort,
        sizes="m",
        make=_rows,
        reference=lambda rows: np.sort(rows, axis=1),
        tags="integer inplace",
    ),
    Case(
        name="odd_even_sort",
        build=odd_even_sort,
        sizes="n",
        make=lambda rng, n: {"x": normal(rng, n)},
        reference=lambda x: np.sort(x),
        tags="float inplace",
        large=129,
    ),
)
