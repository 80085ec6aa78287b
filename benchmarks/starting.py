"""What a script waits for: from the start of Python to its first result, and the work of compiling
where an earlier process has left a cache.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

STARTUP = "startup"
"""`make bench CASE=startup` picks the table."""

PROCESSES = 5

_DEFINE = """
n, m, l = ps.sizes("n m l")
A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
i, j = ps.vars("i j")
k = ps.RVar("k", 0, l)
C = ps.Func("C", (n, m))
C[i, j] = 0.0
C[i, j] += A[i, k] * B[k, j]
a, b = np.ones((256, 256), "f4"), np.ones((256, 256), "f4")
"""
_OF_OURS = "import numpy as np, polysched as ps" + _DEFINE
_BARE = _OF_OURS + "assert C(A=a, B=b)[0, 0] == 256\n"
_AS_WRITTEN = _OF_OURS + "assert ps.Schedule(C).compile()(A=a, B=b)[0, 0] == 256\n"
_IMPORTS = "import numpy as np, polysched as ps\nps.Schedule, ps.Kernel\n"

_OF_NUMBA = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
from product import product
a, b = np.ones((256, 256), "f4"), np.ones((256, 256), "f4")
assert product(a, b)[0, 0] == 256
"""
_PRODUCT = """
import numba
import numpy as np

@numba.njit(cache=True)
def product(a, b):
    c = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c
"""
_OF_HALIDE = """
import halide as hl, numpy as np
a, b = np.ones((256, 256), "f4"), np.ones((256, 256), "f4")
A, B = hl.Buffer(a), hl.Buffer(b)
x, y, k, C = hl.Var("x"), hl.Var("y"), hl.RDom([(0, 256)], "k"), hl.Func("C")
C[x, y] = 0.0
C[x, y] += A[k.x, y] * B[x, k.x]
C.vectorize(x, 8)
C.update(0).vectorize(x, 8)
assert np.asarray(C.realize([256, 256]))[0, 0] == 256
"""


def startup_table() -> Iterator[bool]:
    """Prints what a script waits for until it has a product of 256 x 256 matrices, and how much of
    that is compiling where an earlier process has left a cache; gives whether that is little."""
    _from_the_start()
    yield from _work_table()


def _from_the_start() -> None:
    print(
        f"From the start of Python to a product of 256 x 256 matrices, in s (best of {PROCESSES})"
    )
    print(f"{'':<28}{'cold':>10}{'cached':>10}")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "product.py").write_text(_PRODUCT)
        scripts = {
            "polysched, a bare call": _BARE,
            "polysched, as written": _AS_WRITTEN,
            "polysched, imports alone": _IMPORTS,
            "Numba, cache=True": _OF_NUMBA.format(folder=folder),
            "Halide, JIT": _OF_HALIDE,
        }

        def seconds(script: str, cache: Path) -> float:
            environment = {
                **os.environ,
                "POLYSCHED_CACHE": "1",
                "POLYSCHED_CACHE_DIR": str(cache),
                "NUMBA_CACHE_DIR": str(cache),
            }
            start = timeit.default_timer()
            subprocess.run(
                [sys.executable, "-P", "-c", script], env=environment, check=True,
                capture_output=True,
            )  # fmt: skip
            return timeit.default_timer() - start

        for name, script in scripts.items():
            try:
                colds = list(_cold(script, Path(folder), seconds))
            except subprocess.CalledProcessError as error:
                lines = error.stderr.decode().strip().splitlines()
                print(f"{name:<28}not here: {lines[-1] if lines else error}")
                continue
            cache = Path(folder) / "kept"
            cached = min(seconds(script, cache) for _ in range(PROCESSES + 1))
            print(f"{name:<28}{min(colds):>10.2f}{cached:>10.2f}", flush=True)
    print()


def _cold(script: str, folder: Path, seconds: Callable[[str, Path], float]) -> Iterator[float]:
    """The times of processes that find nothing kept."""
    for _ in range(PROCESSES):
        with tempfile.TemporaryDirectory(dir=folder) as cache, suppress(FileNotFoundError):
            yield seconds(script, Path(cache))


