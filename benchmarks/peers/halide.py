"""Halide: just-in-time code for this machine, schedules by hand after Halide's own apps.

Axes are named as in the programs, and given in Halide's order: x before y.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Any

import halide as hl
import numpy as np
from case import Array

from . import faster

VERSION = version("halide")
TARGET = hl.get_host_target()
Call = Callable[[], Any]
Expr = Any
TYPES = {"f": hl.Float, "u": hl.UInt, "i": hl.Int}


def vector(dtype: Any) -> int:
    """Elements of a type in a register."""
    widest = 64 if TARGET.has_feature(hl.TargetFeature.AVX512_Skylake) else 32
    return widest // np.dtype(dtype).itemsize


def param(array: Array, name: str) -> Any:
    """The input that stands for an array."""
    kind = TYPES[array.dtype.kind](8 * array.itemsize)
    return hl.ImageParam(kind, array.ndim, name)


def compiled(
    output: Any, inputs: Sequence[tuple[Any, Array]], shape: Sequence[int], dtype: Any
) -> Call:
    """A call that fills one output array of this shape."""
    compute = hl.Pipeline(output).compile_to_callable([p for p, _ in inputs], TARGET)
    result = np.empty(shape, dtype)
    buffers = [hl.Buffer(array) for _, array in inputs]
    buffers.append(hl.Buffer(result))

    def call() -> Array:
        compute(*buffers)
        return result

    return call


def matmul(A: Array, B: Array) -> Call:
    return faster(*(_matmul(A, B, *tile) for tile in ((8, 3), (6, 4), (12, 2))))


def _matmul(A: Array, B: Array, rows: int, vectors: int) -> Call:
    """Tiles of `rows` by `vectors` registers, and a panel of B packed for many of them."""
    (n, l), m = A.shape, B.shape[1]
    lanes = vector(A.dtype)
    rows, width = min(rows, n), min(vectors * lanes, m)
    tall = min(max(n // 4, rows) // rows * rows, n)
    a, b = param(A, "A"), param(B, "B")
    x, y, xi, yi, yii, xy = (hl.Var(v) for v in ("x", "y", "xi", "yi", "yii", "xy"))
    k = hl.RDom([(0, l)], "k")

    product, C = hl.Func("product"), hl.Func("C")
    product[x, y] = hl.cast(TYPES["f"](8 * A.itemsize), 0)
    product[x, y] += a[k.x, y] * b[x, k.x]
    C[x, y] = product[x, y]

    C.tile(x, y, xi, yi, width, tall).split(yi, yi, yii, rows)
    C.vectorize(xi, lanes).unroll(xi).unroll(yii).fuse(x, y, xy).parallel(xy)
    product.compute_at(C, yi).vectorize(x, lanes).unroll(x).unroll(y)
    update = product.update(0).reorder(x, y, k.x).vectorize(x, lanes).unroll(x).unroll(y)
    if n > 1:
        panel = b.in_()
        panel.compute_at(C, xy).vectorize(panel.args()[0], lanes)
        update.unroll(k.x, 2)
    return compiled(C, [(a, A), (b, B)], (n, m), A.dtype)


def variables(names: str) -> list[Any]:
    return [hl.Var(name) for name in names.split()]


# images -----------------------------------------------------------------------------------------
STRIP = 32  # rows of a task; windows of what it needs slide down in it


def blur(image: Array) -> Call:
    h, w = image.shape[0] - 2, image.shape[1] - 2
    p, lanes = param(image, "image"), vector(image.dtype)
    x, y, yi = variables("x y yi")
    across, blurred = hl.Func("across"), hl.Func("blurred")
    across[x, y] = (p[x, y] + p[x + 1, y] + p[x + 2, y]) // hl.u16(3)
    blurred[x, y] = (across[x, y] + across[x, y + 1] + across[x, y + 2]) // hl.u16(3)

    blurred.split(y, y, yi, STRIP).parallel(y).vectorize(x, lanes)
    across.store_at(blurred, y).compute_at(blurred, yi).vectorize(x, lanes)
    return compiled(blurred, [(p, image)], (h, w), np.uint16)


def unsharp(image: Array, amount: float) -> Call:
    """On rows of 3 w numbers, so that vectors need not know of colours."""
    h, w, _ = image.shape
    flat = image.reshape(h, 3 * w)
    p, lanes, n = param(flat, "image"), vector(np.float32), 3 * w
    x, y, yi = variables("x y yi")
    padded, across, smooth, sharp = (hl.Func(f) for f in ("padded", "across", "smooth", "sharp"))
    row, r = hl.clamp(y, 0, h - 1), hl.RDom([(0, 6)])
    padded[x, y] = p[hl.clamp(hl.likely(x), 0, n - 1), row]
    padded[r.x - 6, y] = p[r.x % 3, row]  # updates: in the definition they would cost each vector
    padded[r.x + n, y] = p[n - 3 + r.x % 3, row]
    taps = [hl.f32(t / 16) for t in (1, 4, 6, 4, 1)]
    across[x, y] = _sum(t * padded[x + 3 * d, y] for d, t in enumerate(taps, -2))
    smooth[x, y] = _sum(t * across[x, y + d] for d, t in enumerate(taps, -2))
    detail = p[x, y] - smooth[x, y]
    sharp[x, y] = hl.clamp(p[x, y] + hl.f32(amount) * detail, hl.f32(0), hl.f32(1))

    sharp.split(y, y, yi, STRIP).parallel(y).vectorize(x, lanes)
    across.compute_at(sharp, y).vectorize(x, lanes)
    padded.compute_at(across, y).vectorize(x, lanes)
    call = compiled(sharp, [(p, flat)], (h, n), np.float32)
    return lambda: call().reshape(h, w, 3)


def _sum(parts: Iterable[Expr]) -> Expr:
    first, *rest = parts
    for part in rest:
        first = first + part
    return first


def harris(image: Array, k: float) -> Call:
    h, w = image.shape
    p, lanes = param(image, "image"), vector(np.float32)
    x, y, yi = variables("x y yi")
    f = hl.BoundaryConditions.repeat_edge(p, [(0, w), (0, h)])
    gx, gy, response = hl.Func("gx"), hl.Func("gy"), hl.Func("response")
    taps = tuple(zip((-1, 0, 1), map(hl.f32, (1, 2, 1)), strict=True))
    gx[x, y] = _sum(t * (f[x + 1, y + d] - f[x - 1, y + d]) for d, t in taps)
    gy[x, y] = _sum(t * (f[x + d, y + 1] - f[x + d, y - 1]) for d, t in taps)

    def box(a: Any, b: Any) -> Expr:
        around = [(dx, dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
        return _sum(a[x + dx, y + dy] * b[x + dx, y + dy] for dx, dy in around)

    xx, xy, yy = box(gx, gx), box(gx, gy), box(gy, gy)
    response[x, y] = xx * yy - xy * xy - hl.f32(k) * (xx + yy) * (xx + yy)

    response.split(y, y, yi, STRIP).parallel(y).vectorize(x, lanes)
    for gradient in (gx, gy):
        gradient.store_at(response, y).compute_at(response, yi).vectorize(x, lanes)
    gy.compute_with(gx, x)
    return compiled(response, [(p, image)], (h, w), np.float32)


# convolutions -----------------------------------------------------------------------------------
def convolution(image: Array, weight: Array, bias: Array) -> Call:
    return _channels_last(image, weight, bias, relu=True)


def pointwise(image: Array, weight: Array, bias: Array) -> Call:
    return _channels_last(image, weight, bias, relu=False)


def _channels_last(image: Array, weight: Array, bias: Array, *, relu: bool) -> Call:
    """With channels last in memory, as in Halide's conv_layer."""
    given = (
        np.ascontiguousarray(image.transpose(0, 2, 3, 1)),
        np.ascontiguousarray(weight.transpose(1, 2, 3, 0)),
        bias,
    )
    call = faster(*(_convolution(*given, *tile, relu=relu) for tile in ((4, 6), (4, 7), (2, 14))))
    return lambda: call().transpose(0, 3, 1, 2)


