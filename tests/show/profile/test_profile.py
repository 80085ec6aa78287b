"""Profiles of calls: how often stages are begun, what adds up, and what is refused. Nothing here
depends on how long anything takes."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from threading import enumerate as enumerate_threads
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.ir.cost import work_of
from polysched.codegen.ir.mark_words import EVENTS, FIRST_EVENT, FIRST_REGION, WORDS
from polysched.codegen.ir.verify import verify
from polysched.codegen.runtime import threads
from polysched.lang.arithmetic.evaluate import size_value
from polysched.show.profile import profiled, runs
from polysched.show.profile.instrumented import STATE, Instrumented, instrumented, plain
from polysched.show.profile.marking import Limits
from polysched.show.profile.runs import begun
from polysched.show.profile.totals import spans, split, totals

n, m = ps.sizes("n m")
x, y = ps.vars("x y")
ROWS, COLUMNS = 6, 40
IMAGE = np.arange((ROWS + 2) * (COLUMNS + 2), dtype=np.float32).reshape(ROWS + 2, COLUMNS + 2)
ALL = Limits(0.0, 0.0)
"""Everything has a clock."""

NOTHING = Limits(1e15, 0.0)
"""All is one region, in which everything is sampled."""


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "SECONDS", 0.0)
    monkeypatch.setattr(runs, "FEWEST", 2)
    monkeypatch.setattr(profiled, "OVERHEAD", float("inf"))


def blur(how: str = "") -> ps.Schedule:
    image = ps.Input("image", ps.float32, (n + 2, m + 2))
    across, down = ps.Func("across"), ps.Func("down", (n, m))
    across[y, x] = image[y, x] + image[y, x + 1] + image[y, x + 2]
    down[y, x] = across[y, x] + across[y + 1, x] + across[y + 2, x]
    s = ps.Schedule(down)
    if how == "parallel":
        s[across].parallel(y)
        s[down].parallel(y)
    elif how == "inside":
        s[down].parallel(y)
        s[across].compute_at(s[down], y)
    elif how == "deep":
        s[across].compute_at(s[down], y)
    elif how == "inlined":
        s[across].compute_inline()
    return s


def marked(s: ps.Schedule, limits: Limits, threads: int = 1) -> tuple[Instrumented, Any]:
    """The code with marks behind one run, and what it gave."""
    kernel: Any = s.compile()
    bound = kernel._binder.bind((IMAGE,), {}, shape=None, out=None)
    _, prepared, inputs, outputs, results = kernel._fitted(bound)
    code = instrumented(plain(kernel, False), prepared.values, limits, threads)
    verify(code.marked.module, flat=True)
    arrays = {**inputs, **outputs, STATE: code.state}
    with ps.threads(threads):
        code.variant.run(code.variant.prepared(dict(prepared.values), arrays), arrays, kernel._pool)
    return code, results[0]


def often(code: Instrumented) -> dict[str, int]:
    """How often each stage was begun."""
    found: dict[str, int] = {}
    for number, region in enumerate(code.marked.regions):
        for stage in region.parts:
            found[stage] = found.get(stage, 0) + begun(code.state, number)
    return found


HOWS = ("", "parallel", "inside", "deep", "inlined")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("limits", [ALL, Limits(), NOTHING])
@pytest.mark.parametrize("threads", [1, 3])
def test_marks_change_no_result(how: str, limits: Limits, threads: int) -> None:
    s = blur(how)
    code, found = marked(s, limits, threads)
    np.testing.assert_array_equal(found, s.compile()(IMAGE))
    assert code.state[0, WORDS["region"]] == 0


@pytest.mark.parametrize("how", HOWS)
def test_marks_are_no_work(how: str) -> None:
    """Loops are cut into the same strips and chunks with them."""
    code, _ = marked(blur(how), ALL)
    sizes = {"n": 1000, "m": 77}
    ours, theirs = work_of(code.marked.module), work_of(code.plain.flat)
    assert ours is not None
    assert theirs is not None
    assert size_value(ours, sizes, sizes) == size_value(theirs, sizes, sizes)


def test_each_stage_is_begun_as_often_as_it_runs() -> None:
    assert often(marked(blur(), ALL)[0]) == {"across": 1, "down": 1}
    assert often(marked(blur("deep"), ALL)[0]) == {"across": ROWS, "down": ROWS}
    assert often(marked(blur("inlined"), ALL)[0]) == {"down": 1}
    assert often(marked(blur("inside"), ALL)[0]) == {"across": ROWS, "down": ROWS}


def test_a_loop_that_is_one_region_is_begun_once_for_each_part_that_a_thread_gets() -> None:
    assert often(marked(blur("parallel"), ALL)[0]) == {"across": 1, "down": 1}


@pytest.mark.parametrize("how", HOWS)
def test_every_change_is_entered_once(how: str) -> None:
    code, _ = marked(blur(how), ALL)
    regions = range(len(code.marked.regions))
    assert code.state[0, WORDS["events"]] == sum(begun(code.state, k) for k in regions)
    count = int(code.state[0, WORDS["events"]])
    events = code.state[0, FIRST_EVENT : FIRST_EVENT + 2 * count].reshape(count, 2)
    spent = dict.fromkeys(regions, 0)
    spent[0] += int(events[0, 0])  # the first mark enters the time since 0 to the outside
    for (start, region), (end, _) in pairwise(events.tolist()):
        spent[region] += end - start
    assert [int(code.state[0, FIRST_REGION + 2 * k]) for k in regions] == list(spent.values())


def test_threads_wait_behind_each_part() -> None:
    code, _ = marked(blur("inside"), ALL)
    waits = [k for k, r in enumerate(code.marked.regions) if r.waits]
    (number,) = waits
    # Once before the loop, and once behind the one part that the caller does all alone.
    assert begun(code.state, number) == 2
    assert code.marked.loops == ("y",)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("seed", range(5))
def test_stages_add_up_to_what_is_inside(how: str, seed: int) -> None:
    """Whatever the clock says, on any number of threads."""
    code, _ = marked(blur(how), ALL, 3)
    rng = np.random.default_rng(seed)
    state = np.zeros_like(code.state)
    state[:, FIRST_REGION::2] = rng.integers(1, 1000, state[:, FIRST_REGION::2].shape)
    for number, region in enumerate(code.marked.regions):
        if region.loop is None:  # the caller's alone
            state[1:, FIRST_REGION + 2 * number] = 0
        elif not seed and not region.waits:  # as in a loop without iterations
            state[:, FIRST_REGION + 2 * number] = 0
    found = totals(code, state, 1e3, {})
    assert sum(s.seconds for s in found.stages.values()) == pytest.approx(found.inside)
    whole = sum(sum(s.threads) for s in found.stages.values())
    assert whole == pytest.approx(sum(found.busy))
    for loop in found.loops:
        assert loop.efficiency == pytest.approx(sum(loop.threads) / (3 * loop.seconds))


def test_efficiency_and_imbalance_are_those_of_the_parts() -> None:
    code, _ = marked(blur("parallel"), Limits(), 2)
    state = np.zeros_like(code.state)
    for number, region in enumerate(code.marked.regions):
        if region.loop == 0:
            times = (10, 0) if region.waits else (30, 20)
            state[:, FIRST_REGION + 2 * number] = times
    loop = totals(code, state, 1.0, {}).loops[0]
    assert (loop.seconds, loop.threads) == (40.0, (30.0, 20.0))
    assert loop.efficiency == 50 / 80
    assert loop.imbalance == pytest.approx(30 / 25 - 1)


@pytest.mark.parametrize(
    ("how", "stages"), [("parallel", [("across",), ("down",)]), ("inside", [("across", "down")])]
)
def test_loops_of_one_name_are_told_apart_by_their_stages(
    how: str, stages: list[tuple[str, ...]]
) -> None:
    code, _ = marked(blur(how), ALL)
    found = totals(code, code.state, 1.0, {}).loops
    assert [x.name for x in found] == ["y"] * len(stages)
    assert [tuple(sorted(x.stages)) for x in found] == stages


def test_looks_split_a_region() -> None:
    code, _ = marked(blur("deep"), NOTHING)
    region = code.marked.regions[1]
    assert set(region.parts) == {"across", "down"}
    names = {next(iter(code.marked.parts[k])): k for k in region.sampled}
    looks = {(1, names["across"]): 300, (1, names["down"]): 100}
    found = split(code, 1, looks)
    assert found.how == "sampled"
    assert {s: p for s, (p, _) in found.parts.items()} == {"across": 0.75, "down": 0.25}
    variances = {v for _, v in found.parts.values()}
    assert variances == {0.75 * 0.25 / 400}
    assert split(code, 1, {(1, names["down"]): 3}).how == "estimated"


def test_a_look_counts_for_the_region_that_a_thread_is_in() -> None:
    code, _ = marked(blur("deep"), NOTHING)
    looks: dict[tuple[int, int], int] = {}
    part = code.marked.regions[1].sampled[0]
    for region in (1, 0, 1):
        code.state[0, WORDS["region"]], code.state[0, WORDS["part"]] = region, part
        runs._Sampler(code, looks).look()
    assert looks == {(1, part): 2}


@pytest.mark.parametrize("at", [1, 3, 4])
def test_nobody_looks_any_more_when_a_run_is_interrupted(at: int) -> None:
    code, _ = marked(blur("deep"), NOTHING)
    count = 0

    def step(*_: int) -> tuple[float, float]:
        nonlocal count
        count += 1
        if count == at:
            raise KeyboardInterrupt
        return 1.0, 0.0

    with pytest.raises(KeyboardInterrupt):
        runs.runs(code, runs.Steps(lambda: None, step, step, step, False))  # type: ignore[arg-type]
    assert count == at
    assert "polysched-profile" not in {thread.name for thread in enumerate_threads()}


class Kept:
    """Steps of two kinds, whose order is kept."""

    def __init__(self, repeats: bool) -> None:
        self.order = ""
        self.restored = 0
        plain, marked = (self.timed(x) for x in "pm")
        call = self.timed("c")
        self.steps = runs.Steps(self.restore, lambda: call(0), plain, marked, repeats)  # type: ignore[arg-type]

    def restore(self) -> None:
        self.restored += 1

    def timed(self, name: str) -> Any:
        def run(warm: int) -> tuple[float, float]:
            self.order += name * (warm + 1)
            return 1e-5, 0.0

        return run


@pytest.mark.parametrize("repeats", [True, False])
def test_runs_that_count_stand_behind_runs_of_their_kind(repeats: bool) -> None:
    """Where that changes nothing: otherwise InOuts are restored before each run."""
    code, _ = marked(blur("deep"), NOTHING)
    kept = Kept(repeats)
    runs.runs(code, kept.steps)
    turns = "c+p+m+" if repeats else "cpm"
    assert re.fullmatch(f"cpmc?({turns})+", kept.order)
    assert repeats or kept.restored == len(kept.order)
    assert not repeats or all(x * 2 in kept.order for x in "cpm")


def test_what_is_too_short_for_looks_is_estimated() -> None:
    code, _ = marked(blur("deep"), Limits(1e15, 1e15))
    found = split(code, 1, {})
    assert found.how == "estimated"
    assert sum(p for p, _ in found.parts.values()) == pytest.approx(1.0)


def test_changes_beyond_those_kept_are_cut() -> None:
    code, _ = marked(blur("deep"), ALL)
    state = code.state.copy()
    state[0, WORDS["events"]] = EVENTS + 7
    events = state[0, FIRST_EVENT : FIRST_EVENT + 2 * EVENTS].reshape(EVENTS, 2)
    events[:, 0], events[:, 1] = 100 + np.arange(EVENTS), 1
    found, cut = spans(code, state, 1.0)
    assert cut == EVENTS - 1
    assert len(found) == EVENTS - 1
    assert (found[0].start, found[-1].end) == (0.0, EVENTS - 1)


@pytest.mark.parametrize("changes", [0, 3, EVENTS, EVENTS + 7])
def test_what_a_run_has_written_is_copied_and_cleared(changes: int) -> None:
    code, _ = marked(blur("parallel"), ALL, 2)
    state = np.arange(code.state.size).reshape(code.state.shape)
    state[:, WORDS["events"]] = changes, 0
    found = runs.copied(state)
    used = [*range(FIRST_EVENT + 2 * min(changes, EVENTS)), *range(FIRST_REGION, state.shape[1])]
    np.testing.assert_array_equal(found[:, used], state[:, used])
    runs.clear(state)
    assert not state[:, [*range(FIRST_EVENT), *range(FIRST_REGION, state.shape[1])]].any()


def test_a_profile_says_what_stages_do() -> None:
    p = blur("inlined").compile().profile(IMAGE)
    stages = {s.name: s for s in p.stages}
    assert stages["across"].how == "inlined"
    assert stages["down"].instances == ROWS * COLUMNS
    assert p.calling + sum(s.seconds for s in p.stages) == pytest.approx(p.seconds)
    assert "inlined" in str(p)
    assert json.loads(json.dumps(p.to_dict()))["stages"][0]["name"] in stages


def test_the_way_from_python_and_back_is_that_of_ordinary_calls() -> None:
    code, _ = marked(blur(), ALL)
    times = {"plain": [9.0, 1.0, 3.0, 2.0], "called": [5.0, 2.5, 2.75, 8.0], "python": [9.0]}
    assert runs.Runs(code, [], **times).usual == 3.875
    assert runs.Runs(code, [], **times).way == 2.75 - 2.0
    threaded, _ = marked(blur("parallel"), ALL)
    assert runs.Runs(threaded, [], **times).way == 2.5 - 1.0
    assert runs.Runs(threaded, [], **{**times, "python": [0.125]}).way == runs.PYTHON * 0.125
    assert runs.Runs(code, [], plain=[3.0], called=[2.0], python=[9.0]).way == 0.0
    assert runs.Runs(code, [], **times, native=True).way == runs.NATIVE


def test_kernels_stay_as_they_are() -> None:
    kernel: Any = blur("parallel").compile()
    before = dict(kernel._variants), kernel.llvm, kernel._terms
    kernel.profile(IMAGE)
    assert (dict(kernel._variants), kernel.llvm, kernel._terms) == before
    assert STATE not in kernel.llvm


def test_arrays_of_the_caller_stay_as_they_are() -> None:
    A = ps.InOut("A", ps.float32, (n,))
    A[x] = A[x] + 1
    mine = np.zeros(8, np.float32)
    ps.Schedule(A).compile().profile(mine)
    np.testing.assert_array_equal(mine, 0)
    out = np.full((ROWS, COLUMNS), -1, np.float32)
    blur().compile().profile(IMAGE, out=out)
    np.testing.assert_array_equal(out, -1)


def test_displays_stand_by_themselves() -> None:
    p = blur("parallel").compile().profile(IMAGE)
    for shown in (p._repr_html_(), p.picture()):
        assert "<svg" in shown
        assert "across" in shown
        assert "<script" not in shown


@pytest.mark.parametrize(
    ("args", "kwargs", "what"),
    [
        ((), {}, "image"),
        ((IMAGE.astype(np.float64),), {}, "image"),
        ((IMAGE,), {"out": np.zeros((1, 1), np.float32)}, "down"),
        ((IMAGE,), {"region": ((0, 1), (0, 1))}, "region="),
    ],
)
def test_calls_that_do_not_fit_are_refused(args: Any, kwargs: Any, what: str) -> None:
    with pytest.raises(ps.CallError, match=what):
        blur().compile().profile(*args, **kwargs)


def test_functions_of_the_callers_are_called_if_that_is_said() -> None:
    calls: list[int] = []

    def twice(a: Any, out: Any) -> None:
        calls.append(1)
        out[...] = 2 * a

    a, f = ps.Input("a", ps.float32, (n,)), ps.Func("f", (n,))
    g = ps.extern("g", twice, [a], (n,), ps.float32)
    f[x] = g[x] + 1
    kernel = ps.Schedule(f).compile()
    with pytest.raises(ps.CallError, match="functions of yours"):
        kernel.profile(np.ones(4, np.float32))
    assert not calls
    p = kernel.profile(np.ones(4, np.float32), side_effects=True)
    assert calls
    assert "g" in {s.name for s in p.stages}


def test_there_are_words_for_all_threads_whoever_changes_their_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = blur("parallel").compile()
    most: list[int] = []
    timed = runs.Timed.__call__

    def more(step: runs.Timed, warm: int) -> tuple[float, float]:
        ps.set_num_threads(7)
        most.append(ps.get_num_threads())
        return timed(step, warm)

    monkeypatch.setattr(runs.Timed, "__call__", more)
    monkeypatch.setattr(threads, "_set", threads._set)  # which is None where nobody said a number
    p = kernel.profile(IMAGE)
    assert set(most) == {p.threads}


def test_notebooks_get_a_bundle() -> None:
    p = blur("deep").compile().profile(IMAGE)
    assert p._repr_mimebundle_() == {"text/plain": repr(p), "text/html": p._repr_html_()}
