"""Steps in time over a grid: explicit, implicit and of Gauss and Seidel, T of them.

Each is written as updates in two arrays or in one, and as a recurrence over all steps.
"""

from __future__ import annotations

import numpy as np
import scipy  # `scipy.signal` takes a second to import: where it is used first
import scipy.linalg
import scipy.ndimage
from gallery.case import Arguments, Array

import polysched as ps

from .variants import arrays, cases

Tensor = ps.Input | ps.InOut | ps.Func


def adi() -> ps.Func:
    """The heat equation on the unit square by alternating directions: in each of T steps
    (1 - D_x) v = (1 + D_y / 2) u and then (1 - D_y / 2) u' = (1 + D_x) v, where D_x is 2 T^-1 n^2
    and D_y T^-1 n^2 times half a second difference, with ones at the border. The tridiagonal
    systems are solved by elimination, forwards, and substitution, backwards."""
    T, n = ps.sizes("T n")
    start = ps.Input("start", ps.float64, (n, n))
    t, i, j = ps.vars("t i j")
    a, b, d, e = _adi_coefficients(T, n)

    u = ps.Func("u", (T + 1, n, n), ps.float64)
    v = ps.Func("v", (T + 1, n, n), ps.float64)
    p, r = (ps.Func(name, (n,), ps.float64) for name in "pr")
    q, s = (ps.Func(name, (T + 1, n, n), ps.float64) for name in "qs")
    inside = _inside(i, n) & _inside(j, n) & (t > 0)

    p[j] = ps.select(j > 0, -a / (a * p[j - 1] + b), 0.0)
    r[j] = ps.select(j > 0, -d / (d * r[j - 1] + e), 0.0)
    explicit = -d * u[t - 1, j, i - 1] + (1.0 + 2.0 * d) * u[t - 1, j, i] - d * u[t - 1, j, i + 1]
    q[t, i, j] = ps.select(inside, (explicit - a * q[t, i, j - 1]) / (a * p[j - 1] + b), 1.0)
    v[t, i, j] = ps.select(inside, p[i] * v[t, i + 1, j] + q[t, j, i], 1.0)
    explicit = -a * v[t, i - 1, j] + (1.0 + 2.0 * a) * v[t, i, j] - a * v[t, i + 1, j]
    s[t, i, j] = ps.select(inside, (explicit - d * s[t, i, j - 1]) / (d * r[j - 1] + e), 1.0)
    u[0, i, j] = start[i, j]
    border = ps.select(_inside(i, n), 1.0, u[t - 1, i, j])
    u[t, i, j] = ps.select(inside, r[j] * u[t, i, j + 1] + s[t, i, j], border)
    last = ps.Func("last", (n, n))
    last[i, j] = u[T, i, j]
    return last


def adi_by_steps() -> ps.InOut:
    """The same, where each step is made of recurrences of its own."""
    T, n = ps.sizes("T n")
    u = ps.InOut("start", ps.float64, (n, n))
    i, j = ps.vars("i j")
    a, b, d, e = _adi_coefficients(T, n)
    inside = _inside(i, n) & _inside(j, n)

    p, r = (ps.Func(name, (n,), ps.float64) for name in "pr")
    p[j] = ps.select(j > 0, -a / (a * p[j - 1] + b), 0.0)
    r[j] = ps.select(j > 0, -d / (d * r[j - 1] + e), 0.0)
    with ps.sequential("t", 0, T):
        q, v, s, w = (ps.Func(name, (n, n), ps.float64) for name in "qvsw")
        explicit = -d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - d * u[j, i + 1]
        q[i, j] = ps.select(inside, (explicit - a * q[i, j - 1]) / (a * p[j - 1] + b), 1.0)
        v[i, j] = ps.select(inside, p[i] * v[i + 1, j] + q[j, i], 1.0)
        explicit = -a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - a * v[i + 1, j]
        s[i, j] = ps.select(inside, (explicit - d * s[i, j - 1]) / (d * r[j - 1] + e), 1.0)
        border = ps.select(_inside(i, n), 1.0, u[i, j])
        w[i, j] = ps.select(inside, r[j] * w[i, j + 1] + s[i, j], border)
        u[i, j] = w[i, j]
    return u


