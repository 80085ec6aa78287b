"""The bilateral grid of Chen, Paris and Durand (2007)."""

from __future__ import annotations

import numpy as np
import scipy.ndimage

import polysched as ps

from .case import Array, Case, uniform

TAPS = (1, 4, 6, 4, 1)


def bilateral_grid(cell: int = 8, levels: int = 8) -> ps.Func:
    """Smooths a grey image, but not across edges.

    Pixels are gathered into a coarse grid of position and brightness (their sum in component 0,
    their number in component 1); the grid is blurred along its three axes; and each pixel reads
    it back at its own place and brightness, with trilinear interpolation.
    """
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.float32, (h, w))
    y, x, z, c = ps.vars("y x z c")
    ry, rx = ps.rdom("ry rx", (0, h), (0, w))

    half = cell // 2
    shape = ((h + (half - 1)) // cell + 1, (w + (half - 1)) // cell + 1, levels + 1, 2)
    grid = ps.Func("grid", shape, ps.float32)
    pixel = image[ry, rx]
    level = ps.clip(ps.cast(ps.int32, pixel * levels + 0.5), 0, levels)
    grid[y, x, z, c] = 0.0
    grid[(ry + half) // cell, (rx + half) // cell, level, c] += ps.select(c == 0, pixel, 1.0)

    padded = ps.boundary.constant(grid, 0.0, axes=(0, 1, 2))
    along_z, along_x, blurred = ps.Func("along_z"), ps.Func("along_x"), ps.Func("blurred")
    along_z[y, x, z, c] = sum(t * padded[y, x, z + d, c] for d, t in enumerate(TAPS, -2))
    along_x[y, x, z, c] = sum(t * along_z[y, x + d, z, c] for d, t in enumerate(TAPS, -2))
    blurred[y, x, z, c] = sum(t * along_x[y + d, x, z, c] for d, t in enumerate(TAPS, -2))

    height = image[y, x] * levels
    z0 = ps.clip(ps.cast(ps.int32, height), 0, levels - 1)
    fz = height - ps.cast(ps.float32, z0)
    y0, x0 = y // cell, x // cell
    fy, fx = ps.cast(ps.float32, y % cell) / cell, ps.cast(ps.float32, x % cell) / cell

    def mix(a: ps.Expr, b: ps.Expr, t: ps.Expr) -> ps.Expr:
        return a + t * (b - a)

    def trilinear(c: int) -> ps.Expr:
        def at_level(dz: int) -> ps.Expr:
            rows = [
                mix(blurred[y0 + dy, x0, z0 + dz, c], blurred[y0 + dy, x0 + 1, z0 + dz, c], fx)
                for dy in (0, 1)
            ]
            return mix(*rows, fy)

        return mix(at_level(0), at_level(1), fz)

    smooth = ps.Func("smooth", (h, w))
    smooth[y, x] = trilinear(0) / trilinear(1)
    return smooth


# arguments and reference ----------------------------------------------------------------------


def _reference(image: Array, cell: int = 8, levels: int = 8) -> Array:
    y, x = np.indices(image.shape)
    image = image.astype(np.float64)
    height = image * levels
    border = 3  # the blur reaches two cells beyond the grid, the interpolation one
    cells = [(n + cell // 2 - 1) // cell + 1 + 2 * border for n in image.shape]
    place = (
        (y + cell // 2) // cell + border,
        (x + cell // 2) // cell + border,
        np.floor(height + 0.5).astype(int) + border,
    )
    planes = []
    for weights in (image, np.ones_like(image)):
        grid = np.zeros((*cells, levels + 1 + 2 * border))
        np.add.at(grid, place, weights)
        for axis in range(3):
            grid = scipy.ndimage.convolve1d(grid, TAPS, axis=axis, mode="constant")
        at = np.stack([y / cell, x / cell, height]) + border
        planes.append(scipy.ndimage.map_coordinates(grid, at, order=1))
    return planes[0] / planes[1]


CASES = (
    Case(
        name="bilateral_grid",
        build=bilateral_grid,
        sizes="h w",
        # Brightness in steps of 1/255 is never close to half a level: rounding cannot decide.
        make=lambda rng, h, w: {"image": np.float32(np.floor(uniform(rng, h, w) * 255) / 255)},
        reference=_reference,
        tolerance=1e-5,
        tags="float scatter gather reduction boundary",
    ),
)
