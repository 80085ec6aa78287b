"""The machines that code is generated for.

Fused multiply-add is part of the meaning of a program, so a machine must have it: x86-64-v3 and
above (2013 and later), and every AArch64. Others are refused by name.

The environment variable POLYSCHED_TARGET asks for less than this machine has: `v3` or `v4`, a
level of x86-64. Results are the same bit for bit, so it is for trying what others will run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ...lang.errors.errors import PolyschedError
from . import binding

VARIABLE = "POLYSCHED_TARGET"

#: What x86-64-v3 and v4 add to the first x86-64, by LLVM's names.
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
_LEVELS = {"v3": _V3, "v4": _V4}


class TargetError(PolyschedError, RuntimeError):
    """This machine cannot run what would be generated."""


@dataclass(frozen=True, slots=True)
class Target:
    """A machine: LLVM's triple, the CPU's name, and features as `+fma,-avx512f`."""

    triple: str
    cpu: str
    features: str

    @property
    def machine(self) -> binding.Machine:
        """The same for LLVM."""
        return binding.Machine(self.triple, self.cpu, self.features)

    def has(self, feature: str) -> bool:
        """Whether it has a feature, by LLVM's name of it."""
        return f"+{feature}" in self.features.split(",")

    @property
    def arch(self) -> str:
        """The part of the triple that decides about registers: `x86_64`, `aarch64`."""
        arch = self.triple.partition("-")[0]
        return {"amd64": "x86_64", "arm64": "aarch64"}.get(arch, arch)


def host() -> Target:
    """What code is made for: this machine, or less of it where POLYSCHED_TARGET says so.

    TargetError if it is no machine that we support, or has not what is asked for.
    """
    name = os.environ.get(VARIABLE, "").strip()
    return native() if name in ("", "native") else _level(name)


@cache
def native() -> Target:
    """This machine, with all it has. TargetError if it is none that we support."""
    triple, cpu, features = binding.process_triple(), binding.host_cpu(), binding.host_features()
    flags = ",".join(("+" if there else "-") + name for name, there in sorted(features.items()))
    target = Target(triple, cpu, flags)
    check(target, features)
    return target


@cache
def _level(name: str) -> Target:
    """The level of x86-64 of that name, if this machine has it."""
    asked = f"{VARIABLE}={name}"
    level = name.removeprefix("x86-64-")
    if level not in _LEVELS:
        raise TargetError(
            f"{asked} is no machine that code is made for here",
            hint=f"it may be {', '.join(_LEVELS)} (levels of x86-64), native, or not set",
        )
    here = native()
    if here.arch != "x86_64":
        raise TargetError(
            f"{asked} is a level of x86-64, and this machine ({here.triple}) is not one",
            hint=f"without {VARIABLE} code is made for this machine",
        )
    missing = _missing(_LEVELS[level], binding.host_features())
    if missing:
        raise TargetError(
            f"{asked} needs {', '.join(missing)}, which this CPU ({here.cpu}) lacks",
            hint=f"without {VARIABLE} code is made for what this CPU has",
        )
    return _x86_64(level)


def x86_64_v3() -> Target:
    """The oldest x86-64 that we support: what is built for it runs on all of them.

    The system's part of the triple is this machine's.
    """
    return _x86_64("v3")


def x86_64_v4() -> Target:
    """An x86-64 with AVX-512: masks, and vectors twice as long."""
    return _x86_64("v4")


def _x86_64(level: str) -> Target:
    system = binding.process_triple().partition("-")[2]
    features = ",".join(f"+{name}" for name in _LEVELS[level])
    return Target(f"x86_64-{system}", f"x86-64-{level}", features)


def aarch64() -> Target:
    """Any 64-bit Arm."""
    return Target("aarch64-unknown-linux-gnu", "generic", "+neon")


def check(target: Target, features: Mapping[str, bool]) -> None:
    """Refuses a machine without fused multiply-add, or of an unknown kind."""
    if target.arch == "aarch64":
        return
    if target.arch != "x86_64":
        raise TargetError(
            f"this machine ({target.triple}) is not supported",
            hint="polysched generates code for x86-64-v3 and above, and for AArch64",
        )
    missing = _missing(_V3, features)
    if missing:
        raise TargetError(
            f"this CPU ({target.cpu}) lacks {', '.join(missing)}",
            hint="fused multiply-add is part of the arithmetic: x86-64-v3 or above is needed "
            "(Intel since Haswell, AMD since Excavator)",
        )


def _missing(names: Sequence[str], features: Mapping[str, bool]) -> list[str]:
    return [name for name in names if not features.get(name)]
