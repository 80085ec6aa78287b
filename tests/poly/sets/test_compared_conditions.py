"""Comparisons of conditions with each other: where they may hold, and what is not known of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.poly.sets.affine_conditions import Condition, condition
from polysched.poly.sets.isl import Frame

n = ps.sizes("n")
i, j = ps.vars("i j")
x = ps.Input("x", ps.float32, (n,))
FRAME = Frame(("n",), ("i", "j"))

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne, "^": operator.xor,
    "minimum": ps.minimum, "maximum": ps.maximum,
}  # fmt: skip


def found(expr: ps.Expr) -> Condition:
    f = ps.Func("f")
    f[i, j] = ps.select(expr, 1, 2)
    return condition(FRAME, f.history.typed()[0].values[0].args[0])


def holds(where: Condition, at: tuple[int, int]) -> bool:
    points = where.set
    for name, value in zip(("i", "j"), at, strict=True):
        points = points.intersect(FRAME.dim(name).eq_set(FRAME.constant(value)))
    return not points.is_empty()


@pytest.mark.parametrize("op", OPERATORS)
def test_a_comparison_of_conditions_is_exact(op: str) -> None:
    compared = found(OPERATORS[op](i > 0, j > 0))
    assert compared.exact
    plain = {"minimum": min, "maximum": max}.get(op, OPERATORS[op])
    for at in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert holds(compared, at) == bool(plain(at[0] > 0, at[1] > 0))


@pytest.mark.parametrize("op", OPERATORS)
def test_a_comparison_with_data_holds_wherever_it_does_for_some_data(op: str) -> None:
    compared = found(OPERATORS[op]((x[0] > 0) & (i > 0), j > 0))
    assert not compared.exact
    plain = {"minimum": min, "maximum": max}.get(op, OPERATORS[op])
    for at in ((0, 0), (0, 1), (1, 0), (1, 1)):
        wanted = any(plain(data and at[0] > 0, at[1] > 0) for data in (False, True))
        assert holds(compared, at) == wanted


def test_a_long_chain_of_comparisons_is_not_multiplied_out() -> None:
    """Which of 2**12 cases holds is a question for the points, not for a set of all of them."""
    chain = reduce(operator.xor, (i * (k + 2) + j > 3 * k for k in range(12)))
    found(chain)
    assert found(chain).set.n_basic_set() <= 16
    assert not found(chain).exact


@pytest.mark.parametrize(
    "never", [(i > 1) ^ (i > 1), (i > 1) != (i > 1), ((i > 1) ^ (i > 2)) & (i < 1)],
    ids=["xor", "ne", "and"],
)  # fmt: skip
def test_an_arm_that_is_never_taken_needs_no_place(never: ps.Expr) -> None:
    r = ps.RVar("r", 0, n - n)
    f = ps.Func("f", (4,))
    f[i] = ps.select(never, ps.argmin(x[r] + i, r), 7)
    assert ps.Schedule(f).compile()(np.ones(3, np.float32)).tolist() == [7] * 4


def test_an_arm_that_is_taken_once_needs_a_place() -> None:
    r = ps.RVar("r", 0, n - n)
    f = ps.Func("f", (4,))
    f[i] = ps.select((i > 1) ^ (i > 2), ps.argmin(x[r] + i, r), 7)
    with pytest.raises(ps.LanguageError, match=r"f\.argmin0 has no value"):
        ps.Schedule(f).compile()


def test_a_comparison_on_data_makes_no_index_safe() -> None:
    f = ps.Func("f", (n,))
    f[i] = ps.select((x[i] > 0) ^ (i >= n), x[i + n], 0.0)
    with pytest.raises(ps.LanguageError, match="out of bounds"):
        ps.Schedule(f).compile()
