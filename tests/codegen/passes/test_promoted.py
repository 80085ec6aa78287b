"""Accumulators of loops under conditions: they are kept while the loop runs, and written back."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from codegen.llvm.harness import add, buffer, load, loop, lt, module as made_of, mul, op, store
from codegen.passes.test_full_tiles import Unused
from codegen.passes.test_pass_meaning import n as size, same, v, x, y
from poly.directives.test_storage import loops_of_assembly

import polysched as ps
from polysched.checking.execute import Machine
from polysched.codegen.build.build import build
from polysched.codegen.ir.ir import (
    Buffer,
    For,
    Function,
    If,
    Lanes,
    Load,
    Module,
    Seq,
    Stmt,
    Store,
    Stores,
    walk,
)
from polysched.codegen.ir.verify import verify
from polysched.codegen.lower import ON_LOOPS, assembly
from polysched.codegen.passes.fill_tiles import fill_tiles
from polysched.codegen.passes.full_tiles import full_tiles
from polysched.codegen.passes.promote_accumulators import promote_accumulators
from polysched.interp.evaluate import Symbols
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import Node, Var, integer
from polysched.poly.tree.memory import Memory, Window
from polysched.targets.host import target_of

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
RNG = np.random.default_rng(0)


# schedules --------------------------------------------------------------------------------------
def product(tail: str, lanes: int = 4, first: int = 0, dtype: ps.DType = ps.int64) -> ps.Schedule:
    """A product in tiles of 3 rows and 2 vectors, whose accumulators no directive keeps."""
    A, B = ps.Input("A", dtype, (n, l)), ps.Input("B", dtype, (l, m))
    C = ps.Func("C", (n, m), dtype=dtype)
    k = ps.RVar("k", first, l)
    C[i, j] = i - j
    C[i, j] += A[i, k] * B[k, j]
    s = ps.Schedule(C)
    u = s[C].update(0)
    u.split("i", 3, names=("io", "ii"), tail=tail)
    u.split("j", 2 * lanes, names=("jo", "ji"), tail=tail)
    u.reorder("jo", "io", "k", "ii", "ji")
    u.vectorize("ji", lanes).unroll("ji").unroll("ii")
    return s


def after(s: ps.Schedule, *passes: Any) -> Module:
    flat = build(s.loop_program)
    for run in (*ON_LOOPS, promote_accumulators, *passes):
        flat = run(flat)
    verify(flat, flat=False)
    return flat


def fillings(flat: Module) -> list[For]:
    return [x for f in flat.functions for x in walk(f.body) if isinstance(x, For) if x.name == "k"]


@pytest.mark.parametrize("tail", ["auto", "guard", "mask"])
def test_no_condition_and_no_store_to_memory_is_left_in_a_loop(tail: str) -> None:
    """Of border tiles and of full ones."""
    found = fillings(after(product(tail), fill_tiles, full_tiles))
    assert len(found) >= 2
    for filling in found:
        inside = list(walk(filling.body))
        assert not any(isinstance(x, If) for x in inside)
        stored = {(s.buffer.kind, s.guard) for x in inside if isinstance(x, Stores)
                  for s in x.stores}  # fmt: skip
        assert stored == {("stack", None)}


def test_loops_that_store_on_the_stack_alone_are_not_looked_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Most loops of tiles are such: nothing of them can be kept that is not."""
    flat = after(product("auto"), fill_tiles, full_tiles)
    filling = fillings(flat)[0]
    found: list[Stores] = []

    def of_stores(stmt: Stores, held: tuple[Node, ...]) -> list[Any]:
        found.append(stmt)
        return []

    name = "polysched.codegen.passes.promote_accumulators._of_stores"
    monkeypatch.setattr(name, of_stores)
    promote_accumulators(replace(flat, functions=(Function("f", "f", filling),)))
    assert not found


@pytest.mark.slow
@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
def test_no_store_is_left_in_the_code_of_a_loop(target: str) -> None:
    code = assembly(product("auto", dtype=ps.float32).loop_program, target_of(target))
    found = [[*x] for x in loops_of_assembly(code) if any("vfmadd" in line for line in x)]
    assert {sum("vfmadd" in line for line in x) for x in found} == {6, 3}, "full and narrow tiles"
    stores = [line for x in found for line in x if re.search(r"%[xyz]mm\d+, -?\d*\(", line)]
    assert not stores


