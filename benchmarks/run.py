"""How long programs take to schedule, to compile, and to run beside other libraries. See README.md
here.

    make bench                      # all three tables
    make bench CASE=blur THREADS=1  # only what has "blur" in its name, everything on one thread
    make bench ARGS=--save          # the table, and a picture of it, in results/, too

It exits with 1 if a result of ours is wrong, or a program takes longer to schedule or to compile
than it may.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> int:
    """Prints the tables; the exit status."""
    chosen = _arguments()
    # What is imported below loads NumPy, whose threads read this.
    os.environ["OPENBLAS_NUM_THREADS"] = str(chosen.threads)
    from cases import CASES
    from compiling import COMPILED, compile_once, compile_table
    from scheduling import FAMILIES, scheduling_table

    if chosen.compile_one:
        print(json.dumps(compile_once(chosen.compile_one)))
        return 0
    compiled = [name for name in COMPILED if chosen.case.lower() in name.lower()]
    cases = [case for case in CASES if chosen.case.lower() in case.name.lower()]
    families = [f for f in FAMILIES if chosen.case.lower() in f.name.lower()]
    if not compiled and not cases and not families:
        names = dict.fromkeys([*COMPILED, *(f.name for f in FAMILIES), *(c.name for c in CASES)])
        print(f"no case is called {chosen.case!r}: there are {', '.join(names)}", file=sys.stderr)
        return 2

    from report import run_table

    good = []
    if not chosen.no_compile:
        good = [*compile_table(compiled), *scheduling_table(families)]
    if cases:
        good += run_table(cases, chosen.threads, RESULTS if chosen.save else None)
    return 0 if all(good) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="", help="only cases with this in their name")
    parser.add_argument(
        "--threads",
        type=int,
        default=_usable_cores(),
        help="of each library, and of polysched (default: all cores)",
    )
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/, too")
    parser.add_argument(
        "--no-compile", action="store_true", help="no tables of compiling and scheduling"
    )
    parser.add_argument("--compile-one", help=argparse.SUPPRESS)
    return parser.parse_args()


def _usable_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return os.cpu_count() or 1 if affinity is None else len(affinity(0))


if __name__ == "__main__":
    sys.exit(main())
