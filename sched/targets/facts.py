"""What a machine can do: bandwidths, peaks and the time to wake threads, measured or estimated."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..cache.place import DIRECTORY as VARIABLE, path
from ..lang.errors.errors import PolyschedError
from ..lang.nodes.dtypes import DType, concrete
from ..lang.nodes.shown import Shown
from ..records import dataclass
from .host import default_target, target_of, this_machine
from .target import Target, level_of

_HERTZ = 3e9  # of an estimate: a usual clock under load
_WAKE = 10e-6
_MEMORY = 10e9  # bytes a second for one core
_UNITS = {"znver1": 16, "znver4": 32}
"""Bytes of the units of processors whose registers are longer: an instruction takes two turns."""

_LEVELS = (1.0, 0.5, 0.15)
"""Estimates of what a core reads of each cache, in vectors of the first one a cycle."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What `python -m polysched calibrate` has found.

    Attributes:
        when: the day, as `2026-11-25`.
        peak: for each type by name, operations a second of one core; a multiply-add is two.
        bandwidth: bytes a second that one core reads, of each cache and, last, of memory.
        wake: seconds until sleeping threads work.
    """

    when: str
    peak: Mapping[str, float]
    bandwidth: tuple[float, ...]
    wake: float


@dataclass(frozen=True, slots=True)
class Machine(Shown):
    """A target, and what it can do.

    Attributes:
        target: its vectors, registers and caches.
        measured: what was measured on it; None where nothing was, and all is estimated.
    """

    target: Target
    measured: Measured | None = None

    @property
    def source(self) -> str:
        """Where the numbers are from, for whoever uses them to say so."""
        if self.measured is None:
            return f"estimated for {self.target.name}"
        return f"measured on {self.measured.when}"

    def peak(self, dtype: DType) -> float:
        """Operations a second of one core; a multiply-add is two."""
        dtype = concrete(dtype).computed
        if self.measured is not None and dtype.name in self.measured.peak:
            return self.measured.peak[dtype.name]
        return 2 * 2 * (self.unit_bytes // dtype.itemsize) * _HERTZ

    @property
    def unit_bytes(self) -> int:
        """Bytes of a vector that the units of a core compute, load or store in one turn; longer
        ones take several."""
        return min(self.target.vector_bytes, _UNITS.get(self.target.tune or self.target.cpu, 64))

    def bandwidth(self, level: int) -> float:
        """Bytes a second that one core reads of a cache; of memory where there is no such cache."""
        level, caches = level_of(level), len(self.target.caches)
        if self.measured is not None:
            return self.measured.bandwidth[min(level, caches + 1) - 1]
        if level > caches:
            return _MEMORY
        return 2 * self.target.vector_bytes * _HERTZ * _LEVELS[min(level, len(_LEVELS)) - 1]

    @property
    def wake(self) -> float:
        """Seconds until sleeping threads work."""
        return _WAKE if self.measured is None else self.measured.wake


def machine(target: Target | str | None = None) -> Machine:
    """What is known of a machine: of the one that code is made for by default.

    What was measured on this machine is used for it, whichever of its instructions the target
    takes; other machines are estimated.

    Raises:
        TargetError: no target of that name is known.
    """
    wanted = target_of(target)
    ours = target is None or wanted in (this_machine(), default_target())
    return Machine(wanted, load(wanted) if ours else None)


# what is kept -----------------------------------------------------------------------------------
def path_for(target: Target) -> Path:
    """The file of what was measured with a target on this machine."""
    return Path(_file_of(target))


def _file_of(target: Target) -> str:
    here = this_machine().digest[:16]
    return os.path.join(path(), f"machine-{here}-{target.digest[:16]}.json")


def save(target: Target, found: Measured) -> Path:
    """Keeps what was measured; another process finds all of it, or what was there before.

    Raises:
        PolyschedError: the file cannot be written.
    """
    file = path_for(target)
    part = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.write_text(json.dumps(asdict(found), indent=1))
        part.replace(file)
    except OSError as error:
        raise PolyschedError(
            f"what was measured cannot be kept: {error}",
            hint=f"{VARIABLE} names another folder for it",
        ) from None
    return file


def load(target: Target) -> Measured | None:
    """What was measured with a target on this machine; None if nothing was, or it is damaged."""
    try:
        with open(_file_of(target), encoding="utf-8") as file:
            return _measured(json.loads(file.read()), len(target.caches) + 1)
    except (OSError, ValueError):
        return None


def _measured(data: Any, levels: int) -> Measured | None:
    match data:
        case {"when": str(when), "peak": dict(peak), "bandwidth": list(bandwidth), "wake": wake}:
            numbers = [*peak.values(), *bandwidth, wake]
            if len(bandwidth) == levels and all(
                isinstance(x, float | int) and not isinstance(x, bool) and x > 0 for x in numbers
            ):
                return Measured(when, peak, tuple(bandwidth), wake)
    return None
