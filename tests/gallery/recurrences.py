"""Running sums and recursive filters: each value follows from its neighbour's."""

from __future__ import annotations

import numpy as np
import scipy  # `scipy.signal` takes a second to import: where it is used first

import polysched as ps

from .case import Array, Case, integers, normal, uniform


def running_sum() -> ps.Func:
    """S[i] = S[i - 1] + x[i]."""
    n = ps.sizes("n")
    x = ps.Input("x", ps.int64, (n,))
    i = ps.vars("i")

    S = ps.Func("S", (n,))
    S[i] = x[i] + ps.select(i > 0, S[i - 1], 0)
    return S


def running_sum_of_rows() -> ps.Func:
    """The running sum of each row, from its right end."""
    n, m = ps.sizes("n m")
    x = ps.Input("x", ps.int32, (n, m))
    i, j = ps.vars("i j")

    S = ps.Func("S", (n, m))
    S[i, m - 1] = x[i, m - 1]
    S[i, j] = S[i, j + 1] + x[i, j]
    return S


def summed_areas() -> ps.Func:
    """The sum of all pixels above and to the left of each, modulo 2^32."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.uint8, (h, w))
    y, x = ps.vars("y x")

    S = ps.Func("S", (h, w), ps.uint32)
    above = ps.select(y > 0, S[y - 1, x], 0)
    left = ps.select(x > 0, S[y, x - 1], 0)
    corner = ps.select((y > 0) & (x > 0), S[y - 1, x - 1], 0)
    S[y, x] = above + left - corner + image[y, x]
    return S


def smooth_forward() -> ps.Func:
    """y[i] = a x[i] + (1 - a) y[i - 1]: a recursive filter of first order."""
    n = ps.sizes("n")
    x = ps.Input("x", ps.float32, (n,))
    a = ps.Param("a", ps.float32, default=0.25, min=0.0, max=1.0)
    i = ps.vars("i")

    y = ps.Func("y", (n,))
    y[0] = x[0]
    y[i] = a * x[i] + (1 - a) * y[i - 1]
    return y


def smooth_backward() -> ps.Func:
    """The same filter from the end of the signal."""
    n = ps.sizes("n")
    x = ps.Input("x", ps.float32, (n,))
    a = ps.Param("a", ps.float32, default=0.25, min=0.0, max=1.0)
    i = ps.vars("i")

    y = ps.Func("y", (n,))
    y[n - 1] = x[n - 1]
    y[i] = a * x[i] + (1 - a) * y[i + 1]
    return y


def smooth_image() -> ps.Func:
    """A recursive filter down and up each column, then right and left along each row."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.float32, (h, w))
    a = ps.Param("a", ps.float32, default=0.25, min=0.0, max=1.0)
    y, x = ps.vars("y x")

    down, up = ps.Func("down", (h, w)), ps.Func("up", (h, w))
    right, left = ps.Func("right", (h, w)), ps.Func("left", (h, w))
    down[y, x] = ps.select(y > 0, image[y, x] * a + down[y - 1, x] * (1 - a), image[y, x])
    up[y, x] = ps.select(y < h - 1, down[y, x] * a + up[y + 1, x] * (1 - a), down[y, x])
    right[y, x] = ps.select(x > 0, up[y, x] * a + right[y, x - 1] * (1 - a), up[y, x])
    left[y, x] = ps.select(x < w - 1, right[y, x] * a + left[y, x + 1] * (1 - a), right[y, x])
    return left


def biquad() -> ps.Func:
    """A recursive filter of second order, applied to a signal twice in sequence."""
    n = ps.sizes("n")
    x = ps.Input("x", ps.float64, (n,))
    i = ps.vars("i")

    def section(name: str, signal: ps.Input | ps.Func) -> ps.Func:
        y = ps.Func(name, (n,), ps.float64)
        recent = [ps.select(i >= k, signal[i - k], 0) for k in (1, 2)]
        earlier = [ps.select(i >= k, y[i - k], 0) for k in (1, 2)]
        fed = _B[0] * signal[i] + _B[1] * recent[0] + _B[2] * recent[1]
        y[i] = fed - _A[1] * earlier[0] - _A[2] * earlier[1]
        return y

    return section("second", section("first", x))


