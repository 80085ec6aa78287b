"""Advice on kernels: which causes are named with which numbers, and what is given or not. Times
come from a clock of the test's own: nothing here depends on how long anything takes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.show.advice import advice as measuring
from polysched.show.advice.causes import suspicions
from polysched.show.advice.edits import Change
from polysched.show.advice.nests import seen
from polysched.show.advice.suspicion import Subject, Suspicion
from polysched.show.explore.moves import Move

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
IMAGE = np.arange(40 * 64, dtype=np.float32).reshape(40, 64)


@pytest.fixture
def program() -> ps.Func:
    a, f = ps.Input("a", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = a[i, j] * 2 + 1
    return f


def _found(s: ps.Schedule, threads: int = 2) -> dict[str, Suspicion]:
    stages = seen(s, {"n": 40, "m": 64})
    return {x.cause: x for x in suspicions(Subject(s, stages, threads))}


def test_a_plain_loop_has_no_vectors_and_one_thread(program: ps.Func) -> None:
    found = _found(ps.Schedule(program))
    assert set(found) == {"no vector loop", "serial outer loop"}
    assert "64 iterations of j" in found["no vector loop"].evidence
    assert found["serial outer loop"].change.text() == "s[\"f\"].parallel('i')"
    assert "serial outer loop" not in _found(ps.Schedule(program), threads=1)


def test_a_loop_along_columns_is_strided(program: ps.Func) -> None:
    s = ps.Schedule(program)
    s["f"].reorder("j", "i")
    found = _found(s)["strided inner access"]
    assert "256 bytes" in found.evidence
    made = found.change.made(s)
    assert next(x.name for x in made["f"].loops) == "i"
    np.testing.assert_array_equal(made.compile()(IMAGE), IMAGE * 2 + 1)


def test_the_extents_of_outputs_are_those_of_the_call() -> None:
    a, f = ps.Input("a", ps.float32, (n, m)), ps.Func("f")
    f[i, j] = a[i, j] * 2
    s = ps.Schedule(f)
    values = {"n": 40, "m": 64, "f.shape[0]": 40, "f.shape[1]": 64}
    assert [x.extent for x in seen(s, values)[0].loops] == [40, 64]


def test_columns_of_threads_share_lines(program: ps.Func) -> None:
    s = ps.Schedule(program)
    s["f"].reorder("j", "i").parallel("j")
    found = _found(s)
    assert "4 bytes from each other" in found["false sharing"].evidence
    assert "strided inner access" not in found
    assert "parallel" not in [d.name for d in Change((), s.directives[-1:]).made(s).directives]


def test_tasks_inside_of_a_serial_loop_are_fine(program: ps.Func) -> None:
    s = ps.Schedule(program)
    s["f"].vectorize("j", 8).parallel("j")
    found = _found(s)
    assert "40 times, 8 tasks of 8" in found["tasks too fine"].evidence
    assert "false sharing" not in found  # which the same would help


def test_what_windows_have_in_common_is_computed_again() -> None:
    a = ps.Input("a", ps.float32, (n + 4, m))
    g, f = ps.Func("g"), ps.Func("f", (n, m))
    g[i, j] = ps.exp(a[i, j])
    f[i, j] = g[i, j] + g[i + 1, j] + g[i + 2, j] + g[i + 3, j] + g[i + 4, j]
    s = ps.Schedule(f)
    s["f"].parallel("i")
    s["g"].compute_at("f", "i")
    found = _found(s)["recomputation"]
    assert "4.55 times each" in found.evidence
    assert found.change.text() == 's["g"].compute_root()'


def test_a_good_schedule_raises_no_suspicion(program: ps.Func) -> None:
    s = ps.Schedule(program)
    s["f"].vectorize("j", 8).parallel("i")
    assert not list(suspicions(Subject(s, seen(s, {"n": 400, "m": 64}), 2)))


def test_other_factors_are_those_of_the_copy(program: ps.Func) -> None:
    s = ps.Schedule(program)
    s["f"].split("j", 32)
    made = Change(instead=((s.directives[0], 8),)).made(s)
    assert made.extents(n=40, m=64)["f"] == {"i": 40, "jo": 8, "ji": 8}
    assert s.extents(n=40, m=64)["f"] == {"i": 40, "jo": 2, "ji": 32}


def test_a_refused_change_is_no_advice(program: ps.Func) -> None:
    s = ps.Schedule(program)
    with pytest.raises(ps.PolyschedError):
        Change((Move("f", "q", "parallel", ("q",)),)).made(s)
    assert not s.directives


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float, bool], None]:
    """Makes a clock by which calls of the kernel take so many seconds, and those of changed ones
    one; and a machine that is busy, or not."""

    def make(seconds: float, is_busy: bool = False) -> None:
        def timed(call: Any) -> float:
            return seconds if call is first[0] else 1.0

        first: list[Any] = []
        made: Callable[..., Any] = measuring.Repeated

        def repeated(asked: Any) -> Any:
            call = made(asked)
            first.append(call)
            return call

        monkeypatch.setattr(measuring, "Repeated", repeated)
        monkeypatch.setattr(measuring, "_timed", timed)
        monkeypatch.setattr(measuring, "MOST", 3)
        monkeypatch.setattr(measuring, "get_num_threads", lambda: 2)
        monkeypatch.setattr(measuring, "_is_busy", lambda: is_busy)

    return make


@pytest.mark.parametrize(("factor", "given"), [(1.0, 0), (1.05, 0), (4.0, 2)])
def test_only_what_is_measured_to_help_is_given(
    program: ps.Func, clock: Callable[[float, bool], None], factor: float, given: int
) -> None:
    clock(factor, False)
    found = ps.Schedule(program).compile().advice(IMAGE)
    assert (len(found), found.tried) == (given, 2)
    if given:
        assert found[0].faster == factor
        assert "4 times faster" in str(found)
        assert "no vector loop" in found._repr_html_()
    else:
        assert "no advice" in str(found)
    measured = "2 of 2 changes that were measured help" if given else "no advice: none of 2"
    assert measured in found._repr_html_()


@pytest.mark.parametrize(
    ("predicted", "summary"),
    [
        ([False], "1 of 5 changes that were measured helps"),
        ([False, False], "2 of 5 changes that were measured help"),
        ([False, True], "1 of 5 changes that were measured helps; 1 more is predicted to"),
        ([True, True], "none of 5 changes that were measured helps; 2 more are predicted to"),
        ([], "no advice: none of 5 changes that were measured helps"),
    ],
)
def test_what_is_predicted_does_not_count_as_measured(predicted: list[bool], summary: str) -> None:
    pieces: Any = tuple(SimpleNamespace(predicted=x) for x in predicted)
    assert measuring.Advice(pieces, 5).summary == summary


def test_threads_are_predicted_where_they_cannot_be_measured(
    program: ps.Func, clock: Callable[[float, bool], None]
) -> None:
    clock(1.0, True)
    (piece,) = ps.Schedule(program).compile().advice(IMAGE)
    assert (piece.cause, piece.predicted) == ("serial outer loop", True)
    assert 1.9 < piece.faster < 2
    assert "predicted, not measured: " in str(piece)


def test_the_arguments_of_the_caller_stay() -> None:
    x = ps.InOut("x", ps.float32, (n,))
    x[i] += 1
    own = np.zeros(40, np.float32)
    ps.Schedule(x).compile().advice(own)
    assert not own.any()


def _product(rows: int, columns: int, *, unrolled: bool) -> ps.Schedule:
    a, b = ps.Input("a", ps.float32, (n, m)), ps.Input("b", ps.float32, (m, n))
    k, c = ps.RVar("k", 0, m), ps.Func("c", (n, n))
    c[i, j] = 0.0
    c[i, j] += a[i, k] * b[k, j]
    s = ps.Schedule(c, target="x86-64-v3")
    u = s["c.update(0)"]
    u.tile("i", "j", rows, columns)
    u.reorder("io", "jo", "k", "ii", "ji").vectorize("ji", 8)
    if unrolled:
        u.accumulate_at("jo").unroll("ji").unroll("ii")
    return s


def _named(s: ps.Schedule, cause: str, spills: int | None = None) -> list[str]:
    of = Subject(s, seen(s, {"n": 2048, "m": 256}), 2, lambda: spills)
    return [x.change.text() for x in suspicions(of) if x.cause == cause]


def test_smaller_factors_are_tried_where_registers_are_spilled() -> None:
    s = _product(16, 32, unrolled=True)
    texts = _named(s, "spills", 12)
    assert texts[0] == "3 as the factor of s[\"c.update(0)\"].split('i', 16)"
    assert any("leave out" in x for x in texts)
    assert not _named(s, "spills", 0)  # the compiler has found enough of them
    assert not _named(_product(4, 16, unrolled=True), "spills")


def test_copies_around_a_serial_loop_hold_nothing_together() -> None:
    s = _product(4, 16, unrolled=True)
    s["c.update(0)"].split("k", 64, names=("ko", "ki"))
    s["c.update(0)"].unroll("ki")
    assert not _named(s, "spills", 12)  # the copies of ki add to the same 8 vectors
    outer = _product(32, 8, unrolled=False)
    outer["c.update(0)"].reorder("io", "jo", "ii", "k", "ji").unroll("ii")
    assert not _named(outer, "spills", 12)


def test_smaller_tiles_are_tried_for_a_cache() -> None:
    tried = _named(_product(1024, 1024, unrolled=False), "tile larger than a cache")
    assert [int(x.split()[0]) for x in tried] == [256, 128, 64, 32]
    assert not _named(_product(32, 32, unrolled=False), "tile larger than a cache")


def test_all_stages_are_given_threads_together() -> None:
    s = _product(32, 32, unrolled=False)
    (together,) = [x for x in _named(s, "serial outer loop") if x.count("parallel") > 1]
    assert "s[\"c\"].parallel('i')" in together
    assert "s[\"c.update(0)\"].parallel('io')" in together
    s["c"].parallel("i")
    assert not [x for x in _named(s, "serial outer loop") if x.count("parallel") > 1]


def test_moves_that_are_refused_are_left_out_where_they_are_optional(program: ps.Func) -> None:
    s = ps.Schedule(program)
    moves = (Move("f", "q", "parallel", ("q",)), Move("f", "i", "parallel", ("i",)))
    assert Change(moves, is_optional=True).accepted(s).moves == moves[1:]
    assert Change(moves).accepted(s).moves == moves


def test_a_variant_is_changed_in_its_schedule(program: ps.Func) -> None:
    s = ps.Schedule(program)
    s["f"].split("i", 4)
    inside = s.specialize(m % 8 == 0)
    inside["f"].split("j", 32)
    kernel = s.compile()
    part = measuring.part_of(kernel, kernel._special[0][1])
    change = Change(instead=((inside.directives[-1], 8),))
    made = part.replaced(change.made(part.schedule))
    assert part.text() == "where m % 8 == 0: "
    assert made.variants[0][1].directives[-1].to_json()["options"]["factor"] == 8
    assert made.directives == s.directives
    np.testing.assert_array_equal(made.compile()(IMAGE), IMAGE * 2 + 1)
    read = ps.Schedule.from_json(program, made.to_json())
    assert read.to_json() == made.to_json()


def test_what_a_variant_has_from_its_schedule_stays(program: ps.Func) -> None:
    s = ps.Schedule(program)
    s["f"].split("j", 32)
    inside = s.specialize(m % 8 == 0)
    assert not Change(instead=((s.directives[0], 8),)).fits(inside)
    assert Change((Move("f", "i", "parallel", ("i",)),)).fits(inside)


def test_parts_of_outputs_are_refused(program: ps.Func) -> None:
    with pytest.raises(ps.CallError, match="advice takes no region="):
        ps.Schedule(program).compile().advice(IMAGE, region=((0, 4), (0, 4)))


def test_arguments_that_do_not_fit_are_refused(program: ps.Func) -> None:
    with pytest.raises(ps.CallError):
        ps.Schedule(program).compile().advice(IMAGE[0])
