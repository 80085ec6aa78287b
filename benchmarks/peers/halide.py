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

from . import below_avx512, faster

VERSION = version("halide")
Call = Callable[[], Any]
Expr = Any
TYPES = {"f": hl.Float, "u": hl.UInt, "i": hl.Int}


def _target() -> Any:
    """This machine, or what it has beside AVX-512."""
    target = hl.get_host_target()
    if below_avx512():
        for feature in [f for name, f in FEATURES.items() if name.startswith("AVX512")]:
            target = target.without_feature(feature)
    return target


FEATURES = hl.TargetFeature.__members__
TARGET = _target()


def vector(dtype: Any) -> int:
    """Elements of a type in a register."""
    found = np.dtype(dtype)
    return int(TARGET.natural_vector_size(TYPES[found.kind](8 * found.itemsize)))


def param(array: Array, name: str) -> Any:
    """The input that stands for an array."""
    kind = TYPES[array.dtype.kind](8 * array.itemsize)
    return hl.ImageParam(kind, array.ndim, name)


def pipeline_of(output: Any, inputs: Sequence[tuple[Any, Array]], shape: Sequence[int]) -> Any:
    """What is compiled for an output array of a shape."""
    return hl.Pipeline(output)


def compiled(
    output: Any, inputs: Sequence[tuple[Any, Array]], shape: Sequence[int], dtype: Any
) -> Call:
    """A call that fills one output array of this shape."""
    pipeline = pipeline_of(output, inputs, shape)
    compute = pipeline.compile_to_callable([p for p, _ in inputs], TARGET)
    result = np.empty(shape, dtype)
    buffers = [hl.Buffer(array) for _, array in inputs]
    buffers.append(hl.Buffer(result))

    def call() -> Array:
        compute(*buffers)
        return result

    return call


def matmul(A: Array, B: Array) -> Call:
    """A row alone has its sums in many registers, so that B is read in long pieces."""
    tiles = ((8, 3), (6, 4), (12, 2)) if len(A) > 1 else ((1, 3), (1, 8), (1, 16))
    return faster(*(_matmul(A, B, *tile) for tile in tiles))


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
    padded.update(0).unscheduled()
    padded.update(1).unscheduled()
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


