"""Counts, running sums and recursive filters: what looks serial."""

from __future__ import annotations

from typing import Any

from case import Case
from gallery.registry import find

import polysched as ps


def tables(s: ps.Schedule, rows: int = 125, columns: int = 4) -> None:
    """Tables for some rows of the image on each thread, one for every fourth pixel, so that equal
    neighbours do not wait for each other; the thread adds them up at once. Then these together."""
    u = s["count"].update(0)
    u.split("ry", rows, names=("ro", "ry"))
    u.split("rx", columns, names=("rx", "ri"))
    begin = s[u.rfactor("ro")]
    whole = begin.update(0)
    part = s[whole.rfactor("ri")]
    part.reorder_storage(1, 0, 2)
    part.update(0).unroll("ri")
    whole.reorder("ro", "ri", "b").parallel("ro")
    for stage in (begin, part):
        stage.compute_at(whole, "ro")
    for stage in (begin, part, whole):
        stage.vectorize("b", ps.native)
    s["count"].update(0).reorder("ro", "b").vectorize("b", ps.native)


def unrolled(s: ps.Schedule) -> None:
    """Few instructions an element, so that many loads are on their way; the sums go to memory,
    whose old lines nobody loads."""
    s["S"].stream().unroll("i", 8)


def strips(s: ps.Schedule, columns: int = 256, rows: int = 4) -> None:
    """Along columns, strips of vectors of them, down and up again; along rows, some rows at a time,
    which do not wait for each other."""
    up, down, left, right = (s[name] for name in ("up", "down", "left", "right"))
    up.split("x", columns, names=("xo", "x"))
    up.reorder("xo", "y.down", "x").parallel("xo")
    down.compute_at("up", "xo")
    for stage in (up, down):
        stage.vectorize("x", ps.native).unroll("x")
    left.split("y", rows, names=("yo", "y"))
    right.compute_at(left.parallel("yo"), "yo")
    left.reorder("x.down", "y").unroll("y")
    right.reorder("x", "y").unroll("y")


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
        schedule=tables,
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
        schedule=unrolled,
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
        schedule=strips,
        sizes={"h": 2048, "w": 2048},
        tiny={"h": 41, "w": 37},
        flops=lambda h, w: 4 * 3.0 * h * w,
    ),
)
