"""What a schedule is at a time: its program and tree, what follows from them, and its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, Self

from ...lang.errors.errors import LanguageTypeError, ScheduleError, user_span
from ...lang.errors.frames import bounded
from ...lang.errors.suggest import Suggesting
from ...lang.nodes.nodes import Node
from ...lang.nodes.shown import Shown
from ...lang.program.digest import combined
from ...lang.program.program import Program
from ...lang.tensors.inout import InOut
from ...lang.tensors.tensors import Func
from ...later import later
from ...steps import Log
from ...targets.host import default_target, name_of_target
from ...targets.target import Target
from ..model.conditions import Conditions
from ..model.model import Model
from ..model.proven import unproved
from ..nests.loop_nest import LoopNest
from ..nests.loop_program import LoopProgram
from ..program.inline import Rule, once_a_consumer
from ..proof.dependences import Dependence, Dependences
from ..report import facts, requires
from ..report.finding import existing
from ..report.requirements import Requirements
from ..report.said import Said
from ..sets.budget import BudgetExceeded
from ..sets.isl import Set
from ..state.record import Directive, Lookup
from ..state.rewritten import RewrittenProgram
from ..state.state import NoLoops
from ..tree.edits import At, stages
from ..tree.looptree import Loop, Seq
from ..tree.memory import Memory, Window
from ..tree.stage import Stage
from . import serial
from .schedule_builder import ScheduleBuilder

if TYPE_CHECKING:
    from ..report import analysis, explain
    from ..report.analysis import Analysis
    from ..report.evaluations import Evaluation
    from . import travel
else:
    analysis = later("..report.analysis", __package__)
    explain = later("..report.explain", __package__)
    travel = later(".travel", __package__)


@bounded
class ScheduleQueries(Suggesting, Shown):
    """What can be asked of a schedule. Nothing here changes it."""

    log: Log
    #: Schedules for sizes that meet a condition.
    variants: tuple[tuple[Node, ScheduleQueries], ...]
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
    def model(self) -> Model:
        """The statements, and what they access."""
        return self.rewritten.model

    @property
    def proven(self) -> Conditions:
        """The preconditions of the program on sizes and data."""
        return self.rewritten.proven

    @property
    def funcs(self) -> tuple[Func, ...]:
        """The Funcs that are stored, producers before consumers."""
        regions = self.model.regions
        return tuple(f for f in self.program.funcs if f in regions)

    @property
    def tree(self) -> Seq:
        """The loops and what stands in them."""
        return self._builder.state.tree

    @property
    def directives(self) -> tuple[Directive, ...]:
        """The directives that were accepted, in order."""
        return self._builder.records

    @property
    def target(self) -> Target:
        """What words such as `ps.native` count for, and what code is made for: what the schedule
        was given, or else this machine, or what POLYSCHED_TARGET names."""
        return default_target() if self._asked is None else self._asked

    # facts ----------------------------------------------------------------------------------------
    @property
    def analysis(self) -> Analysis:
        """What follows from the state: each fact is found once for each state."""
        state = self._builder.state
        if self._analysis is None or self._analysis.state is not state:
            self._analysis = analysis.Analysis(
                state, self.directives, self._builder.legality, self.log
            )
        return self._analysis

    @contextmanager
    def in_time(self) -> Iterator[Analysis]:
        """The analysis; what of it takes too long to find is refused."""
        try:
            yield self.analysis
        except BudgetExceeded:
            if not self.directives:
                raise unproved(self.program) from None
            last = self.directives[-1]
            raise ScheduleError(
                f"the loops that {last.text()} has made are too intricate for the time allowed",
                where=last.span,
                hint="leave it out, or declare the shapes of the Funcs in between",
                status="unproved",
                directive=last.text(),
            ) from None

    @property
    def windows(self) -> dict[Func, Window]:
        """How many planes are kept of Funcs of recurrences that need not be stored whole."""
        with self.in_time() as a:
            return a.windows

    @property
    def copied(self) -> tuple[InOut, ...]:
        """InOuts whose initial values are still read after they have been overwritten."""
        with self.in_time() as a:
            return a.copied

    @property
    def nests(self) -> tuple[LoopNest, ...]:
        """The loops with their bounds."""
        with self.in_time() as a:
            return a.nests

    @property
    def accepted(self) -> Set:
        """The sizes that a call accepts."""
        with self.in_time() as a:
            return a.accepted

    @property
    def loop_program(self) -> LoopProgram:
        """What code is made of."""
        with self.in_time() as a:
            return a.loop_program

    @property
    def requirements(self) -> Requirements:
        """What a call is checked for."""
        with self.in_time() as a:
            return a.requirements

    @property
    def conditions(self) -> tuple[str, ...]:
        """What a call requires of the sizes, each with the access that needs it."""
        with self.in_time() as a:
            return tuple(requires.conditions(a))

    @property
    def parameters(self) -> dict[str, Node]:
        """The sizes and Params that bounds and conditions are made of, by name."""
        return self._builder.origin.symbols

    @property
    def memory(self) -> Mapping[Func, Memory]:
        """How Funcs lie in memory, where a directive says so."""
        return self._builder.state.memory

    @property
    def atomic(self) -> frozenset[str]:
        """The stages whose accumulations are atomic."""
        return self._builder.state.atomic

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """How often what is inlined is evaluated."""
        with self.in_time() as a:
            return a.evaluations

    def extent(self, loop: Loop) -> str:
        """How many iterations a loop of the tree has, as text; "?" if that takes long to find."""
        return self.analysis.extent(loop)

    def extents(self, **sizes: int) -> dict[str, dict[str, int]]:
        """How many iterations loops have at some sizes: by stage and by loop, outermost first; at
        most, where that differs between iterations of the loops around.

        Args:
            sizes: all that loops depend on, and are not fixed; Params that bound loops may be
                among them.

        Raises:
            LanguageTypeError: a size is missing, or none of the program.
            ScheduleError: a size is no integer >= 0, or too large.
        """
        return facts.extents(self.loop_program, sizes)

    def dependences(self) -> tuple[Dependence, ...]:
        """Every dependence between the instances of the program."""
        with self.in_time() as a, a.in_time():
            return Dependences(self.rewritten.prover.dependences)

    def legal(self, directive: Directive) -> bool:
        """Whether a directive, as one of the records of another schedule's `directives`, would be
        accepted now. Nothing changes. Where only the answer counts this is sooner than trying: no
        instances are looked for that would run in the wrong order, and no hint."""
        return self._builder.accepts(directive)

    # what was said --------------------------------------------------------------------------------
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
        return isinstance(other, ScheduleQueries) and self.key == other.key

    def __hash__(self) -> NoReturn:
        raise TypeError("a Schedule can change and has no hash")

    def __reduce__(self) -> Any:
        return travel.reduced(self, self._builder.is_sketch)

    @property
    def digest(self) -> str | None:
        """64 hexadecimal digits of the program and of what was said, in any process; None where the
        program has none."""
        program = self.base.digest  # which has the order of the Inputs
        return None if program is None else combined(program, self.written)

    @property
    def written(self) -> str:
        """The directives as `from_json` reads them, without comments."""
        return serial.to_json(self._given, comments=False, args=False)

    # places in the tree ---------------------------------------------------------------------------
    def _stage(self, name: str) -> Stage:
        for stage in stages(self.tree):
            if stage.name == name:
                return stage
        existing(self.analysis, name)
        raise self._builder.in_their_terms(NoLoops(name))

    def _find(self, stage: str, loop: str) -> At:
        directive = Lookup(stage, f'loop("{loop}")', span=user_span())
        try:
            with self.in_time() as a, a.in_time():
                return self._builder.editing(directive).at(loop)
        except NoLoops as error:
            raise self._builder.in_their_terms(error) from None

    # text -----------------------------------------------------------------------------------------
    def explain(self) -> str:
        """What the schedule does, what it stores, its preconditions, and what may be missed."""
        with self.in_time() as a:
            return explain.explain(a, self.said)

    def __str__(self) -> str:
        with self.in_time() as a:
            return explain.listing(a, self.said)

    def __repr__(self) -> str:
        return f"Schedule of {self.base.signature()}"

    def _ipython_key_completions_(self) -> list[str]:
        """What may stand in `s["..."]`."""
        return [stage.name for stage in stages(self.tree)]

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
