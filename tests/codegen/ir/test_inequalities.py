"""Comparisons of indices as sums: these hold together exactly where the comparison does."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator

from codegen.llvm.harness import size

from polysched.codegen.ir.inequalities import Known, as_sums, follows, strongest, weakest
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


def test_what_follows_from_conditions_holds_where_they_do() -> None:
    conditions = list(drawn(120))
    draw = random.Random(5)
    bounds = [
        ix.compare(op, x, integer(at)) for op in ("lt", "ge") for x in (n, m) for at in (0, 2)
    ]
    found = 0
    for condition in conditions:
        given = [condition, *draw.sample(bounds, 2)]
        others = [ix.compare("lt", affine(draw), affine(draw)) for _ in range(4)]
        others += [ix.compare("lt", *(ix.mul(x, integer(2)) for x in condition.args))]
        implied = [c for c in [*others, *bounds] if c not in given and follows(c, given)]
        found += len(implied)
        kept = strongest([*given, *implied])
        made = compile_nodes([*given, *implied, *kept])
        for at in POINTS:
            values = made(at)
            holds = all(values[:3])
            assert not holds or all(values[3 : 3 + len(implied)]), (given, implied, at)
            assert holds == all(values[3 + len(implied) :]), (given, kept, at)
    assert found > 50


def test_a_condition_follows_from_another_one_and_a_bound() -> None:
    """16 * m + 16 < n and m >= 0 imply that n > 16, but no more; and not for m >= -1."""
    room = ix.compare("lt", ix.add(ix.mul(m, integer(16)), integer(16)), n)
    start = ix.compare("ge", m, integer(0))
    wanted = ix.compare("lt", integer(16), n)
    assert strongest([room, start, wanted]) == strongest([room, start])
    assert follows(wanted, (room, start))
    assert not follows(ix.compare("lt", integer(17), n), (room, start))
    assert not follows(wanted, (room, ix.compare("ge", m, integer(-1))))
    assert not follows(wanted, (room, ix.compare("lt", m, integer(3))))


def test_of_a_maximum_what_may_be_positive_counts() -> None:
    """max(-(16 * m + 1), 0) + 16 * m > 0 where 16 * m > 0."""
    tile = ix.mul(m, integer(16))
    start = ix.maximum((ix.sub(integer(-1), tile), integer(0)))
    assert strongest([ix.compare("lt", integer(0), ix.add(start, tile))]) == strongest(
        [ix.compare("ge", m, integer(1))]
    )
    assert strongest([ix.compare("lt", integer(-2), ix.add(start, tile))]) == ()


def test_what_known_conditions_imply_holds_where_they_do() -> None:
    conditions = list(drawn(90))
    implied = 0
    for first in range(0, len(conditions), 2):
        given = conditions[first : first + 2]
        known = Known(given)
        others = [*conditions, *(ix.compare("lt", x, ix.add(y, integer(by)))
                  for c in given for x, y in [c.args] for by in (0, 1, 3))]  # fmt: skip
        found = [c for c in others if known.implies(c)]
        implied += len(found)
        made = compile_nodes([*given, *found])
        for at in POINTS:
            values = made(at)
            assert not all(values[:2]) or all(values[2:]), (given, at)
    assert implied > 150


def test_the_weakest_of_some_conjunctions_hold_where_any_does() -> None:
    conditions = [*drawn(60), *(ix.compare("lt", n, integer(k)) for k in range(20))]
    fewer = 0
    for first in range(60):
        draw = random.Random(first)
        given = [draw.sample(conditions[-24:], draw.randint(1, 2)) for _ in range(4)]
        found = weakest(given)
        fewer += len(found) < len(given)
        made = compile_nodes([c for parts in (*given, *found) for c in parts])
        for at in POINTS:
            values = iter(made(at))
            held = [[next(values) for _ in parts] for parts in (*given, *found)]
            assert any(map(all, held[:4])) == any(map(all, held[4:])), (given, at)
    assert fewer > 40
