"""Machines by name: levels of x86-64, AArch64, and the usual processors of servers and desktops.

The caches of processors are those that their makers publish, for one core; the shares of the last
one are of the usual models.
"""

from __future__ import annotations

from dataclasses import replace

from ..records import dataclass
from .target import V3, V4, Cache, Target, TargetError

KiB, MiB = 1 << 10, 1 << 20
LINUX = "unknown-linux-gnu"


@dataclass(frozen=True, slots=True)
class Processor:
    """What is known of a processor: its level, caches as (bytes, ways), and who shares the last."""

    level: str
    caches: tuple[tuple[int, int], ...]
    shared_by: int
    cores: int


_V3, _V4, _ARM = "x86-64-v3", "x86-64-v4", "aarch64"

PROCESSORS: dict[str, Processor] = {
    # Levels stand for whatever has them, with caches that most of these exceed.
    _V3: Processor(_V3, ((32 * KiB, 8), (256 * KiB, 8), (8 * MiB, 16)), 4, 4),
    _V4: Processor(_V4, ((32 * KiB, 8), (1 * MiB, 16), (16 * MiB, 16)), 8, 8),
    _ARM: Processor(_ARM, ((64 * KiB, 4), (512 * KiB, 8), (4 * MiB, 16)), 4, 4),
    # AMD; the last cache is that of one complex of cores.
    "znver1": Processor(_V3, ((32 * KiB, 8), (512 * KiB, 8), (8 * MiB, 16)), 4, 8),
    "znver2": Processor(_V3, ((32 * KiB, 8), (512 * KiB, 8), (16 * MiB, 16)), 4, 8),
    "znver3": Processor(_V3, ((32 * KiB, 8), (512 * KiB, 8), (32 * MiB, 16)), 8, 8),
    "znver4": Processor(_V4, ((32 * KiB, 8), (1 * MiB, 8), (32 * MiB, 16)), 8, 8),
    "znver5": Processor(_V4, ((48 * KiB, 12), (1 * MiB, 16), (32 * MiB, 16)), 8, 8),
    # Intel
    "haswell": Processor(_V3, ((32 * KiB, 8), (256 * KiB, 8), (8 * MiB, 16)), 4, 4),
    "broadwell": Processor(_V3, ((32 * KiB, 8), (256 * KiB, 8), (8 * MiB, 16)), 4, 4),
    "skylake": Processor(_V3, ((32 * KiB, 8), (256 * KiB, 4), (8 * MiB, 16)), 4, 4),
    "alderlake": Processor(_V3, ((48 * KiB, 12), (1280 * KiB, 10), (30 * MiB, 12)), 8, 8),
    "skylake-avx512": Processor(_V4, ((32 * KiB, 8), (1 * MiB, 16), (22 * MiB, 11)), 16, 16),
    "cascadelake": Processor(_V4, ((32 * KiB, 8), (1 * MiB, 16), (22 * MiB, 11)), 16, 16),
    "icelake-server": Processor(_V4, ((48 * KiB, 12), (1280 * KiB, 20), (36 * MiB, 12)), 24, 24),
    "sapphirerapids": Processor(_V4, ((48 * KiB, 12), (2 * MiB, 16), (60 * MiB, 15)), 32, 32),
    "graniterapids": Processor(_V4, ((48 * KiB, 12), (2 * MiB, 16), (168 * MiB, 16)), 43, 43),
    # Arm
    "cortex-a72": Processor(_ARM, ((32 * KiB, 2), (1 * MiB, 16)), 4, 4),
    "neoverse-n1": Processor(_ARM, ((64 * KiB, 4), (1 * MiB, 8), (32 * MiB, 16)), 64, 64),
    "neoverse-v1": Processor(_ARM, ((64 * KiB, 4), (1 * MiB, 8), (32 * MiB, 16)), 64, 64),
    "neoverse-n2": Processor(_ARM, ((64 * KiB, 4), (1 * MiB, 8), (32 * MiB, 16)), 64, 64),
    "neoverse-v2": Processor(_ARM, ((64 * KiB, 4), (2 * MiB, 8), (36 * MiB, 12)), 72, 72),
    "apple-m1": Processor(_ARM, ((128 * KiB, 8), (12 * MiB, 12)), 4, 4),
}

_SHORT = {"v3": _V3, "v4": _V4, "arm64": _ARM, "armv8-a": _ARM}


def named(name: str, system: str = LINUX) -> Target:
    """A machine by its name, as plain data: it is the same wherever this is called.

    Code for a processor uses no instruction beyond those of its level; for which processor they
    are ordered is another matter (`Target.tune`).

    Raises:
        TargetError: no machine of that name is known.
    """
    name = _SHORT.get(name, name)
    if name not in PROCESSORS:
        raise TargetError(
            f"{name} is no machine that is known here",
            hint=f"these are: {', '.join(PROCESSORS)}",
        )
    known = PROCESSORS[name]
    wide = known.level == _V4
    level = Target(
        name=known.level,
        arch="aarch64" if known.level == _ARM else "x86_64",
        system=system,
        cpu="generic" if known.level == _ARM else known.level,
        features=tuple(f"+{x}" for x in {_ARM: ("neon",), _V3: V3, _V4: V4}[known.level]),
        vector_bytes=16 if known.level == _ARM else 64 if wide else 32,
        vector_registers=16 if known.level == _V3 else 32,
        caches=caches_of(known),
        cores=known.cores,
    )
    return level if name == known.level else replace(level, name=name, tune=name)


def caches_of(known: Processor) -> tuple[Cache, ...]:
    """The caches of a core; several cores share the last one."""
    last = len(known.caches)
    return tuple(
        Cache(level, size, ways, shared_by=known.shared_by if level == last else 1)
        for level, (size, ways) in enumerate(known.caches, 1)
    )
