"""How long programs take to compile, and to run beside NumPy. See README.md here.

    make bench                      # both tables
    make bench CASE=blur THREADS=1  # only what has "blur" in its name, NumPy on one thread

It exits with 1 if a result is wrong, or a program takes longer to compile than it may.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from programs import Race

COMPILE_LIMIT = 10.0  # seconds from a program's definition to machine code
PROCESSES = 3  # in which a program is compiled, the fastest one counts
RACE_SECONDS = 2.0  # for a program and NumPy together
TURN_SECONDS = 0.05  # for one of them before it is the other's turn

#: Columns of the table of compile times, and the steps of the compiler (`Kernel.seconds`) in each.
STAGES = {
    "define": ("define",),
    "model": ("program", "inline", "model", "updates"),
    "conditions": ("conditions",),
    "bounds": ("bounds",),
    "build": ("build",),
    "passes": (),  # what no other column has
    "emit": ("emit",),
    "llvm": ("llvm",),
}


def main() -> int:
    """Prints the tables; the exit status."""
    chosen = _arguments()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(chosen.threads)  # read when NumPy is imported, hence before it
    if chosen.compile_one:
        print(json.dumps(compile_once(chosen.compile_one)))
        return 0

    from programs import COMPILED, RACES

    compiled = [name for name in COMPILED if chosen.case.lower() in name.lower()]
    races = [race for race in RACES if chosen.case.lower() in race.name.lower()]
    if not compiled and not races:
        names = dict.fromkeys([*COMPILED, *(race.name for race in RACES)])
        print(f"no case is called {chosen.case!r}: there are {', '.join(names)}", file=sys.stderr)
        return 2
    good = [*compile_table(compiled), *race_table(races, chosen.threads)]
    return 0 if all(good) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="", help="only cases with this in their name")
    parser.add_argument(
        "--threads",
        type=int,
        default=_usable_cores(),
        help="of NumPy's matrix product (default: all cores); polysched uses one so far",
    )
    parser.add_argument("--compile-one", help=argparse.SUPPRESS)
    return parser.parse_args()


def _usable_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return os.cpu_count() or 1 if affinity is None else len(affinity(0))


# compiling --------------------------------------------------------------------------------------


def compile_once(name: str) -> dict[str, float]:
    """Seconds of each step in this process, from the definition to machine code."""
    from programs import COMPILED

    import polysched as ps

    assert ps.Kernel  # the compiler is imported by its first use: here
    start = time.perf_counter()
    func = COMPILED[name]()
    defined = time.perf_counter()
    kernel = ps.Schedule.default(func).compile()
    total = time.perf_counter() - start
    return {"define": defined - start, **kernel.seconds, "total": total}


def compile_table(names: Iterable[str]) -> Iterable[bool]:
    """Prints a line a program; gives whether each is fast enough."""
    names = list(names)
    if not names:
        return
    print(f"Compiling, from the definition to machine code (best of {PROCESSES} fresh processes)")
    print(f"{'':<16}{'seconds':>8}{''.join(f'{stage:>12}' for stage in (*STAGES, 'other'))}")
    for name in names:
        found = min((_compile_apart(name) for _ in range(PROCESSES)), key=lambda s: s["total"])
        total = found.pop("total")
        shares = _by_stage(found)
        shares["other"] = total - sum(shares.values())
        columns = "".join(f"{s / total:>12.0%}" for s in shares.values())
        slow = "" if total < COMPILE_LIMIT else f"  TOO SLOW: the limit is {COMPILE_LIMIT:.0f} s"
        print(f"{name:<16}{total:>8.3f}{columns}{slow}", flush=True)
        yield total < COMPILE_LIMIT
    print()


def _compile_apart(name: str) -> dict[str, float]:
    """`compile_once` in a process of its own."""
    command = [sys.executable, __file__, "--compile-one", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} cannot be compiled:\n{done.stderr}")
    result: dict[str, float] = json.loads(done.stdout)
    return result


def _by_stage(seconds: dict[str, float]) -> dict[str, float]:
    """The seconds of each column."""
    named = {step: stage for stage, steps in STAGES.items() for step in steps}
    found = dict.fromkeys(STAGES, 0.0)
    for step, taken in seconds.items():
        found[named.get(step, "passes")] += taken
    return found


# running ----------------------------------------------------------------------------------------


def race_table(races: Iterable[Race], threads: int) -> Iterable[bool]:
    """Prints a line a program; gives whether each is right."""
    races = list(races)
    if not races:
        return
    print(f"Running: milliseconds, best of many; NumPy's matrix product on {threads} thread(s)")
    print(f"{'':<16}{'size':<22}{'polysched':>10}{'NumPy':>10}{'speed':>8}  {'max error':>9}")
    for race in races:
        ours, numpys, error = run_race(race)
        wrong = "" if error <= race.tolerance else f"  WRONG: more than {race.tolerance:.0e}"
        print(
            f"{race.name:<16}{race.size:<22}{ours * 1e3:>10.2f}{numpys * 1e3:>10.2f}"
            f"{numpys / ours:>7.2g}x  {error:>9.1e}{wrong}",
            flush=True,
        )
        yield error <= race.tolerance


def run_race(race: Race) -> tuple[float, float, float]:
    """Seconds of ours, of NumPy, and the relative error."""
    import numpy as np

    import polysched as ps

    arguments: dict[str, Any] = race.arguments(np.random.default_rng(0))
    kernel = ps.Schedule.default(race.build()).compile()
    found, wanted = kernel(**arguments), race.numpy(**arguments)
    error = math.inf
    if found.shape == wanted.shape:
        difference = np.abs(found.astype(np.float64) - wanted)
        error = float(difference.max() / np.abs(wanted).max())
    ours = numpys = math.inf
    until = time.perf_counter() + RACE_SECONDS
    while time.perf_counter() < until:
        ours = min(ours, _best(lambda: kernel(**arguments)))
        numpys = min(numpys, _best(lambda: race.numpy(**arguments)))
    return ours, numpys, error


def _best(function: Callable[[], object]) -> float:
    """The seconds of the fastest call in one turn, which is one call at least."""
    best, start = math.inf, time.perf_counter()
    now = start
    while now < start + TURN_SECONDS:
        before = now
        function()
        now = time.perf_counter()
        best = min(best, now - before)
    return best


if __name__ == "__main__":
    sys.exit(main())
