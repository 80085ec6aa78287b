"""`Case`: a piece of work that polysched and its peers do, and how to tell that it is done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import polysched as ps

#: Most programs, arguments and references are those of the gallery of the tests. What imports
#: `gallery` imports this module before.
sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

Array = np.ndarray[Any, np.dtype[Any]]
Arguments = dict[str, Any]
Outputs = ps.Func | tuple[ps.Func, ...]
Results = Array | tuple[Array, ...]


#: Modules of ours in `peers/`: with schedules by hand, and with those that are found.
OURS = ("polysched", "auto")
#: The same peers in other ways: with schedules that Halide finds, and compiled by PyTorch.
FINDERS = {"halide": ("mullapudi", "adams"), "torch": ("inductor",)}


def unchanged(s: ps.Schedule) -> None:
    """For a program whose default schedule is what is measured."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """One line of the table.

    Attributes:
        name: unique; `make bench CASE=` picks by it.
        group: that it is in, which `cases/__init__.py` says; `make bench GROUP=` picks by it.
        size: for readers.
        kernel: the function of the peers' modules that does the same work.
        peers: the modules in `peers/` that have that function, in one string.
        build: makes the program, whose meaning all peers share.
        schedule: changes a schedule of that program, which starts as the default one.
        make: `make(rng, **sizes)` gives the keywords of a peer's function, and those of a call of
            ours unless `given` says otherwise.
        given: our keywords from those of the peers, where the program has other layouts: peers
            choose theirs before anything is timed, too.
        result: the axes of what peers give, in those of our result.
        reference: the results from the same keywords, by NumPy or SciPy in float64.
        sizes: those that are measured.
        tiny: those of a quick test.
        known: those that the kernel is compiled for; it takes no others.
        check: those at which results are checked, where the reference would take too long at
            the measured ones; none for these.
        tolerance: largest error, relative to the largest magnitude in the reference.
        flops: operations as they are written down, a maths function as one, from the sizes.
        dtype: the type of these operations.
        beside: what is measured beside our schedule by hand; all there is if this is empty.
    """

    name: str
    size: str
    kernel: str
    peers: str
    build: Callable[[], Outputs]
    make: Callable[..., Arguments]
    reference: Callable[..., Results]
    sizes: Mapping[str, int]
    tiny: Mapping[str, int]
    flops: Callable[..., float]
    schedule: Callable[[ps.Schedule], None] = unchanged
    given: Callable[..., Arguments] = dict
    result: tuple[int, ...] | None = None
    known: Mapping[str, int] = field(default_factory=dict)
    check: Mapping[str, int] = field(default_factory=dict)
    tolerance: float = 1e-4
    dtype: str = "f32"
    group: str = ""
    beside: frozenset[str] = frozenset()

    def scheduled(self, target: str | None = None) -> ps.Schedule:
        """The program with its schedule, for this machine or another one."""
        s = ps.Schedule.default(self.build(), target=target)
        self.schedule(s)
        return s.fixed(self.known)

    @property
    def implementations(self) -> tuple[str, ...]:
        """The modules in `peers/` that do this work: ours twice, with the schedule by hand and with
        one that is found; and the peers, which may find schedules or compile, too."""
        theirs = self.peers.split()
        found = [m for peer in theirs for m in (peer, *FINDERS.get(peer, ()))]
        if self.group != "networks" and "inductor" in found:
            found.remove("inductor")
        ours, *others = (*OURS, *found)
        return (ours, *(m for m in others if not self.beside or m in self.beside))

    def arguments(self, sizes: Mapping[str, int]) -> Arguments:
        """The same ones in every process."""
        return self.make(np.random.default_rng(0), **sizes)

    def error(self, found: Results, wanted: Results) -> float:
        """The largest error, relative to the largest magnitude; infinity where shapes differ."""
        pairs = list(zip(as_tuple(found), as_tuple(wanted), strict=True))
        return max(relative_error(f, w) for f, w in pairs)


def as_tuple(results: Results) -> tuple[Array, ...]:
    return results if isinstance(results, tuple) else (results,)


def relative_error(found: Array, wanted: Array) -> float:
    """Of one array; infinity for a NaN."""
    if found.shape != wanted.shape:
        return float("inf")
    if not found.size:
        return 0.0
    difference = np.abs(np.asarray(found, np.float64) - wanted).max()
    scale = np.abs(wanted).max()
    error = float(difference / scale) if scale else float(difference)
    return error if np.isfinite(error) else float("inf")
