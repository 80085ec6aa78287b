"""The independent check of a schedule: runs the loop IR at given sizes and compares what happens.

Nothing here knows of isl. The program is interpreted, which says what each instance reads and who
wrote that (`interp.flow`); the lowered loops are executed with plain values (`execute`), and

* coverage: every instance that is needed runs once, none twice;
* flow: it reads the same elements, made by the same instances, from wherever they are kept;
* live-out: so does whoever looks at the outputs at the end, and they have the same bits;
* races: iterations of a parallel loop that run concurrently leave each other's memory alone;
* lanes: no two lanes of a joint statement write one place;
* bounds and guards: loads and stores are inside their buffers, and what is needed is loaded.

Instances beyond those of the program may run only where nobody reads: a Func without a shape may
be computed on more than is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..cached import cached_property
from ..codegen.runtime.preconditions import Preconditions
from ..interp.evaluate import Symbols
from ..interp.flow import flow
from ..lang.call.binding import Binding, bind
from ..lang.errors.errors import LanguageError
from ..poly.schedule.schedule import Schedule
from ..records import dataclass
from . import subject as subjects
from .execute import Machine, Path, Touch, Write
from .instance_checker import InstanceChecker
from .report import FaultError, Report, TrustError
from .subject import Subject


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
    def _subject(self) -> Subject:
        return Subject(self.schedule, subjects.module_of(self.schedule))

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
        meaning = flow(schedule.rewritten.base, binding, subjects.reordered(schedule))
        checker = InstanceChecker(self._subject, meaning, symbols)
        watcher = _Counting(checker, tick) if tick else checker
        machine = Machine(self._subject.module, symbols, start, watcher)
        machine.run()
        checker.finish(machine)
        return checker.report


@dataclass(frozen=True)
class _Counting:
    """A checker whose instances are counted for a progress report."""

    checker: InstanceChecker
    tick: Callable[[int], object]

    def joint(self, path: Path, writes: list[Write]) -> None:
        self.tick(len(writes))
        self.checker.joint(path, writes)

    def looked(self, path: Path, reads: list[Touch]) -> None:
        self.checker.looked(path, reads)

    def wrong(self, kind: str, text: str) -> None:
        self.checker.wrong(kind, text)
