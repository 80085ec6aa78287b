"""How well the model that chooses schedules ranks them, beside how long they take. See README.md
here.

    python -P benchmarks/ranking.py              # all programs of the gallery and of PolyBench
    python -P benchmarks/ranking.py blur conv    # those with one of these in their names
    python -P benchmarks/ranking.py --threads 2
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from gallery.case import Case
from gallery.execute import fresh, outputs
from gallery.registry import CASES
from polybench.registry import CASES as POLYBENCH

import polysched as ps
from polysched.tune.auto import several

TURNS = 5  # of each schedule
LEAST = 20e-6  # seconds below which a call measures itself
#: Not to be looked at where templates or the model are adjusted: every second program.
HELD_OUT = frozenset(case.name for case in [*CASES, *POLYBENCH][1::2])


@dataclass(frozen=True, slots=True)
class Ranking:
    """What came out for a program.

    Attributes:
        expected, taken: seconds of each schedule, that of the best plan first.
    """

    name: str
    expected: Sequence[float]
    taken: Sequence[float]

    @property
    def correlation(self) -> float | None:
        """Of the ranks, by Spearman; None where all are expected to take as long."""
        if len({*self.expected}) < 2:
            return None
        a, b = (np.argsort(np.argsort(x)) for x in (self.expected, self.taken))
        return float(np.corrcoef(a, b)[0, 1])

    @property
    def choice(self) -> float:
        """How much longer the best one takes than the one that is chosen: at most 1."""
        return min(self.taken) / self.taken[0]

    @property
    def gain(self) -> float:
        """How much longer the loops as written take than those that are chosen."""
        return self.taken[-1] / self.taken[0]


def main() -> int:
    """Prints the table; the exit status."""
    os.environ["POLYSCHED_CACHE"] = "0"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of names of programs")
    parser.add_argument("--threads", type=int, default=1, help="of a call (default: 1)")
    given = parser.parse_args()
    chosen = [c for c in [*CASES, *POLYBENCH] if _is_meant(c.name, given.names)]
    if not chosen:
        print(f"no program is called {' or '.join(given.names)}", file=sys.stderr)
        return 2
    print(f"{'':<28}{'schedules':>10}{'correlation':>13}{'choice':>8}{'gain':>8}{'ms':>10}")
    found: list[Ranking] = []
    with ps.threads(given.threads):
        for case in chosen:
            ranking = rank(case, given.threads)
            if ranking.taken[-1] >= LEAST:
                found.append(ranking)
                print(row(ranking), flush=True)
    for name, part in (
        ("looked at", [r for r in found if r.name not in HELD_OUT]),
        ("held out", [r for r in found if r.name in HELD_OUT]),
    ):
        if part:
            print(summary(name, part))
    return 0


def _is_meant(name: str, parts: Sequence[str]) -> bool:
    return not parts or any(part.lower() in name.lower() for part in parts)


def rank(case: Case, threads: int) -> Ranking:
    """Measures the schedules of a program, in turns."""
    arguments = case.arguments(case.large_sizes(), np.random.default_rng(0))
    s = ps.Schedule.default(outputs(case))
    kernel = s.compile()
    values = kernel._preconditions.sizes(kernel._binder.bind((), arguments))
    sizes = {name: values[name] for name in s.program.sizes if name in values}
    expected, kernels = [], []
    for seconds, made in several(s, threads, sizes=sizes):
        expected.append(seconds)
        kernels.append(made.compile())
    taken = [
        min(column)
        for column in zip(*(_turn(kernels, case, arguments) for _ in range(TURNS)), strict=True)
    ]
    return Ranking(case.name, expected, taken)


def _turn(kernels: Sequence[Any], case: Case, arguments: dict[str, Any]) -> list[float]:
    """Seconds of a call of each, the better one of two."""
    taken = []
    for kernel in kernels:
        times = []
        for _ in range(2):
            given = fresh(case, arguments)
            start = time.perf_counter()
            kernel(**given)
            times.append(time.perf_counter() - start)
        taken.append(min(times))
    return taken


def row(r: Ranking) -> str:
    correlation = "-" if r.correlation is None else f"{r.correlation:.2f}"
    return (
        f"{r.name:<28}{len(r.taken):>10}{correlation:>13}{r.choice:>8.2f}{r.gain:>8.2f}"
        f"{1e3 * r.taken[0]:>10.3f}"
    )


def summary(name: str, part: Sequence[Ranking]) -> str:
    """A line for several programs."""
    known = [r.correlation for r in part if r.correlation is not None]
    correlation = statistics.mean(known) if known else 0.0
    choice = statistics.geometric_mean(r.choice for r in part)
    gain = statistics.geometric_mean(r.gain for r in part)
    worst = min(part, key=lambda r: r.choice)
    least = min(part, key=lambda r: r.gain)
    return (
        f"{name}: {len(part)} programs; mean correlation {correlation:.2f}; the choice is "
        f"{choice:.2f} of the best (least: {worst.name}, {worst.choice:.2f}); {gain:.2f}x of the "
        f"loops as written (least: {least.name}, {least.gain:.2f})"
    )


if __name__ == "__main__":
    sys.exit(main())
