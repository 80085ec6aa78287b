"""How long programs take to schedule, to compile, and to run beside other libraries. See README.md
here.

    make bench                      # all tables: of calls on one and on all threads, for each level
    make bench GROUP=products       # only these cases
    make bench CASE=blur THREADS=1  # only what has "blur" in its name, everything on one thread
    make bench TARGET=v3            # without AVX-512, everything
    make bench PEERS=torch,halide   # only these libraries
    make bench ARGS=--save          # the tables of calls are kept in results/, too

It exits with 1 if a result of ours is wrong, or a program takes longer to schedule or to compile
than it may.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace


def main() -> int:
    """Prints the tables; the exit status."""
    # What is imported below loads NumPy, whose threads read this.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["POLYSCHED_CACHE"] = "0"  # what takes time to compile takes it each time
    from calling import NAME, calls_table
    from cases import CASES, GROUPS
    from compiling import COMPILED, compile_once, compile_table, scheduled_table
    from growing import MEMORY, memory_table
    from scheduling import FAMILIES, scheduling_table
    from setting import Setting, levels, numbers_of_threads
    from starting import STARTUP, startup_table

    tables = {NAME: calls_table, STARTUP: startup_table, MEMORY: memory_table}
    chosen = _arguments(GROUPS, levels(), {m for case in CASES for m in case.implementations[1:]})
    if chosen.compile_one:
        print(json.dumps(compile_once(chosen.compile_one)))
        return 0
    part = chosen.case.lower()
    cases = [c for c in CASES if part in c.name.lower() and chosen.group in ("", c.group)]
    alone = bool(chosen.group or chosen.no_compile)  # the tables of calls
    compiled = [] if alone else [name for name in COMPILED if part in name.lower()]
    families = [] if alone else [f for f in FAMILIES if part in f.name.lower()]
    ways = [] if alone else [name for name in tables if part in name]
    if not compiled and not cases and not families and not ways:
        there = [c.name for c in CASES if chosen.group in ("", c.group)]
        names = there if alone else [*tables, *COMPILED, *(f.name for f in FAMILIES), *there]
        known = ", ".join(dict.fromkeys(names))
        print(f"no case is called {chosen.case!r}: there are {known}", file=sys.stderr)
        return 2

    from report import run_table

    good = [*compile_table(compiled), *scheduling_table(families)]
    good += [] if alone else scheduled_table(cases)
    for name in ways:
        good += tables[name]()
    for level in [chosen.target] if chosen.target else levels():
        for threads in [chosen.threads] if chosen.threads else numbers_of_threads():
            if not cases:
                continue
            beside = [replace(case, beside=chosen.peers) for case in cases]
            run = run_table(beside, Setting(threads, level))
            good += [not line.ours.problem for line in run.lines]
            if chosen.save:
                print("saved:", run.save([case.name for case in CASES]))
    return 0 if all(good) else 1


def _arguments(groups: tuple[str, ...], levels: list[str], peers: set[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="", help="only cases with this in their name")
    parser.add_argument("--group", default="", choices=["", *groups], help="only those cases")
    parser.add_argument(
        "--threads",
        type=_count,
        help="of each library, and of polysched (default: 1, then all cores)",
    )
    parser.add_argument(
        "--target",
        type=lambda text: _level(text, levels),
        help="the level of instructions, of ours and of the peers: native or v3 (default: native, "
        "then v3 where the machine has more)",
    )
    parser.add_argument(
        "--peers",
        type=lambda text: _peers(text, peers),
        default=frozenset(),
        help="what is measured beside the schedules by hand, with commas between (default: all of "
        + ", ".join(sorted(peers))
        + ")",
    )
    parser.add_argument(
        "--save",
        action="store_true",
        help="keep what is measured, in results/, but for cases of which more peers are kept",
    )
    parser.add_argument(
        "--no-compile", action="store_true", help="no tables of compiling and scheduling"
    )
    parser.add_argument("--compile-one", help=argparse.SUPPRESS)
    return parser.parse_args()


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{count} threads do nothing: 1 or more")
    return count


def _peers(text: str, known: set[str]) -> frozenset[str]:
    found = frozenset(text.replace(",", " ").split())
    if not found or found - known:
        unknown = ", ".join(sorted(found - known)) or repr(text)
        raise argparse.ArgumentTypeError(
            f"there is no peer {unknown}: choose from {', '.join(sorted(known))}"
        )
    return found


def _level(text: str, levels: list[str]) -> str:
    """One of those that are measured here, by its name or the end of it."""
    if text == "native":
        return levels[0]
    found = [level for level in levels if text in (level, level.rpartition("-")[2])]
    if not found:
        raise argparse.ArgumentTypeError(
            f"{text!r} cannot be measured here: native or {' or '.join(levels)}"
        )
    return found[0]


if __name__ == "__main__":
    sys.exit(main())
