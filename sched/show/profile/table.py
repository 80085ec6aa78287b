"""A profile as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .profile import Profile, StageTime

HEADS = (
    "stage",
    "time",
    "of the call",
    "error",
    "how",
    "operations",
    "bytes",
    "GFLOP/s",
    "of peak",
)


SHOWN = 3
"""Stages of a loop that are named."""


def text(p: Profile) -> str:
    """The table, with a line about the call before it and lines about loops of threads behind."""
    rows = [HEADS, *(row(p, s) for s in p.stages), rest(p)]
    widths = [max(len(r[k]) for r in rows) for k in range(len(HEADS))]
    lines = [summary(p), *(_line(r, widths) for r in rows)]
    return "\n".join([*lines, *loops(p), *notes(p), *advice(p)])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(x.rjust(n) for x, n in others)]).rstrip()


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if abs(seconds) >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds * 1e6:.4g} us"


def summary(p: Profile) -> str:
    """One line about the call."""
    spread = f"{duration(p.least)} to {duration(p.most)} in {p.runs} runs"
    return f"{duration(p.seconds)}, {spread}, on {p.threads} thread{'s' if p.threads > 1 else ''}"


def row(p: Profile, s: StageTime) -> tuple[str, ...]:
    """The cells of a stage."""
    if s.how == "inlined":
        return (s.name, "", "", "", "inlined", "", "", "", "")
    both = None if s.loaded is None or s.stored is None else s.loaded + s.stored
    return (
        s.name,
        duration(s.seconds),
        f"{s.seconds / p.seconds:.1%}" if p.seconds else "",
        f"{s.error / p.seconds:.1%}" if s.error else "",
        s.how,
        _count(s.operations),
        _count(both),
        "" if s.rate is None else f"{s.rate / 1e9:.3g}",
        "" if s.of_peak is None else f"{s.of_peak:.1%}",
    )


def rest(p: Profile) -> tuple[str, ...]:
    """The cells of what is outside of the loops."""
    share = f"{p.calling / p.seconds:.1%}" if p.seconds else ""
    return ("(the call itself)", duration(p.calling), share, "", "clock", "", "", "", "")


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def loops(p: Profile) -> list[str]:
    """A line for each loop that threads share."""
    return [
        f"loop {x.name}{_of(x.stages)} on {p.threads} threads: {duration(x.seconds)}, efficiency "
        f"{x.efficiency:.0%}, imbalance {x.imbalance:.0%}"
        for x in p.loops
    ]


def _of(stages: tuple[str, ...]) -> str:
    """Whose loop it is: as many stages as a line has room for."""
    more = f" and {len(stages) - SHOWN} more" if len(stages) > SHOWN else ""
    return f" of {', '.join(stages[:SHOWN])}{more}" if stages else ""


PREDICTED = "Predicted, not measured, which kernel.advice does:"


def advice(p: Profile) -> list[str]:
    """What is likely to cost time, and what to try."""
    lines = [f"  {line}" for x in p.hints for line in str(x).splitlines()]
    return [PREDICTED, *lines] if lines else []


def notes(p: Profile) -> list[str]:
    """What a reader has to know of the numbers."""
    found = [
        f"An ordinary call takes {duration(p.plain)} (median); the shortest run with marks differs "
        f"from the shortest ordinary one by {p.overhead:+.1%}. One thread can do "
        f"{p.peak / p.threads / 1e9:.3g} GFLOP/s, {p.machine}."
    ]
    if any(s.how == "sampled" for s in p.stages):
        found.append(f"sampled: split by {p.samples} looks at random moments; error is one sigma.")
    if any(s.how == "estimated" for s in p.stages):
        found.append(
            "estimated: parts too short to be told apart, even by looking, are split by the cost "
            "model; no error is known of that."
        )
    if p.cut is not None:
        found.append(
            f"What threads do one after the other is kept for the first {duration(p.cut)}."
        )
    return found
