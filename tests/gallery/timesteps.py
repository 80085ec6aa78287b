"""Stencils over time, written as recurrences f[t, ...] of which the last plane is wanted.

The number of steps is a size of its own, called `T`; only the planes that a step reads are kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.ndimage

import polysched as ps

from .case import Arguments, Array, Case, normal

_AROUND = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)]


def jacobi_1d() -> ps.Func:
    """The mean of three neighbours; the ends stay as they are."""
    n, T = ps.sizes("n T")
    x = ps.Input("x", ps.float32, (n,))
    t, i = ps.vars("t i")

    f = ps.Func("f", (T + 1, n), ps.float32)
    f[0, i] = x[i]
    mean = (f[t - 1, i - 1] + f[t - 1, i] + f[t - 1, i + 1]) * (1 / 3)
    f[t, i] = ps.select((i > 0) & (i < n - 1), mean, f[t - 1, i])

    last = ps.Func("last", (n,))
    last[i] = f[T, i]
    return last


def jacobi_2d(dtype: ps.DType = ps.float32) -> ps.Func:
    """The mean of a point and its four neighbours; the border stays as it is."""
    n, m, T = ps.sizes("n m T")
    x = ps.Input("x", dtype, (n, m))
    t, i, j = ps.vars("t i j")

    f = ps.Func("f", (T + 1, n, m), dtype)
    f[0, i, j] = x[i, j]
    sides = f[t - 1, i, j - 1] + f[t - 1, i, j + 1] + f[t - 1, i - 1, j] + f[t - 1, i + 1, j]
    inside = (i > 0) & (i < n - 1) & (j > 0) & (j < m - 1)
    f[t, i, j] = ps.select(inside, 0.2 * (f[t - 1, i, j] + sides), f[t - 1, i, j])

    last = ps.Func("last", (n, m))
    last[i, j] = f[T, i, j]
    return last


def heat_3d(dtype: ps.DType = ps.float32) -> ps.Func:
    """An explicit scheme for the heat equation in a box whose walls keep their temperature."""
    n, m, l, T = ps.sizes("n m l T")
    start = ps.Input("start", dtype, (n, m, l))
    t, i, j, k = ps.vars("t i j k")

    f = ps.Func("f", (T + 1, n, m, l), dtype)

    def second(*step: int) -> ps.Expr:
        di, dj, dk = step
        twice = 2.0 * f[t - 1, i, j, k]
        return f[t - 1, i + di, j + dj, k + dk] - twice + f[t - 1, i - di, j - dj, k - dk]

    f[0, i, j, k] = start[i, j, k]
    flow = second(1, 0, 0) + second(0, 1, 0) + second(0, 0, 1)
    inside = (i > 0) & (i < n - 1) & (j > 0) & (j < m - 1) & (k > 0) & (k < l - 1)
    f[t, i, j, k] = ps.select(inside, f[t - 1, i, j, k] + 0.125 * flow, f[t - 1, i, j, k])

    last = ps.Func("last", (n, m, l))
    last[i, j, k] = f[T, i, j, k]
    return last


def wave_1d() -> ps.Func:
    """A string held at both ends: each step needs the two before it."""
    n, T = ps.sizes("n T")
    start = ps.Input("start", ps.float64, (n,))
    speed = ps.Param("speed", ps.float64, default=0.25, min=0.0, max=1.0)
    t, i = ps.vars("t i")

    u = ps.Func("u", (T + 2, n), ps.float64)
    u[0, i] = start[i]
    u[1, i] = start[i]
    here = u[t - 1, i]
    bend = u[t - 1, i - 1] - 2.0 * here + u[t - 1, i + 1]
    u[t, i] = ps.select((i > 0) & (i < n - 1), 2.0 * here - u[t - 2, i] + speed * bend, start[i])

    last = ps.Func("last", (n,))
    last[i] = u[T + 1, i]
    return last


def fdtd_2d(dtype: ps.DType = ps.float32) -> tuple[ps.Func, ps.Func, ps.Func]:
    """Maxwell's equations in two dimensions (Yee): three fields that drive each other."""
    n, m, T = ps.sizes("n m T")
    ex0 = ps.Input("ex0", dtype, (n, m))
    ey0 = ps.Input("ey0", dtype, (n, m))
    hz0 = ps.Input("hz0", dtype, (n, m))
    source = ps.Input("source", dtype, (T,))
    t, i, j = ps.vars("t i j")

    ex, ey, hz = (ps.Func(name, (T + 1, n, m), dtype) for name in ("ex", "ey", "hz"))
    ex[0, i, j] = ex0[i, j]
    ey[0, i, j] = ey0[i, j]
    hz[0, i, j] = hz0[i, j]

    before = hz[t - 1, i, j]
    ey[t, i, j] = ps.select(
        i > 0, ey[t - 1, i, j] - 0.5 * (before - hz[t - 1, i - 1, j]), source[t - 1]
    )
    ex[t, i, j] = ps.select(
        j > 0, ex[t - 1, i, j] - 0.5 * (before - hz[t - 1, i, j - 1]), ex[t - 1, i, j]
    )
    curl = ex[t, i, j + 1] - ex[t, i, j] + ey[t, i + 1, j] - ey[t, i, j]
    hz[t, i, j] = ps.select((i < n - 1) & (j < m - 1), before - 0.7 * curl, before)

    lasts = tuple(ps.Func(f"{field.name}_last", (n, m)) for field in (ex, ey, hz))
    for last, field in zip(lasts, (ex, ey, hz), strict=True):
        last[i, j] = field[T, i, j]
    return lasts


