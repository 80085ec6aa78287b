"""Advice on ten programs with schedules that are bad on purpose, as a table for docs/advice.md:

python benchmarks/advice.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import polysched as ps

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
SIZE = 1024

Case = tuple[ps.Schedule, tuple[Any, ...]]


def image(rows: int = SIZE, columns: int = SIZE) -> np.ndarray[Any, Any]:
    """Numbers to work on."""
    return np.random.default_rng(1).random((rows, columns), np.float32)


def smooth() -> ps.Func:
    """A pointwise program."""
    A, f = ps.Input("A", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = A[i, j] * A[i, j] * 0.5 + A[i, j] * 0.25 + 1.0
    return f


def blur() -> ps.Func:
    """Two stages of a stencil."""
    A = ps.Input("A", ps.float32, (n + 2, m + 2))
    across, f = ps.Func("across"), ps.Func("f", (n, m))
    across[i, j] = A[i, j] + A[i, j + 1] + A[i, j + 2]
    f[i, j] = across[i, j] + across[i + 1, j] + across[i + 2, j]
    return f


def costly() -> ps.Func:
    """A producer that takes long, and a wide window on it."""
    A = ps.Input("A", ps.float32, (n + 8, m))
    g, f = ps.Func("g"), ps.Func("f", (n, m))
    k = ps.RVar("k", 0, 9)
    g[i, j] = ps.exp(A[i, j])
    f[i, j] = 0.0
    f[i, j] += g[i + k, j]
    return f


def product() -> ps.Func:
    """A product of matrices."""
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    k, C = ps.RVar("k", 0, l), ps.Func("C", (n, m))
    C[i, j] = 0.0
    C[i, j] += A[i, k] * B[k, j]
    return C


def _product(rows: int, columns: int) -> Case:
    s = ps.Schedule(product())
    s["C"].vectorize("j", 8)
    u = s["C.update(0)"]
    u.tile("i", "j", rows, columns)
    io, jo, k, ii, ji = "io", "jo", "k", "ii", "ji"
    u.reorder(io, jo, k, ii, ji).accumulate_at(jo).vectorize(ji, 8).unroll(ji).unroll(ii)
    u.parallel(io)
    return s, (image(512, 512), image(512, 512))


def no_vectors() -> Case:
    s = ps.Schedule(smooth())
    s["f"].parallel("i")
    return s, (image(256, 512),)


def wrong_order() -> Case:
    s = ps.Schedule(product())
    s["C"].vectorize("j", 8)
    s["C.update(0)"].parallel("i")
    return s, (image(512, 512), image(512, 512))


def far_producer() -> Case:
    s = ps.Schedule(blur())
    for stage in ("across", "f"):
        s[stage].vectorize("j", 8).parallel("i")
    return s, (image(2050, 2050),)


def one_thread() -> Case:
    s = ps.Schedule(costly())
    s["g"].compute_root().vectorize("j", 8)
    s["f"].vectorize("j", 8)
    s["f.update(0)"].reorder("i", "k", "j").vectorize("j", 8)
    return s, (image(1032, 1024),)


def shared_lines() -> Case:
    s = ps.Schedule(smooth())
    s["f"].reorder("j", "i").parallel("j")
    return s, (image(),)


def large_tile() -> Case:
    s = ps.Schedule(product())
    s["C"].vectorize("j", 8)
    u = s["C.update(0)"]
    u.tile("i", "j", 512, 512)
    u.reorder("io", "jo", "k", "ii", "ji").vectorize("ji", 8)
    return s, (image(512, 512), image(512, 512))


def strided() -> Case:
    s = ps.Schedule(smooth())
    s["f"].reorder("j", "i").vectorize("i", 8)
    return s, (image(),)


def again() -> Case:
    s = ps.Schedule(costly())
    s["f"].vectorize("j", 8)
    s["f.update(0)"].reorder("i", "k", "j").vectorize("j", 8).parallel("i")
    s["g"].compute_at("f.update(0)", "i").vectorize("j", 8)
    return s, (image(520, 512),)


def fine_tasks() -> Case:
    s = ps.Schedule(smooth())
    s["f"].vectorize("j", 8).parallel("j")
    return s, (image(4096, 4096),)


def spills() -> Case:
    return _product(12, 32)


BAD: dict[str, tuple[Callable[[], Case], str]] = {
    "no vector loop": (no_vectors, "no vector loop"),
    "wrong loop order": (wrong_order, "strided inner access"),
    "producer far from its consumer": (far_producer, "producer far away"),
    "serial outer loop": (one_thread, "serial outer loop"),
    "false sharing": (shared_lines, "false sharing"),
    "tile larger than a cache": (large_tile, "tile larger than a cache"),
    "strided inner access": (strided, "strided inner access"),
    "recomputation": (again, "recomputation"),
    "tasks too fine": (fine_tasks, "tasks too fine"),
    "spills": (spills, "spills"),
}
"""What is wrong with a program on purpose, and the cause that advice names for it."""


def main() -> None:
    """Prints the table of bad programs."""
    print("| what is wrong | first cause named | to try | times faster | right |")
    print("|---|---|---|--:|---|")
    for name, (make, cause) in BAD.items():
        s, args = make()
        found = s.compile().advice(*args)
        if not len(found):
            print(f"| {name} | none, {found.tried} tried | | | no |", flush=True)
            continue
        first = found[0]
        right = "yes" if first.cause == cause else "no"
        said = f"{first.stage}: {first.cause}"
        print(
            f"| {name} | {said} | `{first.directive}` | {first.faster:.3g} | {right} |", flush=True
        )


if __name__ == "__main__":
    main()
