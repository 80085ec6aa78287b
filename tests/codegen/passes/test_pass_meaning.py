"""Small programs of the loop IR leave the same in memory before a pass and after it.

Both are executed one statement at a time. In each program a pass would change what comes out, were
it to take something for steady that the program itself changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from codegen.llvm.harness import Index, add, buffer, load, loop, lt, module, mul, node, size, store

from polysched.checking.execute import Machine, Path, Touch, Write
from polysched.codegen.ir.ir import Alloc, Buffer, For, If, Lanes, Module, Seq, Stmt, Stores, walk
from polysched.codegen.ir.verify import verify
from polysched.codegen.lower import Pass
from polysched.codegen.passes.border_loads import border_loads
from polysched.codegen.passes.carry_values import carry_values
from polysched.codegen.passes.full_lanes import full_lanes
from polysched.codegen.passes.hoist_conditions import hoist_conditions
from polysched.codegen.passes.split_loops import split_loops
from polysched.interp.evaluate import Symbols
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import Node, Var, integer
from polysched.poly.tree.memory import Window

n, v = size("n"), Var("v")
x, y = buffer("x", int64, 8, kind="output"), buffer("y", int64, 8, kind="output")
TILE = Buffer("t", int64, (integer(8),), (integer(0),), "stack")


class Unwatched:
    """Nobody minds what happens, as long as it is inside of the buffers."""

    def joint(self, path: Path, writes: list[Write]) -> None:
        pass

    def looked(self, path: Path, reads: list[Touch]) -> None:
        pass

    def wrong(self, kind: str, text: str) -> None:
        raise AssertionError(text)


def left(program: Module, **given: list[int]) -> dict[str, list[int]]:
    """What is in x and y in the end, at n = 1."""
    verify(program, flat=False)
    start = {b.name: np.array(given.get(b.name, [0] * 8)) for b in (x, y)}
    machine = Machine(program, Symbols({"n": 1}, {}), start, Unwatched())
    machine.run()
    return {b.name: machine.array(b).tolist() for b in (x, y)}


def same(run: Pass, body: Stmt, **given: list[int]) -> None:
    """A pass changes nothing that can be seen."""
    before = module([x, y], [n], body)
    assert left(run(before), **given) == left(before, **given)


def accumulated(lo: Index, hi: Index) -> Stmt:
    """for v in [lo, hi): x[v] = x[v - 1] + 1"""
    return loop(v, lo, hi, store(x, v, add(load(x, add(v, -1)), 1)))


def test_values_are_not_carried_where_the_loop_changes_its_end() -> None:
    """The first iteration, which would stand in front of a loop of its own, stores 6 in x[1]."""
    same(carry_values, accumulated(1, load(x, 1)), x=[5, 3, 0, 0, 0, 0, 0, 0])


def test_values_are_not_carried_where_the_loop_changes_where_it_begins() -> None:
    """The first iteration stores 6 in x[1]: a loop for the others would begin there."""
    same(carry_values, accumulated(load(x, 1), 5), x=[5, 1, 0, 0, 0, 0, 0, 0])


def test_values_are_not_carried_over_stores_to_the_same_plane() -> None:
    """x[2 * v] = x[2 * v - 2] + 1, x[2 * v + 1] = 7, where all elements share one place: what the
    first store left there is gone in the next iteration."""
    one = replace(x, extents=(integer(1),), kind="scratch", fold=Window(0, 1))
    at = mul(v, 2)
    first = store(one, at, add(load(one, add(at, -2)), 1))
    seen = store(y, v, load(one, at))
    body = loop(v, 1, 5, Seq((first, seen, store(one, add(at, 1), integer(7)))))
    program = module([x, y, one], [n], body)
    assert left(carry_values(program)) == left(program)


def test_loops_are_not_split_where_they_change_their_end() -> None:
    """The loop runs twice, though its first iteration, where v < n, says 7 times."""
    first = If(lt(v, n), store(x, 0, integer(7)))
    same(split_loops, loop(v, 0, load(x, 0), Seq((first, store(y, v, integer(1))))), x=[2] * 8)


def test_conditions_are_not_hoisted_where_the_loop_changes_them() -> None:
    """x[0] counts to 3, not to 5."""
    counted = If(lt(load(x, 0), 3), store(x, 0, add(load(x, 0), 1)))
    same(hoist_conditions, loop(v, 0, 5, counted))


def test_conditions_are_not_tested_at_once_where_the_first_one_changes_the_other() -> None:
    parts = (
        If(lt(load(x, 0), 3), store(x, 0, integer(5))),
        If(lt(load(x, 0), 4), store(y, 0, integer(1))),
    )
    same(hoist_conditions, Seq(parts))


def test_lanes_that_read_each_other_do_not_run_one_after_the_other() -> None:
    """x[v] = x[max(v - 1, 0)]: at the border, too, all lanes read before any stores."""
    at = ix.maximum((add(v, -1), ix.ZERO))
    (moved,) = store(x, v, load(x, at)).stores
    for run in (full_lanes, border_loads):
        same(run, Stores((moved,), Lanes(v, ix.ZERO, 8)), x=list(range(10, 18)))


def test_full_vectors_begin_where_they_do_unless_it_follows_that_they_begin_elsewhere() -> None:
    """x[v] = 7 where v < 8, from max(n - 3, 0) and from max(n + 2, 0): the lanes are full, which
    says nothing of n."""
    for ahead in (-3, 2):
        (stored,) = store(x, v, integer(7)).stores
        lo = ix.maximum((add(n, ahead), ix.ZERO))
        same(full_lanes, Stores((replace(stored, guard=lt(v, 8)),), Lanes(v, lo, 4)), x=[1] * 8)


def test_lanes_far_apart_at_a_border_do_not_read_each_other() -> None:
    """x[v] = x[max(7 - 2 * v, 0)], which no vector is loaded for."""
    at = ix.maximum((add(7, mul(v, -2)), ix.ZERO))
    (moved,) = store(x, v, load(x, at)).stores
    for run in (full_lanes, border_loads):
        same(run, Stores((moved,), Lanes(v, ix.ZERO, 8)), x=list(range(10, 18)))


def unrolled(copy: Callable[[Node, int], Stmt], end: Index = 7) -> For:
    """for v: if c < min(end - 4 * v, 4): copy(4 * v + c, c)   for each c of 4"""
    room = ix.minimum((ix.sub(node(end), mul(v, 4)), integer(4)))
    copies = [If(lt(c, room), copy(add(mul(v, 4), c), c)) for c in range(4)]
    return loop(v, 0, 2, Seq(tuple(copies)))


def rests(made: Stmt) -> list[For]:
    return [s for s in walk(made) if isinstance(s, For) and s.name == "copy"]


@pytest.mark.parametrize("end", range(9))
def test_what_is_left_of_an_unrolled_loop_is_a_loop(end: int) -> None:
    """Copies run in their order: x[v] = x[v - 1] + 1."""
    body = unrolled(
        lambda at, _: store(x, at, add(load(x, ix.maximum((add(at, -1), ix.ZERO))), 1)), end
    )
    same(split_loops, body)
    assert len(rests(split_loops(module([x, y], [n], body)).functions[0].body)) == 1


LEFT_ALONE = {
    "of tiles in registers": unrolled(lambda at, c: store(TILE, c, at)),
    "of different values": unrolled(lambda at, c: store(x, at, integer(c * c))),
    "whose number is changed": unrolled(lambda at, _: store(x, 0, at), load(x, 0)),
}


@pytest.mark.parametrize("case", LEFT_ALONE)
def test_other_copies_stay(case: str) -> None:
    parts = store(TILE, 0, integer(3)), LEFT_ALONE[case], store(y, 0, load(TILE, 0))
    body = Alloc((TILE,), (), Seq(parts))
    program = module([x, y, TILE], [n], body)
    made = split_loops(program)
    assert left(made, x=[6] * 8) == left(program, x=[6] * 8)
    assert not rests(made.functions[0].body)


def test_where_not_all_conditions_of_a_loop_hold_any_of_them_may() -> None:
    """n is 1: of 0 < n and 1 < n one holds."""

    def read(c: int) -> Stmt:
        """x[v + 4 * c] = select(c < n, y[0], y[7]) where c < n"""
        chosen = ix.select(lt(c, n), load(y, 0), load(y, 7))
        return If(lt(c, n), store(x, add(v, 4 * c), chosen))

    same(hoist_conditions, loop(v, 0, 4, Seq((read(0), read(1)))), y=[5] + [0] * 6 + [9])
