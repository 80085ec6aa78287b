"""A Schedule as a value: its parts by name, copies, text, and what a refusal says and leaves."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from counting import calls

import polysched as ps
from polysched.lang.errors.errors import user_span
from polysched.poly.schedule.handles.base import LoopHandle
from polysched.poly.schedule.stages import StageHandle
from polysched.poly.sets.budget import counted

from ..directives.cases import gauss_seidel, i, j, jacobi, lu, m, n, plane, product
from ..directives.support import refused, same, witness


def tiled() -> ps.Schedule:
    s = ps.Schedule(product(ps.int32))
    u = s["C"].update(0)
    io, jo, ii, ji = u.tile(i, j, 4, 8)
    u.reorder(io, jo, "k", ii, ji).vectorize(ji).unroll(ii).parallel(io)
    return s


# naming -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", ["Var", "string", "handle", "handle of the stage"])
def test_a_loop_by_any_name(how: str) -> None:
    s = ps.Schedule(plane())
    named: dict[str, Any] = {
        "Var": j, "string": "j", "handle": s["f"].loops[1], "handle of the stage": s["f"][j],
    }  # fmt: skip
    s["f"].split(named[how], 8)
    assert [x.name for x in s["f"].loops] == ["i", "jo", "ji"]


def test_an_rvar_names_its_loop() -> None:
    C = product()
    k = ps.RVar("k", 0, ps.size("l"))
    s = ps.Schedule(C)
    s[C].update(0).unroll(k, 2)
    assert s[C].update(0)[k].is_reduction


def test_a_stage_by_any_name() -> None:
    C = product()
    s = ps.Schedule(C)
    assert [s[x].name for x in (C, "C", s[C])] == ["C"] * 3
    assert s["C.update(0)"].name == s[C].update(0).name == "C.update(0)"


@pytest.mark.parametrize("wrong", [3, None, i + 1, ("i",)])
def test_refuses_what_is_no_loop(wrong: object) -> None:
    s = ps.Schedule(plane())
    with pytest.raises(TypeError, match="the loop of split is the name of a loop, not "):
        s["f"].split(wrong, 8)
    with pytest.raises(TypeError, match="is no loop"):
        s["f"][wrong]


def test_refuses_what_is_no_stage() -> None:
    s = ps.Schedule(plane())
    with pytest.raises(TypeError, match="is no stage"):
        s[3]
    with refused(s, "there is no stage g", hint="stages are f"):
        s["g"]
    other = plane()
    with refused(s, "f is not part of this schedule", hint="its Funcs are f"):
        s[other]


def test_refuses_a_func_that_is_inlined() -> None:
    g, f = ps.Func("g"), ps.Func("f", (n,))
    g[i] = i * 2
    f[i] = g[i]
    s = ps.Schedule(f)
    assert s[g].loops == ()
    with refused(s, "g is inlined into its consumers: it has no loops", hint="compute_root"):
        s[g].vectorize(i, 8)
    s[g].compute_root().vectorize(i, 8)
    assert [x.name for x in s[g].loops] == ["i", "ii"]
    s[g].compute_inline()
    assert s[g].loops == ()


def test_refuses_an_ambiguous_name() -> None:
    first, second, f = ps.Func("g", (n,)), ps.Func("g", (n,)), ps.Func("f", (n,))
    first[i] = i
    second[i] = first[i] + first[n - 1 - i]
    f[i] = second[i] - second[n - 1 - i]
    s = ps.Schedule(f)
    with refused(s, "'g' names 2 Funcs", hint="s[f] with the Func itself"):
        s["g"]
    assert (s[first].name, s[second].name) == ("g", "g_2")
    s[second].split(i, 4)
    assert [x.name for x in s[first].loops] == ["i"]
    same(s)


def test_pieces_updates_and_reductions() -> None:
    f, x = ps.Func("f", (n,)), ps.Input("x", ps.int64, (n, n))
    k = ps.RVar("k", 0, n)
    f[0] = 1
    f[i] = ps.sum(x[i, k], k)
    s = ps.Schedule(f)
    assert s["f"].piece(0).name == "f.piece(0)"
    assert s["f"].name == "f.piece(1)"
    assert s["f"].reduction(0).name == "f.sum0.update(0)"
    with refused(s, "f has 1 inline reductions, and no number 1"):
        s["f"].reduction(1)
    with refused(s, "there is no stage f.update(3)"):
        s["f"].update(3)


def test_a_group_shares_its_loops() -> None:
    up, twice = ps.Func("up", (n,), ps.int64), ps.Func("twice", (n,), ps.int64)
    up[i] = ps.select(i > 0, twice[i - 1], 1)
    twice[i] = up[i] * 2
    s = ps.Schedule((up, twice))
    s.group(up).split(i, 4)
    assert [x.name for x in s.group(twice).loops] == ["io", "ii"]
    same(s)


def test_the_loop_of_a_sequential() -> None:
    s = ps.Schedule(lu())
    k = s.loop("k")
    assert (k.name, k.kind, k.extent) == ("k", "serial", "n - 1")
    with refused(s, "there is no loop t"):
        s.loop("t")


def test_what_a_loop_says() -> None:
    s = tiled()
    found = [(x.name, x.kind, x.extent, x.is_reduction) for x in s["C"].update(0).loops]
    assert found == [
        ("io", "parallel", "(n - 1) // 4 + 1", False),
        ("jo", "serial", "(m - 1) // 8 + 1", False),
        ("k", "serial", "l", True),
        ("ii", "unrolled", "min(n - io * 4, 4)", False),
        ("ji", "vector", "min(m - jo * 8, 8)", False),
    ]
    assert s["C"].update(0)[i.name + "o"].stage.name == "C.update(0)"


def test_completion_lists_directives_alone() -> None:
    names = dir(tiled()["C"])
    assert {"split", "tile", "loops", "update", "pipe"} <= set(names)
    assert not [x for x in names if x.startswith("_")]


def test_pipe() -> None:
    def rows(stage: StageHandle, size: int, *, lanes: int) -> StageHandle:
        return stage.split(i, size)[0].stage.vectorize(j, lanes)

    s = ps.Schedule(plane())
    assert s["f"].pipe(rows, 4, lanes=8).name == "f"
    assert [x.name for x in s["f"].loops] == ["io", "ii", "j", "ji"]


# handles ----------------------------------------------------------------------------------------
def test_a_stale_handle_says_what_consumed_its_loop_and_where() -> None:
    s = ps.Schedule(plane())
    old = s["f"][j]
    s["f"].split(j, 8)  # consumed
    with refused(
        s, "f has no loop j any more: ", """s["f"].split('j', 8) replaced it""", "test_schedules",
        hint="its loops are i, jo, ji", status="malformed",
    ) as errors:  # fmt: skip
        s["f"].unroll(old)
    source, first = inspect.getsourcelines(
        test_a_stale_handle_says_what_consumed_its_loop_and_where
    )
    line = first + next(k for k, text in enumerate(source) if "# consumed" in text)
    assert f"test_schedules.py:{line})" in errors[0].what


def test_a_handle_is_looked_up_when_it_is_used() -> None:
    s = ps.Schedule(plane())
    row = s["f"][i]
    s["f"].reorder(j, i).parallel(i)
    assert row.kind == "parallel"
    assert repr(row) == "loop i of f"


def test_handles_work_on_copies() -> None:
    s = ps.Schedule(plane())
    jo, ji = s["f"].split(j, 8)
    t = s.copy()
    t["f"].reorder(ji, jo)
    assert [x.name for x in t["f"].loops] == ["i", "ji", "jo"]
    assert [x.name for x in s["f"].loops] == ["i", "jo", "ji"]


# values -----------------------------------------------------------------------------------------
@pytest.mark.slow
def test_copies_are_independent() -> None:
    s = ps.Schedule(plane())
    t = s.copy()
    assert s == t
    t["f"].parallel(i)
    assert s != t
    assert s["f"][i].kind == "serial"
    s["f"].vectorize(j, 4)
    assert [x.name for x in t["f"].loops] == ["i", "j"]
    same(s)
    same(t)


def test_keys_are_hashable_and_schedules_are_not() -> None:
    C = product()

    def made() -> ps.Schedule:
        s = ps.Schedule(C)
        s[C].update(0).split(i, 8)
        return s

    assert made() == made()
    assert hash(made().key) == hash(made().key)
    assert made() != ps.Schedule(C)
    assert made() != "s"
    assert ps.Schedule(C) != ps.Schedule.default(C)
    with pytest.raises(TypeError, match="no hash"):
        hash(made())


def every_directive() -> tuple[Any, ps.Schedule]:
    """Each directive at least once, in one schedule."""
    x = ps.Input("x", ps.float32, (n + 1, m))
    k = ps.RVar("k", 0, m)
    a, b, c = ps.Func("a", (n + 1, m)), ps.Func("b", (n, m)), ps.Func("c", (n,))
    a[i, j] = x[i, j] * 2
    b[i, j] = a[i, j] + a[i + 1, j]
    c[i] = 0.0
    c[i] += b[i, k]
    s = ps.Schedule((a, b, c))
    s["b"].compute_with("a", i, shift=1).shift(i, 1)
    s["a"].fission(i)
    s["b"].skew(i, j, 2, name="w")
    s["b"].transform(("i", "w"), lambda i, w: (-i, w + 1))
    s["a"].tile(i, j, 4, 8)
    s["a"].wavefront("io", "jo")
    s["a"].parallel("jo").vectorize("ji")
    s["a"].rename("ii", "row")
    u = s["c"].update(0)
    u.reassociate().unroll_and_jam(i, 2)
    low, _ = u.partition((i < n - 2) | (k < 3))
    low.peel("k", first=1, last=2)
    s["c"].split(i, 4, names=("block", "lane"))
    s["c"].fuse("block", "lane", name="all")
    return (a, b, c), s


@pytest.mark.slow
def test_source_makes_an_equal_schedule() -> None:
    outputs, s = every_directive()
    a, b, c = outputs
    names: dict[str, Any] = {"ps": ps, "a": a, "b": b, "c": c, "i": i, "n": n, "k": ps.vars("k")}
    exec(s.source(), names)
    assert names["s"] == s
    assert str(names["s"]) == str(s)


@pytest.mark.slow
def test_json_and_back() -> None:
    outputs, s = every_directive()
    back = ps.Schedule.from_json(outputs, s.to_json())
    assert back == s
    assert str(back) == str(s)
    default = ps.Schedule.default(outputs)
    assert ps.Schedule.from_json(outputs, default.to_json()) == default


def test_json_is_proven_anew() -> None:
    """What another program allowed, this one need not."""
    s = ps.Schedule(gauss_seidel())
    s["a"].tile("r", "c", 4, 4)
    with pytest.raises(ps.ScheduleError, match="is refused: the first would run after"):
        ps.Schedule.from_json(gauss_seidel(north_east=True), s.to_json())


def test_a_kernel_keeps_its_schedule() -> None:
    s = ps.Schedule(plane())
    kernel = s.compile()
    s["f"].parallel(i)
    assert "parallel" not in str(kernel.loops)
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(kernel(x), s.compile()(x))


def test_a_schedule_is_not_called() -> None:
    with pytest.raises(TypeError, match="compile a schedule"):
        tiled()(1)


# batch and trust --------------------------------------------------------------------------------
def test_a_batch_is_proven_at_its_end() -> None:
    """Time backwards alone is wrong; twice backwards is forwards."""
    s = ps.Schedule(jacobi())
    with s.batch():
        s["f"].transform(("t",), lambda t: -t)
        s["f"].transform(("t",), lambda t: -t)
    assert len(s.directives) == 2
    same(s, over=(1, 2, 5))


def test_a_refused_batch_counts_for_nothing() -> None:
    s = ps.Schedule(jacobi())
    with (
        refused(s, "lambda t: (-t), names=('t',)) in a batch is refused: ", kind="flow"),
        s.batch(),
    ):
        s["f"].split("i", 4)
        s["f"].transform(("t",), lambda t: -t)


def test_an_error_inside_a_batch_counts_for_all_of_it() -> None:
    s = ps.Schedule(jacobi())
    with refused(s, "f has no loop k"), s.batch():
        s["f"].split("i", 4)
        s["f"].split("k", 4)


def test_a_refused_batch_names_the_line_that_broke_it() -> None:
    """The first one is undone by the third, the last one breaks nothing."""
    s = ps.Schedule(gauss_seidel(north_east=True))
    asked = """s["a.update(0)"].parallel('r', 4)"""
    with refused(s, f"{asked} in a batch is refused", kind="race", directive=asked) as errors:
        first = user_span()
        with s.batch():
            s["a"].reorder("c", "r")
            s["a"].parallel("r", 4)
            s["a"].reorder("r", "ri", "c")
            s["a"].split("c", 8)
    assert errors[0].where == replace(first, line=first.line + 3)


def test_batches_nest() -> None:
    s = ps.Schedule(jacobi())
    with refused(s, "in a batch is refused", kind="flow"), s.batch():
        with s.batch():
            s["f"].transform(("t",), lambda t: -t)
        s["f"].split("i", 4)


@pytest.mark.parametrize("leave", ["compile", "copy"])
def test_nothing_unproven_leaves_a_batch(leave: str) -> None:
    s = ps.Schedule(jacobi())
    with s.batch():
        s["f"].transform(("t",), lambda t: -t)
        with pytest.raises(ps.ScheduleError, match="is refused"):
            getattr(s, leave)()
        s["f"].transform(("t",), lambda t: -t)


def test_nothing_unproven_leaves_a_batch_inside_of_a_batch() -> None:
    s = ps.Schedule(jacobi())
    with refused(s, "is refused", kind="flow"), s.batch():
        s["f"].transform(("t",), lambda t: -t)
        with s.batch():
            s.copy()


def histogram() -> ps.Schedule:
    x, h = ps.Input("x", ps.int64, (n,), range=(0, n)), ps.InOut("h", ps.int64, (n,))
    r = ps.RVar("r", 0, n)
    h[x[r]] = r
    return ps.Schedule(h)


def test_trust_is_said_where_the_schedule_is_printed() -> None:
    s = histogram()
    with refused(s, "parallel", status="unproved"):
        s["h"].parallel("r")
    with s.trust("x is a permutation"):
        s["h"].parallel("r")
    last = str(s).splitlines()[-1]
    assert last == """  note: trusted, x is a permutation: s["h.update(0)"].parallel('r')"""


def test_trust_ends_with_its_block() -> None:
    s = histogram()
    with pytest.raises(ValueError, match="mine"), s.trust("a reason"):
        raise ValueError("mine")
    with refused(s, "parallel", status="unproved"):
        s["h"].parallel("r")


@pytest.mark.parametrize(
    "later",
    [
        lambda h: h.parallel("r"),
        lambda h: h.shift("r", 1),
        lambda h: h.transform(("q",), lambda q: -q),
        lambda h: h.reorder("q", "r"),
        lambda h: h.partition(ps.vars("r") < 8),
        lambda h: h.tile("r", "q", 4, 4),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_what_is_trusted_is_not_asked_again(later: Callable[[Any], object], inside: bool) -> None:
    """Behind the directive, and with it in a batch; without the trust it is refused."""
    x, h = ps.Input("x", ps.int64, (n, m), range=(0, n)), ps.InOut("h", ps.int64, (n,))
    r, q = ps.rdom("r q", (0, n), (0, m))
    h[x[r, q]] = r - q
    s = ps.Schedule(h)
    with s.batch() if inside else nullcontext():
        with s.trust("each index is there once"):
            s["h"].parallel("r")
            s["h"].transform(("q",), lambda q: -q)
        later(s["h"])
    assert s.to_json() == ps.Schedule.from_json(h, s.to_json()).to_json()


def test_what_is_broken_beside_of_what_is_trusted_is_refused() -> None:
    """Each row needs the one above, which is trusted, and each element its left neighbour."""
    s = ps.Schedule(gauss_seidel())
    with s.trust("it has one row"):
        s["a"].parallel("r")
    with refused(s, "is refused: ", kind="race") as errors:
        s["a"].parallel("c")
    assert witness(errors[0]) == ({"n": 2, "m": 4}, (1, 1), (1, 2))


def test_what_is_trusted_in_a_batch_excuses_nothing_else_in_it() -> None:
    """Neither what came before it, nor what comes behind it."""
    for first in (True, False):
        s = ps.Schedule(gauss_seidel())
        with refused(s, kind="race", sizes={"n": 2, "m": 4}), s.batch():
            if first:
                s["a"].parallel("c")
            with s.trust("it has one row"):
                s["a"].parallel("r")
            if not first:
                s["a"].parallel("c")


def test_trust_in_one_stage_is_none_in_another() -> None:
    """Their loops are the same."""
    a, b = ps.InOut("a", ps.int64, (n,)), ps.InOut("b", ps.int64, (n,))
    r = ps.RVar("r", 1, n)
    a[r] = a[r - 1]
    b[r] = b[r - 1]
    s = ps.Schedule((a, b))
    with refused(s, kind="race", tensor="b"), s.batch():
        with s.trust("a is constant"):
            s["a"].parallel(r)
        s["a"].parallel(r)
        s["b"].parallel(r)


@pytest.mark.parametrize("reason", ["", None, 3])
def test_trust_takes_a_reason(reason: object) -> None:
    s = histogram()
    with pytest.raises(TypeError, match="trust takes a reason"), s.trust(reason):
        pass


@pytest.mark.parametrize("inside", [False, True])
def test_trust_is_written_down(inside: bool) -> None:
    s = histogram()
    h = s.program.outputs[0]
    if inside:
        with s.batch():
            s["h"].split("r", 4)
            with s.trust("x is a permutation"):
                s["h"].parallel("ro")
    else:
        with s.trust("x is a permutation"):
            s["h"].parallel("r")
    names: dict[str, Any] = {"ps": ps, "h": h}
    exec(s.source(), names)
    for other in (names["s"], ps.Schedule.from_json(h, s.to_json())):
        assert other == s
        assert str(other) == str(s)


# refusals ---------------------------------------------------------------------------------------
def test_a_refusal_is_data() -> None:
    s = ps.Schedule(gauss_seidel(north_east=True))
    with pytest.raises(ps.ScheduleError) as info:
        s["a"].reorder("c", "r")
    error = info.value
    assert (error.status, error.kind, error.tensor) == ("violation", "flow", "a")
    assert error.source is not None
    assert (error.source.stage, error.source.point) == ("a.update(0)", {"r": 1, "c": 2})
    assert error.sink is not None
    assert str(error.sink) == "a.update(0)[r=2, c=1]"
    assert error.sizes == {"n": 3, "m": 4}
    assert error.directive == """s["a.update(0)"].reorder('c', 'r')"""
    assert error.where is not None
    assert error.where.file == __file__
    assert str(error).splitlines()[1] == f"  at {error.where}"


def test_a_malformed_one_says_so() -> None:
    s = ps.Schedule(plane())
    with refused(s, status="malformed", kind=None, tensor=None, source=None, sink=None, sizes={}):
        s["f"].split("q", 8)


@pytest.mark.slow
def test_a_refused_directive_leaves_no_trace() -> None:
    s = tiled()
    before = s.key, str(s), s.source(), s.to_json()
    wrong: list[Any] = [
        lambda u: u.split("q", 4),
        lambda u: u.tile("k", "q", 4, 4),
        lambda u: u.parallel("k"),
        lambda u: u.unroll_and_jam("k", 0),
        lambda u: u.fuse("io", "k"),
        lambda u: u.transform(("k",), lambda k: 0 * k),
        lambda u: u.compute_with("C", "io"),
        lambda u: u.vectorize("k"),
    ]
    for directive in wrong:
        with pytest.raises(ps.PolyschedError):
            directive(s["C"].update(0))
        assert (s.key, str(s), s.source(), s.to_json()) == before
    same(s, over=(0, 1, 9))


def test_handles_are_values() -> None:
    s = ps.Schedule(plane())
    assert s["f"][i] == LoopHandle(s, "f", "i")


# effort -----------------------------------------------------------------------------------------
def stages_of_rows(count: int) -> ps.Schedule:
    """A pipeline of stencils over columns."""
    x = ps.Input("x", ps.float32, (n, m))
    last: Any = x
    for k in range(count):
        f = ps.Func(f"f{k}", (n, m))
        f[i, j] = last[i, j] + last[i, ps.maximum(j - 1, 0)]
        last = f
    return ps.Schedule(last)


def effort(s: ps.Schedule, stage: str) -> tuple[int, int]:
    """What a directive takes: operations of isl, and calls of functions."""
    with counted() as tally, calls() as called:
        s[stage].reorder(j, i).parallel(j)
    return tally.operations, called.count


def test_a_directive_takes_no_more_than_its_share() -> None:
    """On four times as many stages at most four times as much, on five very little."""
    few, many = stages_of_rows(5), stages_of_rows(20)
    for s in (few, many):
        s["f0"].parallel(i)  # what is made once, is
    for k, (first, second) in enumerate(zip(effort(few, "f2"), effort(many, "f10"), strict=True)):
        assert second <= 4 * first, ("operations", "calls")[k]
    assert effort(few, "f3") < (5_000, 10_000)


@pytest.mark.slow
def test_many_directives_on_many_stages() -> None:
    """200 on 100 stages: the last ones take no more than the first."""
    s = stages_of_rows(100)
    efforts = [effort(s, f"f{k}") for k in range(100)]
    assert len(s.directives) == 200
    for first, last in zip(efforts[1], efforts[-1], strict=True):
        assert last <= 1.5 * first


@pytest.mark.parametrize("name", ["run", "at", "__class__", "tilt"])
def test_json_names_directives_and_nothing_else(name: str) -> None:
    data = {"stage": "f", "name": name, "options": {}}
    steps = [{"directive": data, "trust": None}]
    with pytest.raises(ps.ScheduleError, match=f"there is no directive {name}"):
        ps.Schedule.from_json(
            plane(), json.dumps({"default": False, "inputs": None, "steps": steps})
        )
