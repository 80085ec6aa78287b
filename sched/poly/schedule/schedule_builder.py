"""Directives one after the other: each carried out, proven and recorded, or refused."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ...garbage import uncollected
from ...lang.errors.errors import LanguageError, ScheduleError, Span, user_span
from ...lang.nodes.nodes import Node, Size, postorder, substitute
from ..directives import every as every  # which makes all directives known
from ..directives.apply import applied
from ..legality.advice import (
    Part,
    explained,
    fission_advice,
    of_those_there,
    parts_made,
    why_inlined,
)
from ..legality.checker import Change, LegalityChecker
from ..legality.refusals import Request
from ..sets.budget import BudgetExceeded, allowance, attempt, budget
from ..state.editing import Editing
from ..state.record import Directive, Lookup
from ..state.rewritten import RewrittenProgram
from ..state.state import NoLoops, State
from ..tree.edits import Shared
from .groups import Batch, Compound


class ScheduleBuilder:
    """The state of a schedule, and the directives that led to it.

    Attributes:
        records: the directives, in order.
    """

    def __init__(self, rewritten: RewrittenProgram, symbols: Mapping[str, Node]) -> None:
        self.legality = LegalityChecker()
        self.state = State(rewritten, rewritten.written, {})
        self.records: tuple[Directive, ...] = ()
        self._batches: tuple[range, ...] = ()
        self._symbols = symbols
        self._batch: Batch | None = None
        self._trust: str | None = None
        self._compound: Compound | None = None
        self._budgets = 1
        self._advises = True

    def copy(self) -> ScheduleBuilder:
        """An independent copy, outside of the batches and the trust around this one; a sketch if
        this is one."""
        made = copy.copy(self)
        made._trust = None
        if not self.is_sketch:
            made._batches, made._batch = self.batches, None
        made._budgets = 1
        return made

    @property
    def _among(self) -> str:
        """What directives are proven together with: a sketch, a batch, or nothing."""
        if self._batch is None:
            return ""
        return "sketch" if self._batch.is_sketch else "batch"

    @property
    def batches(self) -> tuple[range, ...]:
        """Which of the directives are proven together, also in the batch under way."""
        if self._batch is None:
            return self._batches
        return (*self._batches, range(self._batch.start, len(self.records)))

    def editing(self, directive: Directive) -> Editing:
        """The present state, for a directive to be carried out."""
        context = self.state.assumed(self.state.rewritten.model.context)
        return Editing(self.state, self._symbols, context, directive)

    def apply(self, directive: Directive) -> tuple[str, ...]:
        """One directive: carried out, proven, recorded; or refused, and nothing has changed.

        Returns:
            The names of the loops or stages that it returns.
        """
        return self.replay(directive.mapped(self._named))

    def _named(self, expression: Node) -> Node:
        """An expression with the program's own sizes in place of others of the same names."""
        found = [n for n in postorder(expression) if isinstance(n, Size)]
        return substitute(expression, {n: self._symbols.get(n.name, n) for n in found})

    def replay(self, directive: Directive) -> tuple[str, ...]:
        """Applies a directive whose expressions are over the program's own sizes."""
        text = directive.text() if self._compound is None else self._compound.text
        request = Request(directive, text, self._among)
        with uncollected(), self._in_time(request), self._in_their_terms(request):
            edit = applied(self.editing(directive))
            change = Change(request, self.state, self._with_trust(edit.state, directive))
            if self._batch is None:
                trusted = self._trust is not None
                self.legality.check((change,), self._would_help, is_trusted=trusted)
            # Whether a hint would be right is a smaller question, with a budget of its own.
            if self._batch is None and self._compound is None and self._advises:
                records = (*self.records, directive)
                self.legality.check_loops(change.after, records, self._budgets)
        if self._batch is not None:
            self._batch = self._batch.with_change(change)
        self.state = change.after
        self.records = (*self.records, directive)
        return edit.made

    def accepts(self, directive: Directive) -> bool:
        """Whether a directive would be accepted now. Nothing changes, and no witness or hint is
        looked for where it would be refused."""
        request = Request(directive, directive.text())
        try:
            with uncollected(), self._in_time(request):
                edit = applied(self.editing(directive.mapped(self._named)))
                change = Change(request, self.state, edit.state)
                before = () if self._batch is None else self._batch.changes
                if not self.legality.is_legal((*before, change)):
                    return False
                records = (*self.records, directive)
                self.legality.check_loops(change.after, records, self._budgets)
        except (LanguageError, ScheduleError):
            return False
        return True

    @contextmanager
    def _in_their_terms(self, request: Request) -> Iterator[None]:
        """Rewords a refusal: it names the request, and the loops that there were at that time."""
        try:
            yield
        except ScheduleError as error:
            raise self.in_their_terms(error, request) from None

    def in_their_terms(self, error: ScheduleError, request: Request | None = None) -> ScheduleError:
        """A refusal in terms of the loops that there were when the user made the request, if it
        was a directive."""
        what, hint, parts = error.what, error.hint, self._parts(request)
        if isinstance(error, NoLoops):
            what = why_inlined(error, self.state.rewritten.rule, self.records)
        if request is None:
            return error.reworded(what, hint, error.directive)
        if isinstance(error, Shared):
            part = parts.get(error.loop.name)
            loop = error.loop.name if part is None else part.loop
            hint = fission_advice(error, request.directive, loop, self._would_help)
            what = of_those_there(what, parts)
        if not what.startswith(request.text):
            what = f"{request.subject} is refused: {explained(what, parts)}"
            hint = None if hint is None else of_those_there(hint, parts)
        return error.reworded(what, hint, request.text)

    def _parts(self, request: Request | None) -> dict[str, Part]:
        """The loops that the directives of a compound one have made so far."""
        if self._compound is None or request is None:
            return {}
        known = self._compound.state.tree.loop_names.get(request.directive.stage, ())
        return parts_made(self.records[len(self._compound.records) :], known)

    def _with_trust(self, state: State, directive: Directive) -> State:
        """A state after a directive that is not proven, if it is trusted."""
        if self._trust is None:
            return state
        return replace(state, trusted=(*state.trusted, (directive, self._trust)))

    @contextmanager
    def _in_time(self, request: Request) -> Iterator[None]:
        """Refuses a directive whose proof takes too long."""
        with self._within_budget(request.subject, request.directive.span, request.text):
            yield

    @contextmanager
    def _within_budget(self, subject: str, where: Span | None, text: str) -> Iterator[None]:
        try:
            with budget(self._budgets * allowance(len(self.state.rewritten.model.statements))):
                yield
        except BudgetExceeded:
            raise ScheduleError(
                f"{subject} could not be proven right in the time allowed",
                where=where,
                status="unproved",
                directive=text,
            ) from None

    # proving ----------------------------------------------------------------------------------
    def settle(self) -> None:
        """Proves the directives of a batch under way that have not been proven yet.

        Raises:
            ScheduleError: something goes wrong; or this is a sketch, which `prove` proves.
        """
        if self.is_sketch:
            raise ScheduleError(
                "this is a sketch: its directives have not been proven",
                hint="prove() proves them, or refuses",
            )
        if self._batch is not None:
            self._settle(self._batch)

    def _settle(self, batch: Batch) -> None:
        if not batch.changes:
            return
        last = self.records[-1]
        with self._in_time(Request(last, f"the {self._among} up to {last.text()}")):
            trusted = all(change.is_trusted for change in batch.changes)
            self.legality.check(batch.changes, self._would_help, is_trusted=trusted)
            self.legality.check_loops(self.state, self.records, self._budgets)

    def sketch(self) -> None:
        """From now on directives are carried out and not proven, until `prove`."""
        if not self.is_sketch:
            self._batch = Batch(len(self.records), is_sketch=True)

    @property
    def is_sketch(self) -> bool:
        return self._batch is not None and self._batch.is_sketch

    def prove(self) -> None:
        """Proves all that has been sketched; refused, it stays a sketch."""
        if self._batch is None or not self._batch.is_sketch:
            return
        self._settle(self._batch)
        if self._batch.changes:
            self._batches = self.batches
        self._batch = None

    def _would_help(self, directive: Directive, first: Sequence[Directive]) -> bool:
        """Whether a refused directive would be right with others before it."""
        if not self._advises or self._batch is not None:
            return False
        trial = self.copy()
        trial._advises = False
        if self._compound is not None:
            trial.state, trial.records = self._compound.state, self._compound.records
            trial._compound = None
        try:
            with attempt():
                for d in (*first, *self.records[len(trial.records) :], directive):
                    trial.replay(d)
        except (BudgetExceeded, ScheduleError):
            return False
        return True

    @contextmanager
    def again(self) -> Iterator[None]:
        """For directives that have been accepted before: each has twice the budget, since how many
        operations isl needs for a question depends on the questions before it."""
        before, self._budgets = self._budgets, 2
        try:
            yield
        finally:
            self._budgets = before

    # several at a time ------------------------------------------------------------------------
    @contextmanager
    def together(self, stage: str, name: str, loops: Sequence[str], *args: Any) -> Iterator[None]:
        """Several directives that count as one: all of them, or none.

        Args:
            loops: those that it is about, which must be there.
            args: what else the user gave, as it is shown.
        """
        at = f's["{stage}"]' if stage else "s"
        with self.as_one(f"{at}.{name}({', '.join(map(repr, (*loops, *args)))})") as text:
            directive = Lookup(stage, f"{name}()", span=user_span())
            with self._in_their_terms(Request(directive, text, self._among)):
                self.editing(directive).in_order(loops)
            yield

    @contextmanager
    def as_one(self, text: str) -> Iterator[str]:
        """The same for directives that are not known yet. It gives the text of the compound
        directive: `text`, or that of the outermost one where several are nested."""
        before, outer = (self.state, self.records, self._batch), self._compound
        self._compound = outer or Compound(text, self.state, self.records)
        try:
            with self._within_budget(text, user_span(), text):
                yield self._compound.text
                if outer is None:
                    self._check_compound(self._compound)
        except BaseException:
            self.state, self.records, self._batch = before
            raise
        finally:
            self._compound = outer

    def _check_compound(self, compound: Compound) -> None:
        """Checks the loops behind a compound directive."""
        if self._batch is None and len(self.records) > len(compound.records):
            with self._in_their_terms(Request(self.records[-1], compound.text)):
                self.legality.check_loops(self.state, self.records, self._budgets)

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
