"""Comparisons of indices as sums: these hold together exactly where the comparison does."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator

from codegen.llvm.harness import size

from polysched.codegen.ir.inequalities import as_sums, strongest
from polysched.lang.arithmetic.evaluate import compile_nodes
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.nodes import Node, integer

n, m = size("n"), size("m")
POINTS = [dict(zip("nm", at, strict=True)) for at in itertools.product(range(-4, 5), repeat=2)]


def total(terms: Iterable[tuple[Node, int]], constant: int) -> Node:
    result: Node = integer(constant)
    for x, times in terms:
        result = ix.add(result, ix.mul(x, integer(times)))
    return result


def affine(draw: random.Random) -> Node:
    return total(((x, draw.randint(-3, 3)) for x in (n, m)), draw.randint(-5, 5))


def index(draw: random.Random) -> Node:
    """An affine one, with a quotient or a minimum in it."""
    whole = affine(draw)
    match draw.choice(("floordiv", "min", "max", "")):
        case "floordiv":
            part = ix.floordiv(affine(draw), draw.randint(2, 4))
        case "min":
            part = ix.minimum((affine(draw), affine(draw)))
        case "max":
            part = ix.maximum((affine(draw), affine(draw)))
        case _:
            return whole
    return ix.add(whole, ix.mul(part, integer(draw.choice((-2, -1, 1, 2)))))


def drawn(count: int) -> Iterator[Node]:
    draw = random.Random(3)
    for _ in range(count):
        yield ix.compare(draw.choice(("lt", "le", "gt", "ge")), index(draw), index(draw))


def test_sums_hold_where_the_comparison_does() -> None:
    known = 0
    for condition in drawn(150):
        sums = as_sums(condition)
        if sums is None:
            continue
        known += 1
        made = compile_nodes([condition, *(total(terms, constant) for terms, constant in sums)])
        for at in POINTS:
            holds, *values = made(at)
            assert all(value >= 0 for value in values) == holds, (condition, at)
    assert known > 100


def test_the_strongest_of_some_conditions_hold_where_all_do() -> None:
    conditions = list(drawn(120))
    for first in range(0, len(conditions), 3):
        given = conditions[first : first + 3]
        found = strongest(given)
        made = compile_nodes([*given, *found])
        for at in POINTS:
            values = made(at)
            assert all(values[: len(given)]) == all(values[len(given) :]), (given, at)