def _reduced(
    f: Callable[[Expr], Expr], n: int, outer: Sequence[Any], combine: Any, start: float
) -> Any:
    """Funcs of `outer`: parts of f(0) to f(n - 1) combined, and these combined."""
    u = hl.Var("u")
    lanes = vector(np.float32)
    width = PARTS if n % PARTS == 0 else 1
    part, total = hl.Func("part"), hl.Func("total")
    r, q = hl.RDom([(0, n // width)]), hl.RDom([(0, width)])
    part[u, *outer] = hl.f32(start)
    part[u, *outer] = combine(part[u, *outer], f(r.x * width + u))
    total[*outer] = hl.f32(start)
    total[*outer] = combine(total[*outer], part[q.x, *outer])
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
    top = _reduced(lambda j: p[j, y], m, (y,), hl.max, -np.inf)
    weight, out, scale = hl.Func("weight"), hl.Func("out"), hl.Func("scale")
    weight[x, y] = hl.fast_exp(p[x, y] - top[1][y])
    total = _reduced(lambda j: weight[j, y], m, (y,), _add, 0)
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
    total = _reduced(lambda j: p[j, y], m, (y,), _add, 0)
    mean[y] = total[1][y] / m
    spread = _reduced(lambda j: (p[j, y] - mean[y]) * (p[j, y] - mean[y]), m, (y,), _add, 0)
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


# scans ------------------------------------------------------------------------------------------
def histogram(image: Array) -> Call:
    """A table for each row of blocks, then their sum."""
    h, w = image.shape
    p = param(image, "image")
    rows = next(k for k in (50, 41, 1) if h % k == 0)
    b, block = variables("b block")
    r, q = hl.RDom([(0, w), (0, rows)]), hl.RDom([(0, h // rows)])
    part, count = hl.Func("part"), hl.Func("count")
    part[b, block] = 0
    part[hl.i32(p[r.x, block * rows + r.y]), block] += 1
    count[b] = 0
    count[b] += part[b, q.x]

    part.compute_root().parallel(block).vectorize(b, vector(np.int32))
    part.update(0).parallel(block)
    count.vectorize(b, vector(np.int32)).update(0).reorder(b, q.x).vectorize(b, vector(np.int32))
    return compiled(count, [(p, image)], (256,), np.int32)


def smooth_image(image: Array, a: float) -> Call:
    """As in Halide's iir_blur: down and up the columns and a transposition, twice."""
    h, w = image.shape
    p = param(image, "image")
    once = _smooth_columns(lambda x, y: p[x, y], h, a)
    twice = _smooth_columns(lambda x, y: once[x, y], w, a)
    once.compute_root()
    return compiled(twice, [(p, image)], (h, w), np.float32)


def _smooth_columns(f: Callable[[Expr, Expr], Expr], height: int, a: float) -> Any:
    """The transposed image, smoothed along the columns of f."""
    x, y, xi, yi = variables("x y xi yi")
    lanes, r = vector(np.float32), hl.RDom([(1, height - 1)])
    smooth, turned = hl.Func("smooth"), hl.Func("turned")
    gain, kept, last = hl.f32(a), hl.f32(1) - hl.f32(a), height - 1
    smooth[x, y] = hl.undef(hl.Float(32))
    smooth[x, 0] = f(x, 0)
    smooth[x, r.x] = kept * smooth[x, r.x - 1] + gain * f(x, r.x)
    smooth[x, last - r.x] = kept * smooth[x, last - r.x + 1] + gain * smooth[x, last - r.x]
    turned[x, y] = smooth[y, x]

    turned.tile(x, y, xi, yi, lanes, 4 * lanes).vectorize(xi).unroll(yi, 4).parallel(y)
    smooth.compute_at(turned, y).update(0).vectorize(x, lanes)
    for k in (1, 2):
        smooth.update(k).reorder(x, r.x).vectorize(x, lanes)
    return turned


# attention --------------------------------------------------------------------------------------
def attention(Q: Array, K: Array, V: Array) -> Call:
    """Blocks of queries, for which all scores are kept; keys are transposed first."""
    heads, n, d = Q.shape
    m, lanes = K.shape[1], vector(np.float32)
    q, k, v = param(Q, "Q"), param(K, "K"), param(V, "V")
    c, j, i, h, io, ji = variables("c j i h io ji")
    r, s = hl.RDom([(0, d)]), hl.RDom([(0, m)])
    turned, score, weight = hl.Func("turned"), hl.Func("score"), hl.Func("weight")
    mixed, out = hl.Func("mixed"), hl.Func("out")
    turned[j, c, h] = k[c, j, h] * hl.f32(d**-0.5)
    score[j, i, h] = hl.f32(0)
    score[j, i, h] += q[r.x, i, h] * turned[j, r.x, h]
    top = _reduced(lambda x: score[x, i, h], m, (i, h), hl.max, -np.inf)
    weight[j, i, h] = hl.fast_exp(score[j, i, h] - top[1][i, h])
    total = _reduced(lambda x: weight[x, i, h], m, (i, h), _add, 0)
    mixed[c, i, h] = hl.f32(0)
    mixed[c, i, h] += weight[s.x, i, h] * v[c, s.x, h]
    out[c, i, h] = mixed[c, i, h] / total[1][i, h]

    rows = 8
    out.bound(c, 0, d).split(i, io, i, rows).reorder(c, i, io, h).vectorize(c, lanes).parallel(
        io
    ).parallel(h)
    mixed.compute_at(out, io).vectorize(c, lanes).unroll(c).unroll(i)
    update = mixed.update(0).split(c, c, ji, 2 * lanes).reorder(ji, i, s.x, c)
    update.vectorize(ji, lanes).unroll(ji).unroll(i)
    weight.compute_at(out, io).vectorize(j, lanes).unroll(j, 4)
    score.compute_at(out, io).vectorize(j, lanes)
    update = score.update(0).split(j, j, ji, 2 * lanes).reorder(ji, i, r.x, j)
    update.vectorize(ji, lanes).unroll(ji).unroll(i)
    for part, whole in (top, total):
        part.compute_at(out, io)
        whole.compute_at(out, io)
    turned.compute_root().parallel(h).vectorize(j, lanes)
    return compiled(out, [(q, Q), (k, K), (v, V)], (heads, n, d), np.float32)


# pipelines --------------------------------------------------------------------------------------
TAPS = (1, 4, 6, 4, 1)


def bilateral_grid(image: Array, cell: int = 8, levels: int = 8) -> Call:
    """After Halide's app of that name."""
    h, w = image.shape
    p, half = param(image, "image"), cell // 2
    x, y, z, c, xi = variables("x y z c xi")
    r = hl.RDom([(0, cell), (0, cell)])
    grid, along_z, along_x, along_y, out = (hl.Func(f) for f in ("grid", "bz", "bx", "by", "out"))
    at = x * cell + r.x - half, y * cell + r.y - half
    inside = (at[0] >= 0) & (at[0] < w) & (at[1] >= 0) & (at[1] < h)
    pixel = p[hl.clamp(at[0], 0, w - 1), hl.clamp(at[1], 0, h - 1)]
    level = hl.clamp(hl.i32(pixel * hl.f32(levels) + hl.f32(0.5)), 0, levels)
    grid[x, y, z, c] = hl.f32(0)
    one = hl.select(c == 0, pixel, hl.f32(1))
    grid[x, y, level, c] += hl.select(hl.likely(inside), one, hl.f32(0))

    def padded(z: Expr) -> Expr:
        there = (z >= 0) & (z <= levels)
        return hl.select(there, grid[x, y, hl.clamp(z, 0, levels), c], hl.f32(0))

    taps = [(d, hl.f32(t)) for d, t in enumerate(TAPS, -2)]
    along_z[x, y, z, c] = _sum(t * padded(z + d) for d, t in taps)
    along_x[x, y, z, c] = _sum(t * along_z[x + d, y, z, c] for d, t in taps)
    along_y[x, y, z, c] = _sum(t * along_x[x, y + d, z, c] for d, t in taps)

    height = p[x, y] * hl.f32(levels)
    z0 = hl.clamp(hl.i32(height), 0, levels - 1)
    fz = height - hl.f32(z0)
    x0, y0 = x // cell, y // cell
    fx, fy = hl.f32(x % cell) / cell, hl.f32(y % cell) / cell

    def trilinear(c: int) -> Expr:
        def at_level(z: Expr) -> Expr:
            rows = [hl.lerp(*(along_y[x0 + d, y0 + dy, z, c] for d in (0, 1)), fx) for dy in (0, 1)]
            return hl.lerp(*rows, fy)

        return hl.lerp(at_level(z0), at_level(z0 + 1), fz)

    out[x, y] = trilinear(0) / trilinear(1)

    # The pixels of a cell share what they read, which is faster here than vectors of gathers.
    lanes = vector(np.float32)
    out.compute_root().split(x, x, xi, cell).unroll(xi).parallel(y)
    grid.compute_at(along_z, y).reorder(c, z, x, y).unroll(c)
    grid.update(0).reorder(c, r.x, r.y, x, y).unroll(c)
    along_z.compute_root().reorder(c, z, x, y).parallel(y).vectorize(x, lanes).unroll(c)
    along_x.compute_root().reorder(c, x, y, z).parallel(z).vectorize(x, lanes).unroll(c)
    along_y.compute_root().reorder(c, x, y, z).parallel(z).vectorize(x, lanes).unroll(c)
    return compiled(out, [(p, image)], (h, w), np.float32)


Extents = tuple[int, int]  # width and height


def _level(extents: Extents, level: int) -> Extents:
    w, h = extents
    return (w + 2**level - 1) // 2**level, (h + 2**level - 1) // 2**level


def _edge(f: Any, extents: Extents) -> Any:
    """f continued beyond its edges."""
    w, h = extents
    return hl.BoundaryConditions.repeat_edge(f, [(0, w), (0, h)])


def _smaller(f: Any, extents: Extents, rest: Sequence[Any] = ()) -> Any:
    """Every second pixel of f smoothed; rows are at once, columns stored for a row."""
    x, y = variables("x y")
    g, rows, half = _edge(f, extents), hl.Func("rows"), hl.Func("half")
    weights = [(d, hl.f32(t / 8)) for d, t in ((-1, 1), (0, 3), (1, 3), (2, 1))]
    rows[x, y, *rest] = _sum(t * g[x, 2 * y + d, *rest] for d, t in weights)
    half[x, y, *rest] = _sum(t * rows[2 * x + d, y, *rest] for d, t in weights)
    lanes = vector(np.float32)
    half.compute_root().parallel(y, 4).vectorize(x, lanes)
    rows.compute_at(half, y).vectorize(x, lanes)
    return half


def _larger(f: Any, extents: Extents, rest: Sequence[Any] = ()) -> Any:
    """Twice the resolution of f, inlined into what reads it; and its stage along columns."""
    x, y = variables("x y")
    g, rows, twice = _edge(f, extents), hl.Func("up_rows"), hl.Func("twice")
    near, far = hl.f32(0.75), hl.f32(0.25)
    rows[x, y, *rest] = near * g[x, y // 2, *rest] + far * g[x, y // 2 - 1 + 2 * (y % 2), *rest]
    beside = x // 2 - 1 + 2 * (x % 2)
    twice[x, y, *rest] = near * rows[x // 2, y, *rest] + far * rows[beside, y, *rest]
    return twice, rows


def _in_pairs(f: Any, x: Any) -> None:
    """Even and odd pixels as vectors of their own, whose loads are dense; Halide interleaves."""
    xi = hl.Var("xi")
    f.split(x, x, xi, 2).reorder(xi, x).unroll(xi).vectorize(x, vector(np.float32))


def interpolate(image: Array, levels: int = 4) -> Call:
    """After Halide's app of that name."""
    _, h, w = image.shape
    p, lanes, extents = param(image, "image"), vector(np.float32), (w, h)
    x, y, c = variables("x y c")
    down = [hl.Func("down0")]
    down[0][x, y, c] = hl.select(c < 3, p[x, y, c] * p[x, y, 3], p[x, y, 3])
    for k in range(1, levels):
        down.append(_smaller(down[-1], _level(extents, k - 1), (c,)))
    # The colours of the first level differ from its alpha: loops of their own, without a select.
    down[1].bound(c, 0, 4).reorder(x, c, y).unroll(c)

    filled = down[-1]
    for k in reversed(range(levels - 1)):
        coarse, rows = _larger(filled, _level(extents, k + 1), (c,))
        filled = hl.Func(f"filled{k}")
        clear = hl.f32(1) - down[k][x, y, 3]
        filled[x, y, c] = down[k][x, y, c] + clear * coarse[x, y, c]
        if k:
            _in_pairs(filled.compute_root().parallel(y, 4), x)
            rows.compute_at(filled, y).vectorize(x, lanes)
    out = hl.Func("out")
    out[x, y, c] = filled[x, y, c] / filled[x, y, 3]

    xo = hl.Var("xo")
    out.bound(c, 0, 3).split(x, xo, x, 2 * lanes).reorder(x, c, xo, y).parallel(y, 8)
    out.vectorize(x, lanes).unroll(x).unroll(c)
    _in_pairs(filled.compute_at(out, xo).unroll(c), x)
    rows.compute_at(out, y).vectorize(x, lanes)
    return compiled(out, [(p, image)], (3, h, w), np.float32)


def local_laplacian(image: Array, alpha: float, levels: int = 4, shades: int = 6) -> Call:
    """After Halide's app of that name."""
    h, w = image.shape
    p, lanes, extents = param(image, "image"), vector(np.float32), (w, h)
    x, y, k = variables("x y k")
    scale = hl.f32(shades - 1)
    enhanced, plain = hl.Func("enhanced"), hl.Func("plain0")
    plain[x, y] = p[x, y]
    away = p[x, y] * scale - hl.f32(k)
    enhanced[x, y, k] = p[x, y] + hl.f32(alpha) * away * hl.fast_exp(-away * away / 2)
    pyramids, plains = [enhanced], [plain]
    for j in range(1, levels):
        pyramids.append(_smaller(pyramids[-1], _level(extents, j - 1), (k,)))
        plains.append(_smaller(plains[-1], _level(extents, j - 1)))

    result = None
    for j in reversed(range(levels)):
        height = plains[j][x, y] * scale
        below = hl.clamp(hl.i32(height), 0, shades - 2)
        detail = pyramids[j]
        if j < levels - 1:
            detail = hl.Func(f"detail{j}")
            coarse, _ = _larger(pyramids[j + 1], _level(extents, j + 1), (k,))
            detail[x, y, k] = pyramids[j][x, y, k] - coarse[x, y, k]
        value = hl.lerp(detail[x, y, below], detail[x, y, below + 1], height - hl.f32(below))
        out = hl.Func(f"out{j}")
        if result is None:
            out[x, y] = value
        else:
            coarse, rows = _larger(result, _level(extents, j + 1))
            out[x, y] = value + coarse[x, y]
            rows.compute_at(out, y).vectorize(x, lanes)
        _in_pairs(out.compute_root().parallel(y, 4), x)
        result = out
    return compiled(result, [(p, image)], (h, w), np.float32)