def adi_in_place() -> ps.InOut:
    """The same, where v, p and q are reused in each step."""
    T, n = ps.sizes("T n")
    u = ps.InOut("start", ps.float64, (n, n))
    x, y = ps.vars("x y")
    i = ps.RVar("i", 1, n - 1)
    a, b, d, e = _adi_coefficients(T, n)

    v, p, q = (ps.Func(name, (n, n), ps.float64) for name in "vpq")
    for f in (v, p, q):
        f[x, y] = 0.0

    with ps.sequential("t", 0, T):
        v[0, i] = 1.0
        p[i, 0] = 0.0
        q[i, 0] = 1.0
        with ps.sequential("j", 1, n - 1) as j:
            explicit = -d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - d * u[j, i + 1]
            q[i, j] = (explicit - a * q[i, j - 1]) / (a * p[i, j - 1] + b)
            p[i, j] = -a / (a * p[i, j - 1] + b)
        v[n - 1, i] = 1.0
        with ps.sequential("j", n - 2, 0, step=-1) as j:
            v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]

        u[i, 0] = 1.0
        with ps.sequential("j", 1, n - 1) as j:
            explicit = -a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - a * v[i + 1, j]
            q[i, j] = (explicit - d * q[i, j - 1]) / (d * p[i, j - 1] + e)
            p[i, j] = -d / (d * p[i, j - 1] + e)
        u[i, n - 1] = 1.0
        with ps.sequential("j", n - 2, 0, step=-1) as j:
            u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]
    return u


def _adi_coefficients(T: ps.Size, n: ps.Size) -> tuple[ps.Expr, ...]:
    """Off and on the diagonals of 1 - D_x and of 1 - D_y / 2."""
    ratio = ps.cast(ps.float64, n) * n / T  # of the step in time to that in space squared
    return -ratio, 1.0 + 2.0 * ratio, -0.5 * ratio, 1.0 + ratio


def fdtd_2d() -> tuple[ps.Func, ...]:
    """A wave that enters at one edge, f[t]: the electric field steps by half the difference of
    the magnetic one, and that by 0.7 times the curl of the former."""
    T, n, m = ps.sizes("T n m")
    f = ps.Input("f", ps.float64, (T,))
    ex0, ey0, hz0 = (ps.Input(name, ps.float64, (n, m)) for name in ("ex", "ey", "hz"))
    t, i, j = ps.vars("t i j")

    ex, ey, hz = (ps.Func(f"{name}_t", (T + 1, n, m), ps.float64) for name in ("ex", "ey", "hz"))
    ex[0, i, j], ey[0, i, j], hz[0, i, j] = ex0[i, j], ey0[i, j], hz0[i, j]
    ey[t, i, j] = ps.select(
        i > 0, ey[t - 1, i, j] - 0.5 * (hz[t - 1, i, j] - hz[t - 1, i - 1, j]), f[t - 1]
    )
    ex[t, i, j] = ps.select(
        j > 0, ex[t - 1, i, j] - 0.5 * (hz[t - 1, i, j] - hz[t - 1, i, j - 1]), ex[t - 1, i, j]
    )
    curl = ex[t, i, j + 1] - ex[t, i, j] + ey[t, i + 1, j] - ey[t, i, j]
    hz[t, i, j] = ps.select(
        (i < n - 1) & (j < m - 1), hz[t - 1, i, j] - 0.7 * curl, hz[t - 1, i, j]
    )
    return tuple(_last(g, T, (n, m)) for g in (ex, ey, hz))


def fdtd_2d_in_place() -> tuple[ps.InOut, ...]:
    """Three fields, each updated from the other two."""
    T, n, m = ps.sizes("T n m")
    f = ps.Input("f", ps.float64, (T,))
    ex, ey, hz = (ps.InOut(name, ps.float64, (n, m)) for name in ("ex", "ey", "hz"))
    i, j = ps.vars("i j")
    below, right = ps.RVar("below", 1, n), ps.RVar("right", 1, m)
    y, x = ps.rdom("y x", (0, n - 1), (0, m - 1))

    with ps.sequential("t", 0, T) as t:
        ey[0, j] = f[t]
        ey[below, j] -= 0.5 * (hz[below, j] - hz[below - 1, j])
        ex[i, right] -= 0.5 * (hz[i, right] - hz[i, right - 1])
        hz[y, x] -= 0.7 * (ex[y, x + 1] - ex[y, x] + ey[y + 1, x] - ey[y, x])
    return ex, ey, hz


