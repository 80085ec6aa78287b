"""Finds the largest error of each function, in units of the last place, and makes the table of
`docs/functions.md`.

    python benchmarks/functions/errors.py --write        # what is missing: less than an hour
    python benchmarks/functions/errors.py --every 64 --samples 1000000 sin cos
    python benchmarks/functions/errors.py --page         # stars rows of formulas that have changed

A row, one function in one type, is kept in `results/errors.json` as soon as it is found, and is not
made again unless the formula of the function has changed; what was interrupted goes on there.

* float32, one argument: every one of the 2**32, or one in `--every`. What is true is NumPy's or
  SciPy's float64. An argument in 4,096 is checked with a long double: those libraries must not be
  off by 2**-13 of a unit of float32. So the error found is that far from the largest one at most.
* float64, and two arguments: so many as `--samples` says are drawn from ranges, of random bits and
  of all sizes. Then come those that are hard (`arguments.hard`, `arguments.special_pairs`), and
  those near to the worst ones that were found. What is true are long doubles (`longer`); for two
  arguments of float32, float64.

The worst argument of all is computed again by mpmath in hundreds of digits, and that error is kept;
where it differs from what was measured, the command ends with an error.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import count, product
from time import perf_counter
from typing import Any

import longer
import numpy as np
from arguments import around, drawn, every_float32, hard, special_pairs
from by_mpmath import error_of
from distances import each, kernel, largest, rows
from references import CASES, EXACT, Array, counted
from table import DTYPES, SAMPLES, Row, is_done, keep, read, write_page

_CHUNK = 1 << 14
_PARTS = 16
"""Pieces of the work of one function and type, for processes."""
_CLIMBS = 4
"""How often arguments near to the worst ones are tried."""


@dataclass
class Worst:
    """The largest error so far, how many arguments were tried, and the worst of some chunks."""

    error: float = -1.0
    at: tuple[float, ...] = ()
    tried: int = 0
    bad: list[tuple[float, tuple[float, ...]]] = field(default_factory=list)

    def add(self, errors: Array, arguments: list[Array]) -> None:
        k = int(np.argmax(errors))
        error, at = float(errors[k]), tuple(float(a[k]) for a in arguments)
        self.bad = nlargest(8, [*self.bad, (error, at)])
        if error > self.error:
            self.error, self.at = error, at

    def try_(self, name: str, arguments: list[Array], is_checked: bool = False) -> None:
        """Tries some arguments, and sometimes what their results are compared with."""
        self.tried += len(arguments[0])
        with np.errstate(all="ignore"):
            if arguments[0].dtype == np.float32:
                self._try_single(name, arguments, is_checked)
            else:
                found = kernel(name, np.float64)(*arguments)
                errors = longer.errors(name, arguments, found)
                self.add(_counted(name, arguments, errors), arguments)

    def _try_single(self, name: str, arguments: list[Array], is_checked: bool) -> None:
        wide = [a.astype(np.float64) for a in arguments]
        true = CASES[name].wide(*wide)
        if is_checked:
            _check(name, [w[::64] for w in wide], true[::64])
        given = [rows(a) for a in (*arguments, true)]
        # All of the errors are asked for only where the largest one is larger than before.
        if self.tried <= _CHUNK or largest(name)(*given).max() > self.error:
            self.add(each(name)(*given).ravel()[: len(true)], arguments)


def _counted(name: str, arguments: list[Array], errors: Array) -> Array:
    """Errors of float64, where they count."""
    if not CASES[name].is_fast:
        return errors
    argument, least, bound = counted(np.float64)
    size = np.abs(CASES[name].wide(*arguments))
    is_inside = (size >= least) & (size < bound) & (np.abs(arguments[0]) >= argument)
    return np.where(is_inside, errors, 0.0)


def _check(name: str, arguments: list[Array], true: Array) -> None:
    """Refuses float64 that are not exact enough to be what float32 are compared with."""
    info = np.finfo(np.float32)
    size = np.abs(true)
    matters = (size > float(info.smallest_subnormal) / 4) & (size < 2.0 * float(info.max))
    if np.any(matters):
        off = longer.errors(name, [a[matters] for a in arguments], true[matters])
        if off.max() > 2.0**16:
            at = [float(a[matters][np.argmax(off)]) for a in arguments]
            raise SystemExit(f"{CASES[name].wide} is off by {off.max()} units of float64 at {at}")


def confirmed(name: str, dtype: type, worst: Worst) -> Worst:
    """The same with the error by mpmath, which must agree with what was measured."""
    error = exact_error(name, dtype, worst.at)
    if error is not None and worst.error != 0:
        if abs(error - worst.error) > 0.01:
            said = f"{name} at {worst.at} has an error of {error} by mpmath, not {worst.error}"
            raise SystemExit(said)
        worst.error = error
    return worst


def exact_error(name: str, dtype: type, at: tuple[float, ...]) -> float | None:
    """The error at some arguments by mpmath; None where a result is zero or not finite."""
    found = float(kernel(name, dtype)(*(np.array([x], dtype) for x in at))[0])
    return error_of(name, dtype, at, found)


def part_of(work: tuple[str, type, int, int, int]) -> Worst:
    """What was found in one part of all that is tried."""
    name, dtype, part, every, samples = work
    case, worst = CASES[name], Worst()
    if dtype is np.float32 and case.arity == 1:
        size = 2**32 // _PARTS
        for start in range(part * size, (part + 1) * size, _CHUNK * every):
            stop = min(start + _CHUNK * every, (part + 1) * size)
            is_checked = start // _CHUNK // every % 64 == 0
            worst.try_(name, [every_float32(start, stop, every)], is_checked)
        return worst
    random = np.random.default_rng([part, *name.encode()])
    for chunk in count():
        if worst.tried * _PARTS >= samples:
            break
        worst.try_(name, drawn(case, dtype, _CHUNK, random), chunk % 64 == 0)
    if part == 0:
        alone = kernel(name, dtype)
        worst.try_(name, special_pairs(dtype) if case.arity == 2 else [hard(name, alone)])
    for _ in range(_CLIMBS):
        for error, at in worst.bad:
            if np.isfinite(error):
                worst.try_(name, around(at, dtype, random))
    return worst


def measured(name: str, dtype: type, every: int, samples: int, run: Any) -> Row:
    """The row of a function in a type; `run` is `map`, or that of a pool of processes."""
    work = [(name, dtype, part, every, samples) for part in range(_PARTS)]
    found = [*run(part_of, work)]
    worst = confirmed(name, dtype, max(found, key=lambda w: w.error))
    return Row(worst.error, worst.at, sum(w.tried for w in found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="functions; all of them where none is named")
    parser.add_argument("--every", type=int, default=1, help="which of all float32 are tried")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="arguments that are drawn")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--types", nargs="*", default=[*DTYPES], choices=[*DTYPES])
    parser.add_argument("--again", action="store_true", help="also what has been made")
    parser.add_argument("--write", action="store_true", help="keep the rows, and make the page")
    parser.add_argument("--page", action="store_true", help="only make the page of what is kept")
    args = parser.parse_args()
    if args.page:
        write_page(EXACT)
        return 0
    unknown = [name for name in args.names if name not in CASES]
    if unknown:
        parser.error(f"no function is called {unknown[0]}; there are {', '.join(CASES)}")
    with ProcessPoolExecutor(args.workers) as pool:
        run = pool.map if args.workers > 1 else map
        for name, dtype in product(args.names or [*CASES], args.types):
            if not args.again and is_done(name, dtype, read()):
                continue
            start = perf_counter()
            kind = np.dtype(dtype).type
            row = measured(name, kind, args.every, args.samples, run)
            seconds = perf_counter() - start
            print(f"{name} {dtype}: {row.error:.4f} at {row.at} of {row.tried:,} "
                  f"in {seconds:.0f} s", flush=True)  # fmt: skip
            if args.write:
                keep(name, dtype, row)
                write_page(EXACT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
