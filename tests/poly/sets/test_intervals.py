"""Ranges of typed expressions hold every value, and arithmetic that is called exact never wraps."""

from __future__ import annotations

import itertools

import pytest

from polysched.lang.arithmetic.integer_ranges import RANGES
from polysched.lang.arithmetic.scalar import meaning
from polysched.lang.nodes import dtypes as dt
from polysched.lang.nodes.nodes import Node, Op, Var
from polysched.lang.nodes.ops import FUNCTIONS, OF_EXPANSIONS, OPS
from polysched.lang.program import intervals
from polysched.lang.program.intervals import interval

ENDS = {dt.int8: (-128, -127, -3, -1, 0, 1, 2, 5, 126, 127), dt.uint8: (0, 1, 2, 3, 7, 254, 255)}
UNKNOWN = {"or", "xor", "not"}
"""Operators on integers of whose results nothing is said but their type."""
APART = {"select", "cast", "bitcast", "strict", "fma", "div"} | OF_EXPANSIONS
"""Operators that have no rule of their own, or work on floats alone."""


def _result(op: str, t: dt.DType) -> dt.DType:
    return dt.concrete(dt.unsigned(t)) if op == "absd" else t


@pytest.mark.parametrize("t", ENDS, ids=str)
@pytest.mark.parametrize("op", sorted({*intervals._RULES, *RANGES}))
def test_no_value_is_left_out(op: str, t: dt.DType) -> None:
    ends = ENDS[t][:: 3 if OPS[op].arity == 3 else 1]
    ranges = [(a, b) for a in ends for b in ends if a <= b]
    operands = tuple(Var(f"x{k}") for k in range(OPS[op].arity))
    typed = [Op("cast", (x,), t) for x in operands]
    result = _result(op, t)
    node, f = Op(op, tuple(typed), result), meaning(op, result, t)
    for given in itertools.product(ranges[::3], repeat=len(operands)):
        known: dict[Node, tuple[int, int]] = dict(zip(typed, given, strict=True))
        (lo, hi), _ = interval(node, known)
        values = (sorted({a, (a + b) // 2, b}) for a, b in given)
        assert all(lo <= f(*row) <= hi for row in itertools.product(*values)), (op, given)


@pytest.mark.parametrize("t", ENDS, ids=str)
@pytest.mark.parametrize(
    "op", ["add", "sub", "mul", "neg", "abs", "absd", "saturating_add", "saturating_sub"]
)
def test_what_is_exact_does_not_wrap(op: str, t: dt.DType) -> None:
    exactly = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
        "neg": lambda a: -a, "abs": abs, "absd": lambda a, b: abs(a - b),
        "saturating_add": lambda a, b: a + b, "saturating_sub": lambda a, b: a - b,
    }[op]  # fmt: skip
    operands = tuple(Op("cast", (Var(f"x{k}"),), t) for k in range(OPS[op].arity))
    result = _result(op, t)
    for row in itertools.product(ENDS[t], repeat=len(operands)):
        known: dict[Node, tuple[int, int]] = {x: (v, v) for x, v in zip(operands, row, strict=True)}
        found, exact = interval(Op(op, operands, result), known)
        value = exactly(*row)
        assert exact == (result.min <= value <= result.max)
        assert not exact or found == (value, value)


def test_each_operator_on_integers_has_a_range() -> None:
    integers = {
        op
        for op, info in OPS.items()
        if info.rule not in ("compare", "float", "round", "widening", "saturate")
        and op not in FUNCTIONS
    }
    assert {*intervals._RULES, *RANGES} == integers - UNKNOWN - APART
    assert not intervals._RULES.keys() & RANGES.keys()