def heat_3d() -> tuple[ps.Func, ...]:
    """a' = a + the sum over three axes of 1/8 of the second difference, twice in each step: from
    A to B and back, both of which keep their border."""
    T, n = ps.sizes("T n")
    i, j, k = ps.vars("i j k")
    inside = _inside(i, n) & _inside(j, n) & _inside(k, n)
    return _alternating(T, n, (i, j, k), inside, _heat)


def heat_3d_in_place() -> tuple[ps.InOut, ...]:
    """The same in two arrays."""
    T, n = ps.sizes("T n")
    return _in_two_arrays(T, n, ps.rdom("i j k", (1, n - 1), (1, n - 1), (1, n - 1)), _heat)


def jacobi_1d() -> tuple[ps.Func, ...]:
    """The mean of three neighbours, twice in each step: from A to B and back."""
    T, n = ps.sizes("T n")
    i = ps.vars("i")
    return _alternating(T, n, (i,), _inside(i, n), _mean_1d)


def jacobi_1d_in_place() -> tuple[ps.InOut, ...]:
    """The same in two arrays."""
    T, n = ps.sizes("T n")
    return _in_two_arrays(T, n, (ps.RVar("i", 1, n - 1),), _mean_1d)


def jacobi_2d() -> tuple[ps.Func, ...]:
    """The mean of a point and its four neighbours, twice in each step: from A to B and back."""
    T, n = ps.sizes("T n")
    i, j = ps.vars("i j")
    return _alternating(T, n, (i, j), _inside(i, n) & _inside(j, n), _mean_2d)


def jacobi_2d_in_place() -> tuple[ps.InOut, ...]:
    """The same in two arrays."""
    T, n = ps.sizes("T n")
    return _in_two_arrays(T, n, ps.rdom("i j", (1, n - 1), (1, n - 1)), _mean_2d)


def seidel_2d() -> ps.Func:
    """Each point inside becomes the mean of the 3 by 3 points around it, row by row, of which
    those above and to the left are of this step, the others of the one before."""
    T, n = ps.sizes("T n")
    A = ps.Input("A", ps.float64, (n, n))
    t, i, j = ps.vars("t i j")

    u = ps.Func("u", (T + 1, n, n), ps.float64)
    new = [u[t, i + di, j + dj] for di, dj in _AROUND[:4]]
    old = [u[t - 1, i + di, j + dj] for di, dj in _AROUND[4:]]
    u[0, i, j] = A[i, j]
    u[t, i, j] = ps.select(_inside(i, n) & _inside(j, n), sum(new + old) / 9.0, u[t - 1, i, j])
    return _last(u, T, (n, n))


def seidel_2d_in_place() -> ps.InOut:
    """The same in one array, over ordered RVars."""
    T, n = ps.sizes("T n")
    A = ps.InOut("A", ps.float64, (n, n))

    with ps.sequential("t", 0, T):
        i, j = ps.rdom("i j", (1, n - 1), (1, n - 1))
        A[i, j] = sum(A[i + di, j + dj] for di, dj in _AROUND) / 9.0
    return A


def seidel_2d_nested() -> ps.InOut:
    """The same in one array, by three nested loops."""
    T, n = ps.sizes("T n")
    A = ps.InOut("A", ps.float64, (n, n))

    with (
        ps.sequential("t", 0, T),
        ps.sequential("i", 1, n - 1) as i,
        ps.sequential("j", 1, n - 1) as j,
    ):
        A[i, j] = sum(A[i + di, j + dj] for di, dj in _AROUND) / 9.0
    return A


# what they share ------------------------------------------------------------------------------

_AROUND = [(di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1)]


def _inside(x: ps.Expr, n: ps.Size) -> ps.Expr:
    return (x > 0) & (x < n - 1)


