"""Animations: the steps are those of the executed loops, and what is kept is what storage holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path as File
from typing import Any

import numpy as np
import pytest
from show.test_parts import Seen

import polysched as ps
from polysched.checking.arguments import random_arguments
from polysched.checking.execute import Machine, Path, Touch, Write
from polysched.checking.subject import module_of
from polysched.interp.evaluate import Symbols
from polysched.lang.call.binding import bind
from polysched.lang.errors.errors import LanguageTypeError, ScheduleError
from polysched.poly.report.executed import executions
from polysched.show import animation, recorded
from polysched.show.animated import steps
from polysched.show.animated.animation import Animation, lines_of
from polysched.show.animated.draw import GIVEN, layout, state_at

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")


def product() -> ps.Schedule:
    a, b = ps.Input("A", ps.int32, (n, l)), ps.Input("B", ps.int32, (l, m))
    k = ps.RVar("k", 0, l)
    c = ps.Func("C", (n, m))
    c[i, j] = 0
    c[i, j] += a[i, k] * b[k, j]
    return ps.Schedule(c)


def blur() -> ps.Schedule:
    x = ps.Input("x", ps.int32, (n + 2, m + 2))
    rows, f = ps.Func("rows"), ps.Func("f", (n, m))
    rows[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    f[i, j] = rows[i, j] + rows[i + 1, j] + rows[i + 2, j]
    return ps.Schedule(f)


def tiled() -> ps.Schedule:
    s = product()
    u = s["C.update(0)"]
    u.tile(i, j, 2, 4)
    u.vectorize("ji").parallel("io")
    return s


def at_rows() -> ps.Schedule:
    s = blur()
    s["rows"].compute_at("f", i)
    return s


def sliding() -> ps.Schedule:
    """Each thread keeps three rows of its own."""
    s = blur()
    s["f"].split(i, 3)
    s["f"].parallel("io").vectorize(j, 4)
    s["rows"].compute_at("f", "ii").vectorize(j, 4)
    s["rows"].store_at("f", "io")
    return s


def scattered() -> ps.Schedule:
    """Data decide what is written."""
    x = ps.Input("x", ps.int32, (n,), range=(0, 7))
    h, r = ps.Func("h", (8,)), ps.RVar("r", 0, n)
    h[i] = 0
    h[x[r]] += 1
    return ps.Schedule(h)


SCHEDULES: dict[str, Callable[[], ps.Schedule]] = {
    x.__name__: x for x in (product, blur, tiled, at_rows, sliding, scattered)
}


class Written:
    """The elements that are written, in the order of an execution by one thread."""

    def __init__(self) -> None:
        self.found: list[tuple[str, tuple[int, ...]]] = []

    def joint(self, path: Path, writes: list[Write]) -> None:
        self.found += [((w.to.buffer.original or w.to.buffer).name, w.to.element) for w in writes]

    def looked(self, path: Path, reads: list[Touch]) -> None:
        pass

    def wrong(self, kind: str, text: str) -> None:
        raise AssertionError(f"{kind}: {text}")


def written(s: ps.Schedule, sizes: dict[str, int]) -> list[tuple[str, tuple[int, ...]]]:
    binding = bind(s.program, (), random_arguments(s.program, sizes))
    start = {s.program.names[t]: a.copy() for t, a in binding.arrays.items()}
    found = Written()
    Machine(module_of(s), Symbols(binding.sizes, binding.params), start, found).run()
    return found.found


@pytest.mark.parametrize("name", sorted(SCHEDULES))
def test_the_order_of_writes_is_that_of_the_executed_loops(name: str) -> None:
    s = SCHEDULES[name]()
    made = animation(s)
    work = sorted((w for x in made.steps for w in x.work), key=lambda w: w.number)
    assert [w.number for w in work] == list(range(len(work)))
    assert [e for w in work for e in w.writes] == written(s, dict(made.sizes))


def test_a_step_is_one_of_the_order_that_proofs_use() -> None:
    s = tiled()
    made = animation(s, n=5, m=6, l=2)
    every = executions(s.tree, ["C.update(0)"], made.sizes)
    expected: dict[int, set[tuple[int, ...]]] = {}
    for x in every:
        expected.setdefault(x.step, set()).add(x.point[:2])
    own = [x for x in made.steps if lines_of(made, x.work[0]) == [len(made.lines) - 1]]
    assert [{p for w in x.work for _, p in w.writes} for x in own] == list(expected.values())
    assert max(len(w.writes) for x in own for w in x.work) == 4
    assert made.threads == ((), (0,), (1,), (2,))


@pytest.mark.parametrize("name", sorted(SCHEDULES))
def test_what_is_read_is_kept(name: str) -> None:
    made = animation(SCHEDULES[name]())
    cells = list(layout(made.grids).cells)
    for k, x in enumerate(made.steps[:80]):
        before = state_at(made, cells, k - 1).is_
        for w in x.work:
            assert all(before[e] >= 0 or before[e] == GIVEN for e in w.reads)


def test_storage_of_three_rows_has_no_more() -> None:
    made = animation(sliding(), n=6, m=5)
    cells = list(layout(made.grids).cells)
    (grid,) = (g for g in made.grids if g.name == "rows")
    assert grid.about == "3 at a time along axis 0"
    kept = [
        sum(x >= 0 for e, x in state_at(made, cells, k).is_.items() if e[0] == "rows")
        for k in range(len(made.steps))
    ]
    assert max(kept) == 2 * 3 * 5 - 2 * 5 + 2 * 5  # of two threads
    # One row of 5 is replaced for each row of f but the first one of a thread.
    assert sum(len(x.replaced) for x in made.steps) <= 4 * 5


def test_what_a_loop_stores_is_gone_with_its_iteration() -> None:
    made = animation(at_rows(), n=3, m=2)
    assert [len(x.gone) for x in made.steps if x.gone] == [6, 6]
    cells = list(layout(made.grids).cells)
    record = recorded(at_rows(), np.ones((5, 4), np.int32))
    repeated = int(sum(record.funcs["rows"].counts.values())) - len(record.funcs["rows"].first)
    assert state_at(made, cells, len(made.steps)).again == {"rows": repeated}


def test_a_call_is_shown_on_its_arrays() -> None:
    x = np.array([3, 0, 3], np.int32)
    made = animation(scattered(), x)
    assert [w.writes for s in made.steps[8:] for w in s.work] == [
        (("h", (3,)),), (("h", (0,)),), (("h", (3,)),)
    ]  # fmt: skip
    assert ("x", (1,)) in made.steps[9].work[0].reads


# what is shown ------------------------------------------------------------------------------------
def parts(made: Animation) -> tuple[Seen, dict[str, Any]]:
    seen = Seen(str(made.html))
    (data,) = (a["data-animation"] for _, a in seen.elements if a.get("data-animation"))
    return seen, json.loads(data)


def test_a_page_has_all_steps_and_pictures_without_scripts(tmp_path: File) -> None:
    made = animation(sliding(), n=3, m=5)
    seen, data = parts(made)
    assert len(data["steps"]) == len(made.steps)
    elements = list(layout(made.grids).cells)
    for x, (gone, work, replaced, _) in zip(made.steps, data["steps"], strict=True):
        assert [elements[k] for k in gone] == list(x.gone)
        assert [elements[k] for k in replaced] == list(x.replaced)
        assert [[elements[k] for k in w[2]] for w in work] == [list(w.writes) for w in x.work]
    assert f"step {len(made.steps)} of {len(made.steps)}" in seen.words
    file = made.save(tmp_path / "blur.html")
    whole = file.read_text(encoding="utf-8")
    assert "http" not in whole.replace("http://www.w3.org/2000/svg", "")
    assert whole.count("<script") == 1


def test_names_are_never_markup() -> None:
    x = ps.Input("x", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.trace(x[i], "</script><b>'\"")
    seen, _ = parts(animation(ps.Schedule(f), n=2))
    assert "b" not in [name for name, _ in seen.elements]


def test_a_step_is_a_picture(tmp_path: File) -> None:
    made = animation(at_rows(), n=3, m=2)
    picture = made.picture(-1)
    assert picture.data is made
    assert "step 24 of 24" in picture.save(tmp_path / "step.svg").read_text(encoding="utf-8")
    assert repr(made) == "<animation: f, at n=3, m=2, 24 steps>"


def test_nothing_to_compute_is_shown_as_that() -> None:
    assert "nothing is computed" in str(animation(blur(), n=0, m=0).html)


# refusals -----------------------------------------------------------------------------------------
def test_an_animation_is_of_a_schedule() -> None:
    with pytest.raises(LanguageTypeError, match="an animation is of a Schedule, and not of"):
        animation(blur().program.outputs[0])


def test_sizes_are_those_of_the_program() -> None:
    with pytest.raises(LanguageTypeError, match="k is no size of this program"):
        animation(blur(), k=3)


@pytest.mark.parametrize(
    ("limit", "most", "words"),
    [
        ("STEPS", 5, "24 steps are too many to be shown: at most 5"),
        ("TOUCHES", 20, "more than 20 reads and writes are too many to be shown one by one"),
    ],
)
def test_too_much_is_refused(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, words: str
) -> None:
    monkeypatch.setattr(steps, limit, most)
    with pytest.raises(ScheduleError, match=words) as info:
        animation(at_rows(), n=3, m=2)
    assert info.value.hint == "give smaller sizes"


def test_too_many_elements_are_refused() -> None:
    f = ps.Func("f", (n,))
    f[i] = i
    s = ps.Schedule(f)
    s[f].vectorize(i, 64)
    with pytest.raises(ScheduleError, match="2048 elements are too many to be shown: at most 2000"):
        animation(s, n=2048)


def test_an_extern_stage_is_refused() -> None:
    x = ps.Input("x", ps.float32, (n,))
    f = ps.extern("f", lambda a: a, [(x, ((0, n),))], (n,), ps.float32)
    g = ps.Func("g", (n,))
    g[i] = f[i] + 1
    with pytest.raises(ScheduleError, match="f is an extern stage, which computes all"):
        animation(ps.Schedule(g))


def test_a_step_that_is_not_there_is_refused() -> None:
    with pytest.raises(LanguageTypeError, match="there is no step 24: there are 24"):
        animation(at_rows(), n=3, m=2).picture(24)


def test_an_animation_is_no_picture_file(tmp_path: File) -> None:
    made = animation(at_rows(), n=3, m=2)
    with pytest.raises(LanguageTypeError, match=r"an animation is an HTML file, and not a\.svg"):
        made.save(tmp_path / "a.svg")


def test_elements_of_a_tuple_are_no_lanes() -> None:
    f = ps.Func("f", (n,))
    f[i] = (i, i * 2)
    s = ps.Schedule(f)
    assert animation(s, n=3).picture(0).notes[0] == "f.0: i=0"
    s[f].vectorize(i, 4)
    assert animation(s, n=4).picture(0).notes[0].startswith("f.0 (4 lanes): ")
