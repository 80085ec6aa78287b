"""`check`: a schedule, run in every way there is and compared with what its program means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..codegen import build
from ..codegen.check import check as execute
from ..codegen.kernel import Kernel
from ..codegen.report import doubts
from ..interp import interpret
from ..lang.dtypes import Array
from ..lang.errors import CallError
from ..lang.frames import bounded
from ..lang.tensors import Func
from ..poly.schedule import Schedule
from .arguments import random_arguments

Arguments = dict[str, Any]
SIZES = (0, 1, 2, 3, 5)


class Mismatch(AssertionError):
    """A kernel gives other bits than the interpreter. `way` is how it was compiled."""

    def __init__(self, way: str, text: str) -> None:
        self.way = way
        super().__init__(f"{way}: {text}")


@bounded
def check(
    what: Schedule | Func | Sequence[Func],
    /,
    *,
    sizes: dict[str, int] | None = None,
    seed: int = 0,
    **arguments: Any,
) -> None:
    """Checks that a schedule computes what its program means.

    It is run natively (also with the iterations of parallel loops in the opposite order) and
    compared with the interpreter bit for bit; and its loops are executed one by one, to find
    instances that run twice or not at all, read what the wrong instance wrote, race, or leave
    their arrays.

    Args:
        what: a Schedule; or a Func or several, with the default schedule.
        sizes: at these, with random arrays; without any, at a few small ones.
        seed: of the random arrays.
        **arguments: those of a call, instead of random ones.

    Raises:
        Mismatch: results differ.
        CheckError: an instance does what it must not: a fault of ours, or, with the directives
            and their reasons, of what was trusted.
    """
    schedule = what if isinstance(what, Schedule) else Schedule.default(what)
    kernels = Kernels(schedule)
    calls = [arguments] if arguments else list(_calls(schedule, sizes, seed))
    for call in calls:
        try:
            execute(schedule, **copied(call))
        except CallError:
            if sizes is not None or arguments:
                raise
            continue  # sizes that the schedule does not take
        kernels.compare(call)


def _calls(schedule: Schedule, sizes: dict[str, int] | None, seed: int) -> Iterator[Arguments]:
    names = schedule.parameters
    only = {k: v for k, v in (sizes or {}).items() if k in names}
    given = [only] if sizes is not None else [dict.fromkeys(names, n) for n in SIZES]
    for values in given:
        call = random_arguments(schedule.program, values, seed)
        try:
            interpret(schedule.program.outputs, **copied(call))
        except CallError:
            continue
        yield call


class Kernels:
    """A schedule compiled in every way, when first needed."""

    def __init__(self, schedule: Schedule, ways: Sequence[str] = ("plain", "shuffled", "checks")):
        self.schedule = schedule
        self.ways = ways
        self._made: dict[str, Kernel] = {}

    def compare(self, call: Arguments) -> None:
        """Runs all on one call.

        Raises:
            Mismatch: results differ.
        """
        if not self.schedule.bit_exact:
            return
        outputs = self.schedule.program.outputs
        wanted = flat(interpret(outputs, **copied(call)))
        for way in self.ways:
            try:
                found = flat(self._kernel(way)(**copied(call)))
            except CallError as error:
                if way == "checks" and "division" in str(error):
                    continue
                raise Mismatch(way, f"refused: {error}") from error
            where = difference(found, wanted)
            if where is not None and self.schedule.trusted:
                raise Mismatch(way, f"{doubts(self.schedule.trusted)}: {where}")
            if where is not None:
                raise Mismatch(way, where)

    def _kernel(self, way: str) -> Kernel:
        if way not in self._made:
            with shuffled(way == "shuffled"):
                self._made[way] = self.schedule.compile(checks=way == "checks")
        return self._made[way]


@contextmanager
def shuffled(on: bool = True) -> Iterator[None]:
    """Kernels compiled inside run parallel loops backwards."""
    before, build.SHUFFLED = build.SHUFFLED, on
    try:
        yield
    finally:
        build.SHUFFLED = before


def copied(call: Arguments) -> Arguments:
    """The arguments with arrays of their own, since InOuts are updated in place."""
    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in call.items()}


def flat(results: Any) -> tuple[Array, ...]:
    """Arrays, tuples of them for Funcs of several components, or tuples of these."""
    if isinstance(results, tuple):
        return tuple(a for r in results for a in flat(r))
    return (np.asarray(results),)


def difference(found: Sequence[Array], wanted: Sequence[Array]) -> str | None:
    """Where they differ; bit for bit, but that all NaNs are equal."""
    for k, (f, w) in enumerate(zip(found, wanted, strict=True)):
        if (f.dtype, f.shape) != (w.dtype, w.shape):
            return f"result {k} is {f.dtype}{f.shape} instead of {w.dtype}{w.shape}"
        differs = f != w
        if f.dtype.kind == "f":
            differs = (differs | (np.signbit(f) != np.signbit(w))) & ~(np.isnan(f) & np.isnan(w))
        if np.any(differs):
            at = tuple(int(x) for x in np.argwhere(differs)[0])
            count = f"{np.count_nonzero(differs)} of {differs.size}"
            return f"result {k}{list(at)} is {f[at]!r} instead of {w[at]!r} ({count})"
    return None


__all__ = ["Kernels", "Mismatch", "check", "copied", "difference", "shuffled"]