def feedback() -> ps.Func:
    """Two sequences that feed each other with a delay, integers modulo 2^64."""
    n = ps.sizes("n")
    x = ps.Input("x", ps.uint64, (n,))
    i = ps.vars("i")

    a, b = ps.Func("a", (n,), ps.uint64), ps.Func("b", (n,), ps.uint64)
    a[i] = x[i] + ps.select(i >= 2, b[i - 2], 1)
    b[i] = 3 * a[i] + ps.select(i >= 1, a[i - 1], 0)
    return b


# arguments and references ---------------------------------------------------------------------

#: What `scipy.signal.butter(2, 0.3)` gives.
_B = np.array([0.13110643991662593, 0.26221287983325187, 0.13110643991662593])
_A = np.array([1.0, -0.7477891782585034, 0.27221493792500717])


def _smooth(x: Array, a: float, axis: int = -1) -> Array:
    """By SciPy, in double precision; started as if x[0] had been there forever."""
    x = x.astype(np.float64)
    start = (1 - a) * np.take(x, [0], axis)
    return scipy.signal.lfilter([a], [1, a - 1], x, axis=axis, zi=start)[0]


def _smooth_image(image: Array, a: float) -> Array:
    for axis in (0, 1):
        image = _smooth(image, a, axis)
        image = np.flip(_smooth(np.flip(image, axis), a, axis), axis)
    return image


def _feedback(x: Array) -> Array:
    """b of `feedback`, with Python's integers."""
    a, b = [], []
    for k, value in enumerate(x.tolist()):
        a.append(value + (b[k - 2] if k >= 2 else 1))
        b.append(3 * a[k] + (a[k - 1] if k >= 1 else 0))
    return np.array([value % 2**64 for value in b], np.uint64)


CASES = (
    Case(
        name="running_sum",
        build=running_sum,
        sizes="n",
        make=lambda rng, n: {"x": integers(rng, np.int64, n)},
        reference=lambda x: np.cumsum(x),
        tags="integer recurrence",
        large=9_999,
    ),
    Case(
        name="running_sum_of_rows",
        build=running_sum_of_rows,
        sizes="n m",
        make=lambda rng, n, m: {"x": integers(rng, np.int32, n, m)},
        reference=lambda x: np.cumsum(x[:, ::-1], axis=1, dtype=np.int32)[:, ::-1],
        tags="integer recurrence pieces",
    ),
    Case(
        name="summed_areas",
        build=summed_areas,
        sizes="h w",
        make=lambda rng, h, w: {"image": integers(rng, np.uint8, h, w)},
        reference=lambda image: image.cumsum(0, np.uint32).cumsum(1, np.uint32),
        tags="integer recurrence",
    ),
    Case(
        name="smooth_forward",
        build=smooth_forward,
        sizes="n",
        make=lambda rng, n: {"x": normal(rng, n), "a": 0.125},
        reference=_smooth,
        tolerance=1e-5,
        tags="float recurrence params pieces",
        large=9_999,
    ),
    Case(
        name="smooth_backward",
        build=smooth_backward,
        sizes="n",
        make=lambda rng, n: {"x": normal(rng, n), "a": 0.125},
        reference=lambda x, a: _smooth(x[::-1], a)[::-1],
        tolerance=1e-5,
        tags="float recurrence params pieces",
        large=9_999,
    ),
    Case(
        name="smooth_image",
        build=smooth_image,
        sizes="h w",
        make=lambda rng, h, w: {"image": uniform(rng, h, w), "a": 0.375},
        reference=_smooth_image,
        tolerance=1e-5,
        tags="float recurrence params",
    ),
    Case(
        name="biquad",
        build=biquad,
        sizes="n",
        make=lambda rng, n: {"x": rng.standard_normal(n)},
        reference=lambda x: scipy.signal.lfilter(_B, _A, scipy.signal.lfilter(_B, _A, x)),
        tolerance=1e-12,
        tags="float recurrence",
        large=9_999,
    ),
    Case(
        name="feedback",
        build=feedback,
        sizes="n",
        make=lambda rng, n: {"x": integers(rng, np.uint64, n)},
        reference=_feedback,
        tags="integer recurrence",
        large=999,
    ),
)
