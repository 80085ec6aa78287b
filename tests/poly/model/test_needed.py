"""Where the Vars of an update run, by the bounds of an intricate region."""

from __future__ import annotations

from functools import reduce

import pytest

from polysched.poly.model.needed import MOST_PIECES, within_bounds
from polysched.poly.sets.budget import BudgetExceeded, budget, counted
from polysched.poly.sets.isl import Frame, Set, Val, isl


def spread(pieces: int) -> tuple[Frame, Set]:
    """A region of pieces, of which neither is known to begin or to end before another one."""
    frame = Frame(tuple(f"{end}{k}" for k in range(pieces) for end in "ab"), ("x",))
    x = frame.dim("x")
    ranges = (
        x.ge_set(frame.param(f"a{k}")).intersect(x.le_set(frame.param(f"b{k}")))
        for k in range(pieces)
    )
    return frame, reduce(Set.union, ranges)


def test_bounds_lie_around_all_pieces() -> None:
    """The gap between two pieces is within their bounds; what is beyond both is not."""
    frame, region = spread(2)
    fixed = region
    for k, value in enumerate((0, 2, 7, 9)):  # 0 to 2 and 7 to 9
        fixed = fixed.fix_val(isl.dim_type.param, k, Val(value))
    found = within_bounds(region, 0, 0, frame.dim("x"), frame).intersect_params(fixed.params())
    x = frame.dim("x")
    whole = x.ge_set(frame.constant(0)).intersect(x.le_set(frame.constant(9)))
    assert found.is_equal(whole.intersect_params(fixed.params()))


def test_bounds_of_many_pieces_are_given_up_at_once() -> None:
    """To compare each pair of pieces with every other one would take all of a budget, and longer
    than a user waits."""
    frame, region = spread(21)
    assert MOST_PIECES < 21 * 21
    with (
        budget(1_000_000),
        counted() as tally,
        pytest.raises(BudgetExceeded, match="441 pieces"),
    ):
        within_bounds(region, 0, 0, frame.dim("x"), frame)
    assert tally.operations < 100_000
