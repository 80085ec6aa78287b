"""The table of calls: printed, and saved as text and as a picture."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from case import Case
from measure import Measured, race
from peak import Peak, measure

NOTE = "*: faster with OPENBLAS_CORETYPE=SkylakeX"
COLUMNS = ("polysched", "numpy", "torch", "halide", "numba", "gcc", "scipy")


@dataclass(frozen=True, slots=True)
class Line:
    """A case, and what came out for each implementation of it.

    Attributes:
        nbytes: of the arguments and results together.
    """

    case: Case
    found: dict[str, Measured]
    nbytes: float

    @property
    def ours(self) -> Measured:
        return self.found["polysched"]

    @property
    def best_peer(self) -> Measured | None:
        peers = [m for peer, m in self.found.items() if m.times and peer != "polysched"]
        return min(peers, key=lambda m: m.best, default=None)

    @property
    def ratio(self) -> float | None:
        """The best peer's time over ours: above 1, ours is faster."""
        peer = self.best_peer
        return peer.best / self.ours.best if peer and self.ours.times else None

    @property
    def median_ratio(self) -> float | None:
        peer = self.best_peer
        return peer.median / self.ours.median if peer and self.ours.times else None

    def share(self, peak: Peak, measured: Measured | None) -> float | None:
        """Of what this machine can do at most."""
        if measured is None or not measured.times:
            return None
        flops = self.case.flops(**self.case.sizes)
        return peak.seconds(flops, self.case.dtype, self.nbytes) / measured.best


def run_table(cases: Sequence[Case], threads: int, save: Path | None) -> Iterable[bool]:
    """Prints a line a case as it is measured; gives whether each result of ours is right."""
    peak = measure(threads)
    print(machine())
    for known in (measure(1), peak) if threads > 1 else (peak,):
        print(known)
    print(f"Running: milliseconds of the best call on {threads} thread(s)")
    print(header())
    lines, missing = [], {}
    for case in cases:
        line = fastest(case, race(case, threads, missing))
        lines.append(line)
        print(row(line, peak), flush=True)
        for measured in line.found.values():
            if measured.problem and not measured.missing:
                print(f"    {measured.peer}: {measured.problem}")
        yield not line.ours.problem
    if told(lines):
        print(NOTE)
    for peer, reason in missing.items():
        print(f"missing: {peer}: {reason}")
    print(summary(lines))
    if save:
        print("saved:", *save_results(lines, peak, missing, save))


def fastest(case: Case, found: Iterable[Measured]) -> Line:
    """Of the ways to start a peer, the faster one; and of failures, one that is no success."""
    best: dict[str, Measured] = {}
    for m in found:
        other = best.get(m.peer)
        if other is None or not other.times or (m.times and m.best < other.best):
            best[m.peer] = m
    return Line(case, best, max((m.nbytes for m in best.values()), default=0.0))


def machine() -> str:
    """The processor and the system."""
    python = f"Python {platform.python_version()}"
    cores = f"{os.cpu_count()} cores"
    return ", ".join([llvm.get_host_cpu_name(), cores, platform.system(), python])


def header() -> str:
    peers = "".join(f"{name:>10}" for name in COLUMNS)
    return f"{'':<22}{'size':<24}{peers}{'ratio':>8}{'median':>8}{'of peak':>9}{'(peer)':>8}"


def row(line: Line, peak: Peak) -> str:
    cells = "".join(f"{_cell(line.found.get(name)):>10}" for name in COLUMNS)
    ratios = (f"{_number(r)}x" if r else "-" for r in (line.ratio, line.median_ratio))
    shares = [line.share(peak, m) for m in (line.ours, line.best_peer)]
    ours, peers = (f"{s:.0%}" if s else "-" for s in shares)
    a, b = ratios
    return f"{line.case.name:<22}{line.case.size:<24}{cells}{a:>8}{b:>8}{ours:>9}{peers:>8}"


def _cell(measured: Measured | None, *, median: bool = False) -> str:
    if measured is None:
        return ""
    if not measured.times:
        return "missing" if measured.missing else "failed"
    told = "" if median or not measured.variant else "*"
    return told + _number(1e3 * (measured.median if median else measured.best))


