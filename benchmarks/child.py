"""The process of one implementation: `python child.py PEER CASE REFERENCE`.

It gets ready, checks its results, says so in one line of JSON, and then measures for as many
seconds as each line of its input says. What libraries print goes to stderr.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import numpy as np


def main() -> None:
    peer, name, reference = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    gc.disable()
    call, state = prepare(peer, name, Path(reference))
    say(answers, state)
    if call is None:
        return
    last = 0.0
    for line in sys.stdin:
        times = turn(call, float(line), warm=last < 0.5 * float(line))
        last = times[0]
        median = statistics.median(times)
        say(answers, {"best": min(times), "median": median, "calls": len(times)})


def say(answers: TextIO, state: dict[str, Any]) -> None:
    print(json.dumps(state), file=answers, flush=True)


def prepare(peer: str, name: str, reference: Path) -> tuple[Callable[[], Any] | None, Any]:
    """The call to measure, and what the parent is told; no call where something is missing."""
    from case import as_tuple
    from cases import find

    case = find(name)
    try:
        module = importlib.import_module(f"peers.{peer}")
    except (ImportError, OSError) as error:
        return None, {"missing": str(error)}
    with np.load(reference) as archive:
        wanted = tuple(archive.values())
    start = time.perf_counter()
    implementation = getattr(module, case.kernel, None) or module.implementation(case)
    arguments = case.arguments(case.check or case.sizes)
    call = implementation(**arguments)
    results = call()
    seconds = time.perf_counter() - start
    error = case.error(results, wanted)
    if case.check:
        arguments = case.arguments(case.sizes)
        call = implementation(**arguments)
        results = call()
    nbytes = sum(np.asarray(a).nbytes for a in (*arguments.values(), *as_tuple(results)))
    state = {"version": module.VERSION, "error": error, "prepare": seconds, "nbytes": nbytes}
    return call, state


def turn(call: Callable[[], Any], seconds: float, *, warm: bool) -> list[float]:
    """Seconds of each call in one turn, which is one at least."""
    if warm:
        call()  # wakes the threads, and brings the arrays back into the caches
    times = []
    now = time.perf_counter()
    until = now + seconds
    while now < until:
        before = now
        call()
        now = time.perf_counter()
        times.append(now - before)
    return times


if __name__ == "__main__":
    main()
