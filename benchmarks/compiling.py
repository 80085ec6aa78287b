"""How long programs take to compile: as they are written, in processes of their own, and with their
schedules, in one that is warm."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from case import Case  # makes the gallery known
from gallery.deep import many_updates, stencil_chain
from gallery.linear_algebra import matmul
from gallery.pyramids import deep_pyramid
from gallery.stencils import blur

import polysched as ps
from polysched import demo_programs

COMMAND = Path(__file__).resolve().parent / "run.py"
LIMIT = 10.0  # seconds from a program's definition to machine code
PROCESSES = 3  # in which a program is compiled, the fastest one counts
TIMES = 4  # that a scheduled one is, in one process: the first is for what is imported and cached

#: Seconds that a scheduled program may take in a warm process, by its name, and all others.
SCHEDULED_LIMITS = {"sgemm 512": 0.15, "blur": 0.15}
SCHEDULED_LIMIT = 2.0

#: Programs whose compile time is measured, by name: small ones, then ones that are deep.
COMPILED: dict[str, Callable[[], ps.Func]] = {
    "matmul": matmul,
    "blur": blur,
    "unsharp mask": demo_programs.unsharp_mask,
    "Harris": demo_programs.harris,
    "chain of 100": stencil_chain,
    "100 updates": many_updates,
    "pyramid of 10": deep_pyramid,
    "contrast of 10": lambda: demo_programs.local_contrast(levels=10),
}

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


def compile_once(name: str) -> dict[str, float]:
    """Seconds of each step in this process, from the definition to machine code."""
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
        slow = "" if total < LIMIT else f"  TOO SLOW: the limit is {LIMIT:.0f} s"
        print(f"{name:<16}{total:>8.3f}{columns}{slow}", flush=True)
        yield total < LIMIT
    print()


def scheduled_table(cases: Iterable[Case]) -> Iterator[bool]:
    """Prints a line a case; gives whether each is fast enough. Nothing is kept for a next time: its
    program is made, scheduled, proven and compiled anew each time."""
    cases = list(cases)
    if not cases:
        return
    print("Schedules by hand, given and compiled (best of a warm process)")
    print(f"{'':<24}{'seconds':>8}{'directives':>12}" + "".join(f"{c:>11}" for c in STAGES))
    for case in cases:
        found = min((_scheduled_once(case) for _ in range(TIMES)), key=lambda s: s["total"])
        total, given = found.pop("total"), found.pop("given")
        columns = "".join(f"{s / total:>11.0%}" for s in _by_stage(found).values())
        limit = SCHEDULED_LIMITS.get(case.name, SCHEDULED_LIMIT)
        slow = "" if total < limit else f"  TOO SLOW: the limit is {limit} s"
        print(f"{case.name:<24}{total:>8.3f}{given / total:>12.0%}{columns}{slow}", flush=True)
        yield total < limit
    print()


def _scheduled_once(case: Case) -> dict[str, float]:
    """Seconds of each step from the definition to machine code; `given` is up to the schedule."""
    gc.collect()
    start = time.perf_counter()
    schedule = case.scheduled()
    given = time.perf_counter() - start
    kernel = schedule.compile()
    return {"given": given, **kernel.seconds, "total": time.perf_counter() - start}


def _compile_apart(name: str) -> dict[str, float]:
    """`compile_once` in a process of its own."""
    command = [sys.executable, str(COMMAND), "--compile-one", name]
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