def adi() -> ps.Func:
    """Alternating directions: each step solves tridiagonal systems along the columns, then along
    the rows (Thomas). So there are recurrences down and up the lines inside the one over time."""
    n, T = ps.sizes("n T")
    start = ps.Input("start", ps.float64, (n, n))
    t, i, j = ps.vars("t i j")

    p = ps.Func("p", (n,), ps.float64)
    p[j] = ps.select(j > 0, 0.5 / (2.0 - 0.5 * p[j - 1]), 0.0)
    planes = (T + 1, n, n)
    u, v = ps.Func("u", planes, ps.float64), ps.Func("v", planes, ps.float64)

    def half_step(new: ps.Func, old: ps.Func, at: ps.Expr) -> None:
        """Solves along the second axis of `new`, from plane `at` of `old`, transposed."""
        q = ps.Func(f"q{new.name}", planes, ps.float64)
        inside = (i > 0) & (i < n - 1)
        right = 0.3 * old[at, j, i] + 0.2 * (old[at, j, i - 1] + old[at, j, i + 1])
        swept = (right + 0.5 * q[t, i, j - 1]) / (2.0 - 0.5 * p[j - 1])
        q[0, i, j] = 0.0
        q[t, i, j] = ps.select(inside & (j > 0), swept, 1.0)
        solved = p[j] * new[t, i, j + 1] + q[t, i, j]
        new[t, i, j] = ps.select(inside & (j < n - 1), solved, 1.0)

    v[0, i, j] = 0.0
    u[0, i, j] = start[i, j]
    half_step(v, u, t - 1)
    half_step(u, v, t)

    last = ps.Func("last", (n, n))
    last[i, j] = u[T, i, j]
    return last


def kalman() -> tuple[ps.Func, ps.Func]:
    """A Kalman filter for one measurement at a time: the state and its covariance after all."""
    T, d = ps.sizes("T d")
    F = ps.Input("F", ps.float64, (d, d))
    Q = ps.Input("Q", ps.float64, (d, d))
    H = ps.Input("H", ps.float64, (d,))
    z = ps.Input("z", ps.float64, (T,))
    t, i, j = ps.vars("t i j")
    k, l = ps.RVar("k", 0, d), ps.RVar("l", 0, d)

    x, foreseen = (ps.Func(name, (T + 1, d), ps.float64) for name in ("x", "foreseen"))
    P, spread = (ps.Func(name, (T + 1, d, d), ps.float64) for name in ("P", "spread"))
    gain = ps.Func("gain", (T + 1, d), ps.float64)
    x[0, i] = 0.0
    P[0, i, j] = ps.select(i == j, 1.0, 0.0)
    foreseen[t, i] = ps.select(t > 0, ps.sum(F[i, k] * x[t - 1, k], k), 0.0)
    moved = ps.sum(F[i, k] * ps.sum(P[t - 1, k, l] * F[j, l], l), k)
    spread[t, i, j] = ps.select(t > 0, Q[i, j] + moved, 0.0)
    noise = 0.5 + ps.sum(H[k] * ps.sum(spread[t, k, l] * H[l], l), k)
    gain[t, i] = ps.sum(spread[t, i, l] * H[l], l) / noise
    surprise = z[t - 1] - ps.sum(H[k] * foreseen[t, k], k)
    x[t, i] = foreseen[t, i] + gain[t, i] * surprise
    P[t, i, j] = spread[t, i, j] - gain[t, i] * ps.sum(H[l] * spread[t, l, j], l)

    last_x, last_P = ps.Func("last_x", (d,)), ps.Func("last_P", (d, d))
    last_x[i] = x[T, i]
    last_P[i, j] = P[T, i, j]
    return last_x, last_P


