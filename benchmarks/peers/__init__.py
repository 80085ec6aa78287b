"""The libraries that polysched is compared with, one module each.

A module has `VERSION`, and a function for each kernel of a case that names the peer: it takes the
keywords of the case, prepares what need not be done anew in each call (layouts, output arrays,
code), and gives a function without arguments that does the work and returns the results. Only the
process that measures a peer imports its module.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from setting import LEVEL, V3, V4, Setting

#: Kernels in which NumPy or SciPy call OpenBLAS.
BLAS = frozenset({"matmul", "attention", "lstm", "lu"})
#: OpenBLAS does not know every processor, and takes AVX2 kernels for some with AVX-512.
AVX512 = {"OPENBLAS_CORETYPE": "SkylakeX"}


def environments(peer: str, kernel: str, setting: Setting) -> dict[str, dict[str, str]]:
    """The ways to start a peer, of which the faster one counts."""
    ways: dict[str, dict[str, str]] = {"": {}}
    if peer in ("numpy", "scipy") and setting.level == V4 and kernel in BLAS:
        ways["SkylakeX"] = AVX512
    return ways


def below_avx512() -> bool:
    """Whether this process is told to leave AVX-512 alone."""
    return os.environ.get(LEVEL) == V3


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
