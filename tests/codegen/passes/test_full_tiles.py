"""Tiles at borders are computed in full: the same comes out, and nothing else is touched."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from codegen.llvm.harness import add, load, loop, lt, module, mul, op, size, store
from codegen.passes.test_pass_meaning import Unwatched, v, x, y

import polysched as ps
from polysched.checking.execute import Machine
from polysched.codegen.build.build import build
from polysched.codegen.ir.ir import (
    Alloc,
    Buffer,
    For,
    If,
    Lanes,
    Load,
    Module,
    Seq,
    Stmt,
    Stores,
    walk,
)
from polysched.codegen.ir.text import stmt_text
from polysched.codegen.ir.verify import verify
from polysched.codegen.ir.versions import is_as_free
from polysched.codegen.lower import ON_LOOPS
from polysched.codegen.passes.fill_tiles import fill_tiles
from polysched.codegen.passes.full_tiles import full_tiles
from polysched.interp.evaluate import Symbols
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import Node, Var, integer, postorder

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, l)
RNG = np.random.default_rng(0)


# schedules ----------------------------------------------------------------------------------------
def product(where: Callable[..., ps.Expr] | None = None, best: bool = False) -> ps.Func:
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    r = k if where is None else ps.RVar("k", 0, l, where=where)
    C = ps.Func("C", (n, m))
    C[i, j] = 0
    if best:
        C[i, j] = ps.maximum(C[i, j], A[i, r] + B[r, j])
    else:
        C[i, j] += A[i, r] * B[r, j]
    return C


def pairs() -> ps.Func:
    """Two accumulators an element, each of which reads the other."""
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    C = ps.Func("C", (n, m), dtype=(ps.float32, ps.float32))
    C[i, j] = (0, 1)
    C[i, j] = (C[i, j][1] + A[i, k], C[i, j][0] * B[k, j])
    return C


def tiled(C: ps.Func, tail: str, kind: str) -> ps.Schedule:
    s = ps.Schedule(C)
    u = s["C.update(0)"]
    with s.batch():
        u.split("i", 3, names=("io", "ii"), tail=tail)
        u.split("j", 8, names=("jo", "ji"), tail="pad" if "padded" in kind else tail)
        u.reorder("jo", "io", "k", "ii", "ji")
        if "begun inside" in kind:
            s["C"].compute_at(u, "io").vectorize("j", 4).unroll("j").unroll("i")
        u.accumulate_at("io")
        if "staged" in kind or "padded" in kind:
            panel = u.stage("B", at="jo", layout=("k", "ji"), pad="padded" in kind)
            s[panel].vectorize("ji", 4).unroll("ji")
        u.vectorize("ji", 4).unroll("ji").unroll("ii")
    return s


PROGRAMS = {
    "product": product,
    "triangle": lambda: product(where=lambda k: k % 3 != 1),
    "best": lambda: product(best=True),
    "pairs": pairs,
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    ("tail", "kind"),
    [
        ("auto", "plain"),
        ("guard", "plain"),
        ("auto", "begun inside"),
        pytest.param("mask", "staged", marks=pytest.mark.slow),
        pytest.param("auto", "padded, begun inside", marks=pytest.mark.slow),
    ],
)
def test_borders_of_every_size_come_out_right(program: str, tail: str, kind: str) -> None:
    C = PROGRAMS[program]()
    kernel = tiled(C, tail, kind).compile()
    for rows, columns, depth in [
        *((3 + a, 8 + b, 5) for a in range(4) for b in (0, 1, 3, 4, 5, 7)),
        (1, 1, 1), (2, 3, 0), (0, 9, 2), (4, 0, 2), (7, 17, 2),
    ]:  # fmt: skip
        a = RNG.standard_normal((rows, depth), np.float32)
        b = RNG.standard_normal((depth, columns), np.float32)
        wanted = ps.interpret(C, a, b)
        found = kernel(a, b)
        assert np.array_equal(np.array(found), np.array(wanted)), (rows, columns, depth)


@pytest.mark.parametrize("tail", ["auto", "guard"])
def test_no_condition_is_left_in_the_loop_that_fills_a_tile(tail: str) -> None:
    flat = build(tiled(product(), tail, "plain").loop_program)
    for run in (*ON_LOOPS, fill_tiles):
        flat = run(flat)
    text = "\n".join(stmt_text(f.body) for f in full_tiles(flat).functions)
    loops = re.findall(r"(?m)^( *)for k(?:\.2)? in .*\n((?:\1 +.*\n)+)", text)
    assert len(loops) >= 2
    for _, filled in loops:
        assert "if 0 <" not in filled.replace("k if", "")
        assert " where " not in filled


def tiles(program: Module) -> list[Alloc]:
    """The versions of a tile that is on the stack."""
    found = [x for f in program.functions for x in walk(f.body) if isinstance(x, Alloc)]
    return [x for x in found if x.buffers[0].kind == "stack"]


def filled(s: ps.Schedule) -> Module:
    flat = build(s.loop_program)
    for run in (*ON_LOOPS, fill_tiles):
        flat = run(flat)
    return flat


def test_a_tile_with_all_rows_needs_no_version_beside_that_of_all_borders() -> None:
    """Both have no condition in the loop over k. The version and its storage are left out; what is
    stored behind the loop is chosen there."""
    before = filled(tiled(product(), "auto", "padded, begun inside"))
    after = full_tiles(before)
    assert (len(tiles(before)), len(tiles(after))) == (2, 1)
    assert {b for b in after.buffers if b.kind == "stack"} == {
        b for x in tiles(after) for b in x.buffers
    }
    (tile,) = tiles(after)
    assert isinstance(tile.body, Seq)
    *filling, last = tile.body.parts
    assert sum(map(conditions, filling)) == 0
    assert isinstance(last, If)
    assert last.choice
    assert conditions(last.body) == 0


def test_a_window_that_slides_in_an_unrolled_loop_has_full_tiles() -> None:
    """Its first copies only fill the window: that nothing else is stored is no condition."""
    image = ps.Input("image", ps.float32, (n + 2, m))
    rows, f = ps.Func("rows"), ps.Func("f", (n, m))
    rows[i, j] = image[i, j] * 2
    f[i, j] = rows[i, j] + rows[i + 1, j] + rows[i + 2, j]
    s = ps.Schedule(f)
    with s.batch():
        _, jo, ii, ji = s["f"].tile(i, j, 4, 8)
        s["rows"].compute_at("f", ii).store_at("f", jo).vectorize(j, 8)
        s["f"].vectorize(ji).unroll(ii)
    full, *_ = tiles(filled(s))
    stores = [s for s in walk(full.body) if isinstance(s, Stores)]
    assert len(stores) == 6 + 4
    assert conditions(full.body) == 0


def test_a_border_makes_no_choice_of_full_tiles() -> None:
    """Where versions stay apart, that of borders has no statements for tiles that are full."""
    free, border = (loop(w, 0, 3, store(TILE, 2, add(w, 1), c)) for c in (None, lt(w, 1)))
    both = ix.conjunction((lt(s, 3), lt(s, 5)))
    assert both is not None
    choice = If(both, store(y, 0, integer(1)), shown(2, even), choice=True)
    inner = tile(zero(2), free, replace(choice, condition=lt(s, 5)))
    kept = If(lt(s, 3), inner, tile(zero(2), border, choice), choice=True)
    found = full_tiles(module([y], [s], kept)).functions[0].body
    assert isinstance(found, If)
    assert found.otherwise is not None
    versions = [
        [x.choice for x in walk(v) if isinstance(x, If)] for v in (found.body, found.otherwise)
    ]
    assert [any(x) for x in versions] == [True, False]


def test_a_version_stays_where_a_border_costs_something_in_each_iteration() -> None:
    """What is stored in the loop is masked at borders of columns: it is not in a full tile."""
    free, border = (loop(w, 0, 3, store(TILE, 2, add(w, 1), c)) for c in (None, lt(w, 1)))
    kept = If(lt(s, 3), tile(zero(2), free, shown(2, even)), tile(zero(2), border), choice=True)
    limited = loop(w, 0, 3, store(TILE, 2, load(x, op("min", w, s, dtype=int64))))
    also = replace(kept, otherwise=tile(zero(2), limited, shown(2, even)))
    full = replace(kept, body=tile(zero(2), free), otherwise=tile(zero(2), free, shown(2, even)))
    gone = replace(kept, otherwise=tile(zero(2), free, shown(2, small)))
    found = [is_as_free(x.body, x.otherwise) for x in (kept, also, full, gone)]
    assert found == [False, False, False, True]


def test_lanes_that_exist_under_a_condition_need_no_test_of_it() -> None:
    """Rows are tested, columns are masked."""
    (_, border) = tiles(full_tiles(filled(tiled(product(), "auto", "plain"))))
    tests = [x.condition for x in walk(border) if isinstance(x, If)]
    assert len(tests) == 3
    masked = [x for x in walk(border) if isinstance(x, Stores) and x.stores[0].guard is not None]
    assert len(masked) == 6


def consumed(tail: str) -> tuple[ps.Func, ps.Schedule]:
    """A product in tiles of what reads it, which says borders in words of its own loops."""
    C, R = product(), ps.Func("R", (n, m))
    R[i, j] = ps.maximum(C[i, j], 0)
    s = ps.Schedule(R)
    s[R].split("i", 3, names=("io", "ii"), tail=tail)
    s[R].split("j", 8, names=("jo", "ji"), tail=tail)
    s[R].reorder("jo", "io", "ii", "ji")
    u = s[C].compute_at(R, "io").update(0)
    u.reorder("k", "i", "j")
    for stage, rows, columns in ((s[R], "ii", "ji"), (s[C], "i", "j"), (u, "i", "j")):
        stage.vectorize(columns, 4).unroll(columns).unroll(rows)
    return R, s


@pytest.mark.parametrize("tail", ["auto", pytest.param("guard", marks=pytest.mark.slow)])
def test_borders_said_in_other_words_are_the_same(tail: str) -> None:
    """That of the tile's loops, i in [3 * io, min(3 * io + 3, n)), and ii in [0, min(n - 3 * io,
    3)): no condition is left in the loops over k, and the result is right."""
    R, s = consumed(tail)
    flat = build(s.loop_program)
    for run in (*ON_LOOPS, fill_tiles, full_tiles):
        flat = run(flat)
    loops = [x for f in flat.functions for x in walk(f.body) if isinstance(x, For)]
    filling = [x for x in loops if x.name == "k"]
    assert filling
    assert sum(conditions(x.body) for x in filling) == 0
    kernel = s.compile()
    for rows, columns in ((1, 1), (4, 9), (5, 15), (6, 16), (8, 7), (0, 3)):
        a = RNG.standard_normal((rows, 5), np.float32)
        b = RNG.standard_normal((5, columns), np.float32)
        assert np.array_equal(kernel(a, b), ps.interpret(R, a, b)), (rows, columns)


# what must stay ---------------------------------------------------------------------------------
TILE = Buffer("t", int64, (integer(8),), (integer(0),), "stack")
s, w, w2 = size("n"), Var("w"), Var("w2")
small = lt(s, 1)  # which does not hold


class Unused(Unwatched):
    """Elements that are not read may be computed of elements that are not loaded."""

    def wrong(self, kind: str, text: str) -> None:
        if "is left out" not in text:
            super().wrong(kind, text)


def left(program: Module, **given: list[int]) -> dict[str, list[int]]:
    """What is in x and y in the end, at n = 1. Nothing beyond a buffer may be touched."""
    verify(program, flat=False)
    start = {b.name: np.array(given.get(b.name, [0] * 8)) for b in (x, y)}
    machine = Machine(program, Symbols({"n": 1}, {}), start, Unused())
    machine.run()
    return {b.name: machine.array(b).tolist() for b in (x, y)}


def conditions(stmt: Stmt) -> int:
    """How many are left: of statements, and of stores."""
    return sum(
        isinstance(part, If)
        or (isinstance(part, Stores) and any(x.guard is not None for x in part.stores))
        for part in walk(stmt)
    )


def tile(*parts: Stmt) -> Alloc:
    """The tile lives for these statements."""
    return Alloc((TILE,), (), Seq(parts))


def zero(at: int) -> Stmt:
    return store(TILE, at, integer(0))


def shown(at: int, condition: Node | None = None) -> Stmt:
    """y[at] = t[at], under a condition."""
    stmt = store(y, at, load(TILE, at))
    return stmt if condition is None else If(condition, stmt)


def lanes(stmt: Stores, folds: bool = False) -> Stores:
    """Four lanes, each with its number v."""
    return replace(stmt, lanes=Lanes(v, integer(0), 4, folds=folds))


even = lt(op("mod", w, integer(2), dtype=int64), 1)
counted = store(TILE, 2, add(load(TILE, 2), 1))
few = lt(v, add(s, 1))
half = op("floordiv", v, integer(2), dtype=int64)

STAY = {
    "it is read whatever holds": tile(zero(2), If(small, store(TILE, 2, integer(5))), shown(2)),
    "it is read whatever holds, and not only": tile(
        zero(2),
        If(small, store(TILE, 2, integer(5))),
        If(small, store(y, 1, load(TILE, 2))),
        shown(2),
    ),
    "the condition changes while the tile lives": tile(
        loop(w, 0, 5, Seq((If(lt(w, 1), If(even, zero(2))), If(even, counted), shown(2, even))))
    ),
    "lanes share an element": tile(
        lanes(store(TILE, half, v, few)), lanes(store(y, v, load(TILE, half), few))
    ),
    "lanes add to an element": tile(
        lanes(store(TILE, 2, integer(0), few)),
        lanes(store(TILE, 2, add(load(TILE, 2), add(v, 1)), few), folds=True),
        lanes(store(y, v, load(TILE, 2), few)),
    ),
    "an element of several is read alone": tile(
        lanes(store(TILE, v, integer(3))),
        lanes(store(TILE, v, integer(5), lt(v, s))),
        lanes(store(y, add(v, 4), load(TILE, v), lt(v, s))),
        If(lt(s, 3), shown(2)),
    ),
    "it is read for another element": tile(
        zero(2), If(small, store(TILE, 2, integer(5))), store(TILE, 3, load(TILE, 2)), shown(3)
    ),
    "the place is found at run time": tile(
        zero(2), If(small, store(TILE, load(x, 0), integer(5))), shown(0, small), shown(2)
    ),
    "it is beyond the tile": tile(
        zero(2),
        If(small, store(TILE, 9, integer(5))),
        If(small, store(y, 1, load(TILE, 9))),
        shown(2),
    ),
}


@pytest.mark.parametrize("case", STAY)
def test_conditions_stay_where_the_element_may_be_read(case: str) -> None:
    body = STAY[case]
    program = module([x, y, TILE], [s], body)
    made = full_tiles(program)
    assert left(made, x=[2] * 8) == left(program, x=[2] * 8)
    assert conditions(made.functions[0].body) == conditions(body)


HARMFUL = {
    "it divides integers": op("floordiv", load(x, 1), load(x, 0), dtype=int64),
    "data say what it reads": load(x, load(x, 0)),
}


TESTED = {
    "it is of other lanes": lanes(store(y, v, load(TILE, v), lt(v, add(s, 2)))),
    "what is stored is in memory": lanes(store(y, v, load(x, v), few)),
    "all lanes exist": lanes(store(y, v, load(TILE, v))),
}


@pytest.mark.parametrize("case", TESTED)
def test_a_test_stays_that_lanes_do_not_make(case: str) -> None:
    """The lanes below n + 1 are there where n > -1; those that are tested, where n > 0."""
    body = tile(lanes(store(TILE, v, integer(3))), If(lt(0, s), TESTED[case]))
    assert conditions(full_tiles(module([x, y, TILE], [s], body)).functions[0].body) == conditions(
        body
    )


@pytest.mark.parametrize("case", HARMFUL)
def test_what_could_fail_keeps_its_conditions(case: str) -> None:
    body = tile(If(small, store(TILE, 2, HARMFUL[case])), shown(2, small))
    made = full_tiles(module([x, y, TILE], [s], body))
    assert conditions(made.functions[0].body) == 2


def test_a_condition_of_all_accesses_goes_and_guards_the_loads() -> None:
    """Reading x[9] would be beyond its end: the executor says so."""
    inner = lt(mul(s, 9), 8)
    update = If(inner, store(TILE, 2, add(load(TILE, 2), load(x, mul(s, 9)))))
    body = Alloc(
        (TILE,),
        (),
        Seq((If(inner, store(TILE, 2, integer(0))), loop(w, 0, 3, update), shown(2, inner))),
    )
    program = module([x, y, TILE], [s], body)
    made = full_tiles(program)
    assert left(made) == left(program)
    (filled,) = (p for p in walk(made.functions[0].body) if isinstance(p, For))
    assert not conditions(filled)
    assert conditions(made.functions[0].body) == 1


@pytest.mark.parametrize(
    "update",
    [
        pytest.param(lambda far: If(lt(far, 1), counted), id="a condition"),
        pytest.param(lambda far: store(TILE, 2, integer(3), lt(far, 1)), id="a guard of a store"),
        pytest.param(lambda far: store(TILE, 2, load(x, 1, lt(far, 1))), id="a guard of a load"),
        pytest.param(lambda far: loop(w2, 0, far, counted), id="a loop's end"),
        pytest.param(lambda far: replace(counted, lanes=Lanes(v, far, 4, folds=True)), id="lanes"),
    ],
)
def test_what_a_condition_reads_is_there_under_others_only(update: Callable[..., Stmt]) -> None:
    """x[9] is beyond its end, where a tile of 9 elements has a border."""
    inner = lt(mul(s, 9), 8)
    inside = update(load(x, mul(s, 9)))
    body = tile(If(inner, zero(2)), loop(w, 0, 3, If(inner, inside)), shown(2, inner))
    program = module([x, y, TILE], [s], body)
    assert left(full_tiles(program)) == left(program)


def test_one_load_serves_statements_under_several_conditions() -> None:
    """The guard of each is that any of them loads; with their own they would be two loads."""
    parts = []
    for at, condition in enumerate((lt(s, 5), lt(s, 1))):
        parts += [If(condition, store(TILE, at, add(load(TILE, at), load(x, 3))))]
    body = Alloc(
        (TILE,),
        (),
        Seq((
            *(If(c, store(TILE, at, integer(0))) for at, c in enumerate((lt(s, 5), lt(s, 1)))),
            loop(w, 0, 3, Seq(tuple(parts))),
            shown(0, lt(s, 5)), shown(1, lt(s, 1)),
        )),
    )  # fmt: skip
    program = module([x, y, TILE], [s], body)
    made = full_tiles(program)
    assert left(made, x=[7] * 8) == left(program, x=[7] * 8)
    (filled,) = (p for p in walk(made.functions[0].body) if isinstance(p, For))
    guards = {
        node.guard
        for part in walk(filled) if isinstance(part, Stores)
        for st in part.stores
        for node in st.value.args if getattr(node, "buffer", None) is x
    }  # fmt: skip
    assert len(guards) == 1


# rows beyond the border ---------------------------------------------------------------------------
def rows(*conditions: Node, first: int = 0, at: Callable[[Node], Node] = lambda r: r) -> Stmt:
    """for w in [0, 4): a tile of rows 2 w, 2 w + 1, ... of x, each under a condition of its own."""
    parts: list[Stmt] = []
    for k, condition in enumerate(conditions):
        row = add(mul(w, 2), first + k)
        parts += [If(condition, store(TILE, k, integer(0)))]
        parts += [If(condition, store(TILE, k, add(load(TILE, k), load(x, at(row)))))]
        parts += [If(condition, store(y, row, load(TILE, k)))]
    return loop(w, 0, 4, tile(*parts))


def below(end: Node | int, first: int = 0) -> list[Node]:
    return [lt(add(mul(w, 2), first + k), end) for k in range(2)]


def guards(made: Module) -> list[Node]:
    """Of what is loaded from x."""
    return [
        node.guard
        for part in walk(made.functions[0].body)
        if isinstance(part, Stores)
        for st in part.stores
        for node in postorder(st.value)
        if isinstance(node, Load) and node.buffer is x and node.guard is not None
    ]


@pytest.mark.parametrize("end", [7, add(s, 6)], ids=["a constant", "a size"])
def test_a_row_beyond_the_border_is_the_last_one_in_front_of_it(end: Node | int) -> None:
    """x[7] is loaded nowhere, and x[6] twice. A loop that knows no size keeps a test for all."""
    body = rows(*below(end))
    program = module([x, y, TILE], [s], body)
    made = full_tiles(program)
    assert left(made, x=list(range(8))) == left(program, x=list(range(8)))
    assert ("min(w * 2 + 1, " in stmt_text(made.functions[0].body)) == (end == 7)
    assert len(set(guards(made))) == (0 if end == 7 else 2)


KEPT = {
    "no row is known to be there": rows(*below(7, first=1), first=1),
    "a row has another condition": rows(below(7)[0], lt(s, add(w, 2))),
    "data say where": rows(*below(7), at=lambda row: load(y, row)),
    "the row in front is another one": rows(*below(7), at=lambda row: mul(row, row)),
}


@pytest.mark.parametrize("case", KEPT)
def test_a_row_keeps_its_guard_where_no_other_one_is_in_its_place(case: str) -> None:
    program = module([x, y, TILE], [s], KEPT[case])
    made = full_tiles(program)
    assert "min(" not in stmt_text(made.functions[0].body)
    if case != "the row in front is another one":  # which is beyond the end of x
        assert left(made, x=[3] * 8) == left(program, x=[3] * 8)


def test_a_row_that_is_left_out_counts_as_zero() -> None:
    """A guard of the load itself says what is loaded, not only whether it is there."""
    parts: list[Stmt] = []
    for k, inside in enumerate(below(8)):
        row = add(mul(w, 2), k)
        once = add(load(TILE, k), load(x, row, lt(row, 7)))
        parts += [If(inside, store(TILE, k, integer(0))), If(inside, store(TILE, k, once))]
        parts += [If(inside, store(y, row, load(TILE, k)))]
    program = module([x, y, TILE], [s], loop(w, 0, 4, tile(*parts)))
    made = full_tiles(program)
    assert left(made, x=[5] * 8) == left(program, x=[5] * 8)
    assert left(made, x=[5] * 8)["y"] == [5] * 7 + [0]