def seidel_2d() -> ps.Func:
    """Gauss and Seidel: the mean of nine, of which those above and to the left are new."""
    n, m, T = ps.sizes("n m T")
    x = ps.Input("x", ps.float64, (n, m))
    t, i, j = ps.vars("t i j")

    f = ps.Func("f", (T + 1, n, m), ps.float64)
    f[0, i, j] = x[i, j]
    above = f[t, i - 1, j - 1] + f[t, i - 1, j] + f[t, i - 1, j + 1]
    beside = f[t, i, j - 1] + f[t - 1, i, j] + f[t - 1, i, j + 1]
    below = f[t - 1, i + 1, j - 1] + f[t - 1, i + 1, j] + f[t - 1, i + 1, j + 1]
    inside = (i > 0) & (i < n - 1) & (j > 0) & (j < m - 1)
    f[t, i, j] = ps.select(inside, (above + beside + below) / 9, f[t - 1, i, j])

    last = ps.Func("last", (n, m))
    last[i, j] = f[T, i, j]
    return last


def _generations(around: Callable[[ps.Func, ps.Var, ps.Var, ps.Var], ps.Expr]) -> ps.Func:
    """Life for T generations, given the sum of a cell's neighbours in a plane."""
    h, w, T = ps.sizes("h w T")
    alive = ps.Input("alive", ps.bool_, (h, w))
    t, y, x = ps.vars("t y x")

    f = ps.Func("f", (T + 1, h, w), ps.uint8)
    f[0, y, x] = ps.cast(ps.uint8, alive[y, x])
    count = around(f, t, y, x)
    f[t, y, x] = ps.cast(ps.uint8, (count == 3) | ((count == 2) & (f[t - 1, y, x] == 1)))

    last = ps.Func("last", (h, w))
    last[y, x] = f[T, y, x] == 1
    return last


def life_by_modulo() -> ps.Func:
    """Life on a torus: `%` takes the neighbour from the other edge."""

    def around(f: ps.Func, t: ps.Var, y: ps.Var, x: ps.Var) -> ps.Expr:
        _, h, w = f.shape
        return sum(f[t - 1, (y + dy) % h, (x + dx) % w] for dy, dx in _AROUND)

    return _generations(around)


def life_by_boundary() -> ps.Func:
    """Life on a torus: each plane is continued periodically, as part of the recurrence."""

    def around(f: ps.Func, t: ps.Var, y: ps.Var, x: ps.Var) -> ps.Expr:
        torus = ps.boundary.wrap(f, axes=(1, 2))
        return sum(torus[t - 1, y + dy, x + dx] for dy, dx in _AROUND)

    return _generations(around)


def orbits() -> ps.Func:
    """How many of the first T iterates of z = z^2 + c stay within |z| < 2: a tuple over time.

    It says `ps.strict` since the iteration is chaotic: other roundings give other counts.
    """
    h, w, T = ps.sizes("h w T")
    left = ps.Param("left", ps.float32)
    top = ps.Param("top", ps.float32)
    pitch = ps.Param("pitch", ps.float32)
    t, y, x = ps.vars("t y x")
    cr, ci = ps.strict(left + x * pitch), ps.strict(top + y * pitch)

    z = ps.Func("z", (T + 1, h, w), dtype=(ps.float32, ps.float32, ps.int32))
    z[0, y, x] = (0.0, 0.0, 0)
    zr, zi, count = z[t - 1, y, x]
    re, im = ps.strict(zr * zr - zi * zi + cr), ps.strict(2.0 * (zr * zi) + ci)
    stays = ps.strict(re * re + im * im) < 4.0
    z[t, y, x] = (re, im, count + ps.cast(ps.int32, stays))

    escape = ps.Func("escape", (h, w))
    escape[y, x] = z[T, y, x][2]
    return escape