@pytest.mark.parametrize("first", [0, 2])
@pytest.mark.parametrize("tail", ["auto", "guard", "mask"])
def test_nothing_beyond_an_array_is_touched(tail: str, first: int) -> None:
    """Each statement of the passes' result is executed; at some sizes the loop never runs."""
    s = product(tail, first=first)
    flat = after(s, fill_tiles, full_tiles)
    for rows, columns, depth in [
        (1, 1, 3), (2, 9, 2), (3, 8, 3), (4, 7, 3), (5, 3, 1), (0, 4, 2), (4, 0, 2), (7, 17, 0),
    ]:  # fmt: skip
        given = {
            "A": RNG.integers(-9, 9, (rows, depth)), "B": RNG.integers(-9, 9, (depth, columns)),
        }  # fmt: skip
        start = {**given, "C": np.zeros((rows, columns), np.int64)}
        symbols = Symbols({"n": rows, "m": columns, "l": depth}, {})
        machine = Machine(flat, symbols, start, Unused())
        machine.run()
        (C,) = (b for b in flat.buffers if b.name == "C")
        (wanted,) = ps.interpret(s.program.outputs, **given)
        assert np.array_equal(machine.array(C), wanted), (rows, columns, depth)


@pytest.mark.parametrize("tail", ["auto", "guard", "mask"])
def test_borders_of_every_size_come_out_right(tail: str) -> None:
    s = product(tail)
    kernel = s.compile()
    for rows in range(1, 7):
        for columns in (1, 3, 4, 5, 7, 8, 9, 15, 16):
            a, b = RNG.integers(-9, 9, (rows, 5)), RNG.integers(-9, 9, (5, columns))
            (wanted,) = ps.interpret(s.program.outputs, a, b)
            assert np.array_equal(kernel(a, b), wanted), (rows, columns)


# what must not be kept ----------------------------------------------------------------------------
w = Var("w")
holds = lt(size, 3)
lasting = lt(mul(size, 9), 8)  # which does not hold


def counted(at: Node | int, by: Node | int = 1, buffer: Any = x) -> Stores:
    return store(buffer, at, add(load(buffer, at), by))


def lanes(stmt: Stores, **changed: Any) -> Stores:
    return replace(stmt, lanes=replace(Lanes(v, integer(0), 4), **changed))


half = op("floordiv", v, integer(2), dtype=int64)
one_place = replace(x, extents=(integer(1),), kind="scratch", fold=Window(0, 1))

STAY: dict[str, Stmt] = {
    "the element moves": loop(w, 0, 3, If(holds, counted(w))),
    "the condition changes": loop(w, 0, 3, If(lt(w, 2), counted(1))),
    "the condition is in memory": loop(w, 0, 3, If(lt(load(x, 0), 2), counted(0))),
    "the guard is in memory": loop(w, 0, 3, store(x, 0, add(load(x, 0), 1), lt(load(y, 0), 2))),
    "it is read without the condition": loop(
        w, 0, 3, Seq((If(holds, counted(1)), store(y, w, load(x, 1))))
    ),
    "two may be one": loop(w, 0, 3, Seq((If(holds, counted(size)), If(holds, counted(1, 2))))),
    "lanes overlap": loop(
        w, 0, 3,
        Seq((If(holds, lanes(counted(v))), If(holds, lanes(counted(add(v, 2), 2), lo=ix.ZERO)))),
    ),
    "two lanes share one": loop(w, 0, 3, If(holds, lanes(counted(half), folds=True))),
    "lanes step": loop(w, 0, 3, If(holds, lanes(counted(v), step=2))),
    "lanes say who adds": loop(
        w, 0, 3, lanes(store(x, 1, add(load(x, 1), v), lt(v, size)), folds=True)
    ),
    "data say where": loop(w, 0, 3, If(holds, counted(load(y, 0)))),
    "a guard reads it": loop(
        w, 0, 3, Seq((If(holds, counted(1)), If(holds, store(y, w, integer(5), lt(load(x, 1), 4)))))
    ),
    "it is the loop's end": loop(w, 0, load(x, 1), If(holds, counted(1))),
    "there is another loop": loop(w, 0, 3, If(holds, loop(v, 0, 2, counted(1)))),
    "nothing is conditional, and they lie side by side": loop(
        w, 0, 3, Seq((counted(size), counted(add(size, 1))))
    ),
    "nothing is conditional, and two may be one": loop(w, 0, 3, Seq((counted(size), counted(1)))),
}  # fmt: skip


