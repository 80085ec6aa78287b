"""A schedule as what was written of it: its program and directives, and what it is known by."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, Self

from ...lang.errors.errors import LanguageTypeError
from ...lang.errors.frames import bounded
from ...lang.errors.suggest import Suggesting
from ...lang.nodes.nodes import Node
from ...lang.nodes.shown import Shown
from ...lang.program.digest import combined
from ...lang.program.program import Program
from ...later import later
from ...steps import Log
from ...targets.host import default_target, name_of_target
from ...targets.target import Target
from ..program.rule import Rule, once_a_consumer
from ..report.said import Said
from ..state.record import Directive
from . import serial
from .schedule_builder import ScheduleBuilder

if TYPE_CHECKING:
    from ..report.analysis import Analysis
    from ..state.rewritten import RewrittenProgram
    from . import travel
else:
    travel = later(".travel", __package__)


@bounded
class WrittenSchedule(Suggesting, Shown):
    """What was written of a schedule. Two of the same program and directives are equal."""

    log: Log
    #: Schedules for sizes that meet a condition.
    variants: tuple[tuple[Node, WrittenSchedule], ...]
    #: How many directives a variant has from the schedule that it was made of.
    inherited: int
    #: How many directives a model of the machine has chosen, not the user.
    chosen: int
    _builder: ScheduleBuilder
    _analysis: Analysis | None
    rule: Rule
    comments: tuple[tuple[int, str], ...]
    _asked: Target | None

    @property
    def rewritten(self) -> RewrittenProgram:
        """The program as it is scheduled: what is inlined, and what has been rewritten."""
        return self._builder.state.rewritten

    @property
    def program(self) -> Program:
        """What is computed."""
        return self.rewritten.program

    @property
    def base(self) -> Program:
        """What is computed, as it was written: without the Funcs that directives have added."""
        return self._builder.origin.program

    @property
    def directives(self) -> tuple[Directive, ...]:
        """The directives that were accepted, in order."""
        return self._builder.records

    @property
    def target(self) -> Target:
        """What words such as `ps.native` count for, and what code is made for: what the schedule
        was given, or else this machine, or what POLYSCHED_TARGET names."""
        return default_target() if self._asked is None else self._asked

    @property
    def said(self) -> Said:
        """All that was said to it, as a value."""
        return replace(self._given, reassociated=self._builder.reassociated, variants=tuple(
            (condition, variant.said) for condition, variant in self.variants
        ))  # fmt: skip

    @property
    def _given(self) -> Said:
        """The same without what follows from it."""
        return Said(
            self.base,
            self.rule is not once_a_consumer,
            self.directives,
            self._builder.batches,
            self._builder.trusted,
            frozenset(),
            tuple((condition, variant._given) for condition, variant in self.variants),
            self.inherited,
            None if self._asked is None else name_of_target(self._asked),
            self.comments,
            self.chosen,
        )

    @property
    def bit_exact(self) -> bool:
        """Whether every result equals the interpreter's to the bit."""
        return not self.broken_by

    @property
    def trusted(self) -> tuple[tuple[Directive, str], ...]:
        """Directives that were not proven, each with the reason given; those of variants too."""
        return self._given.trusted

    @property
    def broken_by(self) -> tuple[str, ...]:
        """The stages whose results may differ in their last bits, here or in a variant."""
        return self.said.broken_by

    @property
    def key(self) -> tuple[Any, ...]:
        """Hashable; equal, in any process, for equal programs with the same directives."""
        return travel.key(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WrittenSchedule) and self.key == other.key

    def __hash__(self) -> NoReturn:
        raise TypeError("a Schedule can change and has no hash")

    def __reduce__(self) -> Any:
        return travel.reduced(self, self._builder.is_sketch)

    @property
    def digest(self) -> str | None:
        """64 hexadecimal digits of the program and of what was said, in any process; None where the
        program has none."""
        return _digest(self.base, self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        """What a digest says beside the program: directives one by one, each as the journal knows
        it already; or all as it is written, where there is more than directives."""
        exactly = tuple(d.exactly for d in self._builder.said)
        if self.variants or self._builder.batches or self._builder.trusted or None in exactly:
            return (self.written,)
        asked = None if self._asked is None else name_of_target(self._asked)
        return self.rule is not once_a_consumer, asked, exactly

    @property
    def written(self) -> str:
        """The directives as `from_json` reads them, without comments."""
        return serial.to_json(self._given, comments=False, args=False)

    def comment(self, text: str) -> Self:
        """A comment on the directives that follow, which stands in `source()` and in JSON."""
        if not isinstance(text, str) or not text.strip() or not serial.is_readable(text):
            raise LanguageTypeError(f"comment takes a text, and not {text!r}")
        self.comments = (*self.comments, (len(self.directives), text))
        return self

    def source(self, *, program: bool = False) -> str:
        """Python that makes this schedule, given its outputs.

        Args:
            program: whether the program is made, too: a script that needs nothing else.

        Raises:
            LanguageError: the program calls a function that no module has by its name.
        """
        return travel.script(self) if program else travel.source(self)

    def to_json(self) -> str:
        """The directives as text that `from_json` reads."""
        return serial.to_json(self._given)


def as_called(program: Program) -> str | None:
    """The digest of the default schedule of a program without directives, for the default target.
    None where the program has none."""
    return _digest(program, (True, None, ()))


def _digest(program: Program, identity: tuple[object, ...]) -> str | None:
    known = program.digest  # which has the order of the Inputs
    return None if known is None else combined(known, *identity)
