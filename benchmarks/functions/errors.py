"""Finds the largest error of each function, in units of the last place, and makes the table of
`docs/functions.md`.

    python benchmarks/functions/errors.py --write             # all: most of an hour on four cores
    python benchmarks/functions/errors.py --every 64 --samples 1000000 sin cos

Of float32 every argument is tried (or one in `--every`), against float64. Of float64, and of
functions of two arguments, so many as `--samples` says are drawn, against long double; sin, cos and
tan are also tried at the floats next to multiples of pi/2. The worst argument of each is computed
again by mpmath, and it is that error which the table has.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from references import CASES, Array, drawn, every_float32, next_to_turns

import polysched as ps

PAGE = Path(__file__).parents[2] / "docs" / "functions.md"
TYPES = {np.float32: ps.float32, np.float64: ps.float64}
_CHUNK = 1 << 18
_PARTS = 16
"""Pieces of the work of one function and type, for processes."""


@dataclass(frozen=True)
class Worst:
    """The largest error, and its arguments; infinite where a special value is wrong."""

    error: float
    at: tuple[float, ...]


@cache
def kernel(name: str, dtype: type) -> ps.Kernel:
    n, i = ps.sizes("n"), ps.vars("i")
    given = [ps.Input(f"x{k}", TYPES[dtype], (n,)) for k in range(CASES[name].arity)]
    f = ps.Func("f", (n,))
    f[i] = getattr(ps, name)(*(x[i] for x in given))
    s = ps.Schedule(f)
    s[f].vectorize("i", ps.native)
    return s.compile()


def worst_of(name: str, arguments: list[Array]) -> Worst:
    """The largest error at some arguments."""
    dtype = arguments[0].dtype.type
    wide = np.float64 if dtype is np.float32 else np.longdouble
    found = kernel(name, dtype)(*arguments)
    with np.errstate(all="ignore"):
        true = CASES[name].wide(*(a.astype(wide) for a in arguments))
        errors = _errors(found, true)
    k = int(np.argmax(errors))
    return Worst(float(errors[k]), tuple(float(a[k]) for a in arguments))


def _errors(found: Array, true: Array) -> Array:
    """In units of the last place of what is true; of results that are not finite, 0 or infinite."""
    info = np.finfo(found.dtype)
    exponent = np.maximum(np.frexp(true)[1] - 1, info.minexp)
    unit = np.ldexp(true.dtype.type(1), exponent - info.nmant)
    errors = np.abs(found - true) / unit
    rounded = true.astype(found.dtype)
    # Where the true result nearly overflows, the largest number and infinity are neighbours.
    is_edge = np.isinf(rounded) | np.isinf(found)
    near = (np.abs(rounded) == info.max) | (np.abs(found) == info.max)
    same = np.where(found == rounded, 0, np.where(near, 0.5, np.inf))
    errors = np.where(is_edge, same, errors)
    errors = np.where(np.isnan(rounded), np.where(np.isnan(found), 0, np.inf), errors)
    signs = (found == 0) & (np.signbit(found) != np.signbit(rounded))
    return np.where(signs | np.isnan(errors), np.inf, errors)


def confirmed(name: str, dtype: type, worst: Worst) -> Worst:
    """The error at the same arguments, by mpmath."""
    if not np.isfinite(worst.error) or not all(map(np.isfinite, worst.at)):
        return worst
    found = float(kernel(name, dtype)(*(np.array([x], dtype) for x in worst.at))[0])
    if not np.isfinite(found) or worst.error == 0:
        return worst
    info = np.finfo(dtype)
    with mpmath.workprec(2 * info.maxexp + 300):
        true = CASES[name].exact(*map(mpmath.mpf, worst.at))
        if true == 0:
            return worst
        exponent = max(int(mpmath.floor(mpmath.log(abs(true), 2))), int(info.minexp))
        error = abs(mpmath.mpf(found) - true) / mpmath.mpf(2) ** (exponent - info.nmant)
        return Worst(float(error), worst.at)


def _arguments(
    name: str, dtype: type, part: int, every: int, samples: int
) -> Iterator[list[Array]]:
    """One part of all that is tried, in chunks."""
    case = CASES[name]
    if dtype is np.float32 and case.arity == 1:
        size = 2**32 // _PARTS
        for start in range(part * size, (part + 1) * size, _CHUNK * every):
            yield [every_float32(start, min(start + _CHUNK * every, (part + 1) * size), every)]
    else:
        random = np.random.default_rng([part, *name.encode()])
        for _ in range(max(samples // case.fewer // _PARTS // _CHUNK, 1)):
            yield drawn(case, dtype, min(_CHUNK, max(samples // case.fewer, 1)), random)
    if case.has_turns and part == 0:
        hard = next_to_turns(dtype)
        yield [np.concatenate([hard, -hard])]


def _part(work: tuple[str, type, int, int, int]) -> Worst:
    name, dtype, *_ = work
    found = [worst_of(name, arguments) for arguments in _arguments(*work)]
    return confirmed(name, dtype, max(found, key=lambda w: w.error))


def measured(names: list[str], every: int, samples: int, workers: int) -> Iterator[list[Any]]:
    """The name of each function, and its worst errors in float32 and in float64."""
    with ProcessPoolExecutor(workers) as pool:
        for name in names:
            row: list[Any] = [name]
            for dtype in TYPES:
                work = [(name, dtype, part, every, samples) for part in range(_PARTS)]
                row.append(max(pool.map(_part, work), key=lambda w: w.error))
            yield row


def _written(rows: list[str]) -> None:
    """Puts rows in the place of those of the same functions on the page."""
    lines = PAGE.read_text().splitlines()
    last = max(k for k, line in enumerate(lines) if line.startswith("| `"))
    for row in rows:
        head = row.split(" |")[0]
        same = [k for k, line in enumerate(lines) if line.startswith(head + " |")]
        if same:
            lines[same[0]] = row
        else:
            lines.insert(last + 1, row)
            last += 1
    PAGE.write_text("\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="functions; all of them where none is named")
    parser.add_argument("--every", type=int, default=1, help="which of all float32 are tried")
    parser.add_argument("--samples", type=int, default=10**8, help="arguments that are drawn")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--write", action="store_true", help="put the rows into the page")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in CASES]
    if unknown:
        parser.error(f"no function is called {unknown[0]}; there are {', '.join(CASES)}")
    rows = []
    for name, *worst in measured(args.names or [*CASES], args.every, args.samples, args.workers):
        rows.append(f"| `{name}` | " + " | ".join(f"{w.error:.2f}" for w in worst) + " |")
        print(rows[-1], "  at", *(", ".join(map(repr, w.at)) for w in worst), flush=True)
    if args.write:
        _written(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