def _heat(f: Tensor, *index: ps.Expr) -> ps.Expr:
    i, j, k = index[-3:]
    t = index[:-3]
    here = f[*t, i, j, k]
    along = (
        (f[*t, i + 1, j, k], f[*t, i - 1, j, k]),
        (f[*t, i, j + 1, k], f[*t, i, j - 1, k]),
        (f[*t, i, j, k + 1], f[*t, i, j, k - 1]),
    )
    return sum(0.125 * (a - 2.0 * here + b) for a, b in along) + here


def _mean_1d(f: Tensor, *index: ps.Expr) -> ps.Expr:
    *t, i = index
    return 0.33333 * (f[*t, i - 1] + f[*t, i] + f[*t, i + 1])


def _mean_2d(f: Tensor, *index: ps.Expr) -> ps.Expr:
    *t, i, j = index
    return 0.2 * (
        f[*t, i, j] + f[*t, i, j - 1] + f[*t, i, j + 1] + f[*t, i + 1, j] + f[*t, i - 1, j]
    )


def _alternating(T, n, index, inside, step) -> tuple[ps.Func, ...]:
    """b[t] = step(a[t - 1]) and a[t] = step(b[t]) inside; A and B at time 0 and at the border."""
    shape = (n,) * len(index)
    A, B = ps.Input("A", ps.float64, shape), ps.Input("B", ps.float64, shape)
    t = ps.vars("t")

    a, b = (ps.Func(name, (T + 1, *shape), ps.float64) for name in "ab")
    a[0, *index], b[0, *index] = A[index], B[index]
    b[t, *index] = ps.select(inside, step(a, t - 1, *index), B[index])
    a[t, *index] = ps.select(inside, step(b, t, *index), A[index])
    return _last(a, T, shape), _last(b, T, shape)


def _in_two_arrays(T, n, index, step) -> tuple[ps.InOut, ...]:
    """B := step(A) and A := step(B), inside, T times."""
    shape = (n,) * len(index)
    A, B = ps.InOut("A", ps.float64, shape), ps.InOut("B", ps.float64, shape)

    with ps.sequential("t", 0, T):
        B[index] = step(A, *index)
        A[index] = step(B, *index)
    return A, B


def _last(f: ps.Func, T: ps.Size, shape: tuple[ps.Size, ...]) -> ps.Func:
    """f after the last step."""
    index = ps.vars("i j k")[: len(shape)]
    last = ps.Func(f"last_{f.name}", shape)
    last[index] = f[T, *index]
    return last


# arguments and references ---------------------------------------------------------------------


def _adi_arguments(rng: np.random.Generator, T: int, n: int) -> Arguments:
    return {"start": rng.standard_normal((n, n)), "T": T}


def _adi_reference(start: Array, T: int) -> Array:
    """The two banded systems of each step, solved by SciPy for all lines at once."""
    u, n = start.copy(), len(start)
    if n < 3 or T == 0:
        return u
    ratio = n * n / T

    def half(x: Array, explicit: float, implicit: float) -> Array:
        """(1 - implicit L) y = (1 + explicit L) x: L along axis 0 of y, along axis 1 of x."""
        inner = x[1:-1, 1:-1]
        right = inner + explicit * (x[1:-1, :-2] - 2 * inner + x[1:-1, 2:])
        right[[0, -1]] += implicit if n > 3 else 2 * implicit
        off = np.full(n - 2, -implicit)
        bands = np.array([off, np.full(n - 2, 1 + 2 * implicit), off])
        y = np.ones_like(x)
        y[1:-1, 1:-1] = scipy.linalg.solve_banded((1, 1), bands, right)
        return y

    for _ in range(T):
        v = half(u, ratio / 2, ratio)
        u[1:-1] = half(v.T, ratio, ratio / 2).T[1:-1]
    return u


def _fdtd_arguments(rng: np.random.Generator, T: int, n: int, m: int) -> Arguments:
    """At least one row, for the wave to enter."""
    made = {name: rng.standard_normal((n + 1, m)) for name in ("ex", "ey", "hz")}
    return {"f": rng.standard_normal(T), **made}


