"""Counts, running sums and recursive filters: what looks serial."""

from __future__ import annotations

from typing import Any

from case import Case
from gallery.registry import find

import polysched as ps


def columns(s: ps.Schedule) -> None:
    """Not tuned: along columns, vectors of them; along rows, rows on threads."""
    for name in ("down", "up"):
        s[name].vectorize("x", 16)
    for name in ("right", "left"):
        s[name].parallel("y")


def _scan(name: str, gallery: str, **more: Any) -> Case:
    case = find(gallery)
    given: dict[str, Any] = {
        "name": name,
        "kernel": gallery,
        "build": case.build,
        "make": case.make,
        "reference": case.reference,
    }
    return Case(**given | more)


CASES = (
    _scan(
        "histogram",
        "histogram",
        size="4M u8",
        peers="numpy halide numba gcc",
        sizes={"h": 2000, "w": 2000},
        tiny={"h": 41, "w": 37},
        tolerance=0.0,
        flops=lambda h, w: 1.0 * h * w,
    ),
    _scan(
        "prefix sum",
        "running_sum",
        size="4M i64",
        peers="numpy torch numba gcc",
        sizes={"n": 4_000_000},
        tiny={"n": 999},
        tolerance=0.0,
        flops=lambda n: 1.0 * n,
        dtype="f64",
    ),
    _scan(
        "recursive filter",
        "smooth_image",
        size="2048 x 2048",
        peers="halide numba gcc scipy",
        schedule=columns,
        sizes={"h": 2048, "w": 2048},
        tiny={"h": 41, "w": 37},
        flops=lambda h, w: 4 * 3.0 * h * w,
    ),
)
