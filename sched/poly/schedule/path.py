"""How a schedule has come to its state: the directives and the brackets around them, step by step.

Where every step was accepted before, no state is needed to know what they return, and none is made
until somebody looks. It is made by carrying out the same directives, which need no second proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ...cached import cached_property
from ...garbage import uncollected
from ...lang.errors.errors import InternalError, user_place
from ...lang.nodes.dtypes import as_dtype
from ...lang.nodes.nodes import Node, Size, postorder, substitute
from ...lang.program.program import Program
from ...lang.program.scalars import symbols_of
from ...lang.tensors.tensors import Func
from ...later import later
from ...steps import Log
from ..program.rule import Rule
from ..state.exactly import exactly_given
from ..state.record import Directive
from .given import Given, as_made
from .journal import Journal, Reached
from .promised import PromisedFunc, promised, redeeming

if TYPE_CHECKING:
    from ..directives import apply
    from ..legality import checker
    from ..legality.checker import LegalityChecker
    from ..model import proven
    from ..sets import budget as budgets
    from ..state import editing as edits, rewritten as programs, state as states
    from ..state.editing import Editing
    from ..state.rewritten import RewrittenProgram
    from ..state.state import Edit, State
else:
    apply = later("..directives.apply", __package__)
    checker = later("..legality.checker", __package__)
    proven = later("..model.proven", __package__)
    budgets = later("..sets.budget", __package__)
    edits = later("..state.editing", __package__)
    programs = later("..state.rewritten", __package__)
    states = later("..state.state", __package__)

UNLIMITED = 1 << 50
"""isl operations for what has been accepted before."""


class Origin:
    """The program that a schedule is of, and how it begins.

    Attributes:
        journal: what was accepted of it before, if that is kept.
        symbols: its sizes and Params, by name.
    """

    def __init__(self, program: Program, rule: Rule, log: Log, journal: Journal | None) -> None:
        self.program, self.rule, self.journal = program, rule, journal
        self.symbols = symbols_of(program)
        self._log = log

    @cached_property
    def rewritten(self) -> RewrittenProgram:
        """The program before any directive.

        Raises:
            LanguageError: it is ill-formed.
            BudgetExceeded: it is too intricate to be proven right.
        """
        return programs.rewritten_program(self.program, self.rule, self._log)

    @cached_property
    def legality(self) -> LegalityChecker:
        """What decides whether states are legal, for all schedules that began here."""
        return checker.LegalityChecker()

    def named(self, expression: Node) -> Node:
        """An expression with the program's own sizes in place of others of the same names."""
        found = [n for n in postorder(expression) if isinstance(n, Size)]
        return substitute(expression, {n: self.symbols.get(n.name, n) for n in found})

    def editing(self, state: State, directive: Directive) -> Editing:
        """A state, for a directive to be carried out."""
        context = state.assumed(state.rewritten.model.context)
        return edits.Editing(state, self.symbols, context, directive)

    def first(self) -> Place:
        """The beginning of a schedule: known to be well-formed, or found to be so.

        Raises:
            LanguageError: it is not, or too intricate to be proven right.
        """
        if self.journal is not None and self.journal.root is not None:
            return Place(Step(self, self.journal.root), (), None)
        try:
            with budgets.budget(budgets.allowance(len(self.program.definitions))):
                state = states.State(self.rewritten, self.rewritten.written, {})
        except budgets.BudgetExceeded:
            raise proven.unproved(self.program) from None
        return Place(None if self.journal is None else Step(self, Reached()), (), state)


