"""NumPy, as one writes it with care, and OpenBLAS through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from case import Array

VERSION = np.__version__
Call = Callable[[], Array]


def matmul(A: Array, B: Array) -> Call:
    C = np.empty((len(A), B.shape[1]), A.dtype)
    return lambda: np.matmul(A, B, out=C)


# images -----------------------------------------------------------------------------------------
def blur(image: Array) -> Call:
    def call() -> Array:
        across = (image[:, :-2] + image[:, 1:-1] + image[:, 2:]) // 3
        return (across[:-2] + across[1:-1] + across[2:]) // 3

    return call


def mean(image: Array) -> Call:
    def call() -> Array:
        wide = image.astype(np.float32)
        across = (wide[:, :-2] + wide[:, 1:-1] + wide[:, 2:]) * np.float32(1 / 3)
        total = across[:-2] + across[1:-1] + across[2:]
        return (total * np.float32(1 / 3)).astype(image.dtype)

    return call


def yuv_to_rgb(Y: Array, U: Array, V: Array) -> Callable[[], tuple[Array, ...]]:
    weights = ((298, 0, 409), (298, -100, -208), (298, 517, 0))

    def call() -> tuple[Array, ...]:
        luma, u, v = (c.astype(np.int32) - zero for c, zero in ((Y, 16), (U, 128), (V, 128)))
        terms = [
            [(c * k + 128) >> 8 for c, k in zip((luma, u, v), row, strict=True)] for row in weights
        ]
        return tuple(np.clip(a + b + c, 0, 255).astype(np.uint8) for a, b, c in terms)

    return call


def unsharp(image: Array, amount: float) -> Call:
    h, w, _ = image.shape
    taps = np.array([1, 4, 6, 4, 1], np.float32) / 16

    def call() -> Array:
        padded = np.pad(image, ((2, 2), (2, 2), (0, 0)), "edge")
        across = _weighted([padded[:, d : d + w] for d in range(5)], taps)
        smooth = _weighted([across[d : d + h] for d in range(5)], taps)
        return np.clip(image + np.float32(amount) * (image - smooth), 0, 1)

    return call


def harris(image: Array, k: float) -> Call:
    h, w = image.shape
    taps = np.array([1, 2, 1], np.float32)

    def box(a: Array) -> Array:
        rows = a[:-2] + a[1:-1] + a[2:]
        return rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]

    def call() -> Array:
        padded = np.pad(image, 2, "edge")
        right, down = padded[:, 2:] - padded[:, :-2], padded[2:] - padded[:-2]
        gx = _weighted([right[d : d + h + 2] for d in range(3)], taps)
        gy = _weighted([down[:, d : d + w + 2] for d in range(3)], taps)
        xx, xy, yy = box(gx * gx), box(gx * gy), box(gy * gy)
        return xx * yy - xy * xy - np.float32(k) * (xx + yy) ** 2

    return call


def _weighted(parts: Sequence[Array], weights: Array) -> Array:
    """The sum of the parts, each times its weight."""
    total: Array = parts[0] * weights[0]
    for part, weight in zip(parts[1:], weights[1:], strict=True):
        total += part * weight
    return total


# networks ---------------------------------------------------------------------------------------
def convolution(image: Array, weight: Array, bias: Array) -> Call:
    """All windows as columns of a matrix."""
    n, c, h, w = image.shape
    filters = weight.reshape(len(weight), -1)
    padded = np.zeros((n, c, h + 2, w + 2), np.float32)
    columns = np.empty((n, c, 3, 3, h, w), np.float32)
    flat = columns.reshape(n, c * 9, h * w)
    out = np.empty((n, len(weight), h * w), np.float32)

    def call() -> Array:
        padded[:, :, 1:-1, 1:-1] = image
        for dy in range(3):
            for dx in range(3):
                columns[:, :, dy, dx] = padded[:, :, dy : dy + h, dx : dx + w]
        np.matmul(filters, flat, out=out)
        np.add(out, bias[:, None], out=out)
        np.maximum(out, 0, out=out)
        return out.reshape(n, -1, h, w)

    return call


def pointwise(image: Array, weight: Array, bias: Array) -> Call:
    n, c, h, w = image.shape
    filters, flat = weight.reshape(-1, c), image.reshape(n, c, h * w)
    out = np.empty((n, len(filters), h * w), np.float32)

    def call() -> Array:
        np.matmul(filters, flat, out=out)
        np.add(out, bias[:, None], out=out)
        return out.reshape(n, -1, h, w)

    return call


def softmax(logit: Array) -> Call:
    out = np.empty_like(logit)

    def call() -> Array:
        np.subtract(logit, logit.max(axis=1, keepdims=True), out=out)
        np.exp(out, out=out)
        np.divide(out, out.sum(axis=1, keepdims=True), out=out)
        return out

    return call


def layer_norm(X: Array, gain: Array, bias: Array) -> Call:
    def call() -> Array:
        centred = X - X.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", centred, centred) / X.dtype.type(X.shape[1])
        centred *= (1 / np.sqrt(variance + np.float32(1e-5)))[:, None]
        centred *= gain
        centred += bias
        return centred

    return call


def gelu(X: Array, b: Array) -> Call:
    factor = np.float32((2 / np.pi) ** 0.5)

    def call() -> Array:
        v = X + b
        inner = v * v
        inner *= np.float32(0.044715)
        inner += 1
        inner *= v
        inner *= factor
        np.tanh(inner, out=inner)
        inner += 1
        inner *= v
        inner *= np.float32(0.5)
        return inner

    return call


def attention(Q: Array, K: Array, V: Array) -> Call:
    scale = np.float32(Q.shape[-1] ** -0.5)

    def call() -> Array:
        score = (Q * scale) @ K.swapaxes(1, 2)
        score -= score.max(axis=-1, keepdims=True)
        np.exp(score, out=score)
        return (score @ V) / score.sum(axis=-1, keepdims=True)

    return call


def lstm(x: Array, W: Array, R: Array, b: Array) -> Call:
    """All inputs at once; a product of a matrix and a vector for each step."""
    units = R.shape[1]
    fed_weights, back_weights = W.reshape(4 * units, -1), R.reshape(4 * units, units)
    one = np.float32(1)

    def sigmoid(v: Array) -> Array:
        return one / (one + np.exp(-v))

    def call() -> Array:
        fed = x @ fed_weights.T + b.reshape(-1)
        h, c = np.zeros(units, np.float32), np.zeros(units, np.float32)
        y = np.empty((len(x), units), np.float32)
        for t in range(len(x)):
            i, f, g, o = (fed[t] + back_weights @ h).reshape(4, units)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = y[t] = sigmoid(o) * np.tanh(c)
        return y

    return call


# matrices and scans -----------------------------------------------------------------------------
def floyd_warshall(weight: Array) -> Call:
    def call() -> Array:
        d = weight.copy()
        through = np.empty_like(d)
        for k in range(len(d)):
            np.add(d[:, k : k + 1], d[k], out=through)
            np.minimum(d, through, out=d)
        return d

    return call


def histogram(image: Array) -> Call:
    flat = image.reshape(-1)
    return lambda: np.bincount(flat, minlength=256)


def running_sum(x: Array) -> Call:
    out = np.empty_like(x)
    return lambda: np.cumsum(x, out=out)
