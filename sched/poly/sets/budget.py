"""How much work isl may do: budgets, which isl counts in operations.

Every use of isl runs inside of a budget. A question that has a fallback is an `attempt`: it takes
at most half of what is left, so that the other half remains for the fallback.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager

from ... import forks
from ...lang.errors.errors import InternalError, PolyschedError
from ...records import dataclass
from .isl import CONTEXT, Val, isl

_lock = forks.reentrant()

BUDGET = 4_500_000
"""isl operations for whatever a user asks: some ten times what that takes of most programs, and
a few seconds."""

MORE = 50_000
"""So many more for each statement of a program: long programs may take longer."""


def allowance(statements: int) -> int:
    """How much work isl may do for one thing that a user asks of a program."""
    return BUDGET + MORE * statements


class BudgetExceeded(Exception):
    """isl has done more operations than the budget allows: the question has no answer."""


class Unanswered(BudgetExceeded):
    """isl has failed at a question of one operand, which cannot be a wrong one. With a budget spent
    it has in common that there is no answer, and that who has a fallback takes that."""


_OWN = re.compile(r"/isl_(coalesce|tab|tab_pip|sample|convex_hull)\.c:|->n_div == ")
"""Where isl says of itself that it has made a mistake, rather than whoever has asked. How many
divisions there are in the parts of a set is nobody's business but its own."""


class LookEnded(Exception):
    """A look has taken as long as it may: nothing is decided, and whoever asks again may have an
    answer. It is no `BudgetExceeded`, for which other answers are found and kept."""


@dataclass(frozen=True, slots=True)
class _Span:
    """A budget in force: from which count of operations to which one."""

    start: int
    end: int

    @property
    def middle(self) -> int:
        return (self.start + self.end) // 2

    def moved(self, by: int) -> _Span:
        return _Span(self.start + by, self.end + by)


_spans: list[_Span] = []

_looks: list[int] = []
"""The counts of operations at which looks end, none beyond those around it."""


@contextmanager
def budget(operations: int) -> Iterator[None]:
    """Bounds the work isl may do inside; it raises `BudgetExceeded` beyond.

    What is done inside counts for the budget around it too, and ends where that one ends.
    """
    with _lock:
        start = spent()
        end = start + operations
        with _within(_Span(start, min(end, _spans[-1].end) if _spans else end)):
            yield


@contextmanager
def attempt(operations: int = BUDGET) -> Iterator[None]:
    """A budget for a question that has a fallback.

    All attempts together take at most one half of the budget around them: the other half is left
    for their fallbacks, and for questions that have none.
    """
    with _lock:
        start = spent()
        end = start + operations
        span = _Span(start, min(end, _spans[-1].middle) if _spans else end)
        if span.end <= start:
            raise BudgetExceeded("nothing is left of a budget for what need not be answered")
        with _within(span):
            yield


@contextmanager
def separate_budget(operations: int) -> Iterator[None]:
    """A budget that is not charged to those around it, for results that are found once and cached:
    otherwise they would depend on how much of its budget the first user has left."""
    with _lock:
        start = spent()
        try:
            with _within(_Span(start, start + operations)):
                yield
        finally:
            if _spans:
                used = spent(start + operations) - start
                _spans[:] = [span.moved(used) for span in _spans]
                _set_limit(_spans[-1].end)


@contextmanager
def look(operations: int) -> Iterator[None]:
    """Bounds the work isl may do for what can be left out; it raises `LookEnded` beyond.

    Budgets inside are what they are without it: so what is found is the same, or nothing is. It
    ends with the budget around it.
    """
    with _lock:
        start = spent()
        _looks.append(min([start + operations, *_looks, *(span.end for span in _spans)]))
        try:
            with _within(_Span(start, start + _ENDLESS)):
                yield
        finally:
            _looks.pop()
            if _spans:
                _set_limit(_spans[-1].end)


_ENDLESS = 1 << 40


