"""What is measured: programs, their arguments, and the same by NumPy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import polysched as ps
from polysched import demo_numpy, demo_programs

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))  # for the gallery

from gallery.deep import many_updates, stencil_chain
from gallery.pyramids import deep_pyramid

Array = np.ndarray[Any, np.dtype[Any]]
Arguments = dict[str, Any]


def blur() -> ps.Func:
    """The mean of 3 by 3 pixels of 14 bits, first along rows, then along columns."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.uint16, (h + 2, w + 2))
    y, x = ps.vars("y x")

    across = ps.Func("across")
    across[y, x] = (image[y, x] + image[y, x + 1] + image[y, x + 2]) // 3
    blurred = ps.Func("blurred", (h, w))
    blurred[y, x] = (across[y, x] + across[y + 1, x] + across[y + 2, x]) // 3
    return blurred


def histogram() -> ps.Func:
    """How often each byte occurs."""
    n = ps.sizes("n")
    data = ps.Input("data", ps.uint8, (n,))
    i = ps.vars("i")
    r = ps.RVar("r", 0, n)

    counts = ps.Func("counts", (256,))
    counts[i] = 0
    counts[data[r]] += 1
    return counts


def numpy_blur(image: Array) -> Array:
    """See `blur`."""
    across = (image[:, :-2] + image[:, 1:-1] + image[:, 2:]) // 3
    return (across[:-2] + across[1:-1] + across[2:]) // 3


COMPILED: dict[str, Callable[[], ps.Func]] = {
    "matmul": demo_programs.matrix_product,
    "blur": blur,
    "unsharp mask": demo_programs.unsharp_mask,
    "Harris": demo_programs.harris,
    "chain of 100": stencil_chain,
    "100 updates": many_updates,
    "pyramid of 10": deep_pyramid,
    "contrast of 10": lambda: demo_programs.local_contrast(levels=10),
}
"""Programs whose compile time is measured, by name: small ones, then ones that are deep."""


@dataclass(frozen=True, slots=True)
class Race:
    """A program and NumPy at the same work.

    Attributes:
        arguments: the keywords of a call, from a random generator.
        numpy: takes the same keywords.
        tolerance: the largest error, relative to the largest magnitude.
    """

    name: str
    size: str
    build: Callable[[], ps.Func]
    arguments: Callable[[np.random.Generator], Arguments]
    numpy: Callable[..., Array]
    tolerance: float = 0.0


def _image(h: int, w: int, *channels: int) -> Callable[[np.random.Generator], Arguments]:
    return lambda rng: {"image": rng.random((h, w, *channels), np.float32)}


RACES = (
    Race(
        "matmul",
        "f32 512 x 512 x 512",
        demo_programs.matrix_product,
        lambda rng: {name: rng.standard_normal((512, 512), np.float32) for name in ("A", "B")},
        demo_numpy.matrix_product,
        1e-5,
    ),
    Race(
        "blur",
        "u16 2400 x 3200",
        blur,
        lambda rng: {"image": rng.integers(0, 2**14, (2402, 3202), np.uint16)},
        numpy_blur,
    ),
    Race(
        "unsharp mask",
        "f32 1536 x 2560 x 3",
        demo_programs.unsharp_mask,
        _image(1536, 2560, 3),
        demo_numpy.unsharp_mask,
        1e-5,
    ),
    Race(
        "Harris",
        "f32 1536 x 2560",
        demo_programs.harris,
        _image(1536, 2560),
        demo_numpy.harris,
        1e-4,
    ),
    Race(
        "local contrast",
        "f32 1536 x 2560 x 3",
        demo_programs.local_contrast,
        _image(1536, 2560, 3),
        demo_numpy.local_contrast,
        1e-4,
    ),
    Race(
        "histogram",
        "u8 4,000,000",
        histogram,
        lambda rng: {"data": rng.integers(0, 256, 4_000_000, np.uint8)},
        lambda data: np.bincount(data, minlength=256),
    ),
)
"""Programs that are timed side by side with NumPy."""
