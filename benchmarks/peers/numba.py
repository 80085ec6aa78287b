"""Numba: loops in Python, with fast maths and parallel outer loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from case import Array
from numba import prange

VERSION = numba.__version__
Call = Callable[[], Any]
jit = numba.njit(fastmath=True, parallel=True, nogil=True)


THREE = np.uint16(3)
ZERO, ONE, TWO = (np.float32(k) for k in range(3))
F1, F4, F6 = (np.float32(k / 16) for k in (1, 4, 6))


def _filling(function: Any, out: Array, *arguments: Any) -> Call:
    """Calls with the result as the last argument."""

    def call() -> Array:
        function(*arguments, out)
        return out

    return call


@jit
def _matmul(A, B, C):
    rows = 4
    for block in prange((A.shape[0] + rows - 1) // rows):
        low, high = block * rows, min(block * rows + rows, A.shape[0])
        C[low:high] = 0
        for k in range(A.shape[1]):
            for i in range(low, high):
                a = A[i, k]
                for j in range(B.shape[1]):
                    C[i, j] += a * B[k, j]


def matmul(A: Array, B: Array) -> Call:
    return _filling(_matmul, np.empty((len(A), B.shape[1]), A.dtype), A, B)


# images -----------------------------------------------------------------------------------------
STRIP = 32  # rows that a task does, with those beyond that it needs


@jit
def _blur(image, out):
    h, w = out.shape
    for strip in prange((h + STRIP - 1) // STRIP):
        low, high = strip * STRIP, min(strip * STRIP + STRIP, h)
        across = np.empty((STRIP + 2, w), np.uint16)
        for y in range(low, high + 2):
            for x in range(w):
                a, b, c = image[y, x], image[y, x + 1], image[y, x + 2]
                across[y - low, x] = np.uint16(np.uint32(a) + np.uint32(b) + np.uint32(c)) // THREE
        for y in range(high - low):
            for x in range(w):
                a, b, c = across[y, x], across[y + 1, x], across[y + 2, x]
                total = np.uint16(np.uint32(a) + np.uint32(b) + np.uint32(c))
                out[low + y, x] = total // THREE


def blur(image: Array) -> Call:
    h, w = image.shape
    return _filling(_blur, np.empty((h - 2, w - 2), np.uint16), image)


@jit
def _unsharp(image, amount, out):
    """On rows of 3 w numbers, in a strip with its border around it."""
    h, n = out.shape
    for strip in prange((h + STRIP - 1) // STRIP):
        low, high = strip * STRIP, min(strip * STRIP + STRIP, h)
        across = np.empty((STRIP + 4, n), np.float32)
        row = np.empty(n + 12, np.float32)
        for y in range(low - 2, high + 2):
            source = min(max(y, 0), h - 1)
            for x in range(n):
                row[x + 6] = image[source, x]
            for x in range(6):
                row[x] = image[source, x % 3]
                row[n + 6 + x] = image[source, n - 3 + x % 3]
            for x in range(n):
                outer, inner = row[x] + row[x + 12], row[x + 3] + row[x + 9]
                across[y - low + 2, x] = F1 * outer + F4 * inner + F6 * row[x + 6]
        for y in range(high - low):
            for x in range(n):
                outer, inner = across[y, x] + across[y + 4, x], across[y + 1, x] + across[y + 3, x]
                smooth = F1 * outer + F4 * inner + F6 * across[y + 2, x]
                here = image[low + y, x]
                value = here + amount * (here - smooth)
                out[low + y, x] = min(max(value, ZERO), ONE)


def unsharp(image: Array, amount: float) -> Call:
    h, w, _ = image.shape
    flat = image.reshape(h, 3 * w)
    call = _filling(_unsharp, np.empty_like(flat), flat, np.float32(amount))
    return lambda: call().reshape(h, w, 3)


@jit
def _harris(image, k, out):
    h, w = out.shape
    for strip in prange((h + STRIP - 1) // STRIP):
        low, high = strip * STRIP, min(strip * STRIP + STRIP, h)
        rows = np.empty((3, w + 4), np.float32)
        gx = np.empty((STRIP + 2, w + 2), np.float32)
        gy = np.empty((STRIP + 2, w + 2), np.float32)
        for y in range(low - 1, high + 1):
            for d in range(3):
                source = min(max(y + d - 1, 0), h - 1)
                for x in range(w):
                    rows[d, x + 2] = image[source, x]
                rows[d, :2] = image[source, 0]
                rows[d, w + 2 :] = image[source, w - 1]
            for x in range(w + 2):
                sides = rows[0, x + 2] - rows[0, x] + rows[2, x + 2] - rows[2, x]
                gx[y - low + 1, x] = sides + TWO * (rows[1, x + 2] - rows[1, x])
                ends = rows[2, x] - rows[0, x] + rows[2, x + 2] - rows[0, x + 2]
                gy[y - low + 1, x] = ends + TWO * (rows[2, x + 1] - rows[0, x + 1])
        for y in range(high - low):
            for x in range(w):
                xx = xy = yy = ZERO
                for dy in range(3):
                    for dx in range(3):
                        a, b = gx[y + dy, x + dx], gy[y + dy, x + dx]
                        xx += a * a
                        xy += a * b
                        yy += b * b
                trace = xx + yy
                out[low + y, x] = xx * yy - xy * xy - k * trace * trace


def harris(image: Array, k: float) -> Call:
    return _filling(_harris, np.empty_like(image), image, np.float32(k))


# networks ---------------------------------------------------------------------------------------
@jit
def _softmax(logit, out):
    for i in prange(len(out)):
        top = logit[i].max()
        total = ZERO
        for j in range(out.shape[1]):
            out[i, j] = np.exp(logit[i, j] - top)
            total += out[i, j]
        scale = ONE / total
        for j in range(out.shape[1]):
            out[i, j] *= scale


def softmax(logit: Array) -> Call:
    return _filling(_softmax, np.empty_like(logit), logit)


@jit
def _layer_norm(X, gain, bias, epsilon, out):
    n, m = X.shape
    for i in prange(n):
        total = ZERO
        for j in range(m):
            total += X[i, j]
        mean, spread = total / np.float32(m), ZERO
        for j in range(m):
            spread += (X[i, j] - mean) * (X[i, j] - mean)
        scale = ONE / np.sqrt(spread / np.float32(m) + epsilon)
        for j in range(m):
            out[i, j] = (X[i, j] - mean) * scale * gain[j] + bias[j]


def layer_norm(X: Array, gain: Array, bias: Array) -> Call:
    return _filling(_layer_norm, np.empty_like(X), X, gain, bias, np.float32(1e-5))


@jit
def _gelu(X, b, factor, cubic, half, out):
    for i in prange(len(X)):
        for j in range(X.shape[1]):
            v = X[i, j] + b[j]
            out[i, j] = half * v * (ONE + np.tanh(factor * (v + cubic * v * v * v)))


def gelu(X: Array, b: Array) -> Call:
    constants = (np.float32(c) for c in ((2 / np.pi) ** 0.5, 0.044715, 0.5))
    return _filling(_gelu, np.empty_like(X), X, b, *constants)