def _convolution(
    image: Array, weight: Array, bias: Array, vectors: int, pixels: int, *, relu: bool
) -> Call:
    """Tiles of so many registers of channels by pixels; the image is padded a row at a time."""
    n, h, w, c = image.shape
    size, filters = weight.shape[1], weight.shape[3]
    p, q, r = param(image, "image"), param(weight, "weight"), param(bias, "bias")
    k, x, y, b, ko, ki, xo, xi = variables("k x y b ko ki xo xi")
    lanes = vector(np.float32)
    t = hl.RDom([(0, c), (0, size), (0, size)], "t")
    conv, out = hl.Func("conv"), hl.Func("out")
    at = size // 2
    f = p
    if at:
        f = hl.BoundaryConditions.constant_exterior(p, hl.f32(0), [(0, c), (0, w), (0, h)])
    conv[k, x, y, b] = r[k]
    conv[k, x, y, b] += q[k, t.y, t.z, t.x] * f[t.x, x + t.y - at, y + t.z - at, b]
    out[k, x, y, b] = hl.max(conv[k, x, y, b], hl.f32(0)) if relu else conv[k, x, y, b]

    out.split(k, ko, ki, vectors * lanes).split(x, xo, xi, pixels)
    out.reorder(ki, xi, xo, ko, y, b).vectorize(ki, lanes).unroll(ki).unroll(xi)
    out.parallel(y).parallel(b)
    conv.compute_at(out, xo).vectorize(k, lanes).unroll(k).unroll(x)
    update = conv.update(0).reorder(k, x, t.x, t.y, t.z, y, b)
    update.vectorize(k, lanes).unroll(k).unroll(x).unroll(t.x, 2)
    if at:
        f.compute_at(out, y).vectorize(f.args()[0], lanes)
    inputs = [(p, image), (q, weight), (r, bias)]
    return compiled(out, inputs, (n, h, w, filters), np.float32)


