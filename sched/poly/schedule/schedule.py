"""`Schedule`: how a program is run, apart from what it computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn, Self

from ...lang.errors.errors import LanguageTypeError, ScheduleError, user_span
from ...lang.errors.frames import Bounded, bounded
from ...lang.expr.expr import Expr
from ...lang.nodes.nodes import Node
from ...lang.program.program import OF_KERNELS, Args, Program
from ...lang.tensors.tensors import Func
from ...later import later
from ...steps import Log
from ...targets.host import target_of
from ...targets.target import Target
from ..program.rule import Rule, once_a_consumer, without_recomputation
from . import serial
from .asked import WhyNot
from .indexed import Indexed
from .journal import journal_of
from .path import Origin
from .queries import ScheduleQueries
from .schedule_builder import ScheduleBuilder

if TYPE_CHECKING:
    from ..directives import assumptions
    from ..report import facts, requires
    from . import replay, stages
else:
    assumptions = later("..directives.assumptions", __package__)
    facts = later("..report.facts", __package__)
    requires = later("..report.requires", __package__)
    replay = later(".replay", __package__)
    stages = later(".stages", __package__)

Outputs = Func | Sequence[Func]


@bounded
class Schedule(Indexed, WhyNot, ScheduleQueries):
    """How a program is run: at first as written, each Func at root, in the order of the program,
    inlined only where it is one equation that each consumer reads at one point; what takes a
    division or a function only where no element is computed twice then.

    `s[C]` is a stage, whose methods are the directives. Each is proven right for all sizes when
    it is given, or refused with two instances that would run in the wrong order.

    Args:
        outputs: the Func to compute, or several.
        args: the Inputs in the order of a call's positions; by default the order in which
            they were made.

    Raises:
        LanguageError: the program is ill-formed; with the definition's line.
    """

    _public = frozenset({
        "assume", "auto", "batch", "bit_exact", "broken_by", "comment", "compile", "conditions",
        "copy", "default", "dependences", "digest", "directives", "explain", "extents",
        "from_json", "funcs", "group", "keep", "key", "legal", "loop", "program", "prove", "sketch",
        "source", "specialize", "to_json", "trust", "trusted", "variants", "why_not", "written",
    })  # fmt: skip
    variants: tuple[tuple[Node, Self], ...]

    def __init__(
        self,
        outputs: Outputs,
        args: Args | None = None,
        target: Target | str | None = None,
    ) -> None:
        self._build(outputs, args, once_a_consumer, target)

    def _build(
        self,
        outputs: Outputs,
        args: Args | None,
        rule: Rule,
        target: Target | str | None = None,
    ) -> None:
        self.log = Log()
        self._asked = None if target is None else target_of(target)
        self._prove(self.log.step("program", lambda: Program(outputs, args)), rule)

    def _prove(self, program: Program, rule: Rule) -> None:
        self.rule = rule
        journal = journal_of(program, rule)
        self._builder = ScheduleBuilder(Origin(program, rule, self.log, journal))
        self._analysis = None
        self.variants = ()
        self.inherited = self.chosen = 0
        self.comments = ()

    @classmethod
    def default(
        cls,
        outputs: Outputs,
        args: Args | None = None,
        target: Target | str | None = None,
    ) -> Self:
        """The program as written: nothing is computed twice, nothing is stored without need."""
        made = cls.__new__(cls)
        made._build(outputs, args, without_recomputation, target)
        return made

    @classmethod
    def default_of(cls, program: Program, log: Log) -> Self:
        """The same of a program that is there already."""
        made = cls.__new__(cls)
        made.log, made._asked = log, None
        made._prove(program, without_recomputation)
        return made

    @classmethod
    def auto(
        cls,
        outputs: Outputs,
        args: Args | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        threads: int | None = None,
        target: Target | str | None = None,
        reassociate: bool = False,
    ) -> Self:
        """A schedule that a model of the machine finds best, as directives that are proven for all
        sizes and can be changed; comments in `source()` say why. Nothing is measured, and equal
        programs, sizes, threads and machines give equal schedules. Results keep their bits.

        Args:
            args: as of a Schedule.
            sizes: those that it shall be good for; others count as 1024, or as the nearest number
                that the program accepts.
            threads: how many a call shall use; by default as many as calls use now.
            reassociate: whether float sums may be taken in any order, which changes bits.

        Raises:
            LanguageError: the program is ill-formed.
            LanguageTypeError: a name is no size of the program.
            ScheduleError: the program does not accept these sizes, or is too intricate.
        """
        made: Self = Program._auto(outputs, args, sizes, threads, target, reassociate)
        return made

    def of(self, program: Program) -> Self:
        """The same for another program."""
        return self._begun(program, self._asked)

    def _begun(self, program: Program, target: Target | None) -> Self:
        made = type(self).__new__(type(self))
        made.log, made._asked = Log(), target
        made._prove(program, self.rule)
        return made

    def for_target(self, target: Target | str) -> Self:
        """The same directives for another target: numbers that were given by words are found anew.

        Raises:
            ScheduleError: with these numbers a directive is refused.
        """
        made = self._begun(self.base, target_of(target))
        replay.restore(made, serial.read_json(self.to_json()), anew=True)
        return made

    # directives -----------------------------------------------------------------------------------
    def assume(self, condition: Any) -> Self:
        """A condition on sizes and Params, checked at each call and used in proofs and bounds."""
        self._builder.apply(
            assumptions.Assume("", requires.on_sizes("assume", condition), span=user_span())
        )
        return self

    def batch(self) -> AbstractContextManager[Self]:
        """Proves all directives inside together, at the end; refused, none of them counts."""
        return Bounded(self._in_batch())

    @contextmanager
    def _in_batch(self) -> Iterator[Self]:
        before = self.variants, self.comments
        try:
            with self._builder.batch():
                yield self
        except BaseException:
            self.variants, self.comments = before
            raise

    def sketch(self) -> Self:
        """A copy whose directives are carried out and not proven, for looking at many before one is
        chosen. It can be changed, read, copied and written as JSON. It cannot be compiled before
        `prove()` has proven all of it together, as those of a batch are. That is no trust: what is
        not proven does not run."""
        made = self.copy()
        made._builder.sketch()
        return made

    def prove(self) -> Self:
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

    def trust(self, reason: str) -> AbstractContextManager[Self]:
        """Directives inside are not proven. Printed with the schedule; for what you know and the
        compiler cannot."""
        if not isinstance(reason, str) or not reason:
            raise LanguageTypeError("trust takes a reason: with s.trust('...'):")
        return Bounded(self._trusting(reason))

    @contextmanager
    def _trusting(self, reason: str) -> Iterator[Self]:
        with self._builder.trust(reason):
            yield self

    # as a value -----------------------------------------------------------------------------------
    def copy(self) -> Self:
        """An independent copy, with copies of its variants.

        In a batch, what it has is proven first; what is trusted ends with the block around it. The
        copy of a sketch is a sketch.
        """
        if not self._builder.is_sketch:
            self._builder.settle()
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._builder = self._builder.copy()
        made.variants = tuple((c, v.copy()) for c, v in self.variants)
        made.log = Log()
        made.log.seconds.update(self.log.seconds)
        made._analysis = None if self._analysis is None else self._analysis.logged(made.log)
        return made

    def __copy__(self) -> Schedule:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Schedule:
        return self.copy()  # Funcs are identities

    @classmethod
    def from_json(cls, outputs: Outputs, text: str, args: Args | None = None) -> Self:
        """A schedule of `outputs` with the directives that `to_json` wrote, proven anew.

        Args:
            args: as of a Schedule; by default the Inputs that have the names written.
        """
        written = serial.read_json(text)
        make = cls.default if written.default else cls
        made = make(outputs, args or written.args(outputs), written.target)
        replay.restore(made, written)
        return made

    def compile(self, *, checks: bool = False, **sizes: int) -> Any:
        """Machine code for this machine, as a callable Kernel. Later directives do not change it.

        Args:
            checks: count divisions by zero and negative powers of integers, and raise at the end.
            sizes: constants to compile for: `s.compile(n=1024)`. Calls check them.
        """
        return Program._compile(self.proven_copy(), checks=checks, **sizes)

    def proven_copy(self) -> Self:
        """What is compiled: later directives do not change it.

        Raises:
            ScheduleError: something goes wrong, or is sketched and not proven.
        """
        self._settle()
        self.keep()
        return self.copy()

    def keep(self) -> None:
        """Stores what was accepted: the same directives need no second proof, in this process or
        in another one. Compiling does this."""
        self._builder.keep()
        for _, variant in self.variants:
            variant.keep()

    def fixed(self, sizes: Mapping[str, int]) -> Self:
        """The schedule for given sizes only."""
        made = self.copy()
        for name, value in sizes.items():
            if name not in self.base.sizes:
                have = ", ".join(self.base.sizes) or "none"
                raise ScheduleError(
                    f"{name} is no size of this program",
                    hint=f"its sizes are {have}; compile takes checks=True, too",
                )
            made.assume(Expr(self.base.sizes[name]) == facts.check_size(name, value))
        made.variants = tuple(self._fixed_variants(sizes))
        return made

    def _fixed_variants(self, sizes: Mapping[str, int]) -> Iterator[tuple[Node, Self]]:
        """The variants for given sizes, without those that can never run then."""
        for condition, variant in self.variants:
            with suppress(ScheduleError):
                yield condition, variant.fixed(sizes)

    def specialize(self, condition: Any) -> Self:
        """A variant that runs where a condition on sizes and Params holds.

        Returns:
            The variant, a schedule of its own that assumes the condition. The first one whose
            condition holds is run; this schedule where none does.
        """
        return self._variant(requires.on_sizes("specialize", condition))

    def _variant(self, condition: Node) -> Self:
        """The variant for a condition that is typed already."""
        variant = self.copy()
        variant.variants, variant.inherited = (), len(self.directives)
        with variant._builder.together("", "specialize", (), Expr(condition)):
            variant._builder.apply(assumptions.Assume("", condition, span=user_span()))
        (made,) = variant.directives[variant.inherited :]
        assert isinstance(made, assumptions.Assume)
        self.variants = (*self.variants, (made.condition, variant))
        return variant

    def _called(self) -> str:
        return "a Schedule"

    def _others(self) -> dict[str, str]:
        at = f"s[{self.funcs[-1].name}]"
        names = {f.name: f'a stage is found by its name: s["{f.name}"]' for f in self.funcs}
        kernel = {x: f"that is of a kernel: s.compile().{x}(...)" for x in OF_KERNELS}
        return names | stages.of_stages(at) | kernel

    @bounded
    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise LanguageTypeError("compile a schedule, then call the kernel: s.compile()(...)")
