"""A product of matrices as a textbook schedules it, in times of the schedule of the benchmark.

    python -P benchmarks/textbook.py              # for this machine, one thread
    python -P benchmarks/textbook.py --threads 2
    POLYSCHED_TARGET=v3 python -P benchmarks/textbook.py

Three loops over blocks, both operands copied into panels, and a tile of C in registers, as Goto
and BLIS have it, without padding. There is a line for each type and size. First come zeros that
are written to C before all else; then C that begins in its tiles, in the first part of k; then
panels of A that are transposed as vectors, as a note in the listing asks for; then k unrolled,
too; instead, blocks of a quarter of the rows, of which threads get shares that are more even; and
instead, blocks of four times as many terms and an eighth of the columns: `loads and stores C again`
in the listing of the others says that C moves between memory and registers once a block of terms.
The best of many calls.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import polysched as ps

sys.path.append(str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from borders import best
from cases.products import CASES, packed
from gallery.linear_algebra import matmul

SIZES = (*((n, n, n) for n in (256, 512, 1024, 2048)), (1023, 1025, 511))
FORMS: dict[str, dict[str, Any]] = {
    "zeros": {},
    "begun": {"begun": True},
    "panels": {"begun": True, "transposed": True},
    "unrolled": {"begun": True, "transposed": True, "unrolled": True},
    "finer": {"begun": True, "transposed": True, "tiles": 4},
    "longer": {"begun": True, "transposed": True, "terms": 1024, "columns": 512},
}


def textbook(
    s: ps.Schedule,
    *,
    begun: bool = False,
    transposed: bool = False,
    unrolled: bool = False,
    tiles: int = 16,
    terms: int = 256,
    columns: int = 4096,
) -> None:
    """The five loops around a tile, and the panels of both operands; a task of a thread is a block
    of so many tiles of rows, and has so many terms of the sums of so many columns."""
    c, u = s["C"], s["C"].update(0)
    u.split("i", ps.tile_rows, names=("it", "ii"))
    u.split("it", tiles, names=("ic", "ir"))
    u.split("j", ps.tile_columns, names=("jt", "ji"))
    u.split("jt", columns // ps.tile_columns, names=("jc", "jr"))
    u.split("k", terms, names=("kc", "kp"))
    u.reorder("jc", "kc", "ic", "jr", "ir", "kp", "ii", "ji").accumulate_at("ir")
    if begun:
        c.compute_at(u, "ir").vectorize("j", ps.native).unroll("j").unroll("i")
    else:
        c.vectorize("j", ps.native).parallel("i")
    b = s[u.stage("B", at="kc", layout=("jr", "kp", "ji"))]
    b.vectorize("ji", ps.native).unroll("ji").parallel("jr")
    a = s[u.stage("A", at="ic", layout=("ir", "kp", "ii"))]
    if transposed:
        a.unroll("ii").vectorize("kp", ps.native)
    u.vectorize("ji", ps.native).unroll("ji").unroll("ii").parallel("ic")
    if unrolled:
        u.unroll("kp", 4)


def own(size: tuple[int, int, int]) -> Any:
    """The schedule of the case of this size; of float64 as of float32."""
    n, m, l = size
    sizes = {"n": n, "m": m, "l": l}
    return next((x.schedule for x in CASES if x.sizes == sizes and x.dtype == "f32"), packed)


def costs(dtype: ps.DType, size: tuple[int, int, int]) -> list[float]:
    """Of each form, in times of the case."""
    n, m, l = size
    rng = np.random.default_rng(0)
    a = rng.random((n, l)).astype(dtype.numpy)
    b = rng.random((l, m)).astype(dtype.numpy)
    out = np.empty((n, m), dtype.numpy)
    calls = []
    for schedule in (own(size), *(partial(textbook, **form) for form in FORMS.values())):
        s = ps.Schedule(matmul(dtype=dtype))
        schedule(s)
        calls.append(partial(s.compile(), a, b, out=out))
    times = best(calls)
    return [t / times[0] for t in times[1:]]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1, help="that a call may use (1)")
    threads = parser.parse_args().threads
    ps.set_num_threads(threads)
    print(f"{ps.machine().target.name}, {threads} threads: in times of the benchmark's schedule")
    print(f"{'':28}" + "".join(f"{form:>10}" for form in FORMS))
    for dtype in (ps.float32, ps.float64):
        for size in SIZES:
            name = f"{dtype.name}, {' x '.join(map(str, size))}"
            print(f"{name:28}" + "".join(f"{x:10.2f}" for x in costs(dtype, size)), flush=True)


if __name__ == "__main__":
    main()