# arguments and references ---------------------------------------------------------------------


def _relaxed(x: Array, T: int, weights: Array) -> Array:
    """T steps of a weighted sum, by SciPy; the border stays as it is."""
    x = x.astype(np.float64)
    inside = (slice(1, -1),) * x.ndim
    for _ in range(T):
        x[inside] = scipy.ndimage.correlate(x, weights, mode="nearest")[inside]
    return x


def _cross(rank: int, centre: float, side: float) -> Array:
    weights = scipy.ndimage.generate_binary_structure(rank, 1) * side
    weights[(1,) * rank] = centre
    return weights


def _wave_reference(start: Array, speed: float, T: int) -> Array:
    before, now = start, start
    for _ in range(T):
        after = start.copy()
        bend = now[:-2] - 2 * now[1:-1] + now[2:]
        after[1:-1] = 2 * now[1:-1] - before[1:-1] + speed * bend
        before, now = now, after
    return now


def _fdtd_reference(ex0: Array, ey0: Array, hz0: Array, source: Array) -> tuple[Array, ...]:
    ex, ey, hz = (x.astype(np.float64) for x in (ex0, ey0, hz0))
    for value in source:
        ey[1:] -= 0.5 * np.diff(hz, axis=0)
        ey[:1] = value
        ex[:, 1:] -= 0.5 * np.diff(hz, axis=1)
        hz[:-1, :-1] -= 0.7 * (np.diff(ex, axis=1)[:-1] + np.diff(ey, axis=0)[:, :-1])
    return ex, ey, hz


def _seidel_reference(x: Array, T: int) -> Array:
    """In place, which is how it is usually written."""
    x = x.copy()
    n, m = x.shape
    for _ in range(T):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                x[i, j] = x[i - 1 : i + 2, j - 1 : j + 2].mean()
    return x


def _adi_reference(start: Array, T: int) -> Array:
    """By SciPy's banded solver; everything on the border is 1."""
    n, u = len(start), start
    bands = np.outer([-0.5, 2.0, -0.5], np.ones(max(n - 2, 0)))
    for _ in range(2 * T):
        new = np.ones((n, n))
        for i in range(1, n - 1):
            right = 0.3 * u[1:-1, i] + 0.2 * (u[1:-1, i - 1] + u[1:-1, i + 1])
            right[[0, -1]] += 0.5 if n > 3 else 1.0
            new[i, 1:-1] = scipy.linalg.solve_banded((1, 1), bands, right)
        u = new
    return u


def _model(rng: np.random.Generator, T: int, d: int) -> Arguments:
    """A state that turns and decays."""
    F = 0.9 * np.linalg.qr(rng.standard_normal((d, d)))[0]
    return {"F": F, "Q": 0.1 * np.eye(d), "H": rng.standard_normal(d), "z": rng.standard_normal(T)}


def _kalman_reference(F: Array, Q: Array, H: Array, z: Array) -> tuple[Array, Array]:
    """In Joseph's form."""
    x, P = np.zeros(len(H)), np.eye(len(H))
    for value in z:
        x, P = F @ x, F @ P @ F.T + Q
        gain = P @ H / (H @ P @ H + 0.5)
        left = np.eye(len(H)) - np.outer(gain, H)
        x = x + gain * (value - H @ x)
        P = left @ P @ left.T + 0.5 * np.outer(gain, gain)
    return x, P


def _life_reference(alive: Array, T: int) -> Array:
    for _ in range(T):
        count = sum(np.roll(alive.astype(int), shift, (0, 1)) for shift in _AROUND)
        alive = (count == 3) | (alive & (count == 2))
    return alive


def _orbits_reference(left: float, top: float, pitch: float, h: int, w: int, T: int) -> Array:
    f = np.float32
    y, x = np.indices((h, w)).astype(f)
    cr, ci = f(left) + x * f(pitch), f(top) + y * f(pitch)
    zr, zi = np.zeros((2, h, w), f)
    count = np.zeros((h, w), np.int32)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(T):
            zr, zi = zr**2 - zi**2 + cr, 2 * (zr * zi) + ci
            count += zr**2 + zi**2 < 4
    return count


