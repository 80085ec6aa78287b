"""The libraries that polysched is compared with, one module each.

A module has `VERSION`, and a function for each kernel of a case that names the peer: it takes the
keywords of the case, prepares what need not be done anew in each call (layouts, output arrays,
code), and gives a function without arguments that does the work and returns the results. Only the
process that measures a peer imports its module.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

#: What each pool of threads reads when its library is loaded.
THREADS = (
    "POLYSCHED_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "HL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
#: For glibc: memory that is freed is kept for the next call. Else NumPy, Halide and others, which
#: allocate in each call, mostly wait for new pages.
KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}
#: Kernels in which NumPy or SciPy call OpenBLAS.
BLAS = frozenset({"matmul", "attention", "lstm", "lu"})
#: OpenBLAS does not know every processor, and takes AVX2 kernels for some with AVX-512.
AVX512 = {"OPENBLAS_CORETYPE": "SkylakeX"}


def environment(threads: int) -> dict[str, str]:
    """Variables of every child."""
    return dict.fromkeys(THREADS, str(threads)) | KEPT


def environments(peer: str, kernel: str) -> dict[str, dict[str, str]]:
    """The ways to start a peer, of which the faster one counts; all where no kernel is named."""
    ways: dict[str, dict[str, str]] = {"": {}}
    if peer in ("numpy", "scipy") and has_avx512() and (not kernel or kernel in BLAS):
        ways["SkylakeX"] = AVX512
    return ways


@cache
def has_avx512() -> bool:
    """Whether Linux says that this machine has AVX-512; elsewhere OpenBLAS is left alone."""
    listing = Path("/proc/cpuinfo")
    return listing.exists() and platform.machine() == "x86_64" and "avx512f" in listing.read_text()


def faster(*calls: Callable[[], Any]) -> Callable[[], Any]:
    """The one with the fastest call out of a few, for peers that offer several ways."""

    def seconds(call: Callable[[], Any]) -> float:
        times = []
        for _ in range(4):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return min(times)

    return min(calls, key=seconds)