@contextmanager
def _within(span: _Span) -> Iterator[None]:
    """isl reports an exceeded limit as a plain error with any text, and refuses every later call
    until the limit is moved: so a call that cannot fail tells whether the limit was the cause,
    and the limit is moved back on every way out."""
    if not _spans:
        _restart()
    _spans.append(span)
    _set_limit(span.end)
    try:
        yield
    except (isl.Error, TypeError) as error:  # islpy makes an integer of nothing
        if is_spent() and not isinstance(error, PolyschedError):
            if _looks and _looks[-1] < span.end:
                raise LookEnded("more isl operations than a look may take") from error
            allowed = span.end - span.start
            raise BudgetExceeded(f"more than {allowed} isl operations") from error
        if isinstance(error, isl.Error) and _OWN.search(str(error)):
            raise Unanswered(f"isl has failed: {error}") from error
        if isinstance(error, isl.Error):
            raise InternalError(f"isl refused a question: {error}") from error
        raise
    finally:
        _spans.pop()
        if _spans:
            _set_limit(_spans[-1].end)
        else:
            _restart()
            CONTEXT.set_max_operations(OUTSIDE)


def _set_limit(operations: int) -> None:
    _set_raw(min([operations, *_looks[-1:]]))


def _set_raw(operations: int) -> None:
    CONTEXT.set_max_operations(max(operations, 1))  # 0 would be none


OUTSIDE = 0
"""The limit where no budget is in force: none. Tests set one, to find uses without a budget."""


def _in_child() -> None:
    """Ends the budgets of a thread that is not in a forked process."""
    global _done
    if not forks.is_mine(_lock):
        _spans.clear()
        _looks.clear()
        CONTEXT.set_max_operations(OUTSIDE)
        CONTEXT.reset_operations()
        _done = 0


forks.at_fork(after_in_child=_in_child)


def is_spent() -> bool:
    """Whether isl refuses to work at all."""
    try:
        Val(0)
    except isl.Error:
        return True
    return False


def spent(most: int = 0) -> int:
    """How many operations isl has done in the outermost budget in force, or a few more.

    isl does not tell its count, only whether that has reached a limit: so limits are tried.

    Args:
        most: that it is no more, if it may be more than the limit in force.
    """
    global _done
    if not _spans:
        return 0
    least, most = max(_spans[-1].start, _done), max(_spans[-1].end, most)
    if _looks:  # nothing in a look goes on beyond its end
        most = max(least, min(most, _looks[-1]))
    step = _tolerance(least)  # mostly it is little that was done since the last time
    while most - least > _tolerance(most):
        middle = min(least + step, (least + most) // 2)
        _set_raw(middle)
        if is_spent():
            least, step = middle, 2 * step
        else:
            most, step = middle, most
    _set_limit(_spans[-1].end)
    _done = least
    return most


def _tolerance(operations: int) -> int:
    """How far beyond a count of operations a limit may be that stands for it."""
    return max(operations >> 6, 64)


_done = 0
"""So many operations isl has done at least since its counter was at 0."""


class Tally:
    """How many operations isl needed; and how many in one budget, at most."""

    operations = 0
    most = 0


_tallies: list[Tally] = []


@contextmanager
def counted() -> Iterator[Tally]:
    """Counts what isl does inside, in all budgets together: the same on every machine."""
    with _lock:
        if not _spans:
            _restart()  # what was done before is no part of it
        tally = Tally()
        tally.operations = -_operations()
        _tallies.append(tally)
        try:
            yield tally
        finally:
            tally.operations += _operations()
            _tallies.remove(tally)


def _restart() -> None:
    """Resets isl's counter of operations to 0; counts under way are told its value."""
    global _done
    count = _operations() if _tallies else 0
    for tally in _tallies:
        tally.operations += count
        tally.most = max(tally.most, count)
    CONTEXT.reset_operations()
    _done = 0


def _operations() -> int:
    """Where isl's counter is, or a little beyond. It cannot be read: so this looks for a limit
    that it has not reached."""
    before = CONTEXT.get_max_operations()

    def is_beyond(limit: int) -> bool:
        CONTEXT.set_max_operations(limit)
        return is_spent()

    try:
        limit = 1
        while is_beyond(limit):
            limit *= 2
        return bisect_left(range(limit), True, key=lambda k: not is_beyond(k + 1))
    finally:
        CONTEXT.set_max_operations(before)
