"""Pages and pictures of all runs that were kept: `python benchmarks/pages.py`, or
`make bench-pages`. They go to `results/`: an overview, and a page for each processor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from limits import AHEAD, MEAN, behind
from report import COLUMNS, NOTE, cell, groups, mean, number, summary, told, worst
from runs import RESULTS, Line, Run, load

from polysched.targets.known import PROCESSORS

WRITTEN = "Written by `make bench-pages` from the runs that `make bench ARGS=--save` has kept."

APART = "narrow"
"""The group that no mean of all cases counts: few peers have such types, and these are slow."""


def main(folder: Path = RESULTS) -> list[Path]:
    """Writes all of them; where they are."""
    by_processor = {
        place.name: [run for path in sorted(place.glob("*.json")) if (run := load(path))]
        for place in sorted(folder.iterdir())
        if place.is_dir()
    }
    written = [folder / "README.md"]
    written[0].write_text(overview(by_processor))
    for name, runs in by_processor.items():
        page = folder / name / "README.md"
        page.write_text(page_of(name, runs))
        written.append(page)
        for run in runs:
            plot(run.lines, folder / name / run.path.with_suffix(".svg").name)
    return written


def overview(by_processor: dict[str, list[Run]]) -> str:
    """The means of each group, run by run."""
    runs = [run for found in by_processor.values() for run in found]
    names = list(dict.fromkeys(name for run in runs for name in groups(run.lines)))
    head = ["processor", "level", "threads", *names, f"all but {APART}", "ahead in", "worst"]
    rows = []
    for run in runs:
        by_group = groups(run.lines)
        everything = counted(run.lines)
        if not everything:
            continue
        ahead = sum((line.ratio or 0) >= 1 for line in everything)
        lowest = worst(everything)
        rows.append(
            [
                f"[{run.processor}]({run.processor}/README.md)",
                run.setting.level,
                str(run.setting.threads),
                *(f"{mean(by_group[name]):.2f}" if name in by_group else "" for name in names),
                f"{mean(everything):.2f}",
                f"{ahead} of {len(everything)}",
                f"{lowest.name} ({number(lowest.ratio or 0)})",
            ]
        )
    parts = [
        "# Results",
        "The best peer's time over ours, as geometric means over the cases of a group: above 1, "
        "ours is faster. How it is measured is said in [../README.md](../README.md). "
        f"{WRITTEN}",
        table(head, rows, left=2),
    ]
    return "\n\n".join(parts) + "\n"


def page_of(processor: str, runs: Iterable[Run]) -> str:
    """All that was measured on a processor."""
    parts = [f"# {processor}", f"[All results](../README.md). {WRITTEN}"]
    known = PROCESSORS.get(processor)
    caches = [nbytes for nbytes, _ in known.caches] if known else []
    for run in runs:
        names = [name for name in COLUMNS if any(name in line.found for line in run.lines)]
        left_out = [name for name in COLUMNS if name not in names]
        head = ["case", "size", *names, "ratio", "of medians", "of peak", "best peer of peak"]
        versions = ", ".join(f"{peer} {version}" for peer, version in run.versions.items())
        parts += [
            f"## {run.setting.level}, {run.setting.threads} thread(s)",
            f"{run.system}; {run.peak}. {versions}. Milliseconds: best (median).",
            f"![ratios]({run.path.with_suffix('.svg').name})",
            table(head, [_row(line, run, names) for line in run.lines], left=2),
            "\n".join(
                f"* {text}"
                for text in (*summary(run.lines), *together(run), *behind(run.lines, caches))
            ),
            *([NOTE] if told(run.lines) else []),
            *(f"{peer} is missing: {reason}." for peer, reason in run.missing.items()),
            *([f"Not measured: {', '.join(left_out)}."] if left_out else []),
        ]
    return "\n\n".join(parts) + "\n"


def counted(lines: Iterable[Line]) -> list[Line]:
    """Those of all groups that count for means: many of the others have hardly a peer."""
    return [x for name, group in groups(lines).items() if name != APART for x in group]


def together(run: Run) -> Iterator[str]:
    """What is said of all cases where their goals are not reached: which of the best peers do as
    much as the machine can, so that nothing could be far ahead of them."""
    lines = counted(run.lines)
    ahead, wanted = sum((x.ratio or 0) >= 1 for x in lines), math.ceil(AHEAD * len(lines))
    if not lines or (mean(lines) >= MEAN and ahead >= wanted):
        return
    shares = [x.share(run.peak, x.best_peer) or 0.0 for x in lines]
    full = sum(0.9 <= share <= 1.1 for share in shares)
    yield (
        f"all but {APART}: {mean(lines):.2f} in the geometric mean, where {MEAN} is the goal, "
        f"and ahead in {ahead}, where {wanted} of {len(lines)} is. In {full} of them the best peer "
        "does what the machine can, within a tenth (the last column)"
    )


def _row(line: Line, run: Run, names: Iterable[str]) -> list[str]:
    times = []
    for name in names:
        m = line.found.get(name)
        times.append(f"{cell(m)} ({cell(m, median=True)})" if m and m.times else cell(m))
    ratios = [number(r) if r else "" for r in (line.ratio, line.median_ratio)]
    shares = [line.share(run.peak, m) for m in (line.ours, line.best_peer)]
    return [line.name, line.size, *times, *ratios, *(f"{s:.0%}" if s else "" for s in shares)]


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int) -> str:
    """Markdown; all but the first columns are aligned to the right."""
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def plot(lines: Sequence[Line], path: Path) -> None:
    """Each peer's time over ours, on a logarithmic axis: right of 1, ours is faster."""
    import matplotlib as mpl
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
    axes.set_yticks(range(len(shown)), [line.name for line in shown])
    axes.grid(axis="x", alpha=0.3)
    axes.legend(ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
    with mpl.rc_context({"svg.hashsalt": "polysched"}):  # the same picture for the same run
        figure.savefig(path, metadata={"Date": None})


def _columns(points: Sequence[tuple[float, int]]) -> tuple[Any, Any]:
    return [x for x, _ in points], [y for _, y in points]


if __name__ == "__main__":
    print(*main(), sep="\n")
