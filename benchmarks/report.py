"""The tables of calls, as they are printed."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from case import Case
from measure import Measured, race
from peak import Peak, measure
from runs import NOISE, Line, Run, committed, has_fallen, line_of, processor, system
from setting import Setting

NOTE = "*: faster with OPENBLAS_CORETYPE=SkylakeX"
COLUMNS = (
    *("polysched", "auto", "numpy", "torch", "inductor", "halide", "mullapudi", "adams"),
    *("numba", "gcc", "scipy"),
)
#: What schedules that are found are compared with, by peer; None for the best one.
AUTO_AGAINST: dict[str | None, str] = {
    "polysched": "the schedules by hand",
    None: "the best peers",
    "mullapudi": "Mullapudi 2016",
    "adams": "Adams 2019",
}
#: A ratio has fallen if it has in so many measurements.
TRIES = 3


def run_table(cases: Sequence[Case], setting: Setting) -> Run:
    """Prints a line a case as it is measured."""
    run = Run(setting, processor(), system(), measure(setting))
    before = committed(run.path)
    print(f"{run.processor}, {run.system}; {setting}")
    print(run.peak)
    print(f"Running: milliseconds of the best call on {setting.threads} thread(s)")
    print(header())
    missing: dict[str, str] = {}
    fallen = []
    for case in cases:
        line, falls = measured_line(case, setting, before, missing)
        run.lines.append(line)
        print(row(line, run.peak), flush=True)
        for measured in line.found.values():
            if measured.problem and not measured.missing:
                print(f"    {measured.peer}: {measured.problem}")
        if falls:
            fallen.append(line)
    if told(run.lines):
        print(NOTE)
    for peer, reason in run.missing.items():
        print(f"missing: {peer}: {reason}")
    print("\n".join(summary(run.lines)))
    for line in fallen:
        print(fall(line, before))
    print()
    return run


def measured_line(
    case: Case, setting: Setting, before: Run | None, missing: dict[str, str]
) -> tuple[Line, bool]:
    """A case, measured again as long as its ratio to the best peer is less than it was; and
    whether it was so each time."""
    line = line_of(case, race(case, setting, missing))
    falls = has_fallen(line, before)
    for _ in range(TRIES - 1):
        if not falls:
            break
        again = line_of(case, race(case, setting, missing))
        falls = has_fallen(again, before)
        line = line.joined(again)
    return line, falls


def fall(line: Line, before: Run | None) -> str:
    """What has fallen, in words."""
    known = before.line(line.name) if before is not None else None
    assert known is not None
    return (
        f"{line.name} has fallen by more than {NOISE:.0%} in {TRIES} measurements: its ratio to "
        f"the best peer is {number(line.ratio or 0)}, and was {number(known.ratio or 0)} in the "
        "run that was committed last"
    )


def header() -> str:
    peers = "".join(f"{name:>10}" for name in COLUMNS)
    return f"{'':<22}{'size':<24}{peers}{'ratio':>8}{'median':>8}{'of peak':>9}{'(peer)':>8}"


def row(line: Line, peak: Peak) -> str:
    cells = "".join(f"{cell(line.found.get(name)):>10}" for name in COLUMNS)
    ratios = (f"{number(r)}x" if r else "-" for r in (line.ratio, line.median_ratio))
    shares = [line.share(peak, m) for m in (line.ours, line.best_peer)]
    ours, peers = (f"{s:.0%}" if s else "-" for s in shares)
    a, b = ratios
    return f"{line.name:<22}{line.size:<24}{cells}{a:>8}{b:>8}{ours:>9}{peers:>8}"


def cell(measured: Measured | None, *, median: bool = False) -> str:
    """Milliseconds."""
    if measured is None:
        return ""
    if not measured.times:
        return "missing" if measured.missing else "failed"
    sign = "" if median or not measured.variant else "*"
    return sign + number(1e3 * (measured.median if median else measured.best))


def number(value: float) -> str:
    """Three digits, and no exponents."""
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"


def told(lines: Iterable[Line]) -> bool:
    """Whether some OpenBLAS is faster when it is told of AVX-512."""
    return any(m.variant and m.times for line in lines for m in line.found.values())


def groups(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """The lines of each group that have a ratio."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        if line.ratio:
            found.setdefault(line.group, []).append(line)
    return found


def mean(lines: Iterable[Line]) -> float:
    """The geometric mean of their ratios."""
    return statistics.geometric_mean(line.ratio for line in lines if line.ratio)


def worst(lines: Iterable[Line]) -> Line:
    return min((line for line in lines if line.ratio), key=lambda line: line.ratio or 0)


def summary(lines: Sequence[Line]) -> Iterable[str]:
    """A line for each group, and one for all."""
    by_group = groups(lines)
    if not by_group:
        yield "no case has times of ours and of a peer"
        return
    everything = [line for group in by_group.values() for line in group]
    for name, group in by_group.items():
        lowest = worst(group)
        yield (
            f"{name:<12}{mean(group):.2f}x of the best peers, in the geometric mean; "
            f"the worst is {lowest.name}, {number(lowest.ratio or 0)}x"
        )
    yield from _of_auto(everything)
    ahead = sum((line.ratio or 0) >= 1 for line in everything)
    yield (
        f"ahead of the best peer in {ahead} of {len(everything)} cases; "
        f"geometric mean {mean(everything):.2f}x"
    )


def _of_auto(lines: Sequence[Line]) -> Iterable[str]:
    """A line for what our schedules that are found are compared with."""
    parts = []
    for peer, name in AUTO_AGAINST.items():
        ratios = [r for line in lines if (r := line.over_auto(peer))]
        if ratios:
            parts.append(f"{statistics.geometric_mean(ratios):.2f}x of {name} ({len(ratios)})")
    if parts:
        yield f"auto        {', '.join(parts)}, in the geometric mean"