def _torus(name: str, build: Callable[[], ps.Func]) -> Case:
    return Case(
        name=name,
        build=build,
        sizes="h w T",
        make=lambda rng, h, w, T: {"alive": rng.random((h, w)) < 0.4, "T": T},
        reference=_life_reference,
        tags="integer stencil boundary recurrence slow",
        large={"h": 61, "w": 47, "T": 21},
        limits={"h": 8, "w": 8, "T": 20},
        steps="T",
    )


def _fields(rng: np.random.Generator, n: int, m: int, T: int) -> Arguments:
    fields = {name: normal(rng, n, m) for name in ("ex0", "ey0", "hz0")}
    return {**fields, "source": normal(rng, T)}


CASES = (
    Case(
        name="jacobi_1d",
        build=jacobi_1d,
        sizes="n T",
        make=lambda rng, n, T: {"x": normal(rng, n), "T": T},
        reference=lambda x, T: _relaxed(x, T, np.full(3, 1 / 3)),
        tolerance=1e-5,
        tags="float stencil recurrence",
        large={"n": 301, "T": 91},
        steps="T",
    ),
    Case(
        name="jacobi_2d",
        build=jacobi_2d,
        sizes="n m T",
        make=lambda rng, n, m, T: {"x": normal(rng, n, m), "T": T},
        reference=lambda x, T: _relaxed(x, T, _cross(2, 0.2, 0.2)),
        tolerance=1e-5,
        tags="float stencil recurrence slow",
        large={"n": 101, "m": 91, "T": 31},
        limits={"T": 20},
        steps="T",
    ),
    Case(
        name="heat_3d",
        build=heat_3d,
        sizes="n m l T",
        make=lambda rng, n, m, l, T: {"start": normal(rng, n, m, l), "T": T},
        reference=lambda start, T: _relaxed(start, T, _cross(3, 0.25, 0.125)),
        tolerance=1e-5,
        tags="float stencil recurrence slow",
        large={"n": 31, "m": 29, "l": 27, "T": 21},
        limits={"n": 6, "m": 6, "l": 6, "T": 13},
        steps="T",
    ),
    Case(
        name="wave_1d",
        build=wave_1d,
        sizes="n T",
        make=lambda rng, n, T: {"start": rng.standard_normal(n), "speed": 0.75, "T": T},
        reference=_wave_reference,
        tolerance=1e-12,
        tags="float stencil recurrence params pieces",
        large={"n": 301, "T": 91},
        steps="T",
    ),
    Case(
        name="fdtd_2d",
        build=fdtd_2d,
        sizes="n m T",
        make=_fields,
        reference=_fdtd_reference,
        tolerance=1e-5,
        tags="float stencil recurrence multiple slow",
        large={"n": 61, "m": 51, "T": 41},
        limits={"n": 12, "m": 12, "T": 13},
        steps="T",
    ),
    Case(
        name="adi",
        build=adi,
        sizes="n T",
        make=lambda rng, n, T: {"start": rng.standard_normal((n, n)), "T": T},
        reference=_adi_reference,
        tolerance=1e-13,
        tags="float stencil recurrence slow",
        large={"n": 61, "T": 13},
        limits={"n": 12, "T": 13},
        steps="T",
    ),
    Case(
        name="kalman",
        build=kalman,
        sizes="T d",
        make=_model,
        reference=_kalman_reference,
        tolerance=1e-11,
        tags="float recurrence reduction multiple slow",
        large={"T": 101, "d": 7},
        limits={"T": 13, "d": 5},
        steps="T",
    ),
    Case(
        name="seidel_2d",
        build=seidel_2d,
        sizes="n m T",
        make=lambda rng, n, m, T: {"x": rng.standard_normal((n, m)), "T": T},
        reference=_seidel_reference,
        tolerance=1e-13,
        tags="float stencil recurrence slow",
        large={"n": 31, "m": 29, "T": 13},
        limits={"n": 12, "m": 12, "T": 13},
        steps="T",
    ),
    _torus("life_by_modulo", life_by_modulo),
    _torus("life_by_boundary", life_by_boundary),
    Case(
        name="orbits",
        build=orbits,
        sizes="h w T",
        make=lambda rng, h, w, T: {
            "left": -2.0,
            "top": -1.25,
            "pitch": 2.5 / max(h, w, 1),
            "h": h,
            "w": w,
            "T": T,
        },
        reference=_orbits_reference,
        tags="float params recurrence tuple slow",
        large={"h": 101, "w": 91, "T": 50},
        limits={"h": 12, "w": 12, "T": 20},
        steps="T",
    ),
)
