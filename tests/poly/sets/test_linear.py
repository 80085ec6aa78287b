"""Indices in each iteration of a loop: what is the same in all, and a number in each."""

from __future__ import annotations

import itertools
import random

from polysched.lang.arithmetic.evaluate import compile_nodes
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.dtypes import bool_, int64
from polysched.lang.nodes.nodes import Node, Op, Size, Var, integer, substitute
from polysched.poly.sets.lane_offsets import LaneOffsets, lane_offsets

n, m, v = Size("n", None), Size("m", None), Var("v")
VALUES = (0, 1, 2, 3, 5)
POINTS = [dict(zip("nm", at, strict=True)) for at in itertools.product(range(5), repeat=2)]


def drawn(draw: random.Random, depth: int) -> Node:
    """An index made of sizes, of the loop, and of quotients and remainders."""
    if depth == 0:
        return draw.choice((n, m, v, v, integer(draw.randint(-9, 9))))
    a = drawn(draw, depth - 1)
    match draw.choice(("add", "sub", "mul", "mul", "floordiv", "mod")):
        case "add":
            return ix.add(a, drawn(draw, depth - 1))
        case "sub":
            return ix.sub(a, drawn(draw, depth - 1))
        case "mul":
            return ix.mul(a, integer(draw.choice((-4, -1, 2, 4))))
        case "floordiv":
            return ix.floordiv(a, draw.choice((2, 4)))
        case _:
            return ix.mod(a, draw.choice((2, 4)))


def chosen(draw: random.Random, depth: int) -> Node:
    """An index that iterations choose: by where they are, or by what nothing says of them."""
    a, b = drawn(draw, depth), drawn(draw, depth)
    op = draw.choice(("lt", "le", "gt", "ge", "eq", "ne"))
    holds: Node = ix.compare(op, drawn(draw, 2), drawn(draw, draw.choice((0, 2))))
    if draw.random() < 0.5:
        also = ix.compare("ne", ix.mod(v, 2), integer(draw.randint(0, 1)))
        holds = Op(draw.choice(("and", "or", "xor")), (also, Op("not", (holds,), bool_)), bool_)
    arms = (a, ix.add(a, integer(draw.randint(-3, 3)))) if draw.random() < 0.7 else (a, b)
    return ix.add(Op("select", (holds, *arms), int64), drawn(draw, 1))


def is_right(index: Node, found: LaneOffsets) -> bool:
    """Whether an index is what was found, wherever."""
    each = [substitute(index, {v: integer(value)}) for value in VALUES]
    made = compile_nodes([found.base, *each])
    return all(
        tuple(base + k for k in found.offsets) == tuple(values)
        for base, *values in map(made, POINTS)
    )


def test_an_index_is_its_base_and_an_offset_in_each_iteration() -> None:
    draw, known = random.Random(1), 0
    for _ in range(200):
        index = drawn(draw, 4)
        found = lane_offsets(index, v, LaneOffsets(ix.ZERO, VALUES))
        if found is not None:
            known += 1
            assert is_right(index, found), index
    assert known > 50


def test_a_choice_is_known_where_each_iteration_knows_what_it_chooses() -> None:
    draw, known, mixed = random.Random(2), 0, 0
    for _ in range(600):
        index = chosen(draw, 2)
        found = lane_offsets(index, v, LaneOffsets(ix.ZERO, VALUES))
        if found is not None:
            known += 1
            mixed += len(set(found.offsets)) > 2
            assert is_right(index, found), index
    assert known > 100
    assert mixed > 20


def test_what_is_divided_has_to_be_a_multiple_in_all_its_terms() -> None:
    """(4 * n + m + v) // 2, say, steps up at other iterations where m is odd."""
    values = LaneOffsets(ix.ZERO, VALUES)
    fours, four = ix.mul(n, integer(4)), integer(4)
    for divided, odd in ((fours, m), (m, fours)):
        mixed = ix.add(ix.add(divided, odd), v)
        assert lane_offsets(ix.floordiv(mixed, 2), v, values) is None
        assert lane_offsets(ix.mod(mixed, 2), v, values) is None
    whole = ix.floordiv(ix.add(ix.add(fours, ix.mul(m, four)), v), 2)
    found = lane_offsets(whole, v, values)
    assert found is not None
    assert found.offsets == (0, 0, 1, 1, 2)
    assert is_right(whole, found)
