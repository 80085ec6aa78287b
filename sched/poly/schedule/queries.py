"""What a schedule is at a time: its program and tree, what follows from them, and its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...lang.errors.errors import LanguageTypeError, ScheduleError, user_span
from ...lang.errors.frames import bounded
from ...lang.nodes.nodes import Node
from ...lang.tensors.inout import InOut
from ...lang.tensors.tensors import Func
from ...later import later
from ..state.record import Directive, Lookup
from .written import WrittenSchedule

if TYPE_CHECKING:
    from ..model import proven
    from ..model.conditions import Conditions
    from ..model.model import Model
    from ..nests.loop_nest import LoopNest
    from ..nests.loop_program import LoopProgram
    from ..proof import dependences as between
    from ..proof.dependences import Dependence
    from ..report import analysis, explain, facts, finding, requires
    from ..report.analysis import Analysis
    from ..report.evaluations import Evaluation
    from ..report.requirements import Requirements
    from ..sets import budget
    from ..sets.isl import Set
    from ..state import state as states
    from ..tree import edits
    from ..tree.edits import At
    from ..tree.looptree import Loop, Seq
    from ..tree.memory import Memory, Window
    from ..tree.stage import Stage
else:
    proven = later("..model.proven", __package__)
    between = later("..proof.dependences", __package__)
    analysis = later("..report.analysis", __package__)
    explain = later("..report.explain", __package__)
    facts = later("..report.facts", __package__)
    finding = later("..report.finding", __package__)
    requires = later("..report.requires", __package__)
    budget = later("..sets.budget", __package__)
    states = later("..state.state", __package__)
    edits = later("..tree.edits", __package__)


@bounded
class ScheduleQueries(WrittenSchedule):
    """What can be asked of a schedule. Nothing here changes it."""

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
        except budget.BudgetExceeded:
            if not self.directives:
                raise proven.unproved(self.program) from None
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
            return between.Dependences(self.rewritten.prover.dependences)

    def legal(self, directive: Directive) -> bool:
        """Whether a directive, as one of the records of another schedule's `directives`, would be
        accepted now. Nothing changes. Where only the answer counts this is sooner than trying: no
        instances are looked for that would run in the wrong order, and no hint."""
        if not isinstance(directive, Directive):
            raise LanguageTypeError(
                f"legal asks about a record of a schedule's directives, not about {directive!r}",
                hint="s.legal(other.directives[0]), or try it: s.why_not(...)",
            )
        return self._builder.accepts(directive)

    # places in the tree ---------------------------------------------------------------------------
    def _stage(self, name: str) -> Stage:
        for stage in edits.stages(self.tree):
            if stage.name == name:
                return stage
        finding.existing(self.analysis, name)
        raise self._builder.in_their_terms(states.NoLoops(name))

    def _find(self, stage: str, loop: str) -> At:
        directive = Lookup(stage, f'loop("{loop}")', span=user_span())
        try:
            with self.in_time() as a, a.in_time():
                return self._builder.editing(directive).at(loop)
        except states.NoLoops as error:
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
        return [stage.name for stage in edits.stages(self.tree)]