# what there is to do in a second process ----------------------------------------------------------
MOST_MS = 5.0
"""Milliseconds that the work of compiling may take in a second process."""

TIMES = 10

_MEASURED = """
import gc, importlib, json, sys, time
import numpy as np, llvmlite.binding
import polysched as ps

{define}
known = set(sys.modules)
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
gc.collect()
start = time.perf_counter_ns(), time.process_time_ns()
{work}
end = time.perf_counter_ns(), time.process_time_ns()
wall, cpu = end[0] - start[0], end[1] - start[1]
{again}
late = [x for x in sys.modules if x not in known]
print(json.dumps([wall, cpu, late, kernel.cached]))
"""
_CHAIN = """
n, m = ps.sizes("n m")
i, j = ps.vars("i j")
x = ps.Input("x", ps.float32, (n, m))
chain = [ps.boundary.repeat_edge(x)]
for q in range(10):
    f = ps.Func(f"f{q}", (n, m))
    f[i, j] = chain[-1][i, j] * 0.5 + x[i, j]
    chain.append(f)
"""
_DIRECTIVES = """
s = ps.Schedule(chain[-1])
for f in chain[1:-1]:
    s[f].compute_root()
for f in chain[1:]:
    stage = s[f]
    io, ii = stage.split(i, 32)
    jo, ji = stage.split(j, 64)
    stage.reorder(io, jo, ii, ji)
    stage.vectorize(ji, ps.native)
    if f is not chain[-1]:
        stage.parallel(io)
kernel = s.compile()
"""
# The kernel's own run is not compiling: what the same call takes afterwards is taken away.
_AGAIN = """
times = []
for _ in range(9):
    begun = time.perf_counter_ns(), time.process_time_ns()
    C(a, b)
    times.append([time.perf_counter_ns() - begun[0], time.process_time_ns() - begun[1]])
wall, cpu = wall - min(t for t, _ in times), cpu - min(t for _, t in times)
kernel = C._default_kernel
"""
_WORK = {
    "a product as written": (_DEFINE, "kernel = ps.Schedule(C).compile()", ""),
    "68 directives": (_CHAIN, _DIRECTIVES, ""),
    "a bare call": (_DEFINE, "C(a, b)", _AGAIN),
}


def _work_table() -> Iterator[bool]:
    print(
        "The work of compiling in a second process, from the program to what can be called, "
        f"in ms (best of {TIMES};\nwithout imports, and without the run of the kernel)"
    )
    print(f"{'':<28}{'CPU':>10}{'wall':>10}{'at most':>10}{'modules that it loads':>24}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (define, work, again) in _WORK.items():
            script = _MEASURED.format(define=define, work=work, again=again)
            *_, late, _ = _measured(script, folder, [])  # which fills the cache
            *_, late, _ = _measured(script, folder, [])
            found = [_measured(script, folder, late) for _ in range(TIMES)]
            wall, cpu = min(x[0] for x in found) / 1e6, min(x[1] for x in found) / 1e6
            good = wall <= MOST_MS and all(x[3] for x in found)
            said = "" if good else "  TOO SLOW" if found[0][3] else "  NOT KEPT"
            own = sum(x.startswith("polysched") for x in late)
            print(f"{name:<28}{cpu:>10.2f}{wall:>10.2f}{MOST_MS:>10.2f}{own:>24}{said}", flush=True)
            yield good
    print()


def _measured(script: str, folder: str, late: list[str]) -> tuple[int, int, list[str], bool]:
    """The times of a process in ns, what it has imported late, and whether its code was kept."""
    environment = {**os.environ, "POLYSCHED_CACHE": "1", "POLYSCHED_CACHE_DIR": folder}
    command = [sys.executable, "-P", "-c", script, json.dumps(late)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    wall, cpu, modules, is_kept = json.loads(done.stdout)
    return wall, cpu, modules, is_kept