class Step:
    """A node of a journal, as one schedule has reached it.

    Attributes:
        node: what is known of it.
        before: the step before it; None at the beginning.
        said: the directive that has led here; None for a bracket.
        text: what the user has written, where the directive is part of it.
    """

    __slots__ = ("before", "event", "funcs", "node", "origin", "said", "state", "text")

    def __init__(
        self,
        origin: Origin,
        node: Reached,
        before: Step | None = None,
        event: str = "",
        said: Directive | Given | None = None,
        text: str | None = None,
    ) -> None:
        self.origin, self.node, self.before = origin, node, before
        self.event, self.said, self.text = event, said, text
        #: The Funcs that the directive is known to add, as far as they have been asked for.
        self.funcs: dict[str, Func] = {}
        #: The state here, where the directive has added Funcs: these are made once.
        self.state: State | None = None

    @property
    def directive(self) -> Directive | None:
        """What has led here; None for a bracket."""
        return None if self.said is None else as_made(self.said)

    def given(
        self, kind: type[Directive], stage: str, options: Mapping[str, Any], text: str | None
    ) -> Step | None:
        """The step of a directive that is not made yet, if it was accepted here before."""
        event = exactly_given(kind, stage, options)
        node = None if event is None else self.node.children.get(event)
        if event is None or node is None:
            return None
        said = Given(kind, stage, options, event, user_place())
        return Step(self.origin, node, self, event, said, text)

    def known(self, directive: Directive, text: str | None) -> Step | None:
        """The step of a directive, if it was accepted here before."""
        event = directive.exactly
        node = None if event is None else self.node.children.get(event)
        if event is None or node is None:
            return None
        return Step(self.origin, node, self, event, directive, text)

    def marked(self, event: str) -> Step:
        """The step of a bracket, which needs no proof."""
        return Step(self.origin, self.node.children.get(event) or Reached(), self, event)

    def accepted(
        self, directive: Directive, text: str | None, before: State, edit: Edit
    ) -> Step | None:
        """The step of a directive that has just been proven, or needs no proof here; None where
        nothing can be kept of it."""
        event = directive.exactly
        if event is None:
            return None
        old, new = before.rewritten, edit.state.rewritten
        names = new.program.names
        funcs = () if old is new else [f for f in new.program.funcs if f not in old.program.names]
        added = tuple((names[f], tuple(t.name for t in f.dtypes)) for f in funcs)
        node = Reached(edit.made, added)
        return Step(self.origin, node, self, event, directive, text)

    def path(self) -> list[Step]:
        """The steps from the first one to this one."""
        found = list(self._back())
        found.reverse()
        return found

    def _back(self) -> Iterator[Step]:
        at: Step | None = self
        while at is not None:
            yield at
            at = at.before

    def keep(self) -> None:
        """Stores what has been found out on the way here."""
        if self.origin.journal is not None:
            self.origin.journal.keep([(x.event, x.node) for x in self.path()])

    # Funcs ------------------------------------------------------------------------------------
    def func(self, name: str) -> Func | None:
        """A Func that the directive of this step is known to add."""
        if name not in self.funcs:
            types = next((t for n, t in self.node.funcs if n == name), None)
            if types is None:
                return None
            self.funcs[name] = promised(name, tuple(map(as_dtype, types)), lambda: state_at(self))
        return self.funcs[name]

    def name_of(self, func: Func) -> str | None:
        """The name of a Func of the program, or of one that a step has promised."""
        name = self.origin.program.names.get(func)
        if name is not None:
            return name
        added = ((n, f) for step in self._back() for n, f in step.funcs.items())
        return next((n for n, f in added if f is func), None)

    # states -----------------------------------------------------------------------------------
    def carried_out(self, state: State) -> State:
        """The state here, of that before the step.

        Raises:
            InternalError: the directive does something else than it did before.
        """
        if self.directive is None:
            return state
        if self.state is None:
            editing = self.origin.editing(state, self.directive)
            editing.promised = self.funcs.get
            with redeeming([f for f in self.funcs.values() if isinstance(f, PromisedFunc)]):
                edit = apply.applied(editing)
                if edit.made != self.node.made:
                    raise InternalError(
                        f"{self.directive.text()} makes {edit.made}, and made {self.node.made} "
                        "when it was proven"
                    )
            if not self.node.funcs:
                return edit.state
            self.state = edit.state
        return self.state


def state_at(step: Step) -> State:
    """The state at a step, made by carrying out all that was accepted before."""
    with uncollected(), budgets.separate_budget(UNLIMITED):
        todo: list[Step] = []
        at = step
        while at.state is None and at.before is not None:
            todo.append(at)
            at = at.before
        rewritten = step.origin.rewritten
        state = at.state or states.State(rewritten, rewritten.written, {})
        for each in reversed(todo):
            state = each.carried_out(state)
        return state


class Place:
    """Where a schedule is: the directives that it was given, and its state.

    Attributes:
        step: how it came here; None where nothing is kept of that.
        said: the directives, in order, as far as they are made.
    """

    __slots__ = ("_is_looked_at", "_state", "said", "step")

    def __init__(
        self, step: Step | None, said: tuple[Directive | Given, ...], state: State | None
    ) -> None:
        assert step is not None or state is not None
        self.step, self.said, self._state = step, said, state
        self._is_looked_at = False

    @property
    def records(self) -> tuple[Directive, ...]:
        """The directives, in order, which are made where nobody has looked at them yet."""
        if not self._is_looked_at and Given in set(map(type, self.said)):
            self.said = tuple(map(as_made, self.said))
        self._is_looked_at = True
        return cast("tuple[Directive, ...]", self.said)

    @property
    def is_made(self) -> bool:
        """Whether the state has been made."""
        return self._state is not None

    @property
    def state(self) -> State:
        if self._state is None:
            assert self.step is not None
            with budgets.separate_budget(UNLIMITED):  # in which other threads wait
                self._state = self._state or state_at(self.step)
        return self._state

    def marked(self, event: str) -> Place:
        """The place behind a bracket."""
        if self.step is None:
            return self
        return Place(self.step.marked(event), self.said, self._state)


def steps_between(first: Place, last: Place) -> Sequence[Step]:
    """The steps behind a place, to another one behind it."""
    assert first.step is not None
    assert last.step is not None
    path = last.step.path()
    return path[len(first.step.path()) :]
