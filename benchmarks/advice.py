"""Advice on ten programs with schedules that are bad on purpose, and on ten with good ones:

python -P benchmarks/advice.py          # prints the tables
python -P benchmarks/advice.py --save   # writes them into docs/advice.md, too
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent))

import cases

import polysched as ps

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
SIZE = 1024
PAGE = Path(__file__).resolve().parents[1] / "docs" / "advice.md"

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
    u.tile("i", "j", 1024, 1024)
    u.reorder("io", "jo", "k", "ii", "ji").vectorize("ji", 8)
    return s, (image(1024, 128), image(128, 1024))


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
    s = ps.Schedule(product())
    s["C"].vectorize("j", 8)
    s["C.update(0)"].reorder("i", "k", "j").vectorize("j", 8).parallel("j")
    return s, (image(2048, 256), image(256, 64))


def spills() -> Case:
    return _product(16, 64)


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


GOOD = (
    *("sgemm 512", "sgemm 4096x64x64", "blur", "unsharp mask", "conv 1x1", "softmax"),
    *("layer norm", "GELU with bias", "histogram", "Jacobi-2d"),
)
"""Cases of the benchmarks whose schedules were made by hand with care."""

AGAIN = 5
"""Rounds of calls in turns, by which what was said of a good schedule is measured once more."""


def bad_table() -> Iterator[str]:
    """The table of bad programs, line by line."""
    yield "| what is wrong | first cause named | to try | times faster | right |"
    yield "|---|---|---|--:|---|"
    for name, (make, cause) in BAD.items():
        s, args = make()
        threads = 1 if make is spills else ps.get_num_threads()  # else several causes are alike
        with ps.threads(threads):
            found = s.compile().advice(*args)
        if not len(found):
            yield f"| {name} | none, {found.tried} tried | | | no |"
            continue
        first = found[0]
        right = "yes" if first.cause == cause else "no"
        said = f"{first.stage}: {first.cause}"
        times = f"{first.faster:.3g}" + (" (predicted)" if first.predicted else "")
        yield f"| {name} | {said} | `{first.directive}` | {times} | {right} |"


def good_table() -> Iterator[str]:
    """The table of good programs, line by line."""
    yield "| program | changes tried | first cause named | to try | times faster | measured again |"
    yield "|---|--:|---|---|--:|--:|"
    for case in (x for name in GOOD for x in cases.CASES if x.name == name):
        s = case.scheduled()
        arguments = case.given(**case.arguments(case.sizes))
        kernel = s.compile()
        found = kernel.advice(**arguments)
        if not len(found):
            yield f"| {case.name} | {found.tried} | none | | | |"
            continue
        first = found[0]
        again = measured_again(kernel, first.schedule.compile(), arguments)
        yield (
            f"| {case.name} | {found.tried} | {first.stage}: {first.cause} | "
            f"`{first.directive}` | {first.faster:.3g} | {again:.3g} |"
        )


def measured_again(before: ps.Kernel, after: ps.Kernel, arguments: dict[str, Any]) -> float:
    """How many times faster the shortest call is, by a clock outside."""
    seconds: dict[ps.Kernel, float] = {}
    for _ in range(AGAIN):
        for kernel in (before, after):
            given = {
                k: np.copy(x) if isinstance(x, np.ndarray) else x for k, x in arguments.items()
            }
            for _ in range(AGAIN):
                start = perf_counter()
                kernel(**given)
                spent = perf_counter() - start
                seconds[kernel] = min(spent, seconds.get(kernel, spent))
    return seconds[before] / seconds[after]


def copies(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a call, of which arrays may be changed in place."""
    return {k: x.copy() if isinstance(x, np.ndarray) else x for k, x in arguments.items()}


def machine() -> str:
    """On which machine, in a sentence."""
    target = ps.machine().target
    return (
        f"Measured with code for {target.name}, with vectors of {target.vector_bytes} bytes and "
        f"{ps.get_num_threads()} threads, at a load of {os.getloadavg()[0]:.1f}."
    )


def sections() -> Iterator[str]:
    """What stands at the end of the page, line by line."""
    yield from (BAD_HEAD, "", INTRODUCTION, "", machine(), "", *bad_table(), "")
    yield from ("## Good schedules", "", GOOD_INTRODUCTION, "", machine(), "", *good_table())


BAD_HEAD = "## Bad schedules"

INTRODUCTION = (
    "`python -P benchmarks/advice.py --save` makes these tables. The first one is of programs with "
    "schedules that are bad on purpose: the first cause that is named, the change, and how many "
    "times faster the call was with it."
)
GOOD_INTRODUCTION = (
    "Schedules that were made by hand with care, those of the benchmarks. What is said of them was "
    "measured once more, outside of `advice`."
)


def main() -> None:
    """Prints the tables; with `--save`, writes them into the page, too."""
    warnings.simplefilter("ignore", ps.PerformanceWarning)
    made = []
    for line in sections():
        print(line, flush=True)
        made.append(line)
    if "--save" in sys.argv[1:]:
        head, *_ = PAGE.read_text().partition(BAD_HEAD)
        PAGE.write_text(head + "\n".join(made) + "\n")


if __name__ == "__main__":
    main()
