"""The programs of `python -m polysched demo`: algorithms without schedules.

A program of your own writes `import polysched as ps` and then `ps.Func`, `ps.Input`, `ps.vars`.
"""

from __future__ import annotations

from itertools import pairwise

from . import Expr, Func, Input, Param, RVar, boundary, clip, exp, float32, sizes, vars

Image = Func | Input


def unsharp_mask() -> Func:
    """Sharpens a photograph: adds the difference between it and its blurred version.

    Func: `sharp` float32[h, w, 3]. Source: the darkroom, where the mask was a blurred negative.
    """
    h, w = sizes("h w")
    image = Input("image", float32, (h, w, 3))
    amount = Param("amount", float32, default=1.0, min=0.0)
    y, x, c = vars("y x c")

    # Five binomial weights a direction are a Gaussian blur. At the border the edge continues.
    f = boundary.repeat_edge(image, axes=(0, 1))
    across = Func("across")
    across[y, x, c] = (
        f[y, x - 2, c] + 4 * f[y, x - 1, c] + 6 * f[y, x, c] + 4 * f[y, x + 1, c] + f[y, x + 2, c]
    ) / 16
    g = across
    blurred = Func("blurred")
    blurred[y, x, c] = (
        g[y - 2, x, c] + 4 * g[y - 1, x, c] + 6 * g[y, x, c] + 4 * g[y + 1, x, c] + g[y + 2, x, c]
    ) / 16

    sharp = Func("sharp", (h, w, 3))
    detail = image[y, x, c] - blurred[y, x, c]
    sharp[y, x, c] = clip(image[y, x, c] + amount * detail, 0, 1)
    return sharp


def local_contrast(levels: int = 6) -> Func:
    """Amplifies the faint details of a photograph, and leaves its strong edges as they are.

    The brightness is decomposed into details of every size, from a pixel to 2**levels pixels. Each
    detail is amplified, a fainter one more strongly, and the brightness is recomposed.

    Func: `clear` float32[h, w, 3]. Source: the pyramid of Burt and Adelson, 1983.
    """
    h, w = sizes("h w")
    image = Input("image", float32, (h, w, 3))
    gain = Param("gain", float32, default=2.0, min=0.0)
    faint = Param("faint", float32, default=0.1, min=0.001)
    y, x, c = vars("y x c")

    light = Func("light", (h, w))
    light[y, x] = 0.299 * image[y, x, 0] + 0.587 * image[y, x, 1] + 0.114 * image[y, x, 2]

    pyramid = [light]
    for _ in range(levels):
        pyramid.append(smaller(pyramid[-1]))

    result = pyramid[-1]
    for fine, coarse in reversed(list(pairwise(pyramid))):
        detail = fine[y, x] - larger(coarse)[y, x]
        strength = 1 + gain * exp(-((detail / faint) ** 2))
        finer = Func("lifted", fine.shape)
        finer[y, x] = larger(result)[y, x] + strength * detail
        result = finer

    # The colours keep their ratios.
    clear = Func("clear", (h, w, 3))
    clear[y, x, c] = clip(image[y, x, c] * result[y, x] / (light[y, x] + 0.001), 0, 1)
    return clear


def smaller(image: Image) -> Func:
    """Every second row and column of a blurred image."""
    h, w = image.shape
    y, x = vars("y x")

    f = boundary.repeat_edge(image)
    rows = Func("rows")
    rows[y, x] = (f[2 * y - 1, x] + 2 * f[2 * y, x] + f[2 * y + 1, x]) / 4
    half = Func("half", ((h + 1) // 2, (w + 1) // 2))
    half[y, x] = (rows[y, 2 * x - 1] + 2 * rows[y, 2 * x] + rows[y, 2 * x + 1]) / 4
    return half


def larger(image: Image) -> Func:
    """An image with twice as many rows and columns, the new ones halfway between the old."""
    y, x = vars("y x")

    f = boundary.repeat_edge(image)
    rows = Func("rows")
    rows[y, x] = (f[y // 2, x] + f[(y + 1) // 2, x]) / 2
    double = Func("double")
    double[y, x] = (rows[y, x // 2] + rows[y, (x + 1) // 2]) / 2
    return double


def harris() -> Func:
    """A measure of corners: large where the brightness around a pixel changes in every direction.

    Func: `response` float32[h, w]. Source: Harris and Stephens, 1988.
    """
    h, w = sizes("h w")
    image = Input("image", float32, (h, w))
    y, x = vars("y x")

    # How fast the brightness grows to the right and downwards, smoothed along the other axis.
    f = boundary.repeat_edge(image)
    right, down = Func("right"), Func("down")
    right[y, x] = f[y, x + 1] - f[y, x - 1]
    down[y, x] = f[y + 1, x] - f[y - 1, x]
    gx, gy = Func("gx"), Func("gy")
    gx[y, x] = (right[y - 1, x] + 2 * right[y, x] + right[y + 1, x]) / 8
    gy[y, x] = (down[y, x - 1] + 2 * down[y, x] + down[y, x + 1]) / 8

    def around(name: str, value: Expr) -> Expr:
        """The sum of a value over the 5 by 5 pixels around (y, x)."""
        here, row, box = Func(name), Func(f"{name}_row"), Func(f"{name}_box")
        here[y, x] = value
        row[y, x] = here[y, x - 2] + here[y, x - 1] + here[y, x] + here[y, x + 1] + here[y, x + 2]
        box[y, x] = row[y - 2, x] + row[y - 1, x] + row[y, x] + row[y + 1, x] + row[y + 2, x]
        total: Expr = box[y, x]
        return total

    xx = around("xx", gx[y, x] * gx[y, x])
    xy = around("xy", gx[y, x] * gy[y, x])
    yy = around("yy", gy[y, x] * gy[y, x])

    response = Func("response", (h, w))
    response[y, x] = xx * yy - xy * xy - 0.05 * (xx + yy) ** 2
    return response


def matrix_product() -> Func:
    """C = A B, as a sum over k in ascending order.

    Func: `C` float32[n, m].
    """
    n, m, l = sizes("n m l")
    A = Input("A", float32, (n, l))
    B = Input("B", float32, (l, m))
    i, j = vars("i j")
    k = RVar("k", 0, l)

    C = Func("C", (n, m))
    C[i, j] = 0.0
    C[i, j] += A[i, k] * B[k, j]
    return C