def depthwise(image: Array, weight: Array) -> Call:
    n, c, h, w = image.shape
    last = np.ascontiguousarray(image.transpose(0, 2, 3, 1))
    taps = np.ascontiguousarray(weight.transpose(1, 2, 0))
    p, q = param(last, "image"), param(taps, "weight")
    k, x, y, b, xi, yi = variables("k x y b xi yi")
    f = hl.BoundaryConditions.constant_exterior(p, hl.f32(0), [(0, c), (0, w), (0, h)])
    out = hl.Func("out")
    out[k, x, y, b] = _sum(
        q[k, dx, dy] * f[k, x + dx - 1, y + dy - 1, b] for dy in range(3) for dx in range(3)
    )
    out.tile(x, y, xi, yi, 4, 4).reorder(xi, yi, k, x, y, b).vectorize(k, vector(np.float32))
    out.unroll(xi).unroll(yi).parallel(y).parallel(b)
    f.compute_at(out, y).vectorize(f.args()[0], vector(np.float32))
    call = compiled(out, [(p, last), (q, taps)], (n, h, w, c), np.float32)
    return lambda: call().transpose(0, 3, 1, 2)


# networks ---------------------------------------------------------------------------------------
PARTS = 64  # partial results of a row, in several registers


def _reduced(f: Callable[[Expr], Expr], n: int, y: Any, combine: Any, start: float) -> Any:
    """A Func of y: `combine` over f(0) to f(n - 1), in parts that are combined at the end."""
    u = hl.Var("u")
    lanes = vector(np.float32)
    width = PARTS if n % PARTS == 0 else 1
    part, total = hl.Func("part"), hl.Func("total")
    r, q = hl.RDom([(0, n // width)]), hl.RDom([(0, width)])
    part[u, y] = hl.f32(start)
    part[u, y] = combine(part[u, y], f(r.x * width + u))
    total[y] = hl.f32(start)
    total[y] = combine(total[y], part[q.x, y])
    if width > 1:
        part.vectorize(u, lanes).unroll(u)
        part.update(0).reorder(u, r.x).vectorize(u, lanes).unroll(u)
        total.update(0).atomic().vectorize(q.x, width)
    return part, total


def _at_rows(out: Any, y: Any, reductions: Sequence[Any]) -> None:
    for part, total in reductions:
        part.compute_at(out, y)
        total.compute_at(out, y)


def _add(a: Expr, b: Expr) -> Expr:
    return a + b


def softmax(logit: Array) -> Call:
    n, m = logit.shape
    p, lanes = param(logit, "logit"), vector(np.float32)
    x, y = variables("x y")
    top = _reduced(lambda j: p[j, y], m, y, hl.max, -np.inf)
    weight, out, scale = hl.Func("weight"), hl.Func("out"), hl.Func("scale")
    weight[x, y] = hl.fast_exp(p[x, y] - top[1][y])
    total = _reduced(lambda j: weight[j, y], m, y, _add, 0)
    scale[y] = hl.f32(1) / total[1][y]
    out[x, y] = weight[x, y] * scale[y]

    out.parallel(y, 8).vectorize(x, lanes).unroll(x, 4)
    weight.compute_at(out, y).vectorize(x, lanes).unroll(x, 4)
    scale.compute_at(out, y)
    _at_rows(out, y, (top, total))
    return compiled(out, [(p, logit)], (n, m), np.float32)


def layer_norm(X: Array, gain: Array, bias: Array) -> Call:
    n, m = X.shape
    p, g, b = param(X, "X"), param(gain, "gain"), param(bias, "bias")
    x, y = variables("x y")
    mean, scale, out = hl.Func("mean"), hl.Func("scale"), hl.Func("out")
    total = _reduced(lambda j: p[j, y], m, y, _add, 0)
    mean[y] = total[1][y] / m
    spread = _reduced(lambda j: (p[j, y] - mean[y]) * (p[j, y] - mean[y]), m, y, _add, 0)
    scale[y] = hl.f32(1) / hl.sqrt(spread[1][y] / m + hl.f32(1e-5))
    out[x, y] = (p[x, y] - mean[y]) * scale[y] * g[x] + b[x]

    out.parallel(y, 8).vectorize(x, vector(np.float32)).unroll(x, 4)
    mean.compute_at(out, y)
    scale.compute_at(out, y)
    _at_rows(out, y, (total, spread))
    return compiled(out, [(p, X), (g, gain), (b, bias)], (n, m), np.float32)


def gelu(X: Array, b: Array) -> Call:
    """v sigmoid(2 c (v + 0.044715 v^3)), which is the formula of tanh without tanh."""
    n, m = X.shape
    p, q = param(X, "X"), param(b, "b")
    x, y = variables("x y")
    v, out = hl.Func("v"), hl.Func("out")
    v[x, y] = p[x, y] + q[x]
    inner = v[x, y] + hl.f32(0.044715) * v[x, y] * v[x, y] * v[x, y]
    out[x, y] = v[x, y] / (hl.f32(1) + hl.fast_exp(hl.f32(-2 * (2 / np.pi) ** 0.5) * inner))
    out.parallel(y, 8).vectorize(x, vector(np.float32)).unroll(x, 4)
    return compiled(out, [(p, X), (q, b)], (n, m), np.float32)
