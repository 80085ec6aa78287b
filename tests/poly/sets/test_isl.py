"""The door to isl: what is done where isl itself fails."""

from __future__ import annotations

from typing import Any

import pytest

from polysched.poly.sets.isl import CONTEXT, Set, coalesced, isl


class Failing:
    """A set over which isl fails."""

    def __init__(self, text: str) -> None:
        self.text = text

    def coalesce(self) -> Any:
        raise isl.Error(self.text)


def test_a_set_over_which_isl_fails_an_assertion_stays_as_it_is() -> None:
    where: Any = Failing('call to isl_set_coalesce failed: Assertion "pivot >= 0" failed')
    assert coalesced(where) is where


def test_other_failures_of_isl_are_no_answers() -> None:
    where: Any = Failing("call to isl_set_coalesce failed: Maximal number of operations exceeded")
    with pytest.raises(isl.Error, match="Maximal number"):
        coalesced(where)


def test_what_can_be_put_together_is() -> None:
    where = Set.read_from_str(CONTEXT, "{ [i] : 0 <= i <= 3 or 4 <= i <= 9 }")
    assert int(coalesced(where).n_basic_set()) == 1
