"""Comparisons of indices as comparisons of the number of a lane."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from codegen.ir.test_inequalities import POINTS, drawn, m, n
from codegen.llvm.harness import load
from codegen.passes.test_pass_meaning import x

from polysched.codegen.ir.ir import Lanes
from polysched.codegen.llvm.vectors.lane_masks import first_lanes, mask_type
from polysched.lang.arithmetic.evaluate import compile_nodes
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.dtypes import float32, float64, int8, int16, int32, int64, uint8
from polysched.lang.nodes.nodes import Const, Node, Op, Var, integer, replaced_all

LANE, COUNT = Var("v"), 4
LANES = Lanes(LANE, ix.add(n, integer(1)), COUNT)


def comparisons() -> Iterator[Node]:
    """Of random sums, with the variable of the lanes in the place of m, or beside it."""
    for condition in drawn(150):
        yield replaced_all((condition,), {m: LANE})[0]
        a, b = condition.args
        yield Op(condition.op, (ix.add(a, LANE), b), condition.type)
        yield Op(condition.op, (a, ix.add(b, LANE)), condition.type)
    for one, other in zip(drawn(60), drawn(120), strict=False):
        ends = [c.args[1] for c in (one, other)]
        yield ix.compare("lt", LANE, ix.minimum(tuple(ends)))
        yield ix.compare("ge", LANE, ix.maximum(tuple(ends)))


@pytest.mark.slow
def test_a_mask_holds_where_the_comparison_does() -> None:
    found = 0
    for condition in comparisons():
        mask = first_lanes(condition, LANES)
        if mask is None:
            continue
        found += 1
        each = [ix.add(LANES.lo, integer(k)) for k in range(COUNT)]
        made = compile_nodes(
            [mask.end, *(replaced_all((condition,), {LANE: at})[0] for at in each)]
        )
        for at in POINTS:
            end, *wanted = made(at)
            assert 0 <= end <= COUNT
            assert [(k < end) == mask.inside for k in range(COUNT)] == wanted, (condition, at)
    assert found > 100


@pytest.mark.parametrize(
    "condition",
    [
        ix.compare("lt", ix.mul(LANE, integer(2)), n),
        ix.compare("lt", ix.minimum((LANE, m)), n),
        ix.compare("lt", LANE, ix.minimum((ix.sub(n, ix.mul(LANE, integer(2))), m))),
        ix.compare("lt", LANE, load(x, LANE)),
        ix.compare("eq", LANE, n),
        ix.compare("lt", ix.mul(LANE, n), m),
    ],
    ids=["by twos", "minimum", "one end moves", "data", "equal", "product"],
)
def test_others_are_none_of_the_first_lanes(condition: Node) -> None:
    assert first_lanes(condition, LANES) is None


@pytest.mark.parametrize(
    ("types", "count", "wanted"),
    [
        ((float32,), 8, int32), ((float64,), 4, int64), ((uint8,), 32, int8),
        ((uint8,), 128, int16), ((int16, float64), 4, int64), ((), 8, int64),
    ],
)  # fmt: skip
def test_as_many_bits_as_the_elements_have(types, count, wanted) -> None:
    assert mask_type([Const(0, t) for t in types], count) is wanted
