"""Comparison of compiled kernels of a schedule with the interpreter, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checking.report import doubts
from ..codegen.build.divisions import uncounted
from ..codegen.passes.reverse_parallel import reverse_parallel
from ..codegen.runtime.kernel import Kernel
from ..interp import interpret
from ..lang.errors.errors import CallError
from ..lang.nodes.bits import differing, numbers
from ..lang.nodes.dtypes import Array
from ..lang.nodes.nodes import Const, Op, postorder
from ..poly.schedule.schedule import Schedule
from ..poly.tree.edits import loops_around, stages
from ..records import dataclass

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Difference:
    """The first element of a result that differs from the interpreter's.

    Attributes:
        result: the output's name.
        index: the index of the element; empty where the type or shape differs.
        count: how many elements differ, and how many there are.
    """

    result: str
    index: tuple[int, ...]
    got: Any
    wanted: Any
    count: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        """`o[1, 2] is 3.0 instead of 4.0 (5 of 12 elements differ)`"""
        if not any(self.count):
            return f"{self.result} is {self.got} instead of {self.wanted}"
        differ = f"{self.count[0]} of {self.count[1]} elements differ"
        at = ", ".join(map(str, self.index))
        return f"{self.result}[{at}] is {self.got!r} instead of {self.wanted!r} ({differ})"


class Mismatch(AssertionError):
    """A kernel computes other bits than the interpreter.

    Attributes:
        way: how the kernel was compiled, as one of the ways of `Kernels`.
        difference: the first element that differs; None where the kernel refuses the call.
    """

    def __init__(
        self, way: str, what: Difference | str, before: str = "", details: str = ""
    ) -> None:
        self.way, self.what, self.before = way, what, before
        self.difference = what if isinstance(what, Difference) else None
        self.text = f"{way}: {what}"
        said = f"{way}: {before}{what}"
        super().__init__(f"{said}\n{details}" if details else said)

    def detailed(self, details: str) -> Mismatch:
        """A copy of the error with details added to its message."""
        return Mismatch(self.way, self.what, self.before, details)


class Kernels:
    """The kernels of a schedule, each compiled when it is first needed.

    Args:
        ways: the kernels to compile. "plain" is the usual one; "shuffled" runs parallel loops
            backwards; "checks" counts divisions by zero. Ways with the same code as "plain" are
            left out.
    """

    def __init__(self, schedule: Schedule, ways: Sequence[str] = ("plain", "shuffled", "checks")):
        self.schedule = schedule
        counts = _divides(schedule) and _counts_all(schedule)
        differs = {"shuffled": runs_in_parallel(schedule), "checks": counts}
        self.ways = [way for way in ways if differs.get(way, True)]
        self._made: dict[str, Kernel] = {}

    def compare(self, call: Arguments, wanted: Any = None) -> None:
        """Runs all kernels on one call.

        Args:
            wanted: the expected results; None to compute them with the interpreter.

        Raises:
            Mismatch: results differ.
        """
        if not self.schedule.bit_exact:
            return
        program = self.schedule.program
        if wanted is None:
            wanted = interpret(program.outputs, **copied(call))
        names = [
            program.names[f] + (f".{k}" if len(f.dtypes) > 1 else "")
            for f in program.outputs
            for k in range(len(f.dtypes))
        ]
        for way in self.ways:
            try:
                found = flat(self._kernel(way)(**copied(call)))
            except CallError as error:
                if way == "checks" and "division" in str(error):
                    continue
                raise Mismatch(way, f"refused: {error}") from error
            where = difference(found, flat(wanted), names)
            if where is not None:
                trusted = self.schedule.trusted
                raise Mismatch(way, where, f"{doubts(trusted)}: " if trusted else "")

    def _kernel(self, way: str) -> Kernel:
        if way not in self._made:
            s = self.schedule
            if way == "shuffled":
                made = backwards(s)
            else:  # not by s.compile(), which may warn: schedules that are drawn are seldom good
                made = Kernel(s.proven_copy(), checks=way == "checks")
            self._made[way] = made
        return self._made[way]


def runs_in_parallel(schedule: Schedule) -> bool:
    here = any(
        around.loop.kind == "parallel"
        for stage in stages(schedule.tree)
        for around in loops_around(schedule.tree, stage.name)
    )
    return here or any(runs_in_parallel(variant) for _, variant in schedule.variants)


def _divides(schedule: Schedule) -> bool:
    """Whether the program divides integers by a divisor that may be zero, or has powers of them
    that may be negative."""
    return any(
        isinstance(n, Op)
        and n.op in ("floordiv", "mod", "pow")
        and not (isinstance(n.operands[1], Const) and n.operands[1].value)
        for d in schedule.program.definitions
        for n in postorder(*d.lhs, *d.where, *d.values)
    )


def _counts_all(schedule: Schedule) -> bool:
    """Whether divisions by zero can be counted wherever there may be any."""
    here = next(uncounted(schedule.loop_program), None) is None
    return here and all(_counts_all(variant) for _, variant in schedule.variants)


def backwards(schedule: Schedule) -> Kernel:
    """A kernel whose parallel loops run from the last iteration to the first."""
    return Kernel(schedule.proven_copy(), first=(reverse_parallel,))


def copied(call: Arguments) -> Arguments:
    """The arguments with copies of their arrays, since InOuts are updated in place."""
    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in call.items()}


def flat(results: Any) -> tuple[Array, ...]:
    """All arrays in the results of a call, which may be nested tuples: of outputs, and of
    components."""
    if isinstance(results, tuple):
        return tuple(a for r in results for a in flat(r))
    return (np.asarray(results),)


def difference(
    found: Sequence[Array], wanted: Sequence[Array], names: Sequence[str]
) -> Difference | None:
    """The first difference of two arrays, None if there is none. They are compared bit for bit,
    except that all NaNs are equal."""
    for name, f, w in zip(names, found, wanted, strict=True):
        if (f.dtype, f.shape) != (w.dtype, w.shape):
            return Difference(name, (), f"{f.dtype}{list(f.shape)}", f"{w.dtype}{list(w.shape)}")
        differs = differing(f, w)
        if np.any(differs):
            at = tuple(int(x) for x in np.argwhere(differs)[0])
            count = int(np.count_nonzero(differs)), differs.size
            return Difference(name, at, numbers(f)[at].item(), numbers(w)[at].item(), count)
    return None


__all__ = ["Difference", "Kernels", "Mismatch", "backwards", "copied", "difference"]
