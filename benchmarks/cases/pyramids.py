"""Pipelines of many stages, at several resolutions or through a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from case import Case
from gallery.registry import find

import polysched as ps
from polysched.targets.words import Number


def grid_rows(s: ps.Schedule) -> None:
    """The table of a row of cells from the pixels that can fall into it; all numbers of a row of
    the table are one loop of vectors."""
    s["smooth"].parallel("y").vectorize("x", ps.native)
    s["grid_constant"].compute_inline()
    s["grid"].compute_at("along_z", "y").update(0).reorder("ry", "rx", "c").unroll("c")
    along_z = s["along_z"].parallel("y")
    along_z.vectorize(along_z.fuse("z", "c"), ps.native)
    for name in ("along_x", "blurred"):
        f = s[name].parallel("y")
        f.vectorize(f.fuse("x", f.fuse("z", "c")), ps.native)


def without_borders(s: ps.Schedule) -> None:
    """What lies beyond an edge is looked up where it is needed."""
    for f in s.funcs:
        if f.name.endswith("_repeat_edge"):
            s[f].compute_inline()


def by_rows(
    s: ps.Schedule, name: str, *rows: str, chunk: int = 4, lanes: Number = ps.native
) -> None:
    """A level by rows, each after what is computed for it; some of them a task."""
    s[name].parallel("y", chunk).vectorize("x", lanes)
    for other in rows:
        s[other].compute_at(name, "yi").vectorize("x", ps.native)


def interpolate_rows(s: ps.Schedule) -> None:
    """Level by level. Colours together where they share what alpha makes of them: in the first
    rows, and in the result, which nobody reads soon."""
    with s.batch():
        without_borders(s)
        s["down0"].compute_inline()
        s["down1"].reorder("y", "c", "x")
        for k in (1, 2, 3):
            by_rows(s, f"down{k}", f"down{k}_rows")
        for k in (1, 2):
            by_rows(s, f"filled{k}", f"up{k}_rows")
        s["down1_rows"].reorder("y", "x", "c", "xi").unroll("c")
        by_rows(s, "result")
        s["result"].reorder("y", "yi", "x", "c", "xi").unroll("c").stream()
        s["filled0"].compute_at("result", "x").vectorize("x", ps.native).unroll("c")
        s["up0_rows"].compute_at("result", "yi").vectorize("x", ps.native)


def laplacian_rows(s: ps.Schedule, strip: int = 16) -> None:
    """Level by level. The shades of the finest one are never stored: rows of them slide down each
    strip of the next one, and each pixel of the result computes the two that it needs."""
    with s.batch():
        without_borders(s)
        for j in (0, 1, 2):
            s[f"detail{j}"].compute_inline()
        shades = s["enhanced"]
        s[shades.clone_in("out0")].compute_inline()
        for j in (1, 2):
            by_rows(s, f"plain{j}", f"plain{j}_rows")
            by_rows(s, f"out{j}", f"up{j}_rows", f"out_up{j}_rows")
        for j in (2, 3):
            by_rows(s, f"g{j}", f"g{j}_rows")
        by_rows(s, "out3", "plain3_rows")
        # Its widest values are integers of 64 bits, of which few instructions are.
        by_rows(s, "out0", "up0_rows", "out_up0_rows", lanes=2 * ps.native)
        g = s["g1"]
        g.split("y", strip, names=("yo", "y"))
        g.reorder("yo", "k", "y", "x").parallel("yo").vectorize("x", ps.native)
        s["g1_rows"].compute_at(g, "y").vectorize("x", ps.native)
        shades.compute_at(g, "y").store_at(g, "k").vectorize("x", ps.native)


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