@pytest.mark.parametrize("case", STAY)
def test_stays_in_memory(case: str) -> None:
    program = made_of([x, y], [size], STAY[case])
    assert promote_accumulators(program) is program
    same(promote_accumulators, STAY[case], x=[2] * 8)


MOVE: dict[str, Stmt] = {
    "one": loop(w, 0, 3, If(holds, counted(1, w))),
    "one that is not there": loop(w, 0, 3, If(lasting, counted(mul(size, 9)))),
    "no iteration": loop(w, 3, 3, If(holds, counted(mul(size, 9)))),
    "several": loop(w, 0, 3, Seq((If(holds, counted(1)), If(lasting, counted(9)), counted(3)))),
    "lanes": loop(w, 0, 3, If(holds, lanes(counted(add(v, 3), w), folds=True))),
    "some lanes": loop(w, 0, 2, lanes(store(x, v, add(load(x, v), v), lt(v, add(size, 1))))),
    "an index of others": loop(
        w, 0, 3, Seq((If(holds, counted(1)), If(holds, store(y, load(x, 1), w))))
    ),
    "one that is only stored": loop(w, 0, 3, If(holds, store(x, 1, w))),
}


@pytest.mark.parametrize("case", MOVE)
def test_is_kept_while_the_loop_runs(case: str) -> None:
    program = made_of([x, y], [size], MOVE[case])
    made = promote_accumulators(program)
    (inside,) = (s for s in walk(made.functions[0].body) if isinstance(s, For))
    stored = {s.buffer.kind for part in walk(inside) if isinstance(part, Stores)
              for s in part.stores if s.buffer is not y}  # fmt: skip
    assert stored == {"stack"}
    same(promote_accumulators, MOVE[case], x=[2] * 8)


# rows whose distance is not a constant ------------------------------------------------------------
Place = tuple[Node | int, Node | int]
TURNED = Memory(order=(1, 0))


def both(z: Buffer, *places: Place) -> Module:
    """A loop that adds to some elements of a matrix."""
    added = []
    for place in places:
        index = tuple(integer(x) if isinstance(x, int) else x for x in place)
        added.append(Stores((Store(z, index, add(Load(z, index, None, int64), 1), None),)))
    return made_of([z], [size], loop(w, 0, 3, Seq(tuple(added))))


def matrix(*extents: Node | int, **changed: Any) -> Buffer:
    return replace(buffer("z", int64, *extents, kind="output"), **changed)


APART: dict[str, tuple[bool, Buffer, tuple[Place, Place]]] = {
    "rows of a size": (True, matrix(8, size), ((0, 0), (1, 0))),
    "rows of a size, and columns": (True, matrix(8, size), ((0, 3), (1, size))),
    "columns of a size, side by side": (True, matrix(size, 8, memory=TURNED), ((0, 0), (0, 1))),
    "strides of an argument": (True, matrix(8, 8, strided=True), ((0, 0), (0, 1))),
    "rows of a constant": (False, matrix(size, 8), ((0, 0), (1, 0))),
    "one row": (False, matrix(8, size), ((2, 0), (2, 3))),
    "one column, in order": (False, matrix(8, size, memory=TURNED), ((0, 0), (1, 0))),
}  # fmt: skip


@pytest.mark.parametrize("case", APART)
def test_elements_are_kept_whose_distance_llvm_does_not_know(case: str) -> None:
    kept, z, places = APART[case]
    program = both(z, *places)
    assert (promote_accumulators(program) is not program) == kept
