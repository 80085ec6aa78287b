"""This machine: what its processor says of itself, and what the system says of its caches.

Code is made for it, or for less where the environment variable POLYSCHED_TARGET names a target:
results are the same bit for bit, so it is for trying what others will run.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from ..lang.errors.errors import LanguageTypeError
from . import processor
from .known import PROCESSORS, caches_of, named
from .target import V3, V4, Cache, Target, TargetError, missing

VARIABLE = "POLYSCHED_TARGET"
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_LEVELS = {"generic": (), "x86-64-v3": V3, "x86-64-v4": V4}
"""The features that LLVM counts on for names that stand for many processors."""

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def default_target() -> Target:
    """What code is made for: this machine, or the target that POLYSCHED_TARGET names.

    Raises:
        TargetError: it is no machine that is supported, or not the one that is asked for.
    """
    name = os.environ.get(VARIABLE, "").strip()
    return this_machine() if name in ("", "native") else _asked(name)


@cache
def this_machine() -> Target:
    """The machine that this runs on, with all it has. TargetError if it is not supported."""
    arch, _, system = processor.triple().partition("-")
    arch = {"amd64": "x86_64", "arm64": "aarch64"}.get(arch, arch)
    cpu, features = processor.name(), processor.features()
    wide = arch == "x86_64" and features.get("avx512vl", False)
    found = caches()
    return Target(
        name=cpu,
        arch=arch,
        system=system,
        cpu=cpu,
        features=tuple(("+" if there else "-") + name for name, there in sorted(features.items())),
        vector_bytes=16 if arch == "aarch64" else 64 if wide else 32,
        vector_registers=32 if wide or arch == "aarch64" else 16,
        caches=found or shipped_caches(cpu, arch, wide),
        cores=os.cpu_count() or 1,
    )


@cache
def _asked(name: str) -> Target:
    """The target of that name, if this machine can run what is made for it."""
    asked, without = f"{VARIABLE}={name}", f"without {VARIABLE} code is made for "
    here = this_machine()
    try:
        target = named(name, here.system)
    except TargetError as error:
        raise TargetError(
            f"{asked} is no machine that code is made for here",
            hint=f"{error.hint}; or native, or not set",
        ) from None
    why = cannot_run(target)
    if why is not None:
        raise TargetError(f"{asked} {why}", hint=f"{without}this machine")
    return target


def target_of(which: str | Target | None = None) -> Target:
    """A target by its name, with the system of this process; as it is where it is one already;
    and the default one where none is given.

    Raises:
        TargetError: no target of that name is known.
    """
    if which is None:
        return default_target()
    if isinstance(which, Target):
        return which
    if not isinstance(which, str):
        raise LanguageTypeError(
            f"a target is the name of one, or a polysched.Target, not {which!r}",
            hint='target="x86-64-v3"',
        )
    return this_machine() if which == "native" else named(which, this_machine().system)


def name_of_target(target: Target) -> str | None:
    """The name by which `target_of` finds a target; None for one that somebody has made."""
    known = target.name in PROCESSORS and target_of(target.name) == target
    return target.name if known else "native" if target == this_machine() else None


def cannot_run(target: Target) -> str | None:
    """Why this machine does not run what is made for a target; None if it does."""
    here = this_machine()
    if target is here:
        return None
    if target.arch != here.arch:
        return f"is of the architecture {target.arch}, and this machine ({here.triple}) is not"
    if target.system != here.system:
        return f"is for {target.system}, and this machine ({here.triple}) is not"
    if target.cpu not in (*_LEVELS, here.cpu):
        return f"is for the processor {target.cpu}, and this one is {here.cpu}"
    needed = [*(x[1:] for x in target.features if x[:1] == "+"), *_LEVELS.get(target.cpu, ())]
    lacking = missing(list(dict.fromkeys(needed)), dict.fromkeys(here.features, True))
    if lacking:
        return f"needs {', '.join(lacking)}, which this CPU ({here.cpu}) lacks"
    return None


# what the system says ---------------------------------------------------------------------------
def caches(folder: Path = _CACHES) -> tuple[Cache, ...]:
    """The caches for data of one core, as Linux describes them; none where it does not."""
    found = []
    try:
        names = sorted(x for x in os.listdir(folder) if x.startswith("index") and x[5:].isdigit())
    except OSError:
        return ()
    threads = _threads_of_a_core(folder)
    for name in names:
        try:
            if _line(f"{folder}/{name}/type") in ("Data", "Unified"):
                about = {x: _line(f"{folder}/{name}/{x}") for x in _READ}
                found.append(
                    Cache(
                        int(about["level"]),
                        _bytes(about["size"]),
                        int(about["ways_of_associativity"]),
                        int(about["coherency_line_size"]),
                        -(-_count(about["shared_cpu_list"]) // threads),
                    )
                )
        except (OSError, ValueError, TargetError):
            return ()  # half a description is worse than what is shipped
    return tuple(sorted(found, key=lambda x: x.level))


def shipped_caches(cpu: str, arch: str, wide: bool) -> tuple[Cache, ...]:
    """Those of a processor of that name, or else of its level."""
    level = "aarch64" if arch == "aarch64" else "x86-64-v4" if wide else "x86-64-v3"
    return caches_of(PROCESSORS.get(cpu, PROCESSORS[level]))


def _threads_of_a_core(caches: Path) -> int:
    """Linux counts as a CPU what a core runs beside another: these have each of its caches in
    common. One, where it does not say."""
    try:
        return max(1, _count(_line(f"{caches.parent}/topology/thread_siblings_list")))
    except (OSError, ValueError):
        return 1


_READ = ("level", "size", "ways_of_associativity", "coherency_line_size", "shared_cpu_list")


def _line(path: str) -> str:
    """What a small file holds. Python's own files take several times as long."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 4096).decode().strip()
    finally:
        os.close(descriptor)


def _bytes(text: str) -> int:
    """`32K`, as a number."""
    number = text.rstrip("KMG")
    unit = text[len(number) :]
    if not number.isdecimal() or unit not in _UNITS:
        raise ValueError(f"{text!r} is no size")
    return int(number) * _UNITS[unit]


def _count(cpus: str) -> int:
    """How many CPUs a list names: 5 for `0-3,8`."""
    ends = [[int(x) for x in part.split("-")] for part in cpus.split(",")]
    return sum(x[-1] - x[0] + 1 for x in ends)
