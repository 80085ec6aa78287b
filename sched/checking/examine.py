"""The independent judge of a schedule: runs the loop IR at given sizes and compares what happens.

Nothing here knows of isl. The program is interpreted, which says what each instance reads and who
wrote that (`interp.flow`); the lowered loops are executed with plain values (`execute`), and

* coverage: every instance that is needed runs once, none twice;
* flow: it reads the same elements, made by the same instances, from wherever they are kept;
* live-out: so does whoever looks at the outputs at the end, and they have the same bits;
* races: iterations of a parallel loop that run at once leave each other's memory alone;
* lanes: no two lanes of a joint statement write one place;
* bounds and guards: loads and stores are inside their buffers, and what is needed is loaded.

Instances beyond those of the program may run only where nobody reads: a Func without a shape may
be computed on more than is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..cached import cached_property
from ..codegen.ir.ir import Module
from ..codegen.runtime.preconditions import Preconditions
from ..interp.evaluate import Symbols
from ..interp.flow import flow
from ..lang.call.binding import Binding, bind
from ..lang.errors.errors import LanguageError
from ..poly.schedule.schedule import Schedule
from . import judge as judging
from .execute import Machine, Path, Touch, Write
from .judge import Judge, free_serials
from .report import FaultError, Report, TrustError


def check(schedule: Schedule, /, *args: Any, **kwargs: Any) -> Report:
    """Runs a schedule on the arguments of a call, slowly, and compares all that happens.

    Raises:
        CheckError: something is not as the program means it.
        CallError: as a call.
    """
    report = examine(schedule, *args, **kwargs)
    if report.breaches and schedule.trusted:
        raise TrustError(report.breaches, schedule.trusted)
    if report.breaches:
        raise FaultError(report.breaches)
    return report


def examine(
    schedule: Schedule, /, *args: Any, shape: Any = None, out: Any = None, **kwargs: Any
) -> Report:
    """`check`, which reports what is wrong."""
    return Examiner(schedule).report(bind(schedule.program, args, kwargs, shape=shape, out=out))


class Examiner:
    """Runs one schedule at several sizes: its loops are made once."""

    def __init__(self, schedule: Schedule) -> None:
        for d in schedule.program.definitions:
            if d.opaque is not None:
                raise LanguageError(
                    f"{d.func.name} is an extern stage, which cannot be checked instance by "
                    "instance",
                    where=d.span,
                )
        self.schedule = schedule

    @cached_property
    def _module(self) -> Module:
        return judging.module_of(self.schedule)

    def report(self, binding: Binding, tick: Callable[[int], object] | None = None) -> Report:
        """What the loops do in a call.

        Args:
            tick: is told how many instances more have run.
        """
        schedule, program = self.schedule, self.schedule.program
        for array in program.inouts:  # interpreting updates them
            binding.arrays[array.initial] = binding.arrays[array.initial].copy()
            binding.out[array] = (binding.out[array][0].copy(),)
        start = {program.names[t]: a for t, a in binding.arrays.items()}
        start |= {program.names[a]: binding.arrays[a.initial] for a in program.inouts}
        start = {name: a.copy() for name, a in start.items()}
        # A schedule need only be right at the sizes that its kernel takes.
        preconditions = Preconditions(schedule.requirements, program)
        symbols = Symbols(preconditions.check(binding), binding.params)
        meaning = flow(schedule.form.base, binding, free_serials(schedule))
        judge = Judge(schedule, binding, symbols, meaning, self._module)
        machine = Machine(judge.module, symbols, start, _Counting(judge, tick) if tick else judge)
        machine.run()
        judge.finish(machine)
        return judge.report


@dataclass(frozen=True)
class _Counting:
    """A judge, with somebody who counts what it sees."""

    judge: Judge
    tick: Callable[[int], object]

    def joint(self, path: Path, writes: list[Write]) -> None:
        self.tick(len(writes))
        self.judge.joint(path, writes)

    def looked(self, path: Path, reads: list[Touch]) -> None:
        self.judge.looked(path, reads)

    def wrong(self, kind: str, text: str) -> None:
        self.judge.wrong(kind, text)
