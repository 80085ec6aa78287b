"""Unrolled loops that become loops again do what they did, and those that may not stay."""

from __future__ import annotations

import pytest
from codegen.llvm.harness import add, load, loop, module, mul, op, store
from codegen.passes.test_pass_meaning import TILE, left, n, x, y

from polysched.codegen.ir.ir import Alloc, For, Seq, Stmt, walk
from polysched.codegen.ir.rolled import rolled
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import Node, Var, integer

w, w2, r = Var("w"), Var("w2"), Var("rest")


def adds(at: Node, to: int = 2) -> Stmt:
    """t[to] += x[at]"""
    return store(TILE, to, add(load(TILE, to), load(x, at)))


def copies(to: tuple[int, ...] = (2, 2, 2)) -> Stmt:
    parts = (adds(add(mul(w, 3), k) if k else mul(w, 3), t) for k, t in enumerate(to))
    return loop(w, 0, n, Seq(tuple(parts)))


def rest(most: Node, begin: Node = n) -> Stmt:
    return loop(w2, begin, 2, loop(r, 0, most, adds(add(mul(w2, 3), r))))


def tile(*parts: Stmt) -> Stmt:
    shown = [store(y, k, load(TILE, k)) for k in (2, 3)]
    return Seq((*(store(TILE, k, integer(0)) for k in (2, 3)), *parts, *shown))


def loops(stmt: Stmt) -> int:
    return sum(isinstance(s, For) for s in walk(stmt))


def some(of: Node) -> Node:
    return op("min", of, integer(3), dtype=int64)


CASES = {
    "all copies are left as long as there are any": (tile(copies(), rest(some(integer(9)))), 2),
    "it is not known how many are left": (tile(copies(), rest(some(add(n, 1)))), 4),
    "the rest begins elsewhere": (tile(copies(), rest(some(integer(9)), integer(1))), 4),
    "there is no rest": (tile(copies()), 2),
    "an element of the tile is another one": (tile(copies((2, 3, 2))), 1),
}


@pytest.mark.parametrize("case", CASES)
def test_loops_are_made_and_joined_where_they_do_the_same(case: str) -> None:
    body, count = CASES[case]
    found = rolled(body, "c")
    assert loops(found) == count
    given = {"x": [5, 3, 8, 1, 9, 2, 7, 4]}
    programs = [module([x, y, TILE], [n], Alloc((TILE,), (), b)) for b in (body, found)]
    assert left(programs[1], **given) == left(programs[0], **given)
