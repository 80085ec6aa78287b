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
serial = numba.njit(fastmath=True, nogil=True)


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


# steps in time ----------------------------------------------------------------------------------
@jit
def _jacobi(a, b, steps):
    n, m = a.shape
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j])
        a, b = b, a


@jit
def _heat(a, b, steps):
    n, m, l = a.shape
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, l - 1):
                    sides = a[i, j, k - 1] + a[i, j, k + 1] + a[i, j - 1, k] + a[i, j + 1, k]
                    sides += a[i - 1, j, k] + a[i + 1, j, k]
                    b[i, j, k] = 0.25 * a[i, j, k] + 0.125 * sides
        a, b = b, a


def jacobi_2d(x: Array, T: int) -> Call:
    return _two_planes(_jacobi, x, T)


def heat_3d(start: Array, T: int) -> Call:
    return _two_planes(_heat, start, T)


def _two_planes(function: Any, x: Array, steps: int) -> Call:
    planes = np.empty_like(x), np.empty_like(x)

    def call() -> Array:
        for plane in planes:
            plane[...] = x
        function(*planes, steps)
        return planes[steps % 2]

    return call


@serial
def _seidel(x, steps):
    n, m = x.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                above = x[i - 1, j - 1] + x[i - 1, j] + x[i - 1, j + 1]
                below = x[i + 1, j - 1] + x[i + 1, j] + x[i + 1, j + 1]
                x[i, j] = (above + x[i, j - 1] + x[i, j] + x[i, j + 1] + below) / 9.0


def seidel_2d(x: Array, T: int) -> Call:
    return _in_place(lambda y: _seidel(y, T), x)


def _in_place(run: Callable[[Array], None], x: Array) -> Call:
    """On a copy that is made anew in each call."""
    y = np.empty_like(x)

    def call() -> Array:
        y[...] = x
        run(y)
        return y

    return call


@jit
def _fdtd(source, ex, ey, hz):
    n, m = ex.shape
    for t in range(len(source)):
        for i in prange(n):
            if i == 0:
                ey[0] = source[t]
            else:
                for j in range(m):
                    ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
            for j in range(1, m):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in prange(n - 1):
            for j in range(m - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def fdtd_2d(ex0: Array, ey0: Array, hz0: Array, source: Array) -> Call:
    starts = ex0, ey0, hz0
    fields = tuple(np.empty_like(field) for field in starts)

    def call() -> tuple[Array, ...]:
        for field, start in zip(fields, starts, strict=True):
            field[...] = start
        _fdtd(source, *fields)
        return fields

    return call


# matrices and scans -----------------------------------------------------------------------------
@jit
def _lu(a):
    n = len(a)
    for k in range(n):
        for i in prange(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k] = factor
            for j in range(k + 1, n):
                a[i, j] -= factor * a[k, j]


def lu(A: Array) -> Call:
    return _in_place(_lu, A)


@serial
def _relax(row, first, via):
    """Apart, so that rows are arrays of their own for LLVM, which makes vectors then."""
    for j in range(len(row)):
        row[j] = min(row[j], np.int32(first + via[j]))


@jit
def _floyd_warshall(d):
    n = len(d)
    for k in range(n):
        for i in prange(n):
            _relax(d[i], d[i, k], d[k])


def floyd_warshall(weight: Array) -> Call:
    return _in_place(_floyd_warshall, weight)


@jit
def _histogram(image, tasks, out):
    own = np.zeros((tasks, 256), np.int32)
    size = (len(image) + tasks - 1) // tasks
    for task in prange(tasks):
        for i in range(task * size, min(task * size + size, len(image))):
            own[task, image[i]] += 1
    out[:] = 0
    for task in range(tasks):
        out += own[task]


def histogram(image: Array) -> Call:
    tasks = 4 * numba.get_num_threads()
    return _filling(_histogram, np.empty(256, np.int32), image.reshape(-1), tasks)


@numba.njit(nogil=True)
def _running_sum(x, out):
    total = 0
    for i in range(len(x)):
        total += x[i]
        out[i] = total


def running_sum(x: Array) -> Call:
    return _filling(_running_sum, np.empty_like(x), x)


@jit
def _smooth_image(image, a, out):
    h, w = image.shape
    b, width = ONE - a, 256
    for block in prange((w + width - 1) // width):
        low, high = block * width, min(block * width + width, w)
        for x in range(low, high):
            out[0, x] = image[0, x]
        for y in range(1, h):
            for x in range(low, high):
                out[y, x] = a * image[y, x] + b * out[y - 1, x]
        for k in range(2, h + 1):
            for x in range(low, high):
                out[h - k, x] = a * out[h - k, x] + b * out[h - k + 1, x]
    for y in prange(h):
        for x in range(1, w):
            out[y, x] = a * out[y, x] + b * out[y, x - 1]
        for k in range(2, w + 1):
            out[y, w - k] = a * out[y, w - k] + b * out[y, w - k + 1]


def smooth_image(image: Array, a: float) -> Call:
    return _filling(_smooth_image, np.empty_like(image), image, np.float32(a))
