"""Layers of networks other than convolutions; reductions are written as updates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.special

import polysched as ps

from .case import Array, Case, normal


def softmax_of(
    name: str, f: ps.Input | ps.Func, exp: Callable[[ps.Expr], ps.Expr] = ps.exp
) -> ps.Func:
    """exp(f) along the last axis, scaled to sum 1; the maximum is subtracted first."""
    n, m = f.shape
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, m)

    top, weight, total = ps.Func("top"), ps.Func("weight"), ps.Func("total")
    top[i] = -np.inf
    top[i] = ps.maximum(top[i], f[i, k])
    weight[i, j] = exp(f[i, j] - top[i])
    total[i] = 0.0
    total[i] += weight[i, k]

    scaled = ps.Func(name, (n, m))
    scaled[i, j] = weight[i, j] * (1.0 / total[i])
    return scaled


def softmax(exp: Callable[[ps.Expr], ps.Expr] = ps.exp) -> ps.Func:
    """Probabilities from logits, row by row."""
    n, m = ps.sizes("n m")
    return softmax_of("probability", ps.Input("logit", ps.float32, (n, m)), exp)


def layer_norm(epsilon: float = 1e-5) -> ps.Func:
    """Each row brought to mean 0 and variance 1, then scaled and shifted."""
    n, m = ps.sizes("n m")
    X = ps.Input("X", ps.float32, (n, m))
    gain = ps.Input("gain", ps.float32, (m,))
    bias = ps.Input("bias", ps.float32, (m,))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, m)
    count = ps.cast(ps.float32, m)

    total, mean = ps.Func("total"), ps.Func("mean")
    total[i] = 0.0
    total[i] += X[i, k]
    mean[i] = total[i] / count

    spread, scale = ps.Func("spread"), ps.Func("scale")
    spread[i] = 0.0
    spread[i] += (X[i, k] - mean[i]) ** 2
    scale[i] = ps.rsqrt(spread[i] / count + epsilon)

    Y = ps.Func("Y", (n, m))
    Y[i, j] = (X[i, j] - mean[i]) * scale[i] * gain[j] + bias[j]
    return Y


def attention() -> ps.Func:
    """softmax(Q K^T / sqrt(d)) V: each query takes a mean of the values, by likeness of keys."""
    n, m, d, e = ps.sizes("n m d e")
    Q = ps.Input("Q", ps.float32, (n, d))
    K = ps.Input("K", ps.float32, (m, d))
    V = ps.Input("V", ps.float32, (m, e))
    i, j, c = ps.vars("i j c")
    k, r = ps.RVar("k", 0, d), ps.RVar("r", 0, m)

    query = ps.Func("query")
    query[i, c] = Q[i, c] / ps.sqrt(ps.cast(ps.float32, d))
    score = ps.Func("score", (n, m))
    score[i, j] = 0.0
    score[i, j] += query[i, k] * K[j, k]
    weight = softmax_of("attention", score)

    O = ps.Func("O", (n, e))
    O[i, c] = 0.0
    O[i, c] += weight[i, r] * V[r, c]
    return O


def causal_attention() -> ps.Func:
    """Attention in which position i sees positions up to i only."""
    n, d, e = ps.sizes("n d e")
    Q = ps.Input("Q", ps.float32, (n, d))
    K = ps.Input("K", ps.float32, (n, d))
    V = ps.Input("V", ps.float32, (n, e))
    i, j, c = ps.vars("i j c")
    k, r = ps.RVar("k", 0, d), ps.RVar("r", 0, i + 1)

    score = ps.Func("score", (n, n))
    score[i, j] = 0.0
    score[i, j] += Q[i, k] * K[j, k]
    top, weight, total = ps.Func("top"), ps.Func("weight", (n, n)), ps.Func("total")
    top[i] = -np.inf
    top[i] = ps.maximum(top[i], score[i, r])
    weight[i, j] = ps.exp(score[i, j] - top[i])
    total[i] = 0.0
    total[i] += weight[i, r]

    mixed, O = ps.Func("mixed"), ps.Func("O", (n, e))
    mixed[i, c] = 0.0
    mixed[i, c] += weight[i, r] * V[r, c]
    O[i, c] = mixed[i, c] / total[i]
    return O


def dense() -> ps.Func:
    """gelu(X W + b), by the tanh formula of Hendrycks and Gimpel."""
    n, m, l = ps.sizes("n m l")
    X = ps.Input("X", ps.float32, (n, l))
    W = ps.Input("W", ps.float32, (l, m))
    b = ps.Input("b", ps.float32, (m,))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, l)

    linear = ps.Func("linear")
    linear[i, j] = b[j]
    linear[i, j] += X[i, k] * W[k, j]

    Y = ps.Func("Y", (n, m))
    v = linear[i, j]
    Y[i, j] = 0.5 * v * (1.0 + ps.tanh((2 / np.pi) ** 0.5 * (v + 0.044715 * v**3)))
    return Y


def gated_unit() -> ps.Func:
    """x sigmoid(g) without a product of matrices: values and functions only."""
    n, m = ps.sizes("n m")
    x = ps.Input("x", ps.float64, (n, m))
    g = ps.Input("g", ps.float64, (n, m))
    i, j = ps.vars("i j")

    y = ps.Func("y", (n, m))
    y[i, j] = x[i, j] * ps.sigmoid(g[i, j])
    return y


def log_sum_exp() -> ps.Func:
    """log(sum(exp(x))) of each row, in one pass that rescales when a new maximum appears."""
    n, m = ps.sizes("n m")
    x = ps.Input("x", ps.float32, (n, m))
    i = ps.vars("i")
    k = ps.RVar("k", 0, m)

    running = ps.Func("running", dtype=(ps.float32, ps.float32))
    running[i] = (ps.cast(ps.float32, -np.inf), 0.0)
    top, total = running[i]
    new = ps.maximum(top, x[i, k])
    running[i] = (new, total * ps.exp(top - new) + ps.exp(x[i, k] - new))

    result = ps.Func("result", (n,))
    top, total = running[i]
    result[i] = top + ps.log(total)
    return result


def argmax() -> ps.Func:
    """The largest value of each row and its first place; (-inf, -1) where there is none."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float32, (n, m))
    i = ps.vars("i")
    k = ps.RVar("k", 0, m)

    best = ps.Func("best", (n,), dtype=(ps.float32, ps.int64))
    best[i] = (-np.inf, -1)
    value, place = best[i]
    best[i] = ps.select(A[i, k] > value, (A[i, k], k), (value, place))
    return best


