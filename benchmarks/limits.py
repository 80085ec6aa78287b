"""What limits the cases that do not reach their goals, as far as it is known: shown on the pages of
results. Each is a measurement that can be repeated, or can be read from the code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from runs import Line

GOALS = {"products": 0.97}
"""The least ratio to the best peer, by group."""

OTHERS = 0.9
"""That of all other groups."""

LIMITS = {
    "sgemm 1x4096x4096": "It reads 64 MiB once: `of peak` is the share of what memory gives.",
    "layer norm": "It reads 8 MiB and writes 8: `of peak` is the share of what memory gives.",
    "GELU with bias": "Operators: 27 for each vector, all of them in the units for multiply-adds, "
    "at an error of 1.65 units in the last place. Halide's `fast_exp` has fewer and is less exact. "
    "A sigmoid of a scaled sum would save 4 of them, at 1.9 units, and would change bits.",
    "LU": "The columns of a block, which depend on each other, and not the update behind them: "
    "blocks of 8 to 64 columns change the time by 10% at most.",
}
"""By the name of a case."""


def behind(lines: Iterable[Line]) -> Iterator[str]:
    """What is said of each case below its goal."""
    for line in lines:
        goal = GOALS.get(line.group, OTHERS)
        if line.ratio is not None and line.ratio < goal:
            limit = LIMITS.get(line.name, "What limits it is not known yet.")
            yield f"{line.name}: {line.ratio:.2f}, where {goal} is the goal. {limit}"
