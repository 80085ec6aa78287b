"""How quick functions are, element by element on one thread, beside those of other libraries:

python benchmarks/functions/speed.py [--level x86-64-v3] [--only sin,exp] [--seconds 0.05] [--save]

A line a function and type: how many thousand million elements a second, ours with vectors of one,
two or four registers, whichever is quickest, and the largest error in units of the last place of
what was computed; then our speed over that of the best peer that counts. A peer counts where its
error is within our bound: 1 for float32 and 1.5 for float64, or our own where that is larger, as of
functions that are `fast_`.

POLYSCHED_BENCH_NUMBA=venv/bin/python names an interpreter whose Numba is measured, in a process of
its own: with Intel's SVML, where it has that (`in_numba.py` says what to install). What a test
gives, such as `isnan`, has no error, or is wrong.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from math import exp, log
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from setting import Setting, level_of

from polysched.targets.host import this_machine

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--level", default=level_of(this_machine()), help="x86-64-v3, ...")
    parser.add_argument("--only", default="", help="names of functions, by commas")
    parser.add_argument("--seconds", type=float, default=0.05, help="for each, in all of its turns")
    parser.add_argument(
        "--save", action="store_true", help="keep the table in benchmarks/functions/results"
    )
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside:
        table(chosen.only, chosen.seconds)
        return
    # Libraries read their variables when they are loaded: the work is done in another process.
    setting = Setting(threads=1, level=chosen.level)
    command = [sys.executable, "-P", __file__, "--inside", "--only", chosen.only,
               "--seconds", str(chosen.seconds)]  # fmt: skip
    done = subprocess.Popen(
        command, env=setting.environment(os.environ), stdout=subprocess.PIPE, text=True
    )
    assert done.stdout is not None
    lines = []
    for line in done.stdout:
        print(line, end="", flush=True)
        lines.append(line)
    if done.wait():
        raise SystemExit(done.returncode)
    if chosen.save:
        RESULTS.mkdir(exist_ok=True)
        cpu = this_machine().cpu
        (RESULTS / f"{cpu}-{chosen.level}.txt").write_text("".join(lines))


def table(only: str, seconds: float) -> None:
    """Prints the lines of all functions, or of some."""
    from functions.elementwise import FUNCTIONS, Row
    from functions.libraries import ways

    wanted = set(filter(None, only.split(",")))
    width = 14
    print(f"{'':24}" + "".join(f"{x:>{width}}" for x in ways()) + "     ours / peer")
    ratios: dict[str, list[float]] = {"exact": [], "fast": []}
    for function in FUNCTIONS:
        if wanted and function.name not in wanted:
            continue
        for dtype in ("float32", "float64"):
            row = Row(function, dtype)
            found = row.measured(seconds)
            if found is None:
                continue
            cells = [found[x].text if x in found else "-" for x in ways()]
            ratio = row.ratio(found)
            said = "" if ratio is None else f"{ratio:>14.2f}"
            print(f"{function.name + ' ' + dtype:24}" + "".join(f"{x:>{width}}" for x in cells)
                  + said, flush=True)  # fmt: skip
            if ratio is not None:
                ratios["fast" if function.is_fast else "exact"].append(ratio)
    for kind, all_of in ratios.items():
        if all_of:
            mean = exp(sum(map(log, all_of)) / len(all_of))
            print(f"{kind} functions: geometric mean {mean:.2f} of {len(all_of)}, "
                  f"least {min(all_of):.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
