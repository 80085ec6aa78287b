"""`ps.to_json` and `ps.from_json`: programs and schedules as one text."""

from __future__ import annotations

from collections.abc import Sequence

from .lang.errors.errors import LanguageError
from .lang.errors.frames import bounded
from .lang.program.program import Program
from .lang.tensors.asked import outputs_of
from .lang.tensors.tensors import Func
from .lang.travel import text
from .poly.schedule.schedule import Schedule

Travels = Func | Sequence[Func] | Program | Schedule
"""What can be written as JSON."""


@bounded
def to_json(what: Travels) -> str:
    """A text of all that a Func, several Funcs, a Program or a Schedule is made of, for
    `ps.from_json`. It is JSON, the same for programs that are written in the same way, whenever and
    wherever they are.

    Args:
        what: Funcs are completed.

    Raises:
        LanguageError: the program is ill-formed, or calls a function that no other process could
            find by its module and name.
    """
    if isinstance(what, Schedule):
        base = what.rewritten.base
        return text.written("schedule", base.outputs, base.inputs, what.to_json())
    if isinstance(what, Program):
        return text.written("program", what.outputs, what.inputs)
    funcs = outputs_of(what)
    Program(funcs)  # which completes them, and refuses what is ill-formed
    return text.written("func" if isinstance(what, Func) else "funcs", funcs)


@bounded
def from_json(written: str) -> Func | tuple[Func, ...] | Program | Schedule:
    """What `ps.to_json` wrote: a Func, a tuple of Funcs, a Program or a Schedule. Everything is
    checked and proven again. Nothing is evaluated or imported: the modules of extern functions must
    be loaded.

    Raises:
        LanguageError: it is something else, or was written by a version that is newer.
        ScheduleError: a directive is refused.
    """
    read = text.read(written)
    if read.kind == "schedule":
        if read.schedule is None:
            raise LanguageError("this is a schedule of which only the program is there")
        return Schedule.from_json(read.outputs, read.schedule, read.args)
    program = read.program
    if read.kind == "program":
        return program
    return read.outputs[0] if read.kind == "func" else read.outputs
