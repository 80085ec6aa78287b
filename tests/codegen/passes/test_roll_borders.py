"""Copies of unrolled loops become loops again at borders, and only there."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from codegen.llvm.harness import add, buffer, load, loop, lt, module, mul, store
from codegen.passes.test_pass_meaning import left, n, v, x, y
from hypothesis import given, strategies as st

import polysched as ps
from polysched.checking.arguments import random_arguments
from polysched.checking.execute import Machine
from polysched.codegen.build.build import build
from polysched.codegen.ir.ir import (
    Alloc,
    For,
    If,
    Lanes,
    Module,
    Seq,
    Stmt,
    Stores,
    expressions,
    walk,
)
from polysched.codegen.lower import PASSES
from polysched.codegen.passes.roll_borders import FEWEST, roll_borders
from polysched.interp.evaluate import Symbols
from polysched.lang.call.binding import Binding, bind
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import Const, Op, Var, integer, postorder
from polysched.poly.tree.edits import stages
from polysched.testing.choices import Choices
from polysched.testing.programs import random_program


def border(*parts: Stmt) -> Module:
    """A choice whose first branch does the same, and is never run at n = 1."""
    stmt = If(lt(5, n), Seq(parts), Seq(parts), choice=True)
    return module([x, y], [n], stmt)


def alternative(program: Module) -> Stmt:
    stmt = program.functions[0].body
    assert isinstance(stmt, If)
    assert stmt.otherwise is not None
    return stmt.otherwise


def loops(stmt: Stmt) -> list[For]:
    return [s for s in walk(stmt) if isinstance(s, For)]


def copy(at: int, source: int, bound: int) -> Stmt:
    """if n < bound: x[at] = y[source + n - 1] + 1"""
    value = add(load(y, ix.add(ix.sub(n, integer(1)), integer(source))), 1)
    return If(lt(n, bound), store(x, at, value))


numbers = st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(0, 4))
START = {"x": list(range(8)), "y": list(range(10, 18))}


@pytest.mark.slow
@given(st.lists(numbers, min_size=2, max_size=8))
def test_any_copies_do_what_they_did(chosen: list[tuple[int, int, int]]) -> None:
    program = border(*(copy(*c) for c in chosen))
    assert left(roll_borders(program), **START) == left(program, **START)


@given(
    st.integers(FEWEST, 8),
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(-1, 1)).filter(any),
    st.lists(numbers, max_size=2),
)
def test_copies_a_step_apart_become_one_loop(
    count: int, step: tuple[int, int, int], others: list[tuple[int, int, int]]
) -> None:
    """Whatever comes behind them."""
    parts = [copy(k * step[0], k * step[1], 1 + k * step[2]) for k in range(count)]
    program = border(*parts, *(copy(*c) for c in others))
    made = roll_borders(program)
    assert left(made, **START) == left(program, **START)
    first = loops(alternative(made))[0]
    assert first.hi.value >= count  # type: ignore[attr-defined]


def test_a_full_tile_stays_as_it_is() -> None:
    parts = tuple(copy(k, k, 1) for k in range(6))
    made = roll_borders(border(*parts))
    stmt = made.functions[0].body
    assert isinstance(stmt, If)
    assert stmt.body == Seq(parts)
    assert loops(alternative(made))
    unconditional = module([x, y], [n], Seq(parts))
    assert roll_borders(unconditional) is unconditional


def test_few_copies_stay() -> None:
    program = border(*(copy(k, k, 1) for k in range(FEWEST - 1)))
    assert roll_borders(program) is program


def test_copies_of_different_values_stay() -> None:
    """x[k] = k in a type other than that of indices is no step."""
    program = border(*(store(x, k, add(load(y, k), (k * k) % 5)) for k in range(6)))
    assert roll_borders(program) is program


def test_copies_of_different_operators_stay() -> None:
    """Four sums, and a product that stands where a fifth one would."""
    ways = [add] * 4 + [mul]
    parts = (store(x, k, way(load(y, k), load(y, 7 - k))) for k, way in enumerate(ways))
    program = border(*parts)
    made = roll_borders(program)
    assert [s.hi for s in loops(alternative(made))] == [integer(4)]
    assert left(made, **START) == left(program, **START)


@pytest.mark.parametrize("summand", [math.inf, -math.inf, math.nan, 0.5])
def test_any_number_may_be_added_in_copies(summand: float) -> None:
    """Floats that are no integers: only of an index are summands how far it is from another."""
    h, w = ps.sizes("h w")
    i, j = ps.vars("i j")
    samples, moved = ps.Input("samples", ps.float64, (h, w)), ps.Func("moved", (h, w))
    moved[i, j] = samples[i, j] + summand
    kernel = unrolled_rows(moved).compile()
    given_ = np.linspace(-1, 1, 11 * 9).reshape(11, 9)
    (wanted,) = ps.interpret([moved], given_)
    assert kernel(given_).tobytes() == wanted.tobytes()


def test_steps_between_copies_wrap_as_int64_does() -> None:
    far, start = 3 * 10**18, -(2**63)
    parts = [store(x, k, ix.wrapped(start + k * far)) for k in range(5)]
    moved = [store(y, k, Op("sub", (n, ix.wrapped(start + k * far)), int64)) for k in range(5)]
    program = border(*parts, *moved)
    made = roll_borders(program)
    assert loops(alternative(made))
    assert left(made, **START) == left(program, **START)
    nodes = postorder(*(x for stmt in walk(made.functions[0].body) for x in expressions(stmt)))
    assert all(-(2**63) <= c.value < 2**63 for c in nodes if isinstance(c, Const))


def test_copies_that_add_to_what_others_stored_stay() -> None:
    """x[0] stays in a register from copy to copy."""
    program = border(*(store(x, 0, add(load(x, 0), load(y, k))) for k in range(6)))
    assert roll_borders(program) is program


def test_lanes_of_copies_keep_their_own_variables() -> None:
    parts = []
    for k in range(5):
        lane = Var(f"lane{k}")
        (made,) = store(x, add(lane, k), load(y, add(lane, k)), lt(lane, 2)).stores
        parts.append(Stores((made,), Lanes(lane, ix.ZERO, 3)))
    program = border(*parts)
    made_of = roll_borders(program)
    assert len(loops(alternative(made_of))) == 1
    assert left(made_of, **START) == left(program, **START)


def test_what_may_be_in_registers_is_not_rolled() -> None:
    """T[k] is added to in a loop inside of its tile: a loop over k would put it in memory."""
    tile = buffer("T", int64, 6, kind="stack")
    begin = tuple(store(tile, k, integer(0)) for k in range(6))
    inside = tuple(store(tile, k, add(load(tile, k), load(y, v))) for k in range(6))
    behind = tuple(store(x, k, load(tile, k)) for k in range(6))
    body = Seq((*begin, loop(v, 0, 4, Seq(inside)), *behind))
    stmt = If(lt(5, n), store(x, 0, integer(1)), Alloc((tile,), (), body), choice=True)
    program = module([x, y, tile], [n], stmt)
    assert roll_borders(program) is program
    # Without a loop in the tile nothing is in registers for long.
    straight = replace(stmt, otherwise=Alloc((tile,), (), Seq((*begin, *behind))))
    assert len(loops(alternative(roll_borders(module([x, y, tile], [n], straight))))) == 2


def blur() -> ps.Schedule:
    """Tiles of 8 rows: those of full tiles are unrolled."""
    h, w = ps.sizes("h w")
    i, j = ps.vars("i j")
    image, rows = ps.Input("image", ps.uint16, (h + 2, w)), ps.Func("rows", (h, w))
    rows[i, j] = (image[i, j] + image[i + 1, j] + image[i + 2, j]) // 3
    return unrolled_rows(rows)


def unrolled_rows(func: ps.Func) -> ps.Schedule:
    s = ps.Schedule(func)
    s[func].split("i", 8)
    s[func].split("j", 8)
    s[func].reorder("io", "jo", "ii", "ji").vectorize("ji").unroll("ii")
    return s


def test_unrolled_rows_have_a_loop_at_the_border() -> None:
    s = blur()
    flat = build(s.loop_program)
    for run in PASSES[: PASSES.index(roll_borders) + 1]:
        before, flat = flat, run(flat)
    count = [sum(isinstance(x, Stores) for x in walk(m.functions[0].body)) for m in (before, flat)]
    assert (
        count[0] - count[1] == 7
    )  # one statement for the eight rows of a tile at the lower border
    kernel = s.compile()
    for height in (1, 5, 7, 8, 9, 17):
        for width in (1, 7, 8, 9):
            given_ = np.arange((height + 2) * width, dtype=np.uint16).reshape(height + 2, width)
            (wanted,) = ps.interpret(s.program.outputs, given_)
            assert np.array_equal(kernel(given_), wanted)


# random programs in tiles -------------------------------------------------------------------------
def tiled(seed: int) -> ps.Schedule:
    """A random program with unrolled tiles of 2 by 4, where these are legal."""
    s = ps.Schedule(random_program(Choices.from_seed(seed)).build())
    for name in [stage.name for stage in stages(s.tree)]:
        if len(s[name].loops) >= 2:
            with suppress(ps.ScheduleError):
                *_, ii, ji = s[name].tile(*s[name].loops[-2:], 2, 4)
                s[name].unroll(ii).unroll(ji)
    return s


def executed(program: Module, s: ps.Schedule, bound: Binding) -> list[bytes]:
    """What is left in the outputs, to the bit."""
    arrays = {s.program.names[t]: a.copy() for t, a in bound.arrays.items()}
    arrays |= {s.program.names[a]: bound.arrays[a.initial].copy() for a in s.program.inouts}
    machine = Machine(program, Symbols(bound.sizes, bound.params), arrays, Unwatched())
    machine.run()
    return [machine.array(b).tobytes() for b in program.buffers if b.kind == "output"]


class Unwatched:
    """Fails at an access outside of its buffer."""

    def joint(self, path: object, writes: object) -> None:
        pass

    def looked(self, path: object, reads: object) -> None:
        pass

    def wrong(self, kind: str, text: str) -> None:
        pytest.fail(f"{kind}: {text}")


@pytest.mark.parametrize("seed", [1, 3, 7, 11, 14, 25, 29, 34, 38, 51, 56, 58])
def test_random_programs_in_tiles_leave_the_same_bits(seed: int) -> None:
    s = tiled(seed)
    before = build(s.loop_program)
    for run in PASSES[: PASSES.index(roll_borders)]:
        before = run(before)
    after = roll_borders(before)
    rolled = [x for f in after.functions for x in loops(f.body) if x.var.name[:5] == "copy#"]
    assert len(rolled) >= 4
    for n_, m_ in ((2, 3), (3, 4), (4, 6), (5, 9)):
        bound = bind(s.program, (), random_arguments(s.program, {"n": n_, "m": m_}, seed))
        found = executed(after, s, bound)
        assert any(map(len, found))
        assert found == executed(before, s, bound)
