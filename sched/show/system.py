"""What a bug report needs to say of a system: versions, the machine, threads, extras, environment
variables. `show_versions` and `python -m polysched info` show the same."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, overload

from ..codegen.llvm.machine.binding import LLVM_VERSION
from ..codegen.runtime.threads import get_num_threads
from ..lang.errors.errors import PolyschedError
from ..lang.errors.frames import bounded, flag
from ..lang.nodes.dtypes import float32, float64
from ..poly.sets.isl import isl
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
    "POLYSCHED_NATIVE_CALLS": ("0 takes every call through Python, which takes microseconds",),
    "POLYSCHED_CACHE": ("0 keeps nothing that is compiled on disk",),
    "POLYSCHED_CACHE_DIR": ("where that is kept, and what is measured of this machine",),
    "POLYSCHED_CACHE_SIZE": ("how large what is compiled may be in all, as 100M (512M)",),
    "POLYSCHED_TARGET": (
        "makes code for less than this machine has:",
        "v3 or v4, a level of x86-64, or a processor; native or nothing for all of it",
    ),
    "POLYSCHED_FULL_TRACEBACK": ("1 shows the frames of polysched in tracebacks, too",),
}

_OF_OTHERS = ("OMP_NUM_THREADS",)
"""Variables of others that polysched reads. They are shown where they are set."""

_CPUS = Path("/proc/cpuinfo")


def version() -> str:
    """The installed version of polysched."""
    return _version("polysched") or "(a source tree, not installed)"


@overload
def show_versions(as_dict: Literal[False] = False) -> None: ...


@overload
def show_versions(as_dict: Literal[True]) -> dict[str, dict[str, Any]]: ...


@bounded
def show_versions(as_dict: bool = False) -> dict[str, dict[str, Any]] | None:
    """Prints what a bug report needs: versions of polysched and of what it uses, the system, the
    machine that code is made for, threads, extras and environment variables.

    Args:
        as_dict: nothing is printed, and the same is returned in a dict that `json` can write, with
            a dict for each of "versions", "system", "target", "threads", "extras" and
            "environment".
    """
    wanted = flag("as_dict", as_dict)
    found = system_facts()
    if wanted:
        return found
    print(_text(found))
    return None


def report() -> str:
    """What `show_versions` prints."""
    return _text(system_facts())


def system_facts() -> dict[str, dict[str, Any]]:
    """What is known of the system, by subject; see `show_versions`."""
    return {
        "versions": _versions(),
        "system": {
            "OS": platform.platform(),
            "machine": platform.machine(),
            "CPU": _cpu(),
            "executable": sys.executable,
        },
        "target": _target(),
        "threads": {
            "cores": os.cpu_count(),
            "usable": _usable_cores(),
            "per call": _threads(),
        },
        "extras": {name: _extra(name) for name in _EXTRAS},
        "environment": _environment(),
    }


# facts ------------------------------------------------------------------------------------------
def _versions() -> dict[str, str | None]:
    return {
        "polysched": version(),
        "Python": platform.python_version(),
        "numpy": _version("numpy"),
        "islpy": _version("islpy"),
        "isl": isl.isl_version().strip(),
        "llvmlite": _version("llvmlite"),
        "LLVM": _llvm_version(),
        "hypothesis": _version("hypothesis"),
    }


def _cpu() -> str:
    """What the processor calls itself, where the system says it."""
    try:
        names = re.search(r"^model name\s*:\s*(.+)$", _CPUS.read_text(), re.MULTILINE)
    except OSError:
        names = None
    return names[1] if names else platform.processor() or "unknown"


def _target() -> dict[str, Any]:
    """The machine that code is made for; an error where there is none."""
    try:
        target = default_target()
    except PolyschedError as error:
        return {"error": error.what}
    return {
        "name": target.name,
        "cpu": target.cpu,
        "triple": target.triple,
        "this cpu": this_machine().cpu,
        "is this machine": target == this_machine(),
        "features": _features(target),
        "registers": [target.vector_registers, target.vector_bytes],
        "caches": list(map(_cache, target.caches)),
        "speed": _speed(machine()),
    }


def _speed(found: Machine) -> dict[str, Any]:
    """Of a core, of its caches and memory, and of threads, and where it is known from."""
    levels = range(1, len(found.target.caches) + 2)
    return {
        "measured": found.measured is not None,
        "source": found.source,
        "GFLOP/s": [round(found.peak(t) / 1e9) for t in (float32, float64)],
        "GB/s": [round(found.bandwidth(k) / 1e9) for k in levels],
        "wake in us": round(found.wake * 1e6),
    }


def _threads() -> int | str:
    """How many a call may use; or what is wrong with the variable that should say it."""
    try:
        return get_num_threads()
    except ValueError as error:
        return str(error)


def _environment() -> dict[str, str | None]:
    """The variables of polysched, also those that it does not know: they may be misspelt."""
    others = [x for x in sorted(os.environ) if x in _OF_OTHERS or x.startswith("POLYSCHED_")]
    return {name: os.environ.get(name) for name in (*_VARIABLES, *others)}


def _cache(cache: Cache) -> str:
    size = f"{cache.bytes >> 10} KiB" if cache.bytes < 1 << 20 else f"{cache.bytes >> 20} MiB"
    return size if cache.shared_by == 1 else f"{size} for {cache.shared_by} cores"


def _features(target: Target) -> list[str]:
    return [name for name in _FEATURES if target.has(name)]


def _usable_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # only Linux has this function
    return os.cpu_count() or 1 if affinity is None else len(affinity(0))


def _llvm_version() -> str:
    return ".".join(map(str, LLVM_VERSION))


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _extra(extra: str) -> dict[str, str | None]:
    """The version of each package of an extra, None for those that are not there; empty where the
    metadata of polysched are not installed."""
    return {name: _version(name) for name in _requirements(extra)}


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


# text -------------------------------------------------------------------------------------------
def _text(found: Mapping[str, Mapping[str, Any]]) -> str:
    v, system, threads = found["versions"], found["system"], found["threads"]
    blocks = [
        [
            _line("polysched", v["polysched"]),
            _line("Python", f"{v['Python']} ({system['executable']})"),
            _line("numpy", v["numpy"]),
            _line("islpy", f"{v['islpy']} (isl {v['isl']})"),
            _line("llvmlite", f"{v['llvmlite']} (LLVM {v['LLVM']})"),
            _line("hypothesis", v["hypothesis"]),
        ],
        [
            _line("OS", system["OS"]),
            _line("CPU", f"{system['CPU']} ({system['machine']})"),
            *_target_lines(found["target"]),
            _line("cores", f"{threads['usable']} of {threads['cores']} usable by this process"),
            _line("threads", _per_call(threads["per call"])),
            *_speed_lines(found["target"].get("speed")),
        ],
        [_line(name, _extra_text(name, extra)) for name, extra in found["extras"].items()],
        [_variable_text(name, value) for name, value in found["environment"].items()],
    ]
    return "\n\n".join("\n".join(block) for block in blocks)


def _line(name: str, text: object) -> str:
    return f"{name:<13}{text}"


def _per_call(count: int | str) -> str:
    return count if isinstance(count, str) else f"{count} for a call"


def _target_lines(target: Mapping[str, Any]) -> list[str]:
    if "error" in target:
        return [_line("target", f"none: {target['error']}")]
    here = "" if target["is this machine"] else f" (this CPU: {target['this cpu']})"
    count, size = target["registers"]
    return [
        _line("target", f"{target['cpu']}, {target['triple']}{here}"),
        _line("features", " ".join(target["features"])),
        _line("registers", f"{count} of {size} bytes"),
        _line("caches", ", ".join(target["caches"])),
    ]


def _speed_lines(speed: Mapping[str, Any] | None) -> list[str]:
    if speed is None:
        return []
    f32, f64 = speed["GFLOP/s"]
    how = "" if speed["measured"] else "; python -m polysched calibrate measures it"
    read = " ".join(map(str, speed["GB/s"]))
    return [
        f"a core does  {f32} GFLOP/s in float32, {f64} in float64 ({speed['source']}{how})",
        f"and reads    {read} GB/s of its caches and memory; threads wake in "
        f"{speed['wake in us']} us",
    ]


def _variable_text(name: str, value: str | None) -> str:
    state = " is not set" if value is None else f"={value}"
    known = () if name in _OF_OTHERS else ("polysched has no such variable",)
    return "\n".join([f"{name}{state}", *(f"    {x}" for x in _VARIABLES.get(name, known))])


def _extra_text(name: str, extra: Mapping[str, str | None]) -> str:
    """Whether the packages of an extra are installed."""
    missing = [package for package, version in extra.items() if version is None]
    if missing:
        return f"no: without {', '.join(missing)} (pip install 'polysched[{name}]')"
    return "yes" if extra else "unknown"
