"""`Schedule`: how a program is run, apart from what it computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, NoReturn

from ...lang.errors.errors import LanguageError, LanguageTypeError, ScheduleError, user_span
from ...lang.errors.frames import Bounded, bounded
from ...lang.errors.suggest import Suggesting, public
from ...lang.expr.expr import Expr
from ...lang.nodes.nodes import Node
from ...lang.nodes.printer import html_text
from ...lang.program.digest import combined
from ...lang.program.program import Program
from ...lang.program.scalars import symbols_of
from ...lang.tensors.inout import InOut
from ...lang.tensors.tensors import Func, Input
from ...steps import Log
from ...targets.host import default_target, name_of_target, target_of
from ...targets.target import Target
from ..directives.assumptions import Assume
from ..model.conditions import Conditions
from ..model.model import Model
from ..model.proven import unproved
from ..nests.loop_nest import LoopNest
from ..nests.loop_program import LoopProgram
from ..program.inline import Rule, once_a_consumer, without_recomputation
from ..proof.dependences import Dependence
from ..report import facts, finding, requires
from ..report.analysis import Analysis
from ..report.evaluations import Evaluation
from ..report.explain import explain, listing
from ..report.requirements import Requirements
from ..report.said import Said
from ..sets.budget import BudgetExceeded, allowance, budget
from ..sets.isl import Set
from ..state.record import Directive, Lookup, from_json
from ..state.rewritten import RewrittenProgram, rewritten_program
from ..state.state import NoLoops
from ..tree.edits import At, stages
from ..tree.looptree import Loop, Seq
from ..tree.memory import Memory, Window
from ..tree.stage import Stage
from . import serial
from .handles.base import LoopHandle
from .handles.pieces import PiecesHandle
from .numbers import resolved_anew
from .schedule_builder import ScheduleBuilder
from .stages import StageHandle

Outputs = Func | Sequence[Func]


@bounded
class Schedule(Suggesting):
    """How a program is run: at first as written, each Func at root, in the order of the program,
    inlined only where it is one equation that each consumer reads at one point; what takes a
    division or a function only where no element is computed twice then.

    `s[C]` is a stage, whose methods are the directives. Each is proven right for all sizes when
    it is given, or refused with two instances that would run in the wrong order.

    Args:
        outputs: the Func to compute, or several.
        args: the Inputs in the order of a call's positions; by default the order in which the
            program first reads them.

    Raises:
        LanguageError: the program is ill-formed; with the definition's line.
    """

    _public = frozenset(
        {
            *("assume", "batch", "compile", "copy", "default", "dependences", "explain"),
            *(
                "from_json",
                "group",
                "legal",
                "loop",
                "extents",
                "prove",
                "sketch",
                "source",
                "specialize",
                "to_json",
                "trust",
            ),
            *(
                "bit_exact",
                "broken_by",
                "conditions",
                "digest",
                "directives",
                "funcs",
                "key",
                "program",
            ),
            *("trusted", "variants"),
        }
    )

    def __init__(
        self,
        outputs: Outputs,
        args: Sequence[Input] | None = None,
        target: Target | str | None = None,
    ) -> None:
        self._build(outputs, args, once_a_consumer, target)

    def _build(
        self,
        outputs: Outputs,
        args: Sequence[Input] | None,
        rule: Rule,
        target: Target | str | None = None,
    ) -> None:
        self.log = Log()
        self._asked = None if target is None else target_of(target)
        self._prove(self.log.step("program", lambda: Program(outputs, args)), rule)

    def _prove(self, program: Program, rule: Rule) -> None:
        self._rule = rule
        try:
            with budget(allowance(len(program.definitions))):
                self._builder = ScheduleBuilder(
                    rewritten_program(program, rule, self.log), symbols_of(program)
                )
        except BudgetExceeded:
            raise unproved(program) from None
        self._analysis: Analysis | None = None
        #: Schedules for sizes that meet a condition.
        self.variants: tuple[tuple[Node, Schedule], ...] = ()
        #: How many directives a variant has from the schedule that it was made of.
        self.inherited = 0

    @classmethod
    def default(
        cls,
        outputs: Outputs,
        args: Sequence[Input] | None = None,
        target: Target | str | None = None,
    ) -> Schedule:
        """What a bare call runs: nothing is computed twice, nothing is stored without need."""
        made = cls.__new__(cls)
        made._build(outputs, args, without_recomputation, target)
        return made

    def of(self, program: Program) -> Schedule:
        """The same for another program."""
        made = Schedule.__new__(Schedule)
        made.log = Log()
        made._asked = self._asked
        made._prove(program, self._rule)
        return made

    @property
    def target(self) -> Target:
        """What words such as `ps.native` count for, and what code is made for: what the schedule
        was given, or else this machine, or what POLYSCHED_TARGET names."""
        return default_target() if self._asked is None else self._asked

    def for_target(self, target: Target | str) -> Schedule:
        """The same directives for another target: numbers that were given by words are found anew.

        Raises:
            ScheduleError: with these numbers a directive is refused.
        """
        made = Schedule.__new__(Schedule)
        made.log = Log()
        made._asked = target_of(target)
        made._prove(self.program, self._rule)
        made._replay(serial.read_json(self.to_json()).steps, anew=True)
        return made

    @property
    def rewritten(self) -> RewrittenProgram:
        """The program as it is scheduled: what is inlined, and what has been rewritten."""
        return self._builder.state.rewritten

    @property
    def program(self) -> Program:
        """What is computed."""
        return self.rewritten.program

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

    # what follows from the state ------------------------------------------------------------------
    @property
    def tree(self) -> Seq:
        """The loops and what stands in them."""
        return self._builder.state.tree

    @property
    def analysis(self) -> Analysis:
        """What follows from the state: each fact is found once for each state."""
        state = self._builder.state
        if self._analysis is None or self._analysis.state is not state:
            self._analysis = Analysis(state, self.directives, self._builder.legality, self.log)
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
        return self.analysis.parameters

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

    def assume(self, condition: Any) -> Schedule:
        """A condition on sizes and Params, checked at each call and used in proofs and bounds."""
        self._builder.apply(Assume("", requires.on_sizes("assume", condition), span=user_span()))
        return self

    def dependences(self) -> tuple[Dependence, ...]:
        """Every dependence between the instances of the program."""
        with self.in_time() as a, a.in_time():
            return self.rewritten.prover.dependences

    def legal(self, directive: Directive) -> bool:
        """Whether a directive, as one of the records of another schedule's `directives`, would be
        accepted now. Nothing changes. Where only the answer counts this is sooner than trying: no
        instances are looked for that would run in the wrong order, and no hint."""
        return self._builder.accepts(directive)

    # building -------------------------------------------------------------------------------------
    def __getitem__(self, what: Func | StageHandle | str) -> StageHandle:
        """The stage of a Func's pure definition, or the stage of that name; of a definition in
        several pieces all of them."""
        if isinstance(what, PiecesHandle):
            return PiecesHandle(self, what._func, what.pieces)
        if isinstance(what, StageHandle):
            return StageHandle(self, finding.existing(self.analysis, what.name))
        a = self.analysis
        name, pieces = finding.stage_name(a, what), finding.pieces_of(a, what)
        if pieces:
            return PiecesHandle(self, name.rpartition(".piece(")[0], pieces)
        return StageHandle(self, name)

    def group(self, func: Func | str) -> StageHandle:
        """The loops that mutually recursive Funcs share, as those of one of them."""
        return self[func]

    def loop(self, name: str) -> LoopHandle:
        """The loop of a `sequential`, or any loop of which there is only one."""
        return LoopHandle(self, finding.stage_in(self.analysis, name), name)

    def _stage(self, name: str) -> Stage:
        for stage in stages(self.tree):
            if stage.name == name:
                return stage
        raise self._builder.in_their_terms(NoLoops(name))

    def _find(self, stage: str, loop: str) -> At:
        directive = Lookup(stage, f'loop("{loop}")', span=user_span())
        try:
            with self.in_time() as a, a.in_time():
                return self._builder.editing(directive).at(loop)
        except NoLoops as error:
            raise self._builder.in_their_terms(error) from None

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

    def explain(self) -> str:
        """What the schedule does, what it stores, its preconditions, and what may be missed."""
        with self.in_time() as a:
            return explain(a, self.said)

    def batch(self) -> AbstractContextManager[Schedule]:
        """Proves all directives inside together, at the end; refused, none of them counts."""
        return Bounded(self._in_batch())

    @contextmanager
    def _in_batch(self) -> Iterator[Schedule]:
        variants = self.variants
        try:
            with self._builder.batch():
                yield self
        except BaseException:
            self.variants = variants
            raise

    def sketch(self) -> Schedule:
        """A copy whose directives are carried out and not proven, for looking at many before one is
        chosen. It can be changed, read, copied and written as JSON. It cannot be compiled before
        `prove()` has proven all of it together, as those of a batch are. That is no trust: what is
        not proven does not run."""
        made = self.copy()
        made._builder.sketch()
        return made

    def prove(self) -> Schedule:
        """Proves what has been sketched, here and in variants.

        Raises:
            ScheduleError: names the first directive to blame, and two instances; what it is in
                stays a sketch.
        """
        self._builder.prove()
        for _, variant in self.variants:
            variant.prove()
        return self

    def _settle(self) -> None:
        """Proves what batches have put off, here and in variants: all of it is about to run.

        Raises:
            ScheduleError: something goes wrong, or is sketched and not proven.
        """
        self._builder.settle()
        for _, variant in self.variants:
            variant._settle()

    def trust(self, reason: str) -> AbstractContextManager[Schedule]:
        """Directives inside are not proven. Printed with the schedule; for what you know and the
        compiler cannot."""
        if not isinstance(reason, str) or not reason:
            raise LanguageTypeError("trust takes a reason: with s.trust('...'):")
        return Bounded(self._trusting(reason))

    @contextmanager
    def _trusting(self, reason: str) -> Iterator[Schedule]:
        with self._builder.trust(reason):
            yield self

    # as a value -----------------------------------------------------------------------------------
    @property
    def directives(self) -> tuple[Directive, ...]:
        """The directives that were accepted, in order."""
        return self._builder.records

    @property
    def key(self) -> tuple[Any, ...]:
        """Hashable; equal for schedules of one program with the same directives."""
        variants = tuple((c, v.key) for c, v in self.variants)
        records = (self._rule, self.directives, variants)
        return (self.program.outputs, self.program.inputs, *records)

    @property
    def digest(self) -> str | None:
        """64 hexadecimal digits: of the program and of what was said, not of where; the same in any
        process. None where the program has none."""
        program = self.rewritten.base.digest
        return None if program is None else combined(program, self.to_json())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self.key == other.key

    def copy(self) -> Schedule:
        """An independent copy, with copies of its variants.

        In a batch, what it has is proven first; what is trusted ends with the block around it. The
        copy of a sketch is a sketch.
        """
        if not self._builder.is_sketch:
            self._builder.settle()
        made = Schedule.__new__(Schedule)
        made.__dict__.update(self.__dict__)
        made._builder = self._builder.copy()
        made.variants = tuple((c, v.copy()) for c, v in self.variants)
        made.log = Log()
        made.log.seconds.update(self.log.seconds)
        made._analysis = None if self._analysis is None else self._analysis.logged(made.log)
        return made

    def source(self) -> str:
        """Python that makes this schedule, given its outputs."""
        return serial.source(self.said)

    def to_json(self) -> str:
        """The directives as text that `from_json` reads."""
        return serial.to_json(self.said)

    @classmethod
    def from_json(
        cls, outputs: Outputs, text: str, args: Sequence[Input] | None = None
    ) -> Schedule:
        """A schedule of `outputs` with the directives that `to_json` wrote, proven anew.

        Args:
            args: as of a Schedule; by default the Inputs that have the names written.
        """
        written = serial.read_json(text)
        make = cls.default if written.default else cls
        made = make(outputs, args or written.args(outputs), written.target)
        made._replay(written.steps)
        return made

    def _replay(self, steps: Sequence[Any], anew: bool = False) -> None:
        """Takes what was written; each directive is proven anew.

        Args:
            anew: numbers that come from words are resolved for the target of this schedule.

        Raises:
            LanguageError: a step is none that `to_json` wrote, or is refused.
        """
        for step in steps:
            match step:
                case {"directive": data, "trust": None | str() as reason}:
                    trusting = nullcontext() if reason is None else self.trust(reason)
                    with trusting, self._builder.again():
                        written = from_json(data, self.parameters)
                        self._builder.replay(resolved_anew(self, written) if anew else written)
                case {"specialize": condition, "steps": list(inside)}:
                    self._variant(serial.condition(condition, self.parameters))._replay(
                        inside, anew
                    )
                case {"batch": list(inside)}:
                    with self._builder.again(), self.batch():
                        self._replay(inside, anew)
                case _:
                    raise LanguageError(f"{step!r} says nothing to a schedule")

    @property
    def said(self) -> Said:
        """All that was said to it, as a value."""
        return Said(
            self.program,
            self._rule is not once_a_consumer,
            self.directives,
            self._builder.batches,
            self._builder.state.trusted,
            self._builder.state.reassociated,
            tuple((condition, variant.said) for condition, variant in self.variants),
            self.inherited,
            None if self._asked is None else name_of_target(self._asked),
        )

    @property
    def bit_exact(self) -> bool:
        """Whether every result equals the interpreter's to the bit."""
        return not self.broken_by

    @property
    def trusted(self) -> tuple[tuple[Directive, str], ...]:
        """Directives that were not proven, each with the reason given; those of variants too."""
        return self.said.trusted

    @property
    def broken_by(self) -> tuple[str, ...]:
        """The stages whose results may differ in their last bits, here or in a variant."""
        return self.said.broken_by

    def compile(self, *, checks: bool = False, **sizes: int) -> Any:
        """Machine code for this machine, as a callable Kernel. Later directives do not change it.

        Args:
            checks: count integer divisions by zero, which give 0, and raise after the call.
            sizes: constants to compile for: `s.compile(n=1024)`. Calls check them.
        """
        return Program._compile(self.proven_copy(), checks=checks, **sizes)

    def proven_copy(self) -> Schedule:
        """What is compiled: later directives do not change it.

        Raises:
            ScheduleError: something goes wrong, or is sketched and not proven.
        """
        self._settle()
        return self.copy()

    def fixed(self, sizes: Mapping[str, int]) -> Schedule:
        """The schedule for given sizes only."""
        made = self.copy()
        for name, value in sizes.items():
            if name not in self.program.sizes:
                raise ScheduleError(
                    f"{name} is no size of this program",
                    hint="its sizes are "
                    + (", ".join(self.program.sizes) or "none")
                    + "; compile takes checks=True, too",
                )
            made.assume(Expr(self.program.sizes[name]) == facts.check_size(name, value))
        made.variants = tuple(self._fixed_variants(sizes))
        return made

    def _fixed_variants(self, sizes: Mapping[str, int]) -> Iterator[tuple[Node, Schedule]]:
        """The variants for given sizes, without those that can never run then."""
        for condition, variant in self.variants:
            with suppress(ScheduleError):
                yield condition, variant.fixed(sizes)

    def specialize(self, condition: Any) -> Schedule:
        """A variant that runs where a condition on sizes and Params holds.

        Returns:
            The variant, a schedule of its own that assumes the condition. The first one whose
            condition holds is run; this schedule where none does.
        """
        return self._variant(requires.on_sizes("specialize", condition))

    def _variant(self, condition: Node) -> Schedule:
        """The variant for a condition that is typed already."""
        variant = self.copy()
        variant.variants, variant.inherited = (), len(self.directives)
        with variant._builder.together("", "specialize", (), Expr(condition)):
            variant._builder.apply(Assume("", condition, span=user_span()))
        node = variant._builder.state.assumptions[-1].condition
        assert node is not None
        self.variants = (*self.variants, (node, variant))
        return variant

    def __str__(self) -> str:
        with self.in_time() as a:
            return listing(a, self.said)

    def _called(self) -> str:
        return "a Schedule"

    def _others(self) -> dict[str, str]:
        at = f"s[{self.funcs[-1].name}]"
        return {x: f"directives are of a stage: {at}.{x}(...)" for x in public(StageHandle)}

    def __repr__(self) -> str:
        return f"Schedule of {self.program.signature()}"

    def _ipython_key_completions_(self) -> list[str]:
        """What may stand in `s["..."]`."""
        return [stage.name for stage in stages(self.tree)]

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __hash__(self) -> NoReturn:
        raise TypeError("a Schedule can change and has no hash")

    @bounded
    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise LanguageTypeError("compile a schedule, then call the kernel: s.compile()(...)")
