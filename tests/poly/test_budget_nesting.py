"""A budget inside of another one leaves that in force."""

from __future__ import annotations

from polysched.poly.isl import CONTEXT, budget


def test_the_budget_around_is_in_force_again() -> None:
    with budget(1_000_000):
        with budget(1_000):
            assert CONTEXT.get_max_operations() == 1_000
        assert CONTEXT.get_max_operations() == 1_000_000
    assert CONTEXT.get_max_operations() == 0
