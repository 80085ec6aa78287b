"""Placements that are refused, with the smallest instances that show why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import polysched as ps
from polysched.poly.tree.edits import map_stages, stages
from polysched.poly.tree.looptree import Seq
from polysched.poly.tree.stage import Stage

from ..directives.support import refused, witness
from ..placing import blur, chain, examined, i, j, m, n, ran, right, row_sums


def shared() -> ps.Schedule:
    """Both outputs read f."""
    x, f = ps.Input("x", ps.int64, (n + 1,)), ps.Func("f")
    g, h = ps.Func("g", (n,)), ps.Func("h", (n,))
    f[i] = x[i] * 2
    g[i] = f[i] + f[i + 1]
    h[i] = f[i] * 3
    return ps.Schedule((g, h))


# violations -------------------------------------------------------------------------------------
def test_refuses_two_planes_of_three() -> None:
    """One row of the output needs three rows, so that the smallest sizes are 1."""
    s = blur()
    s["bx"].compute_at("by", i).store_root()
    with refused(
        s, "fold_storage(axis=0, planes=2) is refused: 2 planes of bx along axis 0: too few",
        "bx[i=2, j=0] in iteration by.i=0 overwrites what by[i=0, j=0] still reads, at n=1, m=1",
        hint="fold_storage(0, 3)", status="violation", kind="clobber", tensor="bx",
        sizes={"n": 1, "m": 1},
    ) as errors:  # fmt: skip
        s["bx"].fold_storage(0, 2)
    assert witness(errors[0]) == ({"n": 1, "m": 1}, (0, 0), (2, 0))
    assert errors[0].sink is not None
    assert errors[0].sink.iteration == {"by.i": 0}


def test_the_witness_of_two_planes_is_the_smallest() -> None:
    """By brute force: right where a size is 0, wrong at 1 and 1."""
    s = blur()
    s["bx"].compute_at("by", i).store_root()
    with s.trust("to see what happens"):
        s["bx"].fold_storage(0, 2)
    for sizes in ({"n": 0, "m": 0}, {"n": 0, "m": 1}, {"n": 1, "m": 0}):
        assert not examined(s, **sizes).breaches
    assert "flow" in {b.kind for b in examined(s, n=1, m=1).breaches}


@pytest.mark.parametrize("order", ["parallel last", "storage last"])
def test_refuses_storage_that_is_written_at_once(order: str) -> None:
    """Rows 4 and 5 belong to both tiles, which compute them anew."""
    s = row_sums(2)
    s["f"].split(i, 4)
    s["c"].compute_at("f", "io")
    steps = [lambda: s["c"].store_root(), lambda: s["f"].parallel("io")]
    first, second = steps if order == "parallel last" else reversed(steps)
    first()
    with refused(
        s, "is refused: two iterations would run concurrently",
        "c[i=4, j=0] in iteration f.io=0 writes c[4, 0], "
        "c[i=4, j=0] in iteration f.io=1 writes it, at n=5, m=1",
        hint="store_at that loop", status="violation", kind="race", tensor="c",
        sizes={"n": 5, "m": 1},
    ) as errors:  # fmt: skip
        second()
    assert errors[0].source is not None
    assert errors[0].source.iteration == {"f.io": 0}
    s["c"].store_at("f", "io")
    second() if order == "parallel last" else None
    ran(s, n=8, m=3)


def test_storage_that_is_written_at_once_is_wrong() -> None:
    s = row_sums(2)
    s["f"].split(i, 4)
    s["c"].compute_at("f", "io").store_root()
    with s.trust("to see what happens"):
        s["f"].parallel("io")
    assert not examined(s, n=4, m=1).breaches
    assert "race" in {b.kind for b in examined(s, n=5, m=1).breaches}


@pytest.mark.parametrize("at", ["g", "h"])
def test_refuses_a_consumer_outside(at: str) -> None:
    s, other = shared(), "h" if at == "g" else "g"
    with refused(
        s, f"{other}[i=0] reads f[0], which f[i=0] has not computed there, at n=1",
        hint="compute f at a loop that is around all that read it", status="violation",
        kind="uninitialised", tensor="f", sizes={"n": 1},
    ):  # fmt: skip
        s["f"].compute_at(at, i)


def test_refuses_storage_inside_of_which_a_consumer_is_not() -> None:
    """Whatever is trusted: a read there would have no memory to read from."""
    s = shared()
    with s.trust("g runs after h"), refused(
        s, "g uses f[i], and f is stored inside of a loop that g is not in", hint="store_root()"
    ):  # fmt: skip
        s["f"].compute_at("h", i)
    with s.batch(), s.trust("to see what happens"):
        s["f"].compute_at("h", i).store_root()
    assert "flow" in {b.kind for b in examined(s, n=1).breaches}


def test_consumers_in_one_loop() -> None:
    s = shared()
    s["h"].compute_with("g", i)
    s["f"].compute_at("g", i)
    assert ran(s, n=5).total == 5 * (1 + 1 + 2)
    s["g"].fission(i)  # the storage is that of both loops now
    assert ran(s, n=5).total == 6 + 5 + 5


def test_refuses_an_extern_stage_outside() -> None:
    x, f = ps.Input("x", ps.float64, (n,)), ps.Func("f", (n,))
    f[i] = x[i] * 2
    h = ps.extern("h", lambda a: a * 2, [(f, ((0, n),))], (n,), ps.float64)
    g = ps.Func("g", (n,))
    g[i] = f[i] + f[n - 1 - i] + h[i]
    s = ps.Schedule(g)
    with refused(s, "h[] reads f[0], which f[i=0]", kind="uninitialised", sizes={"n": 1}):
        s["f"].compute_at("g", i)


def test_refuses_a_copy_from_where_nothing_is_computed() -> None:
    """The copy stands in front of the loop in which what it reads is computed."""
    x, g = ps.Input("x", ps.int64, (n, m)), ps.Func("g", (n, m))
    k = ps.RVar("k", 0, m)
    g[i, j] = ps.sum(x[i, j], k)
    s = ps.Schedule(g)
    s["g.sum0.update(0)"].stage(x, at="j", layout=("k",))
    with refused(s, "which x.j[i=0, j=0, k=0] has not computed there", kind="uninitialised"):
        s["g.sum0.update(0)"].stage("x.j", at="i")


def test_what_runs_elsewhere_is_no_source_of_what_is_computed_at_a_loop() -> None:
    """A part of f0 outside of the loop, without instances, and nothing of it inside."""
    s = chain(2)
    s["f0"].compute_at("f1", i)
    prover = s._builder.state.rewritten.prover
    inside = next(x for x in stages(s.tree) if x.statement.part_of is not None)
    base = inside.statement.base
    outside = Stage(base, (), where=base.frame.empty, part=".outside")
    nothing = replace(inside, where=inside.statement.frame.empty)
    tree = map_stages(s.tree, lambda x: nothing if x is inside else x)
    assert isinstance(tree, Seq)
    tree = Seq((outside, *tree.body))
    found = list(prover.violations(tree, lambda _: False, s.accepted))
    assert [v.kind for v in found] == ["uninitialised"]


def test_refuses_what_a_peeled_loop_leaves_out() -> None:
    """The tail is a loop of its own, and nothing is computed in it."""
    s = chain(2)
    s["f1"].split(i, 4, tail="peel")
    with refused(s, "reads f0[0, 0], which f0[i=0, j=0]", kind="uninitialised"):
        s["f0"].compute_at("f1", "io")


# malformed --------------------------------------------------------------------------------------
def test_refuses_loops_in_which_nothing_reads_it() -> None:
    s = chain(3)
    with refused(s, "nothing inside of the loop i reads f0", status="malformed",
                 hint="at a loop around a stage that reads it"):  # fmt: skip
        s["f0"].compute_at("f2", i)
    with refused(s, "nothing inside of the loop i reads f1", status="malformed"):
        s["f1"].compute_at("f0", i)


def test_refuses_outputs() -> None:
    s = shared()
    why = "g cannot be computed or stored elsewhere: it is an output"
    for place in (
        lambda: s["g"].compute_at("h", i), lambda: s["g"].store_at("h", i),
        lambda: s["g"].store_root(),
    ):  # fmt: skip
        with refused(s, why, status="malformed"):
            place()


def test_refuses_recurrences_with_an_output() -> None:
    x, f, g = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,)), ps.Func("g", (n,), ps.int64)
    f[i] = ps.select(i > 0, g[ps.maximum(i - 1, 0)], 0) + x[i]
    g[i] = f[i] * 2 + f[i]
    s = ps.Schedule(g)
    with refused(s, "f shares its loops with an output: f, g need each other", status="malformed"):
        s["f"].compute_at("g", i)


def test_refuses_extern_stages() -> None:
    x = ps.Input("x", ps.float64, (n,))
    f = ps.extern("f", lambda a: a * 2, [(x, ((0, n),))], (n,), ps.float64)
    g = ps.Func("g", (n,))
    g[i] = f[i] + f[n - 1 - i]
    s = ps.Schedule(g)
    with refused(s, "an extern stage computes all of it at once", status="malformed"):
        s["f"].compute_at("g", i)


def test_refuses_what_a_sequential_updates() -> None:
    x, f, g = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = x[i] * 2
    with ps.sequential("t", 0, 3):
        f[i] += 1
    g[i] = f[i] + f[n - 1 - i]
    s = ps.Schedule(g)
    with refused(s, "a sequential says when it is computed", status="malformed"):
        s["f"].compute_at("g", i)


def test_refuses_loops_of_lanes() -> None:
    s = blur()
    s["by"].vectorize(j, 4)
    with refused(s, "ji is a vector loop: its lanes run together", status="malformed",
                 hint="a loop outside of ji"):  # fmt: skip
        s["bx"].compute_at("by", "ji")
    s["bx"].compute_at("by", j)
    ran(s, n=3, m=9)


def test_refuses_lanes_of_a_loop_that_computes_something() -> None:
    s = blur()
    s["bx"].compute_at("by", j)
    with refused(s, "bx would be computed inside of the vector loop ji", status="malformed",
                 hint="compute bx at a loop outside of j first"):  # fmt: skip
        s["by"].vectorize(j, 4)


def test_refuses_a_loop_of_its_own() -> None:
    s = blur()
    with refused(s, "bx belongs to bx itself", status="malformed"):
        s["bx"].compute_at("bx", i)


def test_refuses_a_loop_that_is_not_there() -> None:
    s = blur()
    with refused(s, "by has no loop k", status="malformed", hint="its loops are i, j"):
        s["bx"].compute_at("by", "k")
    with pytest.raises(TypeError, match="is no loop"):
        s["bx"].compute_at("by")


@pytest.mark.parametrize("loop", ["i", "j"])
def test_refuses_storage_inside_of_what_uses_it(loop: str) -> None:
    s = blur()
    s["bx"].compute_at("by", i)
    if loop == "i":
        s["bx"].compute_root()
    with refused(s, f"bx is computed outside of the loop {loop}", status="malformed",
                 hint="store it at a loop around all that reads and writes it"):  # fmt: skip
        s["bx"].store_at("by", loop)


def test_refuses_to_move_what_shares_a_loop() -> None:
    s = chain(3)
    s["f1"].compute_with("f0", i, shift=2)
    with refused(s, "f1 shares the loop i with others (f0, f1)", hint="fission takes them apart"):
        s["f1"].compute_at("f2", i)


@pytest.mark.slow
def test_joins_what_is_computed_at_one_loop() -> None:
    s = chain(3)
    s["f2"].split(i, 4)
    s["f1"].compute_at("f2", "io")
    s["f0"].compute_at("f2", "io")
    s["f1"].compute_with("f0", i, shift=2)
    right(s)


def test_refuses_to_join_what_is_computed_at_different_loops() -> None:
    s = chain(3)
    s["f1"].compute_at("f2", i)
    with refused(s, "f1 and f0 are not computed at the same loop", status="malformed",
                 hint="compute_at the same loop first"):  # fmt: skip
        s["f1"].compute_with("f0", i)


def test_refuses_to_move_a_part_of_iterations() -> None:
    s = chain(3)
    s["f1"].compute_at("f2", i)
    s["f2"].peel(i, first=1)
    with refused(s, "f1 is a part of its stage by iterations of the loops around it",
                 status="malformed", hint="say where it is computed first"):  # fmt: skip
        s["f1"].compute_root()


def test_refuses_to_move_skewed_loops() -> None:
    s = chain(3)
    s["f2"].split(i, 4)
    s["f1"].compute_at("f2", "io").skew("io", j, 1)
    with refused(s, "the loops of f1 are skewed by loops around them", status="malformed"):
        s["f1"].compute_root()


@pytest.mark.parametrize("loop", ["r", "ro", "ri"])
def test_refuses_what_bounds_read_inside_of_their_loop(loop: str) -> None:
    """An InternalError was raised when the loops were printed."""
    x, f, g = ps.Input("x", ps.int64, (n,), range=(0, n)), ps.Func("f"), ps.Func("g", (n, m))
    r = ps.RVar("r", 0, f[i])
    f[i] = x[i] // 2
    g[i, j] = 0
    g[i, j] += r
    s = ps.Schedule(g)
    s["f"].compute_root()
    if loop != "r":
        s["g.update(0)"].split("r", 4)
    with refused(
        s, f"the bounds of r in g.update(0) read f, which would be computed inside of the loop "
        f"{loop}", hint="compute f at a loop outside of r",
    ):  # fmt: skip
        s["f"].compute_at("g.update(0)", loop)
    s["f"].compute_at("g.update(0)", "j")
    given = np.array([0, 4, 2, 3, 1])
    np.testing.assert_array_equal(s.compile()(given, m=3), ps.interpret(g, given, m=3))
