"""Directives one after the other: each carried out, proven and recorded, or refused."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from ...garbage import uncollected
from ...lang.errors.errors import LanguageError, ScheduleError, Span, user_span
from ...later import later
from ...records import replace
from ..state.record import Directive, Lookup
from .groups import Batch, Compound
from .path import Origin, Place, Step
from .progress import Progress

if TYPE_CHECKING:
    from ..directives import apply
    from ..legality import advice, checker, evidence, refusals
    from ..legality.advice import Part
    from ..legality.checker import Change, LegalityChecker
    from ..legality.refusals import Request
    from ..sets import budget as budgets
    from ..state import state as states
    from ..state.state import Edit, State
    from ..tree import edits
else:
    apply = later("..directives.apply", __package__)
    advice = later("..legality.advice", __package__)
    checker = later("..legality.checker", __package__)
    evidence = later("..legality.evidence", __package__)
    refusals = later("..legality.refusals", __package__)
    budgets = later("..sets.budget", __package__)
    states = later("..state.state", __package__)
    edits = later("..tree.edits", __package__)


class ScheduleBuilder(Progress):
    """The state of a schedule, and the directives that led to it. Those that were accepted before
    are neither carried out nor proven, until somebody looks at the state."""

    def __init__(self, origin: Origin) -> None:
        super().__init__(origin)
        self._advises = True

    @property
    def legality(self) -> LegalityChecker:
        """What decides whether a state is legal."""
        return self.origin.legality

    def copy(self) -> ScheduleBuilder:
        """An independent copy, outside of the batches and the trust around this one; a sketch if
        this is one."""
        made = copy.copy(self)
        made._trust = None
        if self._batch is not None and not self.is_sketch:
            made._batches, made._batch = self.batches, None
            made._place = self._place.marked("]")
        made._budgets = 1
        return made

    def apply(self, directive: Directive) -> tuple[str, ...]:
        """One directive: carried out, proven, recorded; or refused, and nothing has changed.

        Returns:
            The names of the loops or stages that it returns.
        """
        return self.replay(directive.mapped(self.origin.named))

    def replay(self, directive: Directive) -> tuple[str, ...]:
        """Applies a directive whose expressions are over the program's own sizes."""
        known = self._known(directive)
        if known is not None and not self._place.is_made:
            self._place = Place(known, (*self.said, directive), None)
            return known.node.made
        text = self._written or directive.text()
        request, before = refusals.Request(directive, text, self._among), self.state
        with uncollected(), self._in_time(request), self._in_their_terms(request):
            edit = apply.applied(self.editing(directive), self._puts_off)
            if known is not None and known.node.made != edit.made:
                known = None
            change = checker.Change(request, before, self._with_trust(edit.state, directive))
            self._check(change, known is not None)
        if self._batch is not None:
            self._batch = replace(self._batch, changes=(*self._changes(self._batch), change))
        self._move(directive, edit, change.after, known)
        return edit.made

    def _check(self, change: Change, is_known: bool) -> None:
        """Proves a directive that is not proven together with others, nor was before."""
        if self._batch is not None or is_known:
            return
        is_trusted = self._trust is not None
        self.legality.check((change,), self._would_help, is_trusted=is_trusted)
        # Whether a hint would be right is a smaller question, with a budget of its own.
        if self._compound is None and self._advises:
            records = (*self.records, change.request.directive)
            self.legality.check_loops(change.after, records, self._budgets)

    def _known(self, directive: Directive) -> Step | None:
        """The step of a directive that was accepted here before."""
        step = self._place.step if self._trust is None else None
        return None if step is None else step.known(directive, self._written)

    def _move(self, directive: Directive, edit: Edit, state: State, known: Step | None) -> None:
        """To the place behind a directive. From a trusted one on, nothing is kept."""
        step = self._place.step
        if self._trust is not None:
            known = None
        elif step is not None and known is None:
            known = step.accepted(directive, self._written, self.state, edit)
        if known is None:
            self._until = self._until or step
        self._place = Place(known, (*self.said, directive), state)

    def accepts(self, directive: Directive) -> bool:
        """Whether a directive would be accepted now. Nothing changes, and no witness or hint is
        looked for where it would be refused."""
        request, state = refusals.Request(directive, directive.text()), self.state
        try:
            with uncollected(), self._in_time(request):
                edit = apply.applied(self.editing(directive.mapped(self.origin.named)))
                change = checker.Change(request, state, edit.state)
                before = () if self._batch is None else self._changes(self._batch)
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
        if isinstance(error, states.NoLoops):
            what = advice.why_inlined(error, self.state.rewritten.rule, self.records)
        if request is None:
            return error.reworded(what, hint, error.directive)
        if isinstance(error, edits.Shared):
            part = parts.get(error.loop.name)
            loop = error.loop.name if part is None else part.loop
            hint = advice.fission_advice(error, request.directive, loop, self._would_help)
            what = advice.of_those_there(what, parts)
        if not what.startswith(request.text):
            what = f"{request.subject} is refused: {advice.explained(what, parts)}"
            hint = None if hint is None else advice.of_those_there(hint, parts)
        error = error.reworded(what, hint, request.text)
        return (
            error
            if self._compound is None
            else evidence.seen_from(error, self._compound.first.state)
        )

    def _parts(self, request: Request | None) -> dict[str, Part]:
        """The loops that the directives of a compound one have made so far."""
        if self._compound is None or request is None:
            return {}
        first = self._compound.first
        known = first.state.tree.loop_names.get(request.directive.stage, ())
        return advice.parts_made(self.records[len(first.said) :], known)

    def _with_trust(self, state: State, directive: Directive) -> State:
        """A state after a directive that is not proven, if it is trusted."""
        if self._trust is None:
            return state
        return replace(state, trusted=(*state.trusted, (directive, self._trust)))

    @contextmanager
    def _in_time(self, request: Request) -> Iterator[None]:
        """Refuses a directive whose proof takes too long."""
        with self._within_budget(request.subject, request.text, request.directive.span):
            yield

    @contextmanager
    def _within_budget(self, subject: str, text: str, where: Span | None = None) -> Iterator[None]:
        statements = len(self.state.rewritten.model.statements)
        where = where or user_span()
        try:
            with budgets.budget(self._budgets * budgets.allowance(statements)):
                yield
        except budgets.BudgetExceeded:
            raise ScheduleError(
                f"{subject} could not be proven right in the time allowed",
                where=where,
                hint="nothing was found to be wrong: say fewer directives on the same loops, or "
                "use smaller constants",
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
        if len(self.said) > batch.start:
            self.known(("settled",), lambda: self._proven(batch))

    def _proven(self, batch: Batch) -> bool:
        """Proves the directives of a batch together."""
        last, changes = self.records[-1], self._changes(batch)
        with self._in_time(refusals.Request(last, f"the {self._among} up to {last.text()}")):
            trusted = all(change.is_trusted for change in changes)
            self.legality.check(changes, self._would_help, is_trusted=trusted)
            self.legality.check_loops(self.state, self.records, self._budgets)
        return True

    def sketch(self) -> None:
        """From now on directives are carried out and not proven, until `prove`."""
        if not self.is_sketch:
            self._place = self._place.marked("[")
            self._batch = Batch(self._place, is_sketch=True)

    @property
    def is_sketch(self) -> bool:
        return self._batch is not None and self._batch.is_sketch

    def prove(self) -> None:
        """Proves all that has been sketched; refused, it stays a sketch."""
        if self._batch is None or not self._batch.is_sketch:
            return
        self._settle(self._batch)
        if len(self.said) > self._batch.start:
            self._batches = self.batches
        self._batch = None
        self._place = self._place.marked("]")

    def _would_help(self, directive: Directive, others: Sequence[Directive]) -> bool:
        """Whether a refused directive would be right with others before it."""
        if not self._advises or self._batch is not None:
            return False
        trial = self.copy()
        trial._advises = False
        first = self._place if self._compound is None else self._compound.first
        # Its directives are proven less thoroughly, so nothing of that is kept.
        trial._place, trial._compound = Place(None, first.said, first.state), None
        try:
            with budgets.attempt():
                for d in (*others, *self.records[len(trial.said) :], directive):
                    trial.replay(d)
        except (budgets.BudgetExceeded, ScheduleError):
            return False
        return True

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

            def are_there() -> bool:
                directive = Lookup(stage, f"{name}()", span=user_span())
                request = refusals.Request(directive, text, self._among)
                with self._in_time(request), self._in_their_terms(request):
                    self.editing(directive).in_order(loops)
                return True

            self.known(("are there", stage, *loops), are_there)
            yield

    @contextmanager
    def as_one(self, text: str) -> Iterator[str]:
        """The same for directives that are not known yet. It gives the text of the compound
        directive: `text`, or that of the outermost one where several are nested."""
        before, outer = (self._place, self._batch), self._compound
        is_alone = outer is None and self._batch is None
        self._compound = outer or Compound(text, self._place)
        if is_alone:
            self._place = self._place.marked("(")
        # As long as all of it is known there is no work. What is not has a budget of its own.
        limited = self._within_budget(text, text) if self._place.is_made else nullcontext()
        try:
            with limited:
                yield self._compound.text
                if is_alone:
                    self._check_compound(self._compound)
            if is_alone:
                self._place = self._place.marked(")")
        except BaseException:
            self._place, self._batch = before
            raise
        finally:
            self._compound = outer

    def _check_compound(self, compound: Compound) -> None:
        """Checks the loops behind a compound directive."""

        def are_found() -> bool:
            request = refusals.Request(self.records[-1], compound.text)
            with self._within_budget(compound.text, compound.text), self._in_their_terms(request):
                self.legality.check_loops(self.state, self.records, self._budgets)
            return True

        if len(self.said) > len(compound.first.said):
            self.known(("loops are found",), are_found)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Proves all directives inside together, at the end; refused, none of them counts."""
        before, outer = self._place, self._batch
        if outer is None:
            self._place = self._place.marked("[")
            self._batch = Batch(self._place)
        try:
            yield
            if outer is None:
                self.settle()
                self._batches, self._batch = self.batches, None
                self._place = self._place.marked("]")
        except BaseException:
            self._place, self._batch = before, outer
            raise
