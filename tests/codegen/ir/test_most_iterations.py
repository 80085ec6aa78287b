"""The constants that numbers of iterations do not exceed, against loops that are run."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from polysched.codegen.ir.cost import most_iterations
from polysched.codegen.ir.ir import For, Seq
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import Const, Node, Op, Var, integer

i = Var("i")
X, Y = Var("x"), Var("y")


def loop(lo: Node, hi: Node, step: int = 1) -> For:
    return For(i, lo, hi, step, "serial", Seq(()), "i")


def value(node: Node, at: dict[Node, int]) -> int:
    """What a bound is, by Python's integers."""
    if isinstance(node, Const):
        return int(node.value)
    if not isinstance(node, Op):
        return at[node]
    a, b = (value(x, at) for x in node.operands)
    return {
        "add": a + b, "sub": a - b, "min": min(a, b), "max": max(a, b), "floordiv": a // max(b, 1),
    }[node.op]  # fmt: skip


def some(random: Random, depth: int) -> Node:
    """A bound of the operators that are looked into, and of constants anywhere among them."""
    if depth == 0 or random.random() < 0.2:
        return random.choice([X, Y, X, integer(random.randrange(-3, 4))])
    op = random.choice(["add", "sub", "min", "max", "floordiv"])
    b = integer(random.randrange(1, 5)) if op == "floordiv" else some(random, depth - 1)
    return Op(op, (some(random, depth - 1), b), int64)


def test_no_loop_has_more() -> None:
    """Of random bounds, many of which have an end that is known, at all small sizes."""
    random, known = Random(5), 0
    for _ in range(3000):
        lo, hi = some(random, 3), some(random, 3)
        step = random.randrange(1, 4)
        most = most_iterations(loop(lo, hi, step))
        if most is None:
            continue
        known += 1
        for x, y in product((-7, -1, 0, 2, 5, 12), repeat=2):
            at = {X: x, Y: y}
            assert len(range(value(lo, at), value(hi, at), step)) <= most, (lo, hi, step, x, y)
    assert known > 100


@pytest.mark.parametrize(
    ("lo", "hi", "most"),
    [
        (X, ix.add(X, integer(1)), 1),
        (X, ix.minimum((ix.add(X, integer(1)), Y)), 1),
        (ix.minimum((ix.sub(Y, integer(1)), X)), ix.minimum((X, Y)), 1),
        (ix.maximum((X, integer(0))), ix.minimum((Y, ix.add(X, integer(3)))), 3),
        (ix.floordiv(X, 4), ix.floordiv(ix.add(X, integer(5)), 4), 2),
        (ix.add(X, integer(2)), X, 0),
    ],
)
def test_what_is_left_over_has_few(lo: Node, hi: Node, most: int) -> None:
    assert most_iterations(loop(lo, hi)) == most


@pytest.mark.parametrize(
    ("lo", "hi"),
    [
        (X, Y),
        (ix.ZERO, ix.minimum((X, Y))),
        (X, ix.maximum((ix.add(X, integer(1)), Y))),
        (ix.minimum((X, Y)), X),
        (ix.floordiv(X, 4), ix.floordiv(ix.add(X, integer(5)), 3)),
    ],
)
def test_others_are_of_any_length(lo: Node, hi: Node) -> None:
    assert most_iterations(loop(lo, hi)) is None
