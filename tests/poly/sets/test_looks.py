"""A look at something takes so many of isl's operations at most, and changes nothing else."""

from __future__ import annotations

from contextlib import suppress

import pytest
from counting import operations

from polysched.poly.sets import budget as budgets
from polysched.poly.sets.budget import (
    BudgetExceeded,
    LookEnded,
    attempt,
    budget,
    look,
    separate_budget,
    spent,
)
from polysched.poly.sets.isl import CONTEXT

from .test_budget import ROUNDED, work, works_until_spent

MUCH = 10_000_000


def test_a_look_that_is_long_enough_has_the_answer() -> None:
    with look(MUCH):
        assert work()


def test_a_look_ends_and_isl_works_again() -> None:
    with pytest.raises(LookEnded), look(50):
        work()
    assert work()


def test_a_look_takes_no_more_than_it_may() -> None:
    def ended() -> None:
        with pytest.raises(LookEnded), look(500):
            works_until_spent()

    assert operations(ended) < 600


def test_what_falls_back_in_a_budget_does_not_in_a_look() -> None:
    """Else what is found at a glance would be kept, and be another answer than without it."""

    def falls_back() -> None:
        with suppress(BudgetExceeded), attempt(MUCH):
            works_until_spent()

    with pytest.raises(LookEnded), look(500), budget(MUCH):
        falls_back()


@pytest.mark.parametrize("inside", [budget, attempt, separate_budget])
def test_budgets_that_are_shorter_than_a_look_end_as_ever(inside: object) -> None:
    with look(MUCH), pytest.raises(BudgetExceeded), inside(500):  # type: ignore[operator]
        works_until_spent()


@pytest.mark.parametrize("inside", [budget, attempt, separate_budget])
def test_looks_end_in_whatever_stands_inside(inside: object) -> None:
    with pytest.raises(LookEnded), look(500), inside(MUCH):  # type: ignore[operator]
        works_until_spent()


def test_a_look_in_a_look_ends_with_it() -> None:
    with pytest.raises(LookEnded), look(500), look(MUCH):
        works_until_spent()
    with look(MUCH):
        with pytest.raises(LookEnded), look(500):
            works_until_spent()
        assert work()


def test_what_a_look_takes_counts_in_the_budget_around() -> None:
    with budget(MUCH):
        with pytest.raises(LookEnded), look(5000):
            works_until_spent()
        assert 5000 <= spent() <= 5000 * ROUNDED + 100
        assert work()


def test_a_look_ends_with_the_budget_around_it() -> None:
    def looks() -> None:
        with pytest.raises(LookEnded), look(MUCH):
            works_until_spent()
        work()

    with pytest.raises(BudgetExceeded), budget(500):
        looks()


def test_no_limit_stays_when_all_is_over() -> None:
    with pytest.raises(LookEnded), look(500):
        works_until_spent()
    assert CONTEXT.get_max_operations() == budgets.OUTSIDE
