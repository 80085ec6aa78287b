"""Programs that belong to no family: fractals, automata, dynamic programs, triangles, waves."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.ndimage

import polysched as ps

from .case import Arguments, Array, Case, integers, normal


def mandelbrot(steps: int = 16) -> ps.Func:
    """How many of the first iterates of z = z^2 + c stay within |z| < 2, for a raster of c.

    It says `ps.strict` since the iteration is chaotic: fused products would be as right, but give
    other counts here and there.
    """
    y, x = ps.vars("y x")
    left = ps.Param("left", ps.float32)
    top = ps.Param("top", ps.float32)
    pitch = ps.Param("pitch", ps.float32)
    cr, ci = ps.strict(left + x * pitch), ps.strict(top + y * pitch)

    count, zr, zi = 0, cr, ci
    for _ in range(steps):
        rr, ii, ri = zr * zr, zi * zi, zr * zi
        count = count + ps.cast(ps.int32, rr + ii < 4.0)
        zr, zi = ps.strict(rr - ii + cr), ps.strict(ri + ri + ci)
    escape = ps.Func("escape")
    escape[y, x] = ps.strict(count)
    return escape


def life() -> ps.Func:
    """One generation of Conway's game of life on a torus."""
    h, w = ps.sizes("h w")
    alive = ps.Input("alive", ps.bool_, (h, w))
    y, x = ps.vars("y x")
    around = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)]

    torus = ps.boundary.wrap(alive)
    neighbours = ps.Func("neighbours")
    neighbours[y, x] = sum(ps.cast(ps.uint8, torus[y + dy, x + dx]) for dy, dx in around)
    following = ps.Func("following", (h, w))
    following[y, x] = (neighbours[y, x] == 3) | (alive[y, x] & (neighbours[y, x] == 2))
    return following


def common_subsequence() -> ps.Func:
    """The length of the longest common subsequence of all prefixes of two sequences."""
    n, m = ps.sizes("n m")
    a = ps.Input("a", ps.uint8, (n,))
    b = ps.Input("b", ps.uint8, (m,))
    i, j = ps.vars("i j")
    r, c = ps.rdom("r c", (1, n + 1), (1, m + 1))

    L = ps.Func("L", (n + 1, m + 1), ps.int32)
    L[i, j] = 0
    L[r, c] = ps.select(
        a[r - 1] == b[c - 1],
        L[r - 1, c - 1] + 1,
        ps.maximum(L[r - 1, c], L[r, c - 1]),
    )
    return L


def pascal() -> ps.Func:
    """Pascal's triangle modulo 2^32, its first column as a piece of its own."""
    n = ps.sizes("n")
    i, j = ps.vars("i j")
    r = ps.RVar("r", 1, n)
    c = ps.RVar("c", 1, r + 1)

    P = ps.Func("P", (n, n), ps.uint32)
    P[i, 0] = 1
    P[i, j] = 0
    P[r, c] = P[r - 1, c - 1] + P[r - 1, c]
    return P


def prefix_sums() -> ps.Func:
    """S[i] = A[0] + ... + A[i], each from the start: RVar bounds that depend on a Var."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.int64, (n,))
    i = ps.vars("i")
    k = ps.RVar("k", 0, i + 1)

    S = ps.Func("S", (n,))
    S[i] = 0
    S[i] += A[k]
    return S


def triangle_sum() -> ps.Func:
    """The sum over the upper left triangle of a matrix: RVars restricted together."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.int32, (n, n))
    ry, rx = ps.rdom("ry rx", (0, n), (0, n), where=lambda ry, rx: ry + rx < n)

    total = ps.Func("total", ())
    total[()] = 0
    total[()] += A[ry, rx]
    return total


def divisor_counts() -> ps.Func:
    """How many divisors each number has, by the sieve: a scatter to multiples."""
    n = ps.sizes("n")
    i = ps.vars("i")
    d = ps.RVar("d", 1, n)
    multiple = ps.RVar("multiple", d, n, where=lambda k: k % d == 0)

    count = ps.Func("count", (n,), ps.int32)
    count[i] = 0
    count[multiple] += 1
    return count


def heat() -> ps.Func:
    """All steps of an explicit scheme for the heat equation, with insulated ends."""
    n, steps = ps.sizes("n steps")
    start = ps.Input("start", ps.float32, (n,))
    alpha = ps.Param("alpha", ps.float32, default=0.25, min=0.0, max=0.5)
    t, x = ps.vars("t x")
    rt, rx = ps.rdom("rt rx", (1, steps + 1), (0, n))

    u = ps.Func("u", (steps + 1, n))
    u[t, x] = start[x]
    left, here, right = (u[rt - 1, ps.clip(rx + d, 0, n - 1)] for d in (-1, 0, 1))
    u[rt, rx] = here + alpha * (left - 2.0 * here + right)
    return u


def transpose_reverse() -> ps.Func:
    """An array turned by 90 degrees."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.int16, (n, m))
    i, j = ps.vars("i j")

    B = ps.Func("B", (m, n))
    B[i, j] = A[n - 1 - j, i]
    return B


def interleave() -> ps.Func:
    """Two sequences of complex numbers multiplied: real and imaginary parts alternate."""
    n = ps.sizes("n")
    a = ps.Input("a", ps.float64, (2 * n,))
    b = ps.Input("b", ps.float64, (2 * n,))
    i = ps.vars("i")
    re, im = 2 * (i // 2), 2 * (i // 2) + 1

    product = ps.Func("product", (2 * n,))
    product[i] = ps.mux(i % 2, [a[re] * b[re] - a[im] * b[im], a[re] * b[im] + a[im] * b[re]])
    return product


def permute() -> ps.Func:
    """Scatters by one permutation and gathers by another, both known to be within range."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.int32, (n,))
    to = ps.Input("to", ps.int64, (n,), range=(0, n))
    source = ps.Input("source", ps.int64, (n,), range=(0, n))
    i = ps.vars("i")
    r = ps.RVar("r", 0, n)

    moved = ps.Func("moved", (n,))
    moved[i] = 0
    moved[to[r]] = A[source[r]]
    return moved


