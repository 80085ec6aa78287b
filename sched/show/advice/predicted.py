"""Advice beside a profile: causes that its figures speak for, predicted and not measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...codegen.runtime.kernel import Kernel
from ...lang.errors.errors import PolyschedError
from ...records import dataclass
from ...targets.facts import machine
from .causes import suspicions
from .nests import seen
from .parts import part_of
from .suspicion import Subject, Suspicion

SHARE = 0.1
"""What takes a smaller part of a call is not worth a word."""

MOST, TRIED = 3, 8
"""How many hints there are at most, and changes that are tried for them: each is proven."""

THREADS = frozenset({"serial outer loop", "tasks too fine", "uneven blocks", "false sharing"})
MEMORY = frozenset({"strided inner access", "producer far away", "tile larger than a cache"})
"""Causes, by the figures that speak for them."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A cause that is likely, with a change of the schedule that is legal.

    Attributes:
        stage: that it is about.
        cause: in a few words.
        evidence: numbers from the loops, and figures of the profile.
        directive: what to write, or to leave out.
    """

    stage: str
    cause: str
    evidence: str
    directive: str

    def __str__(self) -> str:
        return f"{self.stage}: {self.cause}: {self.evidence}\n  {self.directive}"


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured.

    Attributes:
        shares: by stage, the part of the call that it takes.
        rates: by stage, bytes a second that it loads and stores, as far as that is known.
        loops: by stage and loop of threads, its efficiency and its imbalance; of several loops of
            a stage by one name none.
    """

    shares: Mapping[str, float]
    rates: Mapping[str, float]
    loops: Mapping[tuple[str, str], tuple[float, float]]


def hints(
    kernel: Kernel,
    chosen: Kernel,
    values: Mapping[str, Any],
    threads: int,
    figures: Figures,
) -> tuple[Hint, ...]:
    """What is likely to cost a call time, in the stages that take most of it first.

    Args:
        chosen: what runs of the kernel.
        values: sizes and Params by name.
        threads: how many a call may have.
        figures: those of a profile.
    """
    part = part_of(kernel, chosen)
    s = part.schedule
    of = Subject(s, seen(s, values), threads)
    found: dict[tuple[str, str], Hint] = {}
    for x in _likely(of, figures)[:TRIED]:
        if len(found) < MOST and (x.stage, x.cause) not in found and x.change.fits(s):
            try:
                x = replace(x, change=x.change.accepted(s))
                x.change.made(s)
            except PolyschedError:
                continue
            evidence = "; ".join([x.evidence, *_said(x, of, figures)])
            directive = part.text() + x.change.text()
            found[x.stage, x.cause] = Hint(x.stage, x.cause, evidence, directive)
    return tuple(found.values())


def _likely(of: Subject, figures: Figures) -> list[Suspicion]:
    """Suspicions about stages that take much of a call, first of those that take most."""
    every = [(x, _share(x, figures)) for x in suspicions(of)]
    return [x for x, share in sorted(every, key=lambda pair: -pair[1]) if share >= SHARE]


def _share(x: Suspicion, figures: Figures) -> float:
    return min(1.0, sum(figures.shares.get(name, 0.0) for name in x.stage.split(", ")))


def _said(x: Suspicion, of: Subject, figures: Figures) -> Iterator[str]:
    """The figures that speak for a cause."""
    yield f"{_share(x, figures):.0%} of the call"
    around = (y for stage in of.stages if stage.name == x.stage for y in stage.loops)
    loop = next((y.name for y in around if y.kind == "parallel"), "")
    if x.cause in THREADS and (x.stage, loop) in figures.loops:
        efficiency, imbalance = figures.loops[x.stage, loop]
        yield f"its threads work {efficiency:.0%} of the time, imbalance {imbalance:.0%}"
    if x.cause in MEMORY and x.stage in figures.rates:
        known = machine(of.schedule.target)
        memory = known.bandwidth(len(known.target.caches) + 1)
        yield (
            f"it loads and stores {figures.rates[x.stage] / 1e9:.3g} GB/s, and a core reads "
            f"{memory / 1e9:.3g} GB/s of memory ({known.source})"
        )
