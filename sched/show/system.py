"""A report on the system: versions, the machine, extras, environment variables."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib import metadata

from ..lang.errors.errors import PolyschedError
from ..lang.nodes.dtypes import float32, float64
from ..targets.facts import Machine, machine
from ..targets.host import default_target, this_machine
from ..targets.target import Cache, Target

#: Features that decide about the code: by LLVM's name, and what they are for.
_FEATURES = (
    "fma", "avx2", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512bf16", "avx512fp16",
    "avx512vnni", "avxvnni", "amx-bf16", "amx-int8", "neon", "fullfp16", "bf16", "dotprod",
    "i8mm", "sve",
)  # fmt: skip

_EXTRAS = ("viz", "progress", "test", "bench", "docs", "lint")

_VARIABLES = {
    "POLYSCHED_LOG": (
        "prints to stderr what the compiler does:",
        "1 for the IR after each pass that changed it and times, times for these alone",
    ),
    "POLYSCHED_NUM_THREADS": ("how many threads a call may use, instead of one a usable core",),
    "POLYSCHED_AUTO": ("0 runs a Func that is called in the loops as written",),
    "POLYSCHED_CACHE": ("0 keeps nothing that is compiled on disk",),
    "POLYSCHED_CACHE_DIR": ("where that is kept, and what is measured of this machine",),
    "POLYSCHED_CACHE_SIZE": ("how large what is compiled may be in all, as 100M (512M)",),
    "POLYSCHED_TARGET": (
        "makes code for less than this machine has:",
        "v3 or v4, a level of x86-64, or a processor; native or nothing for all of it",
    ),
}


def version() -> str:
    """The installed version of polysched."""
    return _version("polysched") or "(a source tree, not installed)"


def report() -> str:
    """The report on versions, the machine, extras and environment variables, as text."""
    return "\n".join(
        [
            f"polysched    {version()}",
            f"Python       {platform.python_version()} ({sys.executable})",
            *(f"{name:<13}{_version(name)}" for name in ("numpy", "islpy")),
            f"{'llvmlite':<13}{_version('llvmlite')} (LLVM {_llvm_version()})",
            "",
            *_machine(),
            "",
            *(f"{name:<13}{_extra(name)}" for name in _EXTRAS),
            "",
            *map(_variable, _VARIABLES),
        ]
    )


def _machine() -> list[str]:
    try:
        target = default_target()
    except PolyschedError as error:
        return [f"target       none: {error.what}"]
    limited = "" if target == this_machine() else f" (this CPU: {this_machine().cpu})"
    return [
        f"target       {target.cpu}, {target.triple}{limited}",
        f"features     {' '.join(_features(target))}",
        f"registers    {target.vector_registers} of {target.vector_bytes} bytes",
        f"caches       {', '.join(map(_cache, target.caches))}",
        f"cores        {_usable_cores()} of {os.cpu_count()} usable by this process",
        *_facts(machine()),
    ]


def _cache(cache: Cache) -> str:
    size = f"{cache.bytes >> 10} KiB" if cache.bytes < 1 << 20 else f"{cache.bytes >> 20} MiB"
    return size if cache.shared_by == 1 else f"{size} for {cache.shared_by} cores"


def _facts(found: Machine) -> list[str]:
    """Lines on the speed of a core, of its caches and of threads, and where it is known from."""
    f32, f64 = (found.peak(t) / 1e9 for t in (float32, float64))
    levels = range(1, len(found.target.caches) + 2)
    read = " ".join(f"{found.bandwidth(k) / 1e9:.0f}" for k in levels)
    how = "" if found.measured else "; python -m polysched calibrate measures it"
    return [
        f"a core does  {f32:.0f} GFLOP/s in float32, {f64:.0f} in float64 ({found.source}{how})",
        f"and reads    {read} GB/s of its caches and memory; threads wake in "
        f"{found.wake * 1e6:.0f} us",
    ]


def _features(target: Target) -> list[str]:
    return [name for name in _FEATURES if target.has(name)]


def _usable_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # only Linux has this function
    return os.cpu_count() or 1 if affinity is None else len(affinity(0))


def _llvm_version() -> str:
    # Only codegen/llvm may import llvmlite; it has.
    found = getattr(sys.modules["llvmlite.binding"], "llvm_version_info", ())
    return ".".join(map(str, found))


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _variable(name: str) -> str:
    state = f"={os.environ[name]}" if name in os.environ else " is not set"
    return "\n".join([f"{name}{state}", *(f"    {line}" for line in _VARIABLES[name])])


def _extra(extra: str) -> str:
    """A line that says whether the packages of an extra are installed."""
    needed = _requirements(extra)
    missing = [name for name in needed if _version(name) is None]
    if not needed:
        return "unknown"
    if missing:
        return f"no: without {', '.join(missing)} (pip install 'polysched[{extra}]')"
    return "yes"


def _requirements(extra: str) -> list[str]:
    """The distributions that an extra installs, from polysched's own metadata."""
    try:
        lines = metadata.requires("polysched") or []
    except metadata.PackageNotFoundError:
        return []
    names = [re.split(r"[^\w.-]", line)[0] for line in lines if _is_of(line, extra)]
    return [name for name in names if name != "polysched"]


def _is_of(requirement: str, extra: str) -> bool:
    return re.search(rf"""extra\s*==\s*['"]{extra}['"]""", requirement) is not None