# arguments and references ---------------------------------------------------------------------


def _mandelbrot_reference(left: float, top: float, pitch: float, shape: tuple[int, int]) -> Array:
    f = np.float32
    y, x = np.indices(shape).astype(np.float32)
    c = (f(left) + x * f(pitch), f(top) + y * f(pitch))
    z, count = c, np.zeros(shape, np.int32)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(16):
            count += z[0] ** 2 + z[1] ** 2 < 4
            z = (z[0] ** 2 - z[1] ** 2 + c[0], 2 * (z[0] * z[1]) + c[1])
    return count


def _life_reference(alive: Array) -> Array:
    plus = np.array([[2, 2, 2], [2, 1, 2], [2, 2, 2]])
    score = scipy.ndimage.correlate(alive.astype(int), plus, mode="wrap")
    return (score >= 5) & (score <= 7)


def _common_reference(a: Array, b: Array) -> Array:
    """Row by row: a running maximum replaces the dependence along the row."""
    L = np.zeros((a.size + 1, b.size + 1), np.int32)
    for r in range(a.size):
        diagonal = L[r, :-1] + (a[r] == b)
        L[r + 1, 1:] = np.maximum.accumulate(np.maximum(diagonal, L[r, 1:]))
    return L


def _heat_reference(start: Array, alpha: float, steps: int) -> Array:
    """Powers of the matrix of one step."""
    n, u = start.size, [start.astype(np.float64)]
    step = (1 - 2 * alpha) * np.eye(n) + alpha * (np.eye(n, k=1) + np.eye(n, k=-1))
    step[0, 0] += alpha
    step[-1, -1] += alpha
    for _ in range(steps):
        u.append(step @ u[-1])
    return np.array(u)


def _permute_arguments(rng: np.random.Generator, n: int) -> Arguments:
    return {
        "A": integers(rng, np.int32, n),
        "to": rng.permutation(n),
        "source": rng.permutation(n),
    }


CASES = (
    Case(
        name="mandelbrot",
        build=mandelbrot,
        sizes="h w",
        make=lambda rng, h, w: {
            "left": -2.0,
            "top": -1.25,
            "pitch": 2.5 / max(h, w, 1),
            "shape": (h, w),
        },
        reference=_mandelbrot_reference,
        tags="float params",
    ),
    Case(
        name="life",
        build=life,
        sizes="h w",
        make=lambda rng, h, w: {"alive": rng.random((h, w)) < 0.4},
        reference=_life_reference,
        tags="integer stencil boundary",
    ),
    Case(
        name="common_subsequence",
        build=common_subsequence,
        sizes="n m",
        make=lambda rng, n, m: {
            "a": integers(rng, np.uint8, n, below=4),
            "b": integers(rng, np.uint8, m, below=4),
        },
        reference=_common_reference,
        tags="integer recurrence",
    ),
    Case(
        name="pascal",
        build=pascal,
        sizes="n",
        make=lambda rng, n: {"n": n},
        reference=lambda n: (scipy.linalg.pascal(n, "lower", exact=True) % 2**32).astype(np.uint32),
        tags="integer recurrence triangular pieces",
        large=101,
    ),
    Case(
        name="prefix_sums",
        build=prefix_sums,
        sizes="n",
        make=lambda rng, n: {"A": integers(rng, np.int64, n)},
        reference=lambda A: np.cumsum(A),
        tags="integer reduction triangular",
        large=999,
    ),
    Case(
        name="triangle_sum",
        build=triangle_sum,
        sizes="n",
        make=lambda rng, n: {"A": integers(rng, np.int32, n, n)},
        reference=lambda A: np.tril(A[::-1]).sum(dtype=np.int32, keepdims=False).reshape(()),
        tags="integer reduction triangular",
    ),
    Case(
        name="divisor_counts",
        build=divisor_counts,
        sizes="n",
        make=lambda rng, n: {"n": n},
        reference=lambda n: np.array(
            [sum(i % d == 0 for d in range(1, i + 1)) for i in range(n)], np.int32
        ),
        tags="integer scatter triangular",
    ),
    Case(
        name="heat",
        build=heat,
        sizes="n steps",
        make=lambda rng, n, steps: {
            "start": normal(rng, n),
            "alpha": 0.25,
            "steps": steps,
        },
        reference=_heat_reference,
        tolerance=1e-5,
        tags="float recurrence params",
    ),
    Case(
        name="transpose_reverse",
        build=transpose_reverse,
        sizes="n m",
        make=lambda rng, n, m: {"A": integers(rng, np.int16, n, m)},
        reference=lambda A: np.rot90(A, -1),
        tags="integer",
        large={"n": 301, "m": 501},
    ),
    Case(
        name="interleave",
        build=interleave,
        sizes="n",
        make=lambda rng, n: {"a": rng.standard_normal(2 * n), "b": rng.standard_normal(2 * n)},
        reference=lambda a, b: (a.view(complex) * b.view(complex)).view(float),
        tolerance=1e-14,
        tags="float",
        large=9_999,
    ),
    Case(
        name="permute",
        build=permute,
        sizes="n",
        make=_permute_arguments,
        reference=lambda A, to, source: A[source[np.argsort(to)]],
        tags="integer scatter gather",
        large=9_999,
    ),
)
