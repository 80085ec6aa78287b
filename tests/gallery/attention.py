"""Softmax, normalisation and attention by inline reductions, and attention in one pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.special

import polysched as ps

from .case import Arguments, Array, Case, normal

BLOCK = 4


def softmax_rows() -> ps.Func:
    """exp(x) scaled to sum 1 along each row; the maximum is subtracted first."""
    n, m = ps.sizes("n m")
    x = ps.Input("x", ps.float32, (n, m))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, m)

    top = ps.max(x[i, k], k)
    y = ps.Func("y", (n, m))
    y[i, j] = ps.exp(x[i, j] - top) / ps.sum(ps.exp(x[i, k] - top), k)
    return y


def layer_norm_rows(epsilon: float = 1e-5) -> ps.Func:
    """Each row brought to mean 0 and variance 1, then scaled and shifted."""
    n, m = ps.sizes("n m")
    X = ps.Input("X", ps.float32, (n, m))
    gain = ps.Input("gain", ps.float32, (m,))
    bias = ps.Input("bias", ps.float32, (m,))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, m)

    mean = ps.sum(X[i, k], k) / m
    variance = ps.sum((X[i, k] - mean) ** 2, k) / m
    Y = ps.Func("Y", (n, m))
    Y[i, j] = (X[i, j] - mean) * ps.rsqrt(variance + epsilon) * gain[j] + bias[j]
    return Y


def multi_head_attention(
    exp: Callable[[ps.Expr], ps.Expr] = ps.exp, unit: float | None = None
) -> ps.Func:
    """softmax(Q K^T / sqrt(d)) V for each head, the weights by inline reductions.

    Args:
        exp: what makes weights of scores.
        unit: what scores are multiplied by beside 1 / sqrt(d), where `exp` has another base.
    """
    s, n, m, d = ps.sizes("s n m d")
    Q = ps.Input("Q", ps.float32, (s, n, d))
    K = ps.Input("K", ps.float32, (s, m, d))
    V = ps.Input("V", ps.float32, (s, m, d))
    h, i, j, c = ps.vars("h i j c")
    k, r = ps.RVar("k", 0, d), ps.RVar("r", 0, m)

    factor = ps.rsqrt(ps.cast(ps.float32, d))
    if unit is not None:
        factor = factor * unit
    score, weight = ps.Func("score"), ps.Func("weight")
    score[h, i, j] = ps.sum(Q[h, i, k] * K[h, j, k], k) * factor
    weight[h, i, j] = exp(score[h, i, j] - ps.max(score[h, i, r], r))
    O = ps.Func("O", (s, n, d))
    O[h, i, c] = ps.sum(weight[h, i, r] * V[h, r, c], r) / ps.sum(weight[h, i, r], r)
    return O


def flash_attention() -> ps.Func:
    """Attention in one pass over blocks of keys (Milakov and Gimelshein; Dao and others).

    Three recurrences over the block b: the largest score so far, the sum of the weights relative
    to it, and the sum of the values so weighted. The keys come in whole blocks.
    """
    n, blocks, d, e = ps.sizes("n blocks d e")
    Q = ps.Input("Q", ps.float32, (n, d))
    K = ps.Input("K", ps.float32, (BLOCK * blocks, d))
    V = ps.Input("V", ps.float32, (BLOCK * blocks, e))
    b, i, r, c = ps.vars("b i r c")
    k, q = ps.RVar("k", 0, d), ps.RVar("q", 0, BLOCK)

    score, weight = ps.Func("score"), ps.Func("weight")
    score[b, i, r] = ps.sum(Q[i, k] * K[BLOCK * b + r, k], k) / ps.sqrt(ps.cast(ps.float32, d))

    top = ps.Func("top", (blocks + 1, n), ps.float32)
    top[0, i] = -np.inf
    top[b, i] = ps.max(score[b - 1, i, q], q, initial=top[b - 1, i])
    weight[b, i, r] = ps.exp(score[b, i, r] - top[b + 1, i])
    shrink = ps.exp(top[b - 1, i] - top[b, i])

    total = ps.Func("total", (blocks + 1, n), ps.float32)
    total[0, i] = 0.0
    total[b, i] = total[b - 1, i] * shrink + ps.sum(weight[b - 1, i, q], q)
    mixed = ps.Func("mixed", (blocks + 1, n, e), ps.float32)
    mixed[0, i, c] = 0.0
    mixed[b, i, c] = mixed[b - 1, i, c] * shrink + ps.sum(
        weight[b - 1, i, q] * V[BLOCK * (b - 1) + q, c], q
    )

    O = ps.Func("O", (n, e))
    O[i, c] = mixed[blocks, i, c] / total[blocks, i]
    return O


def flash_attention_ragged() -> ps.Func:
    """The same for any number of keys: the last block may be partial."""
    n, m, d = ps.sizes("n m d")
    blocks = ps.size("blocks", default=(m + BLOCK - 1) // BLOCK)
    ps.require(BLOCK * blocks >= m, "every key is in a block")
    ps.require(BLOCK * blocks < m + BLOCK, "no block is empty")
    Q = ps.Input("Q", ps.float32, (n, d))
    K = ps.Input("K", ps.float32, (m, d))
    V = ps.Input("V", ps.float32, (m, d))
    b, i, c = ps.vars("b i c")
    k = ps.RVar("k", 0, d)
    q = ps.RVar("q", BLOCK * (b - 1), ps.minimum(BLOCK * b, m))

    score = ps.Func("score", (n, m))
    j = ps.vars("j")
    score[i, j] = ps.sum(Q[i, k] * K[j, k], k)

    state = ps.Func("state", (blocks + 1, n), (ps.float32, ps.float32))
    state[0, i] = (-np.inf, 0.0)
    top, total = state[b - 1, i]
    new = ps.max(score[i, q], q, initial=top)
    state[b, i] = (new, total * ps.exp(top - new) + ps.sum(ps.exp(score[i, q] - new), q))

    mixed = ps.Func("mixed", (blocks + 1, n, d), ps.float32)
    before, now = state[b - 1, i][0], state[b, i][0]
    mixed[0, i, c] = 0.0
    mixed[b, i, c] = mixed[b - 1, i, c] * ps.exp(before - now) + ps.sum(
        ps.exp(score[i, q] - now) * V[q, c], q
    )

    O = ps.Func("O", (n, d))
    O[i, c] = mixed[blocks, i, c] / state[blocks, i][1]
    return O


# arguments and references ---------------------------------------------------------------------


def _attention_reference(Q: Array, K: Array, V: Array) -> Array:
    """Leading axes are heads."""
    score = Q.astype(np.float64) @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    return scipy.special.softmax(score, axis=-1) @ V


def _norm_reference(X: Array, gain: Array, bias: Array) -> Array:
    X = X.astype(np.float64)
    deviation = np.sqrt(X.var(axis=1, keepdims=True) + 1e-5)
    return (X - X.mean(axis=1, keepdims=True)) / deviation * gain + bias


def _ragged_reference(Q: Array, K: Array, V: Array) -> Array:
    return _attention_reference(Q * np.sqrt(Q.shape[1]), K, V)


def _ragged_arguments(rng: np.random.Generator, n: int, m: int, d: int) -> Arguments:
    return {"Q": normal(rng, n, d), "K": normal(rng, m, d), "V": normal(rng, m, d)}


CASES = (
    Case(
        name="softmax_rows",
        build=softmax_rows,
        sizes="n m",
        make=lambda rng, n, m: {"x": 5 * normal(rng, n, m)},
        reference=lambda x: scipy.special.softmax(x.astype(np.float64), axis=1),
        tolerance=1e-5,
        tags="float reduction",
    ),
    Case(
        name="layer_norm_rows",
        build=layer_norm_rows,
        sizes="n m",
        make=lambda rng, n, m: {
            "X": normal(rng, n, m),
            "gain": normal(rng, m),
            "bias": normal(rng, m),
        },
        reference=_norm_reference,
        tolerance=1e-5,
        tags="float reduction",
    ),
    Case(
        name="multi_head_attention",
        build=multi_head_attention,
        sizes="s n m d",
        make=lambda rng, s, n, m, d: {
            "Q": normal(rng, s, n, d),
            "K": normal(rng, s, m, d),
            "V": normal(rng, s, m, d),
        },
        reference=_attention_reference,
        tolerance=1e-5,
        tags="float reduction slow",
        large={"s": 3, "n": 101, "m": 91, "d": 33},
        limits={"s": 2, "n": 16, "m": 16, "d": 8},
    ),
    Case(
        name="flash_attention",
        build=flash_attention,
        sizes="n blocks d e",
        make=lambda rng, n, blocks, d, e: {
            "Q": normal(rng, n, d),
            "K": normal(rng, BLOCK * blocks, d),
            "V": normal(rng, BLOCK * blocks, e),
        },
        reference=_attention_reference,
        tolerance=1e-5,
        tags="float reduction recurrence slow",
        large={"n": 101, "blocks": 33, "d": 33, "e": 31},
        limits={"n": 12, "blocks": 13, "d": 6, "e": 6},
    ),
    Case(
        name="flash_attention_ragged",
        build=flash_attention_ragged,
        sizes="n m d",
        make=_ragged_arguments,
        reference=_ragged_reference,
        tolerance=1e-5,
        tags="float reduction recurrence tuple triangular slow",
        large={"n": 101, "m": 103, "d": 33},
        limits={"n": 12, "d": 6},
    ),
)
