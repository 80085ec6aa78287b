"""Several programs for one kernel: they share arguments and reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gallery.case import Arguments, Case


def cases(
    name: str, builds: Mapping[str, Callable[[], Any]], *, tolerance: float = 1e-12, **rest: Any
) -> tuple[Case, ...]:
    """A case a variant; a variant is called by the kernel's name and its own suffix."""
    return tuple(
        Case(name=name + suffix, build=build, tolerance=tolerance, **rest)
        for suffix, build in builds.items()
    )


def arrays(shapes: str, **scalars: float) -> Callable[..., Arguments]:
    """Makes float64 arrays around zero: "A:nm x:n" is a matrix of n by m and a vector of n."""
    axes = dict(item.split(":") for item in shapes.split())

    def make(rng: np.random.Generator, **sizes: int) -> Arguments:
        made = {
            name: rng.standard_normal([sizes[axis] for axis in names])
            for name, names in axes.items()
        }
        return made | scalars

    return make
