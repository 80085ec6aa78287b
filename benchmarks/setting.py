"""`Setting`: on how many threads, and with which instructions, everything is measured."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from polysched.targets.host import this_machine
from polysched.targets.target import Target

V3, V4 = "x86-64-v3", "x86-64-v4"
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
#: What the modules of Halide and gcc read, where no variable of their own does the same.
LEVEL = "BENCHMARK_LEVEL"
#: How each library is told to leave AVX-512 alone.
WITHOUT_AVX512 = {
    LEVEL: V3,
    "POLYSCHED_TARGET": V3,
    "OPENBLAS_CORETYPE": "Haswell",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "NUMBA_CPU_NAME": V3,
}
#: What else may have been said to a library before, and would make one of them slower.
ALSO = ("NPY_DISABLE_CPU_FEATURES", "OPENBLAS_L2_SIZE")


@dataclass(frozen=True, slots=True)
class Setting:
    """What is said to ours and to each peer alike.

    Attributes:
        threads: of each implementation.
        level: whose instructions are used: `x86-64-v3`, `x86-64-v4`, `aarch64`.
    """

    threads: int
    level: str

    @property
    def forced(self) -> bool:
        """Whether the machine has more instructions than may be used."""
        return self.level != level_of(this_machine())

    def environment(self, usual: Mapping[str, str]) -> dict[str, str]:
        """Variables of each process that is measured: the usual ones, and those of the setting
        alone where they are about threads or instructions."""
        given = {k: v for k, v in usual.items() if k not in {*WITHOUT_AVX512, *ALSO}}
        given |= dict.fromkeys(THREADS, str(self.threads)) | KEPT
        if self.forced:
            given |= WITHOUT_AVX512 | {"NPY_DISABLE_CPU_FEATURES": " ".join(wide_in_numpy())}
        return given

    @property
    def vector_bytes(self) -> int:
        """Of a register that may be used."""
        return {V3: 32, V4: 64}.get(self.level, 16)

    def __str__(self) -> str:
        without = ", everything told to leave AVX-512 alone" if self.forced else ""
        return f"{self.threads} thread(s), {self.level}{without}"


def level_of(target: Target) -> str:
    """The level of instructions of a machine."""
    if target.arch == "aarch64":
        return "aarch64"
    return V4 if target.vector_bytes == 64 else V3


def levels() -> list[str]:
    """Those that are measured here: the machine's own, and v3 where it has more."""
    own = level_of(this_machine())
    return [own, V3] if own == V4 else [own]


def numbers_of_threads() -> list[int]:
    """One, and all cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = os.cpu_count() or 1 if affinity is None else len(affinity(0))
    return sorted({1, cores})


@cache
def wide_in_numpy() -> tuple[str, ...]:
    """Those parts of NumPy's code for AVX-512 that this machine would run, by NumPy's names."""
    from numpy._core import _multiarray_umath as umath

    has: Mapping[str, bool] = umath.__cpu_features__
    return tuple(x for x in umath.__cpu_dispatch__ if has.get(x) and (x == "X86_V4" or "512" in x))
