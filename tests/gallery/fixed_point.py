"""Images in fixed point: saturating and rounding arithmetic of short integers."""

from __future__ import annotations

import numpy as np

import polysched as ps

from .case import Arguments, Array, Case, integers

BITS = 8
"""Digits of the coefficients behind the point."""
LUMA, RED, GREEN, BLUE = 298, (0, 409), (-100, -208), (517, 0)
"""BT.601 in studio range: what a step of luma adds, and one of each difference of colours."""


def yuv_to_rgb() -> tuple[ps.Func, ps.Func, ps.Func]:
    """Three planes of colour from luma and two differences of colours, in 16 bits throughout."""
    h, w = ps.sizes("h w")
    y, x = ps.vars("y x")

    def above(name: str, zero: int) -> ps.Expr:
        return ps.cast(ps.int16, ps.Input(name, ps.uint8, (h, w))[y, x]) - zero

    luma, u, v = above("Y", 16), above("U", 128), above("V", 128)

    def times(value: ps.Expr, coefficient: int) -> ps.Expr:
        return ps.rounding_mul_shift_right(value << (15 - BITS), coefficient, 15)

    def plane(name: str, of_u: int, of_v: int) -> ps.Func:
        f = ps.Func(name, (h, w))
        colour = ps.saturating_add(times(u, of_u), times(v, of_v))
        f[y, x] = ps.saturating_cast(ps.uint8, ps.saturating_add(times(luma, LUMA), colour))
        return f

    return plane("R", *RED), plane("G", *GREEN), plane("B", *BLUE)


def _make_yuv(rng: np.random.Generator, h: int, w: int) -> Arguments:
    return {name: integers(rng, np.uint8, h, w) for name in "YUV"}


def _yuv(Y: Array, U: Array, V: Array) -> tuple[Array, ...]:
    """In integers that hold everything, by a division that rounds down."""
    luma, u, v = (c.astype(np.int64) - zero for c, zero in ((Y, 16), (U, 128), (V, 128)))

    def times(value: Array, coefficient: int) -> Array:
        return (value * coefficient + (1 << (BITS - 1))) // (1 << BITS)

    return tuple(
        np.clip(times(luma, LUMA) + times(u, a) + times(v, b), 0, 255).astype(np.uint8)
        for a, b in (RED, GREEN, BLUE)
    )


CASES = (
    Case(
        name="yuv_to_rgb", build=yuv_to_rgb, sizes="h w", make=_make_yuv, reference=_yuv,
        tags="integer multiple",
    ),
)  # fmt: skip
