"""Schedules as pickles, and what makes two of them equal."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...lang.errors.errors import LanguageError
from ...lang.nodes.node_json import encoded
from ...lang.program.program import Program
from ...lang.travel.script import Script
from ...steps import Log
from ...targets.host import name_of_target, target_of
from ...targets.target import Target
from ..program.rule import once_a_consumer, without_recomputation
from ..state.record import Directive
from . import serial
from .replay import restore

if TYPE_CHECKING:
    from .schedule import Schedule
    from .written import WrittenSchedule


def key(s: WrittenSchedule) -> tuple[Any, ...]:
    """What two schedules have in common that say the same of programs that mean the same: hashable,
    and made of texts. Programs without a digest are equal if their outputs and Inputs are the same
    objects."""
    base = s.base
    program = base.digest or (base.outputs, base.inputs)
    variants = tuple((json.dumps(encoded(c)), key(v)) for c, v in s.variants)
    return program, s.rule is once_a_consumer, tuple(map(_record, s.directives)), variants


def _record(d: Directive) -> tuple[str, str, str]:
    """A directive; the number of a word is equal to the same number without one."""
    return d.stage, d.name, json.dumps([[k, encoded(v)] for k, v in d.options])


def source(s: WrittenSchedule) -> str:
    """Python that makes a schedule, given its outputs."""
    said, names = s._given, s.base.names
    if any(f.name != names[f] for f in s.base.funcs):
        said = replace(said, program=s.program)  # Funcs are written by their numbers in it
    return serial.source(said)


def script(s: WrittenSchedule) -> str:
    """Python that makes a program and its schedule, from nothing.

    Raises:
        LanguageError: the program cannot be written: see `Script`.
    """
    made = Script(s.base, reserved=("s",))
    said = serial.source(s._given, made.names, made.taken - {"s"})
    return "\n".join([*made.head, "", *made.lines, "", said])


def reduced(s: WrittenSchedule, is_sketch: bool) -> Any:
    """How a schedule is pickled: its program, and what was said to it as JSON."""
    asked = s._asked
    target = None if asked is None else name_of_target(asked) or asked
    return read, (type(s), s.base, target, is_sketch, serial.to_json(s._given))


def read(
    kind: type[Schedule], program: Program, target: Target | str | None, is_sketch: bool, text: str
) -> Schedule:
    """The schedule of a pickle, proven anew.

    Raises:
        LanguageError: it is none that `reduced` gave.
        ScheduleError: a directive is refused.
    """
    written = serial.read_json(text)
    if not isinstance(program, Program):
        raise LanguageError(f"this pickle has {program!r:.60} for a program")
    made = kind.__new__(kind)
    made.log = Log()
    made._asked = None if target is None else target_of(target)
    made._prove(program, without_recomputation if written.default else once_a_consumer)
    if is_sketch:
        made = made.sketch()
    restore(made, written)
    return made
