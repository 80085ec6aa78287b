"""Random recurrences: an order that is accepted gives the interpreter's bits; a value that needs
itself is never computed.

Programs have one to three Funcs over two axes that read each other at random distances, guarded
so that every read is in bounds; the last plane alone, or everything, is asked for.
"""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
SIZES = [(0, 0), (1, 1), (1, 4), (3, 2), (4, 5)]


def program(seed: int) -> ps.Func | tuple[ps.Func, ...]:
    rng = random.Random(seed)
    x = ps.Input("x", ps.int32, (n, m))
    funcs = [ps.Func(f"f{k}", (n, m), dtype=ps.int32) for k in range(rng.randint(1, 3))]
    way = [rng.choice((1, -1)), rng.choice((1, -1))]
    for k, f in enumerate(funcs):
        value = x[i, j] + k
        for _ in range(rng.randint(1, 3)):
            value = value + rng.choice((1, 2, -1)) * _read(rng, funcs, k, way)
        if rng.random() < 0.3:
            f[0, j] = x[0, j]
        if rng.random() < 0.2:
            r = ps.RVar("r", 0, m)
            value = value + ps.sum(x[i, r], r)
        f[i, j] = value
    if rng.random() < 0.5:
        return tuple(funcs)
    row = ps.Func("row", (m,))
    ps.require(n >= 1, "a row", row)
    row[j] = funcs[-1][rng.choice((0, n - 1)), j]
    return row


def _read(rng: random.Random, funcs: list[ps.Func], k: int, way: list[int]) -> ps.Expr:
    """An element of some Func; mostly one that lies behind, sometimes just anything."""
    source = rng.choice(funcs)
    if rng.random() < 0.85:
        di = way[0] * rng.randint(0, 2)
        dj = (
            rng.randint(-2, 2)
            if di
            else way[1] * rng.randint(0 if source is not funcs[k] else 1, 2)
        )
    else:
        di, dj = rng.randint(-1, 1), rng.randint(-1, 1)
    a, b = i - di, j - dj
    inside = (a >= 0) & (a < n) & (b >= 0) & (b < m)
    if rng.random() < 0.2:
        inside = inside & (i % 2 == 0)
    return ps.select(inside, source[a, b], 0)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_accepted_orders_compute_what_is_meant(block: int) -> None:
    accepted = 0
    for seed in range(block * 40, block * 40 + 40):
        built = program(seed)
        try:
            kernel = ps.Schedule(built).compile()
        except ps.LanguageError as error:
            assert "needs itself" in str(error) or "no affine order" in str(error)  # noqa: PT017
            continue
        accepted += 1
        for rows, columns in SIZES:
            data = np.random.default_rng(seed).integers(-9, 9, (rows, columns)).astype(np.int32)
            if isinstance(built, ps.Func) and rows == 0:
                continue
            found, wanted = kernel(data), ps.interpret(built, data)
            for a, b in zip(_tuple(found), _tuple(wanted), strict=True):
                np.testing.assert_array_equal(a, b, err_msg=f"seed {seed} at {rows} x {columns}")
    assert accepted >= 10


@pytest.mark.slow
def test_refused_cycles_are_cycles() -> None:
    """The interpreter, which knows nothing of orders, meets every cycle that is reported."""
    cycles = 0
    for seed in range(160):
        built = program(seed)
        try:
            ps.Schedule(built)
        except ps.LanguageError as error:
            if "needs itself" not in str(error):
                continue
            cycles += 1
            with pytest.raises(ps.LanguageError, match="needs itself"):
                _interpret_somewhere(built)
    assert cycles >= 5


def _interpret_somewhere(built: ps.Func | tuple[ps.Func, ...]) -> None:
    for rows, columns in sorted(itertools.product(range(1, 7), repeat=2), key=sum):
        ps.interpret(built, np.zeros((rows, columns), np.int32))


def _tuple(found: object) -> tuple[np.ndarray, ...]:
    return found if isinstance(found, tuple) else (found,)  # type: ignore[return-value]
