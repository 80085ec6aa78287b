"""`Schedule`: how a program is run, apart from what it computes."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn, TypeVar

from ..lang.elaborate import infer_condition
from ..lang.errors import InternalError, LanguageError, LanguageTypeError, ScheduleError, user_span
from ..lang.expr import Expr, as_node
from ..lang.inout import InOut
from ..lang.nodes import Node, Param, Read, RVar, Size, Var, integer, postorder
from ..lang.printer import expr_text, html_text
from ..lang.program import Program
from ..lang.records import Directive
from ..lang.tensors import Func, Input
from ..steps import Log
from . import recurrence
from .dependences import Dependence
from .editor import Editor, State
from .edits import At, loops_around, stages
from .explain import explain, notes
from .expressions import Translator
from .folding import Window, clobbers, copied, enough, windows
from .inline import Rule, inlined, once_a_consumer, without_recomputation
from .isl import BudgetExceeded, Set, budget
from .looptree import Loop, Seq, Stage, as_written
from .model import output_sizes
from .proof import Prover, accumulates, is_exact
from .proven import BUDGET, proven, unproved
from .refusals import clobbered, refusal
from .scan import Scan, loop_extent, scan, text
from .stages import LoopHandle, StageHandle
from .statements import Statement

T = TypeVar("T")
Outputs = Func | Sequence[Func]


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
        self.model, self.proven = proven(program, definitions, self.log)
        try:
            with budget(BUDGET):
                tree: Seq = step("order", lambda: as_written(self.model, recurrence.nest))
        except BudgetExceeded:
            raise unproved(program) from None
        self._prover = Prover(self.model, tree)
        self._state = State(tree, {})
        self._records: tuple[Directive, ...] = ()
        self._batches: tuple[range, ...] = ()
        self._pending: set[Statement] | None = None
        self._trust: str | None = None
        self._composite: str | None = None
        self._start: tuple[State, tuple[Directive, ...]] | None = None
        self._advises = True
        #: Sizes that are known, and schedules for sizes that meet a condition.
        self.constants: dict[str, Node] = {}
        self.variants: tuple[tuple[Node, Schedule], ...] = ()

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

    # what follows from the state, found anew after each directive --------------------------------
    @property
    def tree(self) -> Seq:
        """The loops and what stands in them."""
        return self._state.tree

    def _derived(self, name: str, find: Callable[[], T]) -> T:
        """Something that follows from the tree and what is assumed, found once for each state."""
        kept = self.__dict__.setdefault("_kept", {})
        if kept.get("state") is not self._state:
            kept.clear()
            kept["state"] = self._state
        if name not in kept:
            try:
                with budget(BUDGET):
                    kept[name] = self.log.step(name, find)
            except BudgetExceeded:
                raise unproved(self.program) from None
        return kept[name]  # type: ignore[no-any-return]

    @property
    def windows(self) -> dict[Func, Window]:
        """How many planes are kept of Funcs of recurrences that need not be stored whole."""
        found = self._derived("folding", lambda: windows(self.model, self.tree))
        return {**found, **dict(self._state.folds)}

    @property
    def copied(self) -> tuple[InOut, ...]:
        """InOuts whose initial values are still read after they have been overwritten."""
        return self._derived("copies", lambda: copied(self.model, self.tree))

    @property
    def nests(self) -> tuple[Scan, ...]:
        """The loops with their bounds."""
        return self._derived("bounds", self._scan)

    def _scan(self) -> tuple[Scan, ...]:
        return scan(self.tree, self._known, self._callable(self._state))

    def _callable(self, state: State) -> Set:
        """The sizes that a call accepts."""
        context = self.model.context
        asked = [a.allowed for a in state.assumptions] + [c.allowed for c in self.proven.sizes]
        for allowed in asked:
            context = context.intersect(allowed)
        return context

    @property
    def context(self) -> Set:
        """What holds of the sizes, by the program and by what the schedule assumes."""
        context = self.model.context
        for a in self._state.assumptions:
            context = context.intersect(a.allowed)
        return context

    @property
    def assumptions(self) -> tuple[tuple[Node, str], ...]:
        """Conditions on the sizes that directives ask for, each with its reason."""
        names = Translator(self.parameters)
        found = []
        for a in self._state.assumptions:
            node = a.condition if a.condition is not None else names.condition(a.allowed)
            if node is not None:
                found.append((node, a.text))
        return tuple(found)

    def assume(self, condition: Any) -> Schedule:
        """A condition on sizes and Params, checked at each call and used in proofs and bounds."""
        node = infer_condition(as_node(condition), user_span())
        for n in postorder(node):
            if isinstance(n, (Read, Var, RVar)):
                raise LanguageError(
                    f"an assumption is about sizes and Params, and cannot contain {expr_text(n)}"
                )
        self._apply("", "assume", {"condition": node})
        return self

    @cached_property
    def parameters(self) -> dict[str, Node]:
        """The sizes and Params that bounds and conditions are made of, by name."""
        program = self.program
        extents = [s for f in program.outputs for s in output_sizes(program, f)]
        symbols: list[Size | Param] = [*program.sizes.values(), *extents, *program.params.values()]
        return {s.name: s for s in symbols}

    @property
    def _known(self) -> dict[str, Node]:
        """The same with known sizes as constants."""
        return {**self.parameters, **self.constants}

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
        for node, reason in self.assumptions:
            needed = expr_text(node)
            found.append(f"{needed}: assumed" + ("" if reason == needed else f", {reason}"))
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
        funcs = [f for f in self.program.funcs if self.program.names[f] == what or f.name == what]
        if len(funcs) > 1:
            raise ScheduleError(
                f"{what!r} names {len(funcs)} Funcs", hint="s[f] with the Func itself"
            )
        if what in [stage.name for stage in stages(self.tree)]:
            return StageHandle(self, what)
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
        return Editor(self._state, self.parameters, self.context, self.model, directive).at(loop)

    def extent(self, loop: Loop) -> str:
        """How many iterations a loop of the tree has, as text."""
        return loop_extent(self.nests, loop)

    def explain(self) -> str:
        """What the schedule does, what it keeps and asks, and what may be missed in it."""
        return explain(self)

    def _apply(self, stage: str, name: str, options: Mapping[str, Any]) -> tuple[str, ...]:
        """One directive: carried out, proven, recorded; or refused, and nothing has changed."""
        given = tuple((k, v) for k, v in options.items() if v is not None)
        directive = Directive(stage, name, given, user_span())
        return self._replay(directive)

    def _replay(self, directive: Directive) -> tuple[str, ...]:
        with self._in_time(directive):
            edit = Editor(self._state, self.parameters, self.context, self.model, directive).run()
            if self._trust is not None:
                pass
            elif self._pending is not None:
                self._pending |= edit.edited
            else:
                self._check(edit.state, edit.edited, directive)
        state = edit.state
        if self._trust is not None:
            state = replace(state, trusted=(*state.trusted, (directive, self._trust)))
        self._state = state
        self._records = (*self._records, directive)
        return edit.made

    @contextmanager
    def _in_time(self, directive: Directive) -> Iterator[None]:
        """Refuses a directive whose proof takes too long."""
        try:
            with budget(BUDGET):
                yield
        except BudgetExceeded:
            raise ScheduleError(
                f"{directive.text()} could not be proven right in the time allowed",
                where=directive.span,
                status="unproved",
                directive=directive.text(),
            ) from None

    def _settle(self) -> None:
        """Proves what a batch under way has put off so far."""
        if self._pending:
            last = self._records[-1]
            before, self._composite = self._composite, f"the batch up to {last.text()}"
            try:
                with self._in_time(last):
                    self._check(self._state, self._pending, last)
            finally:
                self._composite = before

    def _check(self, state: State, edited: Collection[Statement], directive: Directive) -> None:
        def relaxed(s: Statement) -> bool:
            return is_exact(s.definition) or (
                s.name in state.reassociated and accumulates(s.definition)
            )

        context = self._callable(state)
        missing = self._prover.uncovered(state.tree, context)
        if missing is not None:
            raise InternalError(f"{directive.text()} leaves out instances of {missing.name}")
        for func, window in state.folds:
            lost = clobbers(self.model, func, window, state.tree, context)
            if lost:
                more = enough(self.model, func, window, state.tree, context)
                raise clobbered(lost, window, more, directive, self._composite, context)
        found = list(self._prover.violations(state.tree, edited, relaxed, context))
        if found:
            raise refusal(self._prover, found, directive, self._composite, self._would_help)

    def _would_help(self, directive: Directive, first: Directive) -> bool:
        """Whether a refused directive would be right with another one before it."""
        if not self._advises or self._pending is not None:
            return False
        state, records = self._start or (self._state, self._records)
        trial = Schedule.__new__(Schedule)
        trial.__dict__.update(self.__dict__)
        trial.__dict__.pop("_kept", None)
        trial._state, trial._records, trial._advises = state, records, False
        try:
            for d in (first, *self._records[len(records) :], directive):
                trial._replay(d)
        except ScheduleError:
            return False
        return True

    @contextmanager
    def _together(self, stage: StageHandle, name: str, *args: Any) -> Iterator[None]:
        """Several directives that count as one: all of them, or none."""
        before = self._state, self._records, self._composite
        outermost = self._start is None
        self._start = self._start or before[:2]
        shown = ", ".join(repr(x) for a in args for x in (a if isinstance(a, tuple) else (a,)))
        self._composite = self._composite or f's["{stage.name}"].{name}({shown})'
        try:
            yield
        except BaseException:
            self._state, self._records, _ = before
            raise
        finally:
            self._composite = before[2]
            if outermost:
                self._start = None

    @contextmanager
    def batch(self) -> Iterator[Schedule]:
        """Proves all directives inside together, at the end; refused, none of them counts."""
        before, outer = (self._state, self._records, self.variants), self._pending
        pending = self._pending = set()
        try:
            yield self
            if outer is not None:
                outer |= pending
            else:
                self._settle()
                self._batches = (*self._batches, range(len(before[1]), len(self._records)))
        except BaseException:
            self._state, self._records, self.variants = before
            raise
        finally:
            self._pending = outer

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
        variants = tuple((c, v.key) for c, v in self.variants)
        constants = tuple(sorted((n, x.value) for n, x in self.constants.items()))  # type: ignore[attr-defined]
        records = (self._rule, self._records, constants, variants)
        return (self.program.outputs, self.program.inputs, *records)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self.key == other.key

    def copy(self) -> Schedule:
        """One that can be changed by itself, and its variants too.

        In a batch, what it has is proven first; what is trusted ends with the block around it.
        """
        self._settle()
        made = Schedule.__new__(Schedule)
        made.__dict__.update(self.__dict__)
        made.__dict__.pop("_kept", None)
        made._pending = made._trust = None
        made.variants = tuple((c, v.copy()) for c, v in self.variants)
        made.log = Log()
        made.log.seconds.update(self.log.seconds)
        return made

    def _parts(self) -> Iterator[tuple[bool, tuple[Directive, ...]]]:
        """The directives as they were given: in a batch, or one by one."""
        done = 0
        for batch in self._batches:
            yield from ((False, (d,)) for d in self._records[done : batch.start])
            yield True, self._records[batch.start : batch.stop]
            done = batch.stop
        yield from ((False, (d,)) for d in self._records[done:])

    @property
    def _reasons(self) -> dict[int, str]:
        """For directives that were not proven, by id, why they are trusted."""
        return {id(d): reason for d, reason in self._state.trusted}

    def source(self) -> str:
        """Python that makes this schedule, given its outputs."""
        outputs = ", ".join(f.name for f in self.program.outputs)
        whole = f"({outputs})" if len(self.program.outputs) > 1 else outputs
        made = "ps.Schedule" + ("" if self._rule is once_a_consumer else ".default")
        lines, reasons = [f"s = {made}({whole})"], self._reasons
        for batch, directives in self._parts():
            pad = "    " if batch else ""
            lines += ["with s.batch():"] * (batch and bool(directives))
            for d in directives:
                trust = f"with s.trust({reasons[id(d)]!r}): " if id(d) in reasons else ""
                lines.append(pad + trust + d.text())
        return "\n".join(lines)

    def to_json(self) -> str:
        """The directives as text that `from_json` reads."""
        reasons = self._reasons
        parts = [
            {"batch": batch, "directives": [(d.to_json(), reasons.get(id(d))) for d in directives]}
            for batch, directives in self._parts()
        ]
        return json.dumps({"default": self._rule is not once_a_consumer, "parts": parts})

    @classmethod
    def from_json(cls, outputs: Outputs, text: str) -> Schedule:
        """A schedule of `outputs` with the directives that `to_json` wrote, proven anew."""
        data = json.loads(text)
        made = cls.default(outputs) if data["default"] else cls(outputs)
        for part in data["parts"]:
            with made.batch() if part["batch"] else nullcontext():
                for item, reason in part["directives"]:
                    with made.trust(reason) if reason else nullcontext():
                        made._replay(Directive.from_json(item))
        return made

    @property
    def bit_exact(self) -> bool:
        """Whether every result equals the interpreter's to the bit."""
        return not self.broken_by

    @property
    def trusted(self) -> tuple[tuple[Directive, str], ...]:
        """Directives that were not proven, each with the reason given; those of variants too."""
        return (*self._state.trusted, *(t for _, v in self.variants for t in v.trusted))

    @property
    def broken_by(self) -> tuple[str, ...]:
        """The stages whose results may differ in their last bits, here or in a variant."""
        inside = (name for _, v in self.variants for name in v.broken_by)
        return tuple(sorted({*self._state.reassociated, *inside}))

    def compile(self, *, checks: bool = False, **sizes: int) -> Any:
        """Machine code for this machine, as a callable Kernel. Later directives do not change it.

        Args:
            checks: count integer divisions by zero, which give 0, and raise after the call.
            sizes: constants to compile for: `s.compile(n=1024)`. Calls check them.
        """
        self._settle()
        return Schedule._compile(self.copy(), checks=checks, **sizes)

    def fixed(self, sizes: Mapping[str, int]) -> Schedule:
        """The same for given sizes only."""
        made = self.copy()
        for name, value in sizes.items():
            if name not in self.program.sizes:
                raise ScheduleError(
                    f"{name} is no size of this program",
                    hint="its sizes are " + (", ".join(self.program.sizes) or "none"),
                )
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ScheduleError(f"{name}={value!r}: a size is an integer >= 0")
            made.assume(Expr(self.program.sizes[name]) == value)
        made.constants = {**self.constants, **{n: integer(v) for n, v in sizes.items()}}
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
        variant = self.copy()
        variant.variants = ()
        variant.assume(condition)
        node = variant._state.assumptions[-1].condition
        assert node is not None
        self.variants = (*self.variants, (node, variant))
        return variant

    def __str__(self) -> str:
        head = f"Schedule of {self.program.signature()}"
        lines = [head, *(text(nest, 1, self.program.names) for nest in self.nests)]
        lines += [f"  keeps {k} of {self.program.names[f]}" for f, k in self.windows.items()]
        lines += [f"  copies {a.name} first" for a in self.copied]
        lines += [f"  requires {c}" for c in self.conditions]
        lines += [f"  note: {text}" for text in notes(self)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Schedule of {self.program.signature()}"

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __hash__(self) -> NoReturn:
        raise TypeError("a Schedule can change and has no hash")

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("compile a schedule, then call the kernel: s.compile()(...)")
