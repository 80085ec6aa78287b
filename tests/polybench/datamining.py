"""Statistics of n observations of m attributes: correlation and covariance."""

from __future__ import annotations

import numpy as np
from gallery.case import Arguments, Array, Case

import polysched as ps

#: A standard deviation up to this counts as none, and is replaced by 1.
NEGLIGIBLE = 0.1


def correlation() -> ps.Func:
    """r[i, j] = sum over k of z[k, i] z[k, j] and r[i, i] = 1, for the standardised observations
    z[k, j] = (x[k, j] - mean[j]) / (sqrt(n) s[j]), where s[j]^2 = mean of (x[k, j] - mean[j])^2."""
    n, m = ps.sizes("n m")
    x = ps.Input("x", ps.float64, (n, m))
    o, i, j = ps.vars("o i j")
    k = ps.RVar("k", 0, n)
    count = ps.cast(ps.float64, n)

    mean = ps.Func("mean")
    mean[j] = ps.sum(x[k, j], k) / count
    deviation = ps.Func("deviation")
    deviation[j] = ps.sqrt(ps.sum((x[k, j] - mean[j]) ** 2, k) / count)
    scale = ps.Func("scale")
    scale[j] = ps.sqrt(count) * ps.select(deviation[j] <= NEGLIGIBLE, 1.0, deviation[j])
    z = ps.Func("z")
    z[o, j] = (x[o, j] - mean[j]) / scale[j]

    r = ps.Func("r", (m, m))
    r[i, j] = ps.select(i == j, 1.0, ps.sum(z[k, i] * z[k, j], k))
    return r


def covariance() -> ps.Func:
    """c[i, j] = sum over k of (x[k, i] - mean[i]) (x[k, j] - mean[j]) / (n - 1)."""
    n, m = ps.sizes("n m")
    x = ps.Input("x", ps.float64, (n, m))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, n)

    mean = ps.Func("mean")
    mean[j] = ps.sum(x[k, j], k) / n
    c = ps.Func("c", (m, m))
    c[i, j] = ps.sum((x[k, i] - mean[i]) * (x[k, j] - mean[j]), k) / (n - 1)
    return c


def covariance_in_place() -> tuple[ps.InOut | ps.Func, ...]:
    """The observations are centred where they are; the lower triangle mirrors the upper one."""
    n, m = ps.sizes("n m")
    x = ps.InOut("x", ps.float64, (n, m))
    o, i, j = ps.vars("o i j")
    k = ps.RVar("k", 0, n)

    mean = ps.Func("mean")
    mean[j] = ps.sum(x.initial[k, j], k) / n
    x[o, j] -= mean[j]
    upper = ps.Func("upper")
    upper[i, j] = ps.sum(x.final[k, i] * x.final[k, j], k) / (n - 1)
    c = ps.Func("c", (m, m))
    c[i, j] = upper[ps.minimum(i, j), ps.maximum(i, j)]
    return c, x


# arguments and references ---------------------------------------------------------------------


def _observations(rng: np.random.Generator, n: int, m: int) -> Arguments:
    """Attributes of different magnitude, some of which hardly vary."""
    return {"x": 3.0 + rng.standard_normal((n, m)) * rng.choice([0.01, 1.0, 5.0], m)}


def _correlation_reference(x: Array) -> Array:
    deviation = x.std(axis=0)
    z = (x - x.mean(axis=0)) / np.where(deviation <= NEGLIGIBLE, 1.0, deviation)
    r = z.T @ z / len(x)
    np.fill_diagonal(r, 1.0)
    return r


def _covariance_reference(x: Array) -> Array:
    if len(x) == 1:
        return np.full((x.shape[1], x.shape[1]), np.nan)
    return np.atleast_2d(np.cov(x, rowvar=False))


CASES = (
    Case(
        name="correlation",
        build=correlation,
        sizes="n m",
        make=_observations,
        reference=_correlation_reference,
        tolerance=1e-12,
        tags="float reduction",
        large={"n": 301, "m": 91},
    ),
    Case(
        name="covariance",
        build=covariance,
        sizes="n m",
        make=_observations,
        reference=_covariance_reference,
        tolerance=1e-12,
        tags="float reduction",
        large={"n": 301, "m": 91},
    ),
    Case(
        name="covariance-in-place",
        build=covariance_in_place,
        sizes="n m",
        make=_observations,
        reference=lambda x: (_covariance_reference(x), x - x.mean(axis=0)),
        tolerance=1e-12,
        tags="float reduction triangular multiple",
        large={"n": 301, "m": 91},
    ),
)
