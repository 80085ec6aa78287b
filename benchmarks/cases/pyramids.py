"""Pipelines of many stages, at several resolutions or through a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from case import Case
from gallery.registry import find

import polysched as ps

LANES = 16


def grid_rows(s: ps.Schedule) -> None:
    """Not tuned: the table of a row of cells from the pixels that can fall into it."""
    s["smooth"].parallel("y").vectorize("x", LANES)
    s["grid_constant"].compute_at("along_z", "y")
    s["grid"].compute_at("along_z", "y")
    s["along_z"].parallel("y")
    s["along_x"].compute_at("blurred", "y")
    s["blurred"].parallel("y")


def interpolate_rows(s: ps.Schedule) -> None:
    """Not tuned: level by level, by rows; each level is stored."""
    for k in (1, 2, 3):
        s[f"down{k}"].parallel("y").vectorize("x", LANES)
        s[f"down{k}_rows"].compute_at(f"down{k}", "y").vectorize("x", LANES)
    for k in (0, 1, 2):
        s[f"filled{k}"].parallel("y").vectorize("x", LANES)
        s[f"up{k}_rows"].compute_at(f"filled{k}", "y").vectorize("x", LANES)
    s["result"].parallel("y").vectorize("x", LANES)


def laplacian_rows(s: ps.Schedule) -> None:
    """Not tuned, as above."""
    for j in (1, 2, 3):
        for name in ("g", "plain") if j < 3 else ("g",):
            s[f"{name}{j}"].parallel("y").vectorize("x", LANES)
            s[f"{name}{j}_rows"].compute_at(f"{name}{j}", "y").vectorize("x", LANES)
    for j in (0, 1, 2):
        s[f"detail{j}"].parallel("y").vectorize("x", LANES)
        s[f"out{j}"].parallel("y")


def _pipeline(
    gallery: str, kernel: str, schedule: Callable[[ps.Schedule], None], **more: Any
) -> Case:
    case = find(gallery)
    given: dict[str, Any] = {
        "name": gallery.replace("_", " "),
        "size": "1536 x 2560",
        "kernel": kernel,
        "peers": "halide",
        "build": case.build,
        "schedule": schedule,
        "make": case.make,
        "reference": case.reference,
        "sizes": {"h": 1536, "w": 2560},
        "check": {"h": 203, "w": 157},
        "tiny": {"h": 41, "w": 37},
    }
    return Case(**given | more)


CASES = (
    _pipeline("bilateral_grid", "bilateral_grid", grid_rows, flops=lambda h, w: 50.0 * h * w),
    _pipeline("interpolate", "interpolate", interpolate_rows, flops=lambda h, w: 70.0 * h * w),
    _pipeline(
        "local_laplacian", "local_laplacian", laplacian_rows, flops=lambda h, w: 150.0 * h * w
    ),
)
