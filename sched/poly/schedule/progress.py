"""How far a schedule has come: its place, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ...lang.tensors.tensors import Func
from ...later import later
from ..state.record import Directive
from .given import Given
from .groups import Batch, Compound
from .path import UNLIMITED, Origin, Place, Step, steps_between

if TYPE_CHECKING:
    from ..legality import checker, refusals
    from ..legality.checker import Change
    from ..sets import budget as budgets
    from ..state.editing import Editing
    from ..state.state import State
else:
    checker = later("..legality.checker", __package__)
    refusals = later("..legality.refusals", __package__)
    budgets = later("..sets.budget", __package__)

A = TypeVar("A")


class Progress:
    """The directives of a schedule, and its state, which is made when it is needed.

    Attributes:
        origin: the program, and what was accepted of it before.
    """

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self._place = origin.first()
        self._batches: tuple[range, ...] = ()
        self._batch: Batch | None = None
        self._compound: Compound | None = None
        #: The last step before something was trusted, from which on nothing is kept.
        self._until: Step | None = None
        self._ahead: Collection[Func] = ()
        self._puts_off = False
        self._trust: str | None = None
        self._budgets = 1

    @property
    def state(self) -> State:
        """The state, which is made where nobody has looked at it yet."""
        return self._place.state

    @property
    def records(self) -> tuple[Directive, ...]:
        """The directives, in order."""
        return self._place.records

    @property
    def said(self) -> tuple[Directive | Given, ...]:
        """The same, as far as they are made."""
        return self._place.said

    @property
    def _among(self) -> str:
        """What directives are proven together with: a sketch, a batch, or nothing."""
        if self._batch is None:
            return ""
        return "sketch" if self._batch.is_sketch else "batch"

    @property
    def _written(self) -> str | None:
        """What the user has written, if that is made of several directives."""
        return None if self._compound is None else self._compound.text

    @property
    def batches(self) -> tuple[range, ...]:
        """Which of the directives are proven together, also in the batch under way."""
        if self._batch is None:
            return self._batches
        return (*self._batches, range(self._batch.start, len(self.said)))

    def editing(self, directive: Directive) -> Editing:
        """The present state, for a directive to be carried out."""
        made = self.origin.editing(self.state, directive)
        made.ahead = self._ahead
        return made

    @contextmanager
    def choosing(self, funcs: Collection[Func]) -> Iterator[None]:
        """For a batch that says of some Funcs, one after the other, that they are inlined, or that
        they are not: the program is rewritten once for all of them."""
        self._ahead = funcs
        try:
            yield
        finally:
            self._ahead = ()

    @contextmanager
    def putting_off(self) -> Iterator[None]:
        """For a directive of a batch that says where a Func is computed, where the next one says
        where it is stored: it is placed once for both."""
        self._puts_off = True
        try:
            yield
        finally:
            self._puts_off = False

    @contextmanager
    def again(self) -> Iterator[None]:
        """For directives that have been accepted before: each has twice the budget, since how many
        operations isl needs for a question depends on the questions before it."""
        before, self._budgets = self._budgets, 2
        try:
            yield
        finally:
            self._budgets = before

    @contextmanager
    def trust(self, reason: str) -> Iterator[None]:
        """Directives inside are not proven."""
        before, self._trust = self._trust, reason
        try:
            yield
        finally:
            self._trust = before

    def given(
        self, kind: type[Directive], stage: str, options: Mapping[str, Any]
    ) -> tuple[str, ...] | None:
        """What a directive returns that was accepted here before, which is made only where somebody
        looks; None for any other one, and nothing has changed."""
        at = self._place
        step = None if at.is_made or self._trust is not None else at.step
        known = None if step is None else step.given(kind, stage, options, self._written)
        if known is None or known.said is None:
            return None
        self._place = Place(known, (*at.said, known.said), None)
        return known.node.made

    # what is known ------------------------------------------------------------------------
    def known(self, question: tuple[Any, ...], find: Callable[[], A]) -> A:
        """The answer to a question about the state: as it was found before, or found now.

        Args:
            question: made of texts and numbers.
            find: gives it as plain data; what it raises is no answer.
        """
        step = self._place.step
        if step is None:
            return find()
        asked = repr(question)
        answer: Any = step.node.answers.get(asked)
        if answer is None:
            answer = find()
            step.node.note(asked, answer)
        return cast(A, answer)

    def was_answered(self, question: tuple[Any, ...]) -> bool:
        """Whether a question has an answer, without looking for it."""
        step = self._place.step
        return step is not None and repr(question) in step.node.answers

    def noting(self, question: tuple[Any, ...]) -> Callable[[], None]:
        """A function that says yes to a question about the present state."""
        step = self._place.step

        def note() -> None:
            if step is not None:
                step.node.note(repr(question), True)

        return note

    def name_of(self, func: Func) -> str | None:
        """The name of a Func of the schedule; None where it has none, or that is not known yet."""
        if self._place.is_made:
            return self.state.rewritten.program.names.get(func)
        return None if self._place.step is None else self._place.step.name_of(func)

    def added(self, name: str) -> Func:
        """The Func of a name that the last directive has added."""
        step = self._place.step
        if step is not None and not self._place.is_made:
            func = step.func(name)
            if func is not None:
                return func
        program = self.state.rewritten.program
        return next(f for f in program.funcs if program.names[f] == name)

    @property
    def trusted(self) -> tuple[tuple[Directive, str], ...]:
        """Directives that were not proven, each with the reason given."""
        return self.state.trusted if self._place.is_made else ()

    @property
    def reassociated(self) -> frozenset[str]:
        """The stages for which the order of a sum does not matter."""
        return frozenset(self.known(("reassociated",), lambda: sorted(self.state.reassociated)))

    def keep(self) -> None:
        """Stores what was accepted, for other schedules and other processes."""
        step = self._place.step or self._until
        if step is not None:
            _ = self.reassociated  # which reports begin with
            step.keep()

    def _changes(self, batch: Batch) -> tuple[Change, ...]:
        """The changes of a batch under way, also those that have not been carried out yet."""
        missing = len(self.said) - batch.start - len(batch.changes)
        if not missing:
            return batch.changes
        found: list[Change] = []
        with budgets.separate_budget(UNLIMITED):
            state = batch.first.state
            for step in steps_between(batch.first, self._place):
                before, state = state, step.carried_out(state)
                if step.directive is not None:
                    text = step.text or step.directive.text()
                    request = refusals.Request(step.directive, text, self._among)
                    found.append(checker.Change(request, before, state))
        if not self._place.is_made:
            self._place = Place(self._place.step, self.said, state)
        return tuple(found)
