"""Tiles with fewer vectors: where they are made, and that all that is needed is in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from codegen.llvm.harness import Index, add, load, loop, lt, module, mul, op, store
from codegen.passes.test_pass_meaning import TILE, left, n as size, v, x, y

import polysched as ps
from polysched.codegen.ir.ir import Alloc, Buffer, For, If, Lanes, Module, Seq, Stmt, Stores, walk
from polysched.codegen.passes.narrow_tiles import narrow_tiles
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import Node, Var, integer

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
LANES = 4
RNG = np.random.default_rng(0)


def product(skewed: bool = False) -> ps.Func:
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    k = ps.RVar("k", 0, l)
    C = ps.Func("C", (n, m), dtype=(ps.float32, ps.float32) if skewed else ps.float32)
    if skewed:
        C[i, j] = (0, 1)
        C[i, j] = (C[i, j][1] + A[i, k], C[i, j][0] * B[k, j])
    else:
        C[i, j] = 0
        C[i, j] += A[i, k] * B[k, j]
    return C


def tiled(
    C: ps.Func, vectors: int = 3, depth: int = 1, pad: bool = True, **known: int
) -> ps.Kernel:
    s = ps.Schedule(C)
    u = s["C.update(0)"]
    with s.batch():
        u.split("i", 2, names=("io", "ii"))
        u.split("j", vectors * LANES, names=("jo", "ji"), tail="pad" if pad else "auto")
        u.reorder("jo", "io", "k", "ii", "ji")
        u.accumulate_at("io")
        if pad:
            panel = s[u.stage("B", at="jo", layout=("k", "ji"), pad=True)]
            panel.vectorize("ji", LANES).unroll("ji")
        u.vectorize("ji", LANES).unroll("ji").unroll("ii").unroll("k", depth)
    return (s.fixed(known) if known else s).compile()


def narrow(module: Module) -> list[If]:
    """The choices of narrow versions."""
    return [
        x for f in module.functions for x in walk(f.body)
        if isinstance(x, If) and isinstance(x.body, Alloc) and any(map(is_narrow, x.body.buffers))
    ]  # fmt: skip


def is_narrow(buffer: Buffer) -> bool:
    return ".narrow" in buffer.name


def accumulated(stmt: Stmt | None) -> int:
    """How many vector statements there are in the loops of a statement."""
    assert stmt is not None
    loops = [x for x in walk(stmt) if isinstance(x, For)]
    inside = {id(s) for x in loops for s in walk(x.body) if isinstance(s, Stores)}
    return len(inside)


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize(("vectors", "depth", "pad"), [(3, 4, True), (2, 1, False)])
def test_every_width_has_the_bits_of_the_program(
    skewed: bool, vectors: int, depth: int, pad: bool
) -> None:
    """The narrow version is run at some of them, and one of the two or three vectors is left."""
    C = product(skewed)
    kernel = tiled(C, vectors, depth, pad)
    assert narrow(kernel._lowered.flat)
    plain = ps.Schedule(C).compile()
    columns = vectors * LANES
    for width in range(1, 2 * columns + 2):
        for height, length in ((1 + width % 4, 5), (2, width % 3)):
            a = RNG.standard_normal((height, length), np.float32)
            b = RNG.standard_normal((length, width), np.float32)
            found, wanted = kernel(a, b), plain(a, b)
            assert np.array_equal(np.array(found), np.array(wanted)), (width, height, length)


def test_one_vector_of_three_takes_a_third_of_the_statements() -> None:
    (choice,) = narrow(tiled(product())._lowered.flat)
    assert accumulated(choice.otherwise) == 3 * 2
    assert accumulated(choice.body) == 2


def test_an_unrolled_loop_and_what_is_left_of_it_are_one_loop() -> None:
    """Copies would be as much code again: here there are 4 of each of the 2 statements."""
    (choice,) = narrow(tiled(product(), depth=4)._lowered.flat)
    assert accumulated(choice.otherwise) == 3 * 2 * (4 + 1)
    assert accumulated(choice.body) == 2


@pytest.mark.parametrize(
    "known", [{"m": 24}, {"m": 23}, {"m": 36}], ids=["full", "one short of full", "three"]
)
def test_no_version_is_made_that_would_never_run(known: dict[str, int]) -> None:
    assert not narrow(tiled(product(), **known)._lowered.flat)


def test_a_version_is_made_where_one_column_is_known_to_be_left() -> None:
    assert narrow(tiled(product(), m=25)._lowered.flat)


def test_a_tile_of_one_vector_has_no_narrower_one() -> None:
    assert not narrow(tiled(product(), vectors=1)._lowered.flat)


# by hand: a tile of four vectors of two lanes, of which one lane is there -------------------------
w = Var("w")


def lanes(stmt: Stores) -> Stores:
    return replace(stmt, lanes=Lanes(v, integer(0), 2))


def adds(to: int, what: Node) -> Stmt:
    """A vector of the tile is added to."""
    at = add(v, 2 * to)
    return lanes(store(TILE, at, add(load(TILE, at), what)))


def neighbour(of: int) -> Node:
    return load(TILE, add(v, 2 * of))


def shown(vector: int, end: Index = size) -> Stmt:
    """A vector of the tile is stored where it is below an end."""
    at = add(v, 2 * vector)
    return lanes(store(y, at, load(TILE, at), lt(at, end)))


def tile(*updates: Stmt, behind: tuple[Stmt, ...] = ()) -> Stmt:
    filled = (lanes(store(TILE, add(v, 2 * q), add(v, 7 * q))) for q in range(4))
    return Alloc((TILE,), (), Seq((*filled, loop(w, 0, 3, Seq(updates)), *behind)))


SHOWN = tuple(shown(q) for q in range(4))
ONES = tuple(adds(q, integer(1)) for q in range(4))

NARROWER = {
    "each vector alone": (tile(*ONES, behind=SHOWN), 1),
    "the first one needs the last one": (
        tile(adds(0, neighbour(3)), *ONES[1:], behind=SHOWN), 2
    ),
    "the last one is stored there too": (
        tile(*ONES, behind=(*SHOWN, lanes(store(y, add(v, 4), neighbour(3))))), 2
    ),
    "they are stored in each iteration": (
        tile(*ONES, *(replace(s, stores=s.stores) for s in SHOWN)), 2
    ),
    "in a branch of its own": (
        tile(*ONES, behind=(If(lt(0, size), Seq(SHOWN)),)), 1
    ),
    "a choice between full vectors and others": (
        tile(*ONES, behind=(If(lt(7, size), Seq(tuple(shown(q, 9) for q in range(4))), Seq(SHOWN),
                               choice=True),)), 1
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NARROWER)
def test_what_the_first_vectors_need_is_computed(case: str) -> None:
    body, inside = NARROWER[case]
    before = module([x, y, TILE], [size], body)
    after = narrow_tiles(before)
    (choice,) = narrow(after)
    assert accumulated(choice.body) == inside
    assert left(after, x=[1] * 8) == left(before, x=[1] * 8)


STAY = {
    "each vector needs the next one": tile(
        *(adds(q, neighbour(q + 1)) for q in range(3)), adds(3, integer(1)), behind=SHOWN
    ),
    "all are stored whatever holds": tile(*ONES, behind=tuple(shown(q, 8) for q in range(4))),
    "the end moves in the loop": tile(*ONES, *(shown(q, add(w, 1)) for q in range(4))),
    "the end is read from memory": tile(
        *ONES, behind=tuple(shown(q, load(x, 0)) for q in range(4))
    ),
    "last lanes are stored, not first ones": tile(
        *ONES,
        behind=tuple(
            lanes(store(y, add(v, 2 * q), neighbour(q), lt(size, add(mul(v, 4), q + 1))))
            for q in range(4)
        ),
    ),
    "the place is found at run time": tile(
        *ONES, lanes(store(TILE, op("max", v, load(x, 0), dtype=int64), integer(5))), behind=SHOWN
    ),
}


@pytest.mark.parametrize("case", STAY)
def test_tiles_stay_of_which_all_or_an_unknown_part_is_needed(case: str) -> None:
    before = module([x, y, TILE], [size], STAY[case])
    assert narrow_tiles(before) is before