def _number(value: float) -> str:
    """Three digits, and no exponents."""
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f}"


def told(lines: Iterable[Line]) -> bool:
    """Whether some OpenBLAS is faster when it is told of AVX-512."""
    return any(m.variant and m.times for line in lines for m in line.found.values())


def summary(lines: Iterable[Line]) -> str:
    ratios = [line.ratio for line in lines if line.ratio]
    if not ratios:
        return "no case has times of ours and of a peer"
    ahead = sum(r >= 1 for r in ratios)
    mean = statistics.geometric_mean(ratios)
    return f"ahead of the best peer in {ahead} of {len(ratios)} cases; geometric mean {mean:.2f}x"


# saving -----------------------------------------------------------------------------------------


def save_results(
    lines: Sequence[Line], peak: Peak, missing: dict[str, str], folder: Path
) -> tuple[Path, Path]:
    """A page and a picture, named after the number of threads."""
    folder.mkdir(exist_ok=True)
    page = folder / f"threads-{peak.threads}.md"
    picture = folder / f"threads-{peak.threads}.svg"
    page.write_text(markdown(lines, peak, missing, picture.name))
    plot(lines, picture)
    return page, picture


def markdown(lines: Sequence[Line], peak: Peak, missing: dict[str, str], picture: str) -> str:
    versions = {m.peer: m.version for line in lines for m in line.found.values() if m.version}
    names = [name for name in COLUMNS if any(name in line.found for line in lines)]
    head = ["case", "size", *names, "ratio", "of medians", "of peak", "best peer of peak"]
    parts = [
        f"# {peak.threads} thread(s)",
        f"{machine()}; {peak}. "
        + ", ".join(f"{peer} {version}" for peer, version in versions.items())
        + ". Milliseconds: best (median). How to read this is said in ../README.md.",
        f"![ratios]({picture})",
        "\n".join([_cells(head), _cells(["---"] * 2 + ["---:"] * (len(head) - 2))])
        + "".join(f"\n{_cells(_markdown_row(line, peak, names))}" for line in lines),
        f"{summary(lines)}." + (f" {NOTE}." if told(lines) else ""),
        *(f"{peer} is missing: {reason}." for peer, reason in missing.items()),
    ]
    return "\n\n".join(parts) + "\n"


def _markdown_row(line: Line, peak: Peak, names: Iterable[str]) -> list[str]:
    times = []
    for name in names:
        m = line.found.get(name)
        times.append(f"{_cell(m)} ({_cell(m, median=True)})" if m and m.times else _cell(m))
    ratios = [f"{_number(r)}" if r else "" for r in (line.ratio, line.median_ratio)]
    shares = [line.share(peak, m) for m in (line.ours, line.best_peer)]
    return [
        line.case.name,
        line.case.size,
        *times,
        *ratios,
        *(f"{s:.0%}" if s else "" for s in shares),
    ]


def _cells(values: Iterable[str]) -> str:
    return f"| {' | '.join(values)} |"


def plot(lines: Sequence[Line], path: Path) -> None:
    """Each peer's time over ours, on a logarithmic axis: right of 1, ours is faster."""
    from matplotlib.figure import Figure

    shown = [line for line in lines if line.ours.times][::-1]
    figure = Figure(figsize=(8, 1 + 0.25 * len(shown)), layout="constrained")
    axes = figure.subplots()
    for name in COLUMNS[1:]:
        points: list[tuple[float, int]] = [
            (m.best / line.ours.best, y)
            for y, line in enumerate(shown)
            if (m := line.found.get(name)) and m.times
        ]
        axes.plot(*_columns(points), "o", label=name, markersize=4)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="time of the peer / time of polysched")
    axes.set_yticks(range(len(shown)), [line.case.name for line in shown])
    axes.grid(axis="x", alpha=0.3)
    axes.legend(ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
    figure.savefig(path)


def _columns(points: Sequence[tuple[float, int]]) -> tuple[Any, Any]:
    return [x for x, _ in points], [y for _, y in points]