def _fdtd_reference(f: Array, ex: Array, ey: Array, hz: Array) -> tuple[Array, ...]:
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for value in f:
        ey[0] = value
        ey[1:] -= np.diff(hz, axis=0) / 2
        ex[:, 1:] -= np.diff(hz, axis=1) / 2
        hz[:-1, :-1] -= 0.7 * (np.diff(ex[:-1], axis=1) + np.diff(ey[:, :-1], axis=0))
    return ex, ey, hz


def _two_arrays(dims: int):
    made = arrays(f"A:{'n' * dims} B:{'n' * dims}")
    return lambda rng, T, n: made(rng, n=n) | {"T": T}


def _two_arrays_reference(weights: Array):
    """Correlates with weights and keeps the border of the array that is written."""
    inner = (slice(1, -1),) * weights.ndim

    def reference(A: Array, B: Array, T: int) -> tuple[Array, ...]:
        A, B = A.copy(), B.copy()
        for _ in range(T if len(A) > 2 else 0):
            B[inner] = scipy.ndimage.correlate(A, weights)[inner]
            A[inner] = scipy.ndimage.correlate(B, weights)[inner]
        return A, B

    return reference


def _star(dims: int, centre: float, arm: float) -> Array:
    """The weights of a point and of its neighbours along each axis."""
    distance = np.abs(np.indices((3,) * dims) - 1).sum(axis=0)
    return np.where(distance == 0, centre, np.where(distance == 1, arm, 0.0))


def _seidel_reference(A: Array, T: int) -> Array:
    """A row at a time: along it, x[j] - x[j-1] / 9 = what is known is a recursive filter."""
    A = A.copy()
    for _ in range(T):
        for i in range(1, len(A) - 1):
            known = np.convolve(A[i - 1] + A[i + 1], np.ones(3), "valid") + A[i, 1:-1] + A[i, 2:]
            known[0] += A[i, 0]
            A[i, 1:-1] = scipy.signal.lfilter([1 / 9], [1, -1 / 9], known)
    return A


CASES = (
    *cases(
        "adi",
        {"": adi, "-by-steps": adi_by_steps, "-in-place": adi_in_place},
        sizes="T n",
        make=_adi_arguments,
        reference=_adi_reference,
        tolerance=1e-10,
        tags="float recurrence",
        large={"T": 20, "n": 41},
    ),
    *cases(
        "fdtd-2d",
        {"": fdtd_2d, "-in-place": fdtd_2d_in_place},
        sizes="T n m",
        make=_fdtd_arguments,
        reference=_fdtd_reference,
        tags="float recurrence stencil multiple",
        large={"T": 20, "n": 61, "m": 71},
    ),
    *cases(
        "heat-3d",
        {"": heat_3d, "-in-place": heat_3d_in_place},
        sizes="T n",
        make=_two_arrays(3),
        reference=_two_arrays_reference(_star(3, 0.25, 0.125)),
        tags="float recurrence stencil multiple slow",
        large={"T": 20, "n": 21},
        limits={"T": 5},
    ),
    *cases(
        "jacobi-1d",
        {"": jacobi_1d, "-in-place": jacobi_1d_in_place},
        sizes="T n",
        make=_two_arrays(1),
        reference=_two_arrays_reference(_star(1, 0.33333, 0.33333)),
        tags="float recurrence stencil multiple",
        large={"T": 100, "n": 301},
    ),
    *cases(
        "jacobi-2d",
        {"": jacobi_2d, "-in-place": jacobi_2d_in_place},
        sizes="T n",
        make=_two_arrays(2),
        reference=_two_arrays_reference(_star(2, 0.2, 0.2)),
        tags="float recurrence stencil multiple",
        large={"T": 20, "n": 91},
    ),
    *cases(
        "seidel-2d",
        {"": seidel_2d, "-in-place": seidel_2d_in_place, "-nested": seidel_2d_nested},
        sizes="T n",
        make=lambda rng, T, n: {"A": rng.standard_normal((n, n)), "T": T},
        reference=_seidel_reference,
        tags="float recurrence stencil",
        large={"T": 20, "n": 91},
    ),
)
