"""A recursive filter, shortest paths, and the folding of a chain of bases."""

from __future__ import annotations

import math

import numpy as np
import scipy  # `scipy.signal` takes a second to import: where it is used first
from gallery.case import Arguments, Array, integers, uniform

import polysched as ps

from .variants import cases


def deriche() -> ps.Func:
    """Deriche's smoothing: along rows, then along columns, the sum of
    y[j] = g x[j] + g e (alpha - 1) x[j-1] + 2 e y[j-1] - e^2 y[j-2] and
    z[j] = g e (alpha + 1) x[j+1] - g e^2 x[j+2] + 2 e z[j+1] - e^2 z[j+2], zero beyond the ends,
    where e = exp(-alpha) and g = (1 - e)^2 / (1 + 2 alpha e - e^2)."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.float32, (h, w))
    alpha = ps.Param("alpha", ps.float32, default=0.25, min=0.0625, max=4.0)
    i, j = ps.vars("i j")

    e, g = ps.Func("e"), ps.Func("g")
    e[()] = ps.exp(-alpha)
    g[()] = (1.0 - e[()]) ** 2 / (1.0 + 2.0 * alpha * e[()] - e[()] ** 2)
    e_, g_ = e[()], g[()]

    def smooth(x: ps.Input | ps.Func, axis: int) -> ps.Func:
        at = (i, j)[axis]
        extent = (h, w)[axis]

        def back(f: ps.Input | ps.Func, by: int) -> ps.Expr:
            index = (i - by, j) if axis == 0 else (i, j - by)
            return ps.select((at >= by) & (at - by < extent), f[index], 0.0)

        forward = ps.Func(f"forward{axis}", (h, w), ps.float32)
        near = g_ * back(x, 0) + g_ * e_ * (alpha - 1.0) * back(x, 1)
        forward[i, j] = near + 2.0 * e_ * back(forward, 1) - e_**2 * back(forward, 2)
        backward = ps.Func(f"backward{axis}", (h, w), ps.float32)
        far = g_ * e_ * (alpha + 1.0) * back(x, -1) - g_ * e_**2 * back(x, -2)
        backward[i, j] = far + 2.0 * e_ * back(backward, -1) - e_**2 * back(backward, -2)
        both = ps.Func(f"smooth{axis}", (h, w))
        both[i, j] = forward[i, j] + backward[i, j]
        return both

    return smooth(smooth(image, 1), 0)


def floyd_warshall() -> ps.Func:
    """p[k+1, i, j] = min(p[k, i, j], p[k, i, k] + p[k, k, j]): shortest paths through the first
    k + 1 vertices."""
    n = ps.sizes("n")
    path = ps.Input("path", ps.int32, (n, n))
    k, i, j = ps.vars("k i j")

    p = ps.Func("p", (n + 1, n, n), ps.int32)
    p[0, i, j] = path[i, j]
    p[k, i, j] = ps.minimum(p[k - 1, i, j], p[k - 1, i, k - 1] + p[k - 1, k - 1, j])
    shortest = ps.Func("shortest", (n, n))
    shortest[i, j] = p[n, i, j]
    return shortest


def floyd_warshall_in_place() -> ps.InOut:
    """One matrix does: row and column k stay as they are while k is tried."""
    n = ps.sizes("n")
    path = ps.InOut("path", ps.int32, (n, n))

    with ps.sequential("k", 0, n) as k:
        i, j = ps.rdom("i j", (0, n), (0, n))
        path[i, j] = ps.minimum(path[i, j], path[i, k] + path[k, j])
    return path


def floyd_warshall_nested() -> ps.InOut:
    """The same by three nested loops."""
    n = ps.sizes("n")
    path = ps.InOut("path", ps.int32, (n, n))

    with (
        ps.sequential("k", 0, n) as k,
        ps.sequential("i", 0, n) as i,
        ps.sequential("j", 0, n) as j,
    ):
        path[i, j] = ps.minimum(path[i, j], path[i, k] + path[k, j])
    return path


def _pairs(a: ps.Expr, b: ps.Expr) -> ps.Expr:
    """1 for two bases of 0 to 3 that bind to each other, else 0."""
    return ps.cast(ps.int32, ps.cast(ps.int32, a) + ps.cast(ps.int32, b) == 3)


def nussinov() -> ps.Func:
    """The most pairs that bases i to j can form: s[i, j] = max of s[i+1, j], s[i, j-1],
    s[i+1, j-1] + 1 if i and j bind and are no neighbours, s[i, k] + s[k+1, j] for i < k < j."""
    n = ps.sizes("n")
    base = ps.Input("base", ps.uint8, (n,))
    i, j = ps.vars("i j")
    k = ps.RVar("k", i + 1, j)

    s = ps.Func("s", (n, n), ps.int32)
    inside = s[i + 1, j - 1] + ps.select(i < j - 1, _pairs(base[i], base[j]), 0)
    ends = ps.maximum(s[i + 1, j], s[i, j - 1])
    halves = ps.max(s[i, k] + s[k + 1, j], k, initial=0)
    s[i, j] = ps.select(i < j, ps.maximum(ps.maximum(ends, inside), halves), 0)
    return s


def nussinov_in_place() -> ps.Func:
    """The same table, by updates, from the last base to the first."""
    n = ps.sizes("n")
    base = ps.Input("base", ps.uint8, (n,))
    x, y = ps.vars("x y")

    s = ps.Func("s", (n, n), ps.int32)
    s[x, y] = 0
    with ps.sequential("i", n - 1, -1, step=-1) as i, ps.sequential("j", i + 1, n) as j:
        k = ps.RVar("k", i + 1, j)
        s[i, j] = ps.maximum(s[i, j - 1], s[i + 1, j])
        bound = ps.select(i < j - 1, _pairs(base[i], base[j]), 0)
        s[i, j] = ps.maximum(s[i, j], s[i + 1, j - 1] + bound)
        s[i, j] = ps.maximum(s[i, j], s[i, k] + s[k + 1, j])
    return s


# arguments and references ---------------------------------------------------------------------


def _deriche_reference(image: Array, alpha: float) -> Array:
    e = math.exp(-alpha)
    g = (1 - e) ** 2 / (1 + 2 * alpha * e - e * e)
    poles = [1, -2 * e, e * e]
    result = image.astype(np.float64)
    for axis in (1, 0):
        forward = scipy.signal.lfilter([g, g * e * (alpha - 1)], poles, result, axis=axis)
        zeros = [0, g * e * (alpha + 1), -g * e * e]
        backward = scipy.signal.lfilter(zeros, poles, np.flip(result, axis), axis=axis)
        result = forward + np.flip(backward, axis)
    return result


def _graph(rng: np.random.Generator, n: int) -> Arguments:
    """Nothing between a vertex and itself, half of the other edges are missing."""
    path = np.where(rng.random((n, n)) < 0.5, 9999, rng.integers(1, 50, (n, n))).astype(np.int32)
    np.fill_diagonal(path, 0)
    return {"path": path}


def _shortest_reference(path: Array) -> Array:
    """Paths of twice as many edges at most in each step, until nothing changes."""
    while True:
        longer = (path[:, :, None] + path[None]).min(axis=1)
        if np.array_equal(longer, path):
            return path
        path = longer


def _nussinov_reference(base: Array) -> Array:
    """Diagonal by diagonal."""
    n = len(base)
    s = np.zeros((n + 1, n + 1), np.int32)  # a border of zeros below and right of what is used
    for d in range(1, n):
        for i in range(n - d):
            j = i + d
            binds = d > 1 and base[i] + base[j] == 3
            s[i, j] = max((s[i, i:j] + s[i + 1 : j + 1, j]).max(), s[i + 1, j - 1] + binds)
    return s[:n, :n]


CASES = (
    *cases(
        "deriche",
        {"": deriche},
        sizes="h w",
        make=lambda rng, h, w: {"image": uniform(rng, h, w), "alpha": 0.25},
        reference=_deriche_reference,
        tolerance=1e-4,
        tags="float recurrence params boundary",
        large=151,
    ),
    *cases(
        "floyd-warshall",
        {
            "": floyd_warshall,
            "-in-place": floyd_warshall_in_place,
            "-nested": floyd_warshall_nested,
        },
        sizes="n",
        make=_graph,
        reference=_shortest_reference,
        tolerance=0.0,
        tags="integer recurrence",
        large=101,
    ),
    *cases(
        "nussinov",
        {"": nussinov, "-in-place": nussinov_in_place},
        sizes="n",
        make=lambda rng, n: {"base": integers(rng, np.uint8, n, below=4)},
        reference=_nussinov_reference,
        tolerance=0.0,
        tags="integer recurrence triangular",
        large=151,
    ),
)
