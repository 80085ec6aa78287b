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

from typing import Any

from ..interp.evaluate import Symbols
from ..interp.flow import flow
from ..lang.binding import bind
from ..lang.errors import LanguageError
from ..poly.schedule import Schedule
from .execute import Machine
from .judge import Judge, free_serials
from .kernel import SizeChecks
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
    for d in schedule.program.definitions:
        if d.opaque is not None:
            raise LanguageError(
                f"{d.func.name} is an extern stage, which cannot be checked instance by instance",
                where=d.span,
            )
    program = schedule.program
    binding = bind(program, args, kwargs, shape=shape, out=out)
    for array in program.inouts:  # interpreting updates them
        binding.arrays[array.initial] = binding.arrays[array.initial].copy()
        binding.out[array] = (binding.out[array][0].copy(),)
    start = {program.names[t]: a for t, a in binding.arrays.items()}
    start |= {program.names[a]: binding.arrays[a.initial] for a in program.inouts}
    start = {name: a.copy() for name, a in start.items()}
    # A schedule need only be right at the sizes that its kernel takes.
    symbols = Symbols(SizeChecks(schedule).check(binding), binding.params)
    meaning = flow(schedule.form.base, binding, free_serials(schedule))
    judge = Judge(schedule, binding, symbols, meaning)
    machine = Machine(judge.module, symbols, start, judge)
    machine.run()
    judge.finish(machine)
    return judge.report