# arguments and references ---------------------------------------------------------------------


def _attention_reference(Q: Array, K: Array, V: Array) -> Array:
    score = Q.astype(np.float64) @ K.T / np.sqrt(Q.shape[1])
    return scipy.special.softmax(score, axis=1) @ V


def _causal_reference(Q: Array, K: Array, V: Array) -> Array:
    score = Q.astype(np.float64) @ K.T
    hidden = np.triu(np.ones_like(score), 1)
    return scipy.special.softmax(np.where(hidden, -np.inf, score), axis=1) @ V


def _layer_norm_reference(X: Array, gain: Array, bias: Array) -> Array:
    X = X.astype(np.float64)
    deviation = np.sqrt(X.var(axis=1, keepdims=True) + 1e-5)
    return (X - X.mean(axis=1, keepdims=True)) / deviation * gain + bias


def _gelu_reference(X: Array, W: Array, b: Array) -> Array:
    v = X.astype(np.float64) @ W + b
    return v * scipy.special.expit(np.sqrt(8 / np.pi) * (v + 0.044715 * v**3))


_HEADS = {"d": 8, "e": 8}

CASES = (
    Case(
        name="softmax",
        build=softmax,
        sizes="n m",
        make=lambda rng, n, m: {"logit": 5 * normal(rng, n, m)},
        reference=lambda logit: scipy.special.softmax(logit.astype(np.float64), axis=1),
        tolerance=1e-5,
        tags="float reduction",
    ),
    Case(
        name="layer_norm",
        build=layer_norm,
        sizes="n m",
        make=lambda rng, n, m: {
            "X": normal(rng, n, m),
            "gain": normal(rng, m),
            "bias": normal(rng, m),
        },
        reference=_layer_norm_reference,
        tolerance=1e-5,
        tags="float reduction",
    ),
    Case(
        name="attention",
        build=attention,
        sizes="n m d e",
        make=lambda rng, n, m, d, e: {
            "Q": normal(rng, n, d),
            "K": normal(rng, m, d),
            "V": normal(rng, m, e),
        },
        reference=_attention_reference,
        tolerance=1e-5,
        tags="float reduction",
        large={"n": 201, "m": 203, "d": 33, "e": 31},
        limits=_HEADS,
    ),
    Case(
        name="causal_attention",
        build=causal_attention,
        sizes="n d e",
        make=lambda rng, n, d, e: {
            "Q": normal(rng, n, d) / np.float32(max(d, 1) ** 0.5),
            "K": normal(rng, n, d),
            "V": normal(rng, n, e),
        },
        reference=_causal_reference,
        tolerance=1e-5,
        tags="float reduction triangular",
        large={"n": 201, "d": 33, "e": 31},
        limits=_HEADS,
    ),
    Case(
        name="dense",
        build=dense,
        sizes="n m l",
        make=lambda rng, n, m, l: {
            "X": normal(rng, n, l),
            "W": normal(rng, l, m) / np.float32(max(l, 1) ** 0.5),
            "b": normal(rng, m),
        },
        reference=_gelu_reference,
        tolerance=1e-5,
        tags="float reduction",
        large=201,
    ),
    Case(
        name="gated_unit",
        build=gated_unit,
        sizes="n m",
        make=lambda rng, n, m: {
            "x": rng.standard_normal((n, m)),
            "g": 5 * rng.standard_normal((n, m)),
        },
        reference=lambda x, g: x * scipy.special.expit(g),
        tolerance=1e-14,
        tags="float",
    ),
    Case(
        name="log_sum_exp",
        build=log_sum_exp,
        sizes="n m",
        make=lambda rng, n, m: {"x": 5 * normal(rng, n, m)},
        reference=lambda x: scipy.special.logsumexp(x.astype(np.float64), axis=1),
        tolerance=1e-5,
        tags="float reduction recurrence tuple",
    ),
    Case(
        name="argmax",
        build=argmax,
        sizes="n m",
        make=lambda rng, n, m: {"A": np.round(3 * normal(rng, n, m))},
        reference=lambda A: (A.max(axis=1), A.argmax(axis=1)),
        tags="float reduction tuple",
    ),
)
