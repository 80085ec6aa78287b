"""The machines that code is generated for.

Fused multiply-add is part of the meaning of a program, so a machine must have it: x86-64-v3 and
above (2013 and later), and every AArch64. Others are refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ...lang.errors import PolyschedError
from . import binding

#: What x86-64-v3 adds to the first x86-64, by LLVM's names.
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")


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

    @property
    def arch(self) -> str:
        """The part of the triple that decides about registers: `x86_64`, `aarch64`."""
        arch = self.triple.partition("-")[0]
        return {"amd64": "x86_64", "arm64": "aarch64"}.get(arch, arch)


@cache
def host() -> Target:
    """This machine, with all it has. TargetError if it is none that we support."""
    triple, cpu, features = binding.process_triple(), binding.host_cpu(), binding.host_features()
    flags = ",".join(("+" if there else "-") + name for name, there in sorted(features.items()))
    target = Target(triple, cpu, flags)
    check(target, features)
    return target


def x86_64_v3() -> Target:
    """The oldest x86-64 that we support: what is built for it runs on all of them.

    The system's part of the triple is this machine's.
    """
    system = binding.process_triple().partition("-")[2]
    return Target(f"x86_64-{system}", "x86-64-v3", "")


def aarch64() -> Target:
    """Any 64-bit Arm."""
    return Target("aarch64-unknown-linux-gnu", "generic", "+neon")


def check(target: Target, features: dict[str, bool]) -> None:
    """Refuses a machine without fused multiply-add, or of an unknown kind."""
    if target.arch == "aarch64":
        return
    if target.arch != "x86_64":
        raise TargetError(
            f"this machine ({target.triple}) is not supported",
            hint="polysched generates code for x86-64-v3 and above, and for AArch64",
        )
    missing = [name for name in _V3 if not features.get(name)]
    if missing:
        raise TargetError(
            f"this CPU ({target.cpu}) lacks {', '.join(missing)}",
            hint="fused multiply-add is part of the arithmetic: x86-64-v3 or above is needed "
            "(Intel since Haswell, AMD since Excavator)",
        )
