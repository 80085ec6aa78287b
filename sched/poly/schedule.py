"""`Schedule`: how a program is run, apart from what it computes."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn, TypeVar

from ..lang.errors import LanguageError, LanguageTypeError, ScheduleError, user_span
from ..lang.inout import InOut
from ..lang.nodes import Node, Param, Size
from ..lang.printer import expr_text, html_text
from ..lang.program import Program
from ..lang.records import Directive
from ..lang.tensors import Func, Input
from ..steps import Log
from . import recurrence
from .conditions import Conditions, conditions, together
from .dependences import Dependence
from .editor import Editor, State
from .edits import At, loops_around, stages
from .expressions import Translator
from .folding import Window, copied, windows
from .inline import Definitions, Rule, inlined, once_a_consumer, without_recomputation
from .isl import BudgetExceeded, budget
from .legality import check_updates
from .looptree import Loop, Seq, Stage, as_written
from .model import Model, output_sizes
from .proof import Prover, accumulates, is_exact
from .refusals import refusal
from .scan import Scan, loop_extent, scan, text
from .stages import LoopHandle, StageHandle
from .statements import Statement

T = TypeVar("T")
Outputs = Func | Sequence[Func]


_BUDGET = 50_000_000
"""isl operations for one proof: some five seconds, a hundred times what a long pipeline takes."""


class Schedule:
    """How a program is run: at first as written, each Func at root, in the order of the program,
    inlined only where it is one equation that each consumer reads at one point.

    `s[C]` is a stage, whose methods are the directives. Each is proven right for all sizes when
    it is given, or refused with two instances that would run in the wrong order.

    Args:
        outputs: the Func to compute, or several.
        args: the Inputs in the order of a call's positions; by default the order in which the
            program first reads them.

    Raises:
        LanguageError: the program is ill-formed; with the definition's line.
    """

    _compile: ClassVar[Callable[..., Any]]

    def __init__(self, outputs: Outputs, args: Sequence[Input] | None = None) -> None:
        self._build(outputs, args, once_a_consumer)

    def _build(self, outputs: Outputs, args: Sequence[Input] | None, rule: Rule) -> None:
        chosen = (outputs,) if isinstance(outputs, Func) else tuple(outputs)
        self.log = Log()
        self._prove(self.log.step("program", lambda: Program(chosen, args)), rule)

    def _prove(self, program: Program, rule: Rule) -> None:
        step = self.log.step
        self.program, self._rule = program, rule
        definitions = step("inline", lambda: inlined(self.program, rule))
        self.model, self.proven = self._proven(definitions)
        try:
            with budget(_BUDGET):
                tree: Seq = step("order", lambda: as_written(self.model, recurrence.nest))
        except BudgetExceeded:
            raise self._unproved() from None
        self._prover = Prover(self.model, tree)
        self._state = State(tree, {})
        self._records: tuple[Directive, ...] = ()
        self._pending: set[Statement] | None = None
        self._trust: str | None = None
        self._composite: str | None = None

    def _proven(self, definitions: Definitions) -> tuple[Model, Conditions]:
        """The model and what it asks of the sizes.

        Regions are filled up where that makes loops simpler; but what is computed beyond need
        may ask nothing more of the sizes, so where anything is asked they are exact.
        """
        proven: tuple[Model, Conditions] | None = None
        for exact in (False, True):
            try:
                proven = self._attempt(definitions, exact)
            except BudgetExceeded:
                continue  # what is asked of filled regions is sufficient, if not the weakest
            except LanguageError:
                if exact:
                    raise
                continue
            if not (proven[1].sizes or proven[1].scans):
                break
        if proven is None:
            raise self._unproved()
        model, found = proven
        if len(definitions) < len(self.program.funcs):
            # A Func that is inlined is not stored, but what its shape forbids stays forbidden.
            try:
                _, whole = self._attempt(None, exact=True)
            except BudgetExceeded:
                raise self._unproved() from None
            found = together(model, found, whole)
        return model, found

    def _unproved(self) -> LanguageError:
        return LanguageError(
            f"{', '.join(f.name for f in self.program.outputs)} could not be proven right: the "
            "regions and bounds of the program are too intricate for the time allowed",
            where=self.program.outputs[-1].history.recorded[-1].span,
            hint="declare the shapes of the Funcs in between, or clamp indices more simply",
        )

    def _attempt(self, definitions: Definitions | None, exact: bool) -> tuple[Model, Conditions]:
        step = self.log.step
        with budget(_BUDGET):
            model = step("model", lambda: Model(self.program, definitions, exact))
            step("updates", lambda: check_updates(model))
            return model, step("conditions", lambda: conditions(model))

    @classmethod
    def default(cls, outputs: Outputs, args: Sequence[Input] | None = None) -> Schedule:
        """What a bare call runs: nothing is computed twice, nothing is stored without need."""
        made = cls.__new__(cls)
        made._build(outputs, args, without_recomputation)
        return made

    def of(self, program: Program) -> Schedule:
        """The same for another program."""
        made = Schedule.__new__(Schedule)
        made.log = Log()
        made._prove(program, self._rule)
        return made

    @property
    def funcs(self) -> tuple[Func, ...]:
        """The Funcs that are stored, producers before consumers."""
        return tuple(f for f in self.program.funcs if f in self.model.regions)

    # what follows from the tree, found anew after each directive ---------------------------------
    @property
    def tree(self) -> Seq:
        """The loops and what stands in them."""
        return self._state.tree

    def _derived(self, name: str, find: Callable[[], T]) -> T:
        """Something that follows from the tree, found once for each tree."""
        kept = self.__dict__.setdefault("_kept", {})
        if kept.get("tree") is not self.tree:
            kept.clear()
            kept["tree"] = self.tree
        if name not in kept:
            try:
                with budget(_BUDGET):
                    kept[name] = self.log.step(name, find)
            except BudgetExceeded:
                raise self._unproved() from None
        return kept[name]  # type: ignore[no-any-return]

    @property
    def windows(self) -> dict[Func, Window]:
        """How many planes are kept of Funcs of recurrences that need not be stored whole."""
        return self._derived("folding", lambda: windows(self.model, self.tree))

    @property
    def copied(self) -> tuple[InOut, ...]:
        """InOuts whose initial values are still read after they have been overwritten."""
        return self._derived("copies", lambda: copied(self.model, self.tree))

    @property
    def nests(self) -> tuple[Scan, ...]:
        """The loops with their bounds."""
        return self._derived("bounds", self._scan)

    def _scan(self) -> tuple[Scan, ...]:
        context = self.model.context
        for c in self.proven.sizes:
            context = context.intersect(c.allowed)
        return scan(self.tree, self.parameters, context)

    @cached_property
    def parameters(self) -> dict[str, Node]:
        """The sizes and Params that bounds and conditions are made of, by name."""
        program = self.program
        extents = [s for f in program.outputs for s in output_sizes(program, f)]
        symbols: list[Size | Param] = [*program.sizes.values(), *extents, *program.params.values()]
        return {s.name: s for s in symbols}

    @property
    def conditions(self) -> tuple[str, ...]:
        """What a call requires of the sizes, each with the access that needs it."""
        names = Translator(self.parameters)
        found = []
        for c in self.proven.sizes:
            node = names.condition(c.allowed)
            if node is not None:
                found.append(f"{expr_text(node)}: {c.text}")
        found += [f"{expr_text(r.condition)}: {r.message}" for r in self.program.requirements]
        return tuple(found)

    def dependences(self) -> tuple[Dependence, ...]:
        """Every dependence between the instances of the program."""
        return self._prover.dependences

    # building -------------------------------------------------------------------------------------
    def __getitem__(self, what: Func | str) -> StageHandle:
        """The stage of a Func's pure definition, or the stage of that name."""
        if isinstance(what, StageHandle):
            return self._stage_handle(what.name)
        if isinstance(what, Func):
            return self._stage_handle(self._name_of(what))
        if not isinstance(what, str):
            raise LanguageTypeError(
                f"{what!r} is no stage", hint="s[C] for a Func, s['C'], s['C.update(0)']"
            )
        names = [stage.name for stage in stages(self.tree)]
        if what in names:
            return StageHandle(self, what)
        funcs = [f for f in self.program.funcs if self.program.names[f] == what or f.name == what]
        if len(funcs) > 1:
            raise ScheduleError(
                f"{what!r} names {len(funcs)} Funcs", hint="s[f] with the Func itself"
            )
        return self[funcs[0]] if funcs else self._stage_handle(what)

    def _name_of(self, func: Func) -> str:
        """The name of the closing piece of a Func's definition, or of its first update."""
        own = [s for s in self.model.statements if s.func is func]
        if not own:
            if func in self.program.funcs:
                raise ScheduleError(
                    f"{func.name} is inlined into its consumers: it has no loops",
                    hint="it is computed wherever they read it",
                )
            raise ScheduleError(
                f"{func.name} is not part of this schedule",
                hint="its Funcs are " + ", ".join(f.name for f in self.funcs),
            )
        pure = [s for s in own if not s.definition.is_update]
        return (pure[-1] if pure else own[0]).name

    def _stage_handle(self, name: str) -> StageHandle:
        if name not in [stage.name for stage in stages(self.tree)]:
            have = ", ".join(stage.name for stage in stages(self.tree))
            raise ScheduleError(f"there is no stage {name}", hint=f"stages are {have}")
        return StageHandle(self, name)

    def group(self, func: Func | str) -> StageHandle:
        """The loops that mutually recursive Funcs share, as those of one of them."""
        return self[func]

    def loop(self, name: str) -> LoopHandle:
        """The loop of a `sequential`, or any loop of which there is only one."""
        for stage in stages(self.tree):
            for at in loops_around(self.tree, stage.name):
                if at.loop.name == name:
                    return LoopHandle(self, stage.name, name)
        raise ScheduleError(f"there is no loop {name}")

    def _stage(self, name: str) -> Stage:
        return next(s for s in stages(self.tree) if s.name == name)

    def _find(self, stage: str, loop: str) -> At:
        directive = Directive(stage, "loop", (("loop", loop),), user_span())
        return Editor(self._state, self.parameters, self.model.context, directive).at(loop)

    def _extent(self, loop: Loop) -> str:
        return loop_extent(self.nests, loop)

    def _apply(self, stage: str, name: str, options: Mapping[str, Any]) -> tuple[str, ...]:
        """One directive: carried out, proven, recorded; or refused, and nothing has changed."""
        given = tuple((k, v) for k, v in options.items() if v is not None)
        directive = Directive(stage, name, given, user_span())
        return self._replay(directive)

    def _replay(self, directive: Directive) -> tuple[str, ...]:
        try:
            with budget(_BUDGET):
                edit = Editor(self._state, self.parameters, self.model.context, directive).run()
                if self._pending is not None:
                    self._pending |= edit.edited
                elif self._trust is None:
                    self._check(edit.state, edit.edited, directive)
        except BudgetExceeded:
            raise ScheduleError(
                f"{directive.text()} could not be proven right in the time allowed",
                where=directive.span,
                status="unproved",
                directive=directive.text(),
            ) from None
        state = edit.state
        if self._trust is not None:
            state = replace(state, trusted=(*state.trusted, (directive, self._trust)))
        self._state = state
        self._records = (*self._records, directive)
        return edit.made

    def _check(self, state: State, edited: Collection[Statement], directive: Directive) -> None:
        def relaxed(s: Statement) -> bool:
            return is_exact(s.definition) or (
                s.name in state.reassociated and accumulates(s.definition)
            )

        found = list(self._prover.violations(state.tree, edited, relaxed))
        if found:
            raise refusal(self._prover, found, directive, self._composite)

    @contextmanager
    def _together(self, stage: StageHandle, name: str, *args: Any) -> Iterator[None]:
        """Several directives that count as one: all of them, or none."""
        before = self._state, self._records, self._composite
        shown = ", ".join(repr(x) for a in args for x in (a if isinstance(a, tuple) else (a,)))
        self._composite = self._composite or f's["{stage.name}"].{name}({shown})'
        try:
            yield
        except BaseException:
            self._state, self._records, _ = before
            raise
        finally:
            self._composite = before[2]

    @contextmanager
    def batch(self) -> Iterator[Schedule]:
        """Proves all directives inside together, at the end; refused, none of them counts."""
        before = self._state, self._records
        self._pending = set()
        try:
            yield self
            pending, self._pending = self._pending, None
            if self._records != before[1] and self._trust is None:
                self._check(self._state, pending, self._records[-1])
        except BaseException:
            self._state, self._records = before
            raise
        finally:
            self._pending = None

    @contextmanager
    def trust(self, reason: str) -> Iterator[Schedule]:
        """Directives inside are not proven. Printed with the schedule; for what you know and the
        compiler cannot."""
        if not isinstance(reason, str) or not reason:
            raise LanguageTypeError("trust takes a reason: with s.trust('...'):")
        before, self._trust = self._trust, reason
        try:
            yield self
        finally:
            self._trust = before

    # as a value -----------------------------------------------------------------------------------
    @property
    def directives(self) -> tuple[Directive, ...]:
        """What was asked, in order."""
        return self._records

    @property
    def key(self) -> tuple[Any, ...]:
        """Hashable; equal for schedules of one program with the same directives."""
        return (self.program.outputs, self.program.inputs, self._rule, self._records)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self.key == other.key

    def copy(self) -> Schedule:
        """One that can be changed by itself."""
        made = Schedule.__new__(Schedule)
        made.__dict__.update(self.__dict__)
        made.__dict__.pop("_kept", None)
        made.log = Log()
        return made

    def source(self) -> str:
        """Python that makes this schedule, given its outputs."""
        outputs = ", ".join(f.name for f in self.program.outputs)
        whole = f"({outputs})" if len(self.program.outputs) > 1 else outputs
        made = "ps.Schedule" + ("" if self._rule is once_a_consumer else ".default")
        return "\n".join([f"s = {made}({whole})", *(d.text() for d in self._records)])

    def to_json(self) -> str:
        """The directives as text that `from_json` reads."""
        default = self._rule is not once_a_consumer
        return json.dumps({"default": default, "directives": [d.to_json() for d in self._records]})

    @classmethod
    def from_json(cls, outputs: Outputs, text: str) -> Schedule:
        """A schedule of `outputs` with the directives that `to_json` wrote, proven anew."""
        data = json.loads(text)
        made = cls.default(outputs) if data["default"] else cls(outputs)
        for item in data["directives"]:
            made._replay(Directive.from_json(item))
        return made

    @property
    def bit_exact(self) -> bool:
        """Whether every result equals the interpreter's to the bit."""
        return not self._broken_by

    @property
    def _broken_by(self) -> tuple[str, ...]:
        return tuple(sorted(self._state.reassociated))

    def compile(self, *, checks: bool = False) -> Any:
        """Machine code for this machine, as a callable Kernel.

        Args:
            checks: count integer divisions by zero, which give 0, and raise after the call.
        """
        return Schedule._compile(self, checks=checks)

    def __str__(self) -> str:
        head = f"Schedule of {self.program.signature()}"
        lines = [head, *(text(nest, 1, self.program.names) for nest in self.nests)]
        lines += [f"  keeps {k} of {self.program.names[f]}" for f, k in self.windows.items()]
        lines += [f"  copies {a.name} first" for a in self.copied]
        lines += [f"  requires {c}" for c in self.conditions]
        lines += [f"  not bit-exact: {n} may be summed in any order" for n in self._broken_by]
        lines += [f"  trusted, {reason}: {d.text()}" for d, reason in self._state.trusted]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Schedule of {self.program.signature()}"

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __hash__(self) -> NoReturn:
        raise TypeError("a Schedule can change and has no hash")

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("compile a schedule, then call the kernel: s.compile()(...)")
