"""Directives one after the other: each carried out, proven and recorded, or refused."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ..lang.errors import InternalError, ScheduleError, user_span
from ..lang.nodes import Node, Size, postorder, substitute
from ..lang.records import Directive
from .conditions import Conditions
from .editor import Editor
from .folding import clobbers, enough
from .isl import BudgetExceeded, Set, budget
from .looptree import Seq
from .model import Model
from .proof import Prover, accumulates, is_exact
from .proven import BUDGET
from .refusals import clobbered, refusal
from .state import State
from .statements import Statement


@dataclass(frozen=True)
class Batch:
    """A batch under way: the number of directives before it, and what is to be proven."""

    start: int
    edited: frozenset[Statement] = frozenset()


class Builder:
    """The state of a schedule, and the directives that led to it.

    Attributes:
        records: the directives, in order.
    """

    def __init__(
        self, model: Model, proven: Conditions, symbols: Mapping[str, Node], tree: Seq
    ) -> None:
        self.model = model
        self.prover = Prover(model, tree)
        self.state = State(tree, {})
        self.records: tuple[Directive, ...] = ()
        self._batches: tuple[range, ...] = ()
        self._proven = proven
        self._symbols = symbols
        self._batch: Batch | None = None
        self._trust: str | None = None
        self._composite: str | None = None
        self._start: tuple[State, tuple[Directive, ...]] | None = None
        self._advises = True

    def copy(self) -> Builder:
        """One that goes its own way, outside of the batches and trust around this one."""
        made = copy.copy(self)
        made._batches = self.batches
        made._batch = made._trust = None
        return made

    @property
    def batches(self) -> tuple[range, ...]:
        """Which of the directives are proven together, also in the batch under way."""
        if self._batch is None:
            return self._batches
        return (*self._batches, range(self._batch.start, len(self.records)))

    def callable(self, state: State) -> Set:
        """The sizes that a call accepts."""
        context = state.assumed(self.model.context)
        for c in self._proven.sizes:
            context = context.intersect(c.allowed)
        return context

    def editor(self, directive: Directive) -> Editor:
        """What carries out a directive on the present state."""
        context = self.state.assumed(self.model.context)
        return Editor(self.state, self._symbols, context, self.model, directive)

    def apply(self, stage: str, name: str, options: Mapping[str, Any]) -> tuple[str, ...]:
        """One directive: carried out, proven, recorded; or refused, and nothing has changed.

        Returns:
            The names of the loops or stages that it returns.
        """
        given = tuple((k, self._named(v)) for k, v in options.items() if v is not None)
        return self.replay(Directive(stage, name, given, user_span()))

    def _named(self, option: Any) -> Any:
        """An option with the program's own sizes, where others of the same names were given."""
        if not isinstance(option, Node):
            return option
        found = [n for n in postorder(option) if isinstance(n, Size)]
        return substitute(option, {n: self._symbols.get(n.name, n) for n in found})

    def replay(self, directive: Directive) -> tuple[str, ...]:
        """The same for a directive as data."""
        with self._in_time(directive):
            edit = self.editor(directive).run()
            if self._trust is not None:
                pass
            elif self._batch is not None:
                self._batch = replace(self._batch, edited=self._batch.edited | edit.edited)
            else:
                self._check(edit.state, edit.edited, directive)
        state = edit.state
        if self._trust is not None:
            state = replace(state, trusted=(*state.trusted, (directive, self._trust)))
        self.state = state
        self.records = (*self.records, directive)
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

    # proving ----------------------------------------------------------------------------------
    def settle(self) -> None:
        """Proves what a batch under way has put off so far."""
        if self._batch is not None and self._batch.edited:
            last = self.records[-1]
            before, self._composite = self._composite, f"the batch up to {last.text()}"
            try:
                with self._in_time(last):
                    self._check(self.state, self._batch.edited, last)
            finally:
                self._composite = before

    def _check(self, state: State, edited: Collection[Statement], directive: Directive) -> None:
        def relaxed(s: Statement) -> bool:
            return is_exact(s.definition) or (
                s.name in state.reassociated and accumulates(s.definition)
            )

        context = self.callable(state)
        missing = self.prover.uncovered(state.tree, context)
        if missing is not None:
            raise InternalError(f"{directive.text()} leaves out instances of {missing.name}")
        for func, window in state.folds:
            lost = clobbers(self.model, func, window, state.tree, context)
            if lost:
                more = enough(self.model, func, window, state.tree, context)
                raise clobbered(lost, window, more, directive, self._composite, context)
        found = list(self.prover.violations(state.tree, edited, relaxed, context))
        if found:
            raise refusal(self.prover, found, directive, self._composite, self._would_help)

    def _would_help(self, directive: Directive, first: Directive) -> bool:
        """Whether a refused directive would be right with another one before it."""
        if not self._advises or self._batch is not None:
            return False
        trial = self.copy()
        trial._advises = False
        trial.state, trial.records = self._start or (self.state, self.records)
        try:
            for d in (first, *self.records[len(trial.records) :], directive):
                trial.replay(d)
        except ScheduleError:
            return False
        return True

    # several at a time ------------------------------------------------------------------------
    @contextmanager
    def together(self, stage: str, name: str, *args: Any) -> Iterator[None]:
        """Several directives that count as one: all of them, or none.

        Args:
            args: what the user gave, as it is shown.
        """
        before = self.state, self.records, self._composite
        outermost = self._start is None
        self._start = self._start or before[:2]
        shown = ", ".join(repr(x) for a in args for x in (a if isinstance(a, tuple) else (a,)))
        self._composite = self._composite or f's["{stage}"].{name}({shown})'
        try:
            yield
        except BaseException:
            self.state, self.records, _ = before
            raise
        finally:
            self._composite = before[2]
            if outermost:
                self._start = None

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Proves all directives inside together, at the end; refused, none of them counts."""
        before, outer = (self.state, self.records), self._batch
        self._batch = outer or Batch(len(self.records))
        try:
            yield
            if outer is None:
                self.settle()
                self._batches, self._batch = self.batches, None
        except BaseException:
            self.state, self.records = before
            self._batch = outer
            raise

    @contextmanager
    def trust(self, reason: str) -> Iterator[None]:
        """Directives inside are not proven."""
        before, self._trust = self._trust, reason
        try:
            yield
        finally:
            self._trust = before
