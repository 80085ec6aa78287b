"""Iteration spaces: which points and arrows are drawn, at which sizes, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import polysched as ps
from polysched.poly.report.executed import Arrow, Execution, Level
from polysched.show import footprint, space
from polysched.show.spaces.dependences import ARROWS
from polysched.show.spaces.draw import drawn
from polysched.show.spaces.picture import Picture
from polysched.show.spaces.space import DRAWN, Column, Space

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
x = ps.Input("x", ps.float32, (n, m))


def plane() -> ps.Schedule:
    f = ps.Func("f", (n, m))
    f[i, j] = x[i, j] + 1
    return ps.Schedule(f)


def product() -> ps.Schedule:
    a, b = ps.Input("A", ps.float32, (n, n)), ps.Input("B", ps.float32, (n, m))
    k = ps.RVar("k", 0, n)
    c = ps.Func("C", (n, m))
    c[i, j] = 0
    c[i, j] += a[i, k] * b[k, j]
    return ps.Schedule(c)


def shapes(picture: Picture, name: str) -> list[ElementTree.Element]:
    found = ElementTree.fromstring(picture.svg)
    return list(found.iter(f"{{http://www.w3.org/2000/svg}}{name}"))


def hints(picture: Picture) -> list[str]:
    return ["".join(t.itertext()) for t in shapes(picture, "title")]


def column(picture: Picture, title: str) -> Column:
    return next(c for c in picture.data.columns if c.title == title)


def order(c: Column) -> list[tuple[int, ...]]:
    return [e.point for e in c.executions]


def test_a_tiled_plane_has_its_tiles_lanes_and_threads() -> None:
    s = plane()
    s["f"].tile(i, j, 2, 4)
    s["f"].vectorize("ji")
    s["f"].parallel("io")
    made = space(s, "f", n=4, m=8)
    before, after = column(made, "as written"), column(made, "as scheduled")
    every = [(a, b) for a in range(4) for b in range(8)]
    assert order(before) == every
    assert sorted(order(after)) == every
    assert after.tile_loops == ("io", "jo")
    tiles = {e.point: t for e, t in zip(after.executions, after.tiles, strict=True)}
    assert tiles == {(a, b): (a // 2, b // 4) for a, b in every}
    assert {e.point: e.of_kind("parallel") for e in after.executions} == {
        (a, b): (a // 2,) for a, b in every
    }
    assert {e.point: e.step for e in after.executions} == {
        (a, b): 2 * (b // 4) + a % 2 for a, b in every
    }
    assert len([h for h in hints(made) if h.startswith("f[")]) == 64


def test_a_loop_that_is_skewed_has_no_tiles() -> None:
    a = ps.InOut("a", ps.float32, (n, n))
    p, q = ps.rdom("p q", (1, n), (1, n))
    a[p, q] = a[p - 1, q] + a[p, q - 1]
    s = ps.Schedule(a)
    s["a.update(0)"].skew("p", "q", 1)
    assert column(space(s, "a.update(0)"), "as scheduled").tile_loops == ()
    s["a.update(0)"].split("p", 2)
    assert column(space(s, "a.update(0)"), "as scheduled").tile_loops == ("po",)


def test_dependences_are_arrows_and_those_that_follow_are_left_out() -> None:
    s = product()
    made = space(s, "C.update(0)", "i", "k", n=3, m=1)
    data: Space = made.data
    pairs = {(a.source, a.sink) for a in data.arrows}
    assert pairs == {
        (("C.update(0)", (a, 0, b)), ("C.update(0)", (a, 0, c)))
        for a in range(3)
        for b in range(3)
        for c in range(b + 1, 3)
    }
    assert "Dependences that follow from others are not drawn." in made.notes
    needs = [h for h in hints(made) if " needs " in h]
    assert len(needs) == 3 * 2 * len(data.columns)
    assert "C.update(0)[i=0, j=0, k=1] needs C.update(0)[i=0, j=0, k=0] (flow on C)" in needs


def test_of_many_dependences_those_of_one_instance_are_drawn() -> None:
    made = space(product(), "C.update(0)", "i", "k", n=9, m=1)
    assert any("dependences are drawn: those of C.update(0)[" in note for note in made.notes)
    assert 0 < len([h for h in hints(made) if " needs " in h]) <= ARROWS


def test_too_many_dependences_are_left_out_and_said() -> None:
    made = space(product(), "C.update(0)", n=10, m=10)
    assert {a.kind for a in made.data.arrows} == {"flow"}
    assert "Of the dependences on C, anti and output ones are too many to be drawn." in made.notes


def test_without_directives_there_is_one_order() -> None:
    made = space(plane(), "f", n=2, m=3)
    assert [c.title for c in made.data.columns] == ["as scheduled"]


def test_what_is_computed_at_a_loop_runs_several_times() -> None:
    w, g = ps.Func("w"), ps.Func("g", (n,))
    w[i] = i * 2
    g[i] = w[i] + w[i + 1]
    s = ps.Schedule(g)
    s[w].compute_at(g, i)
    made = space(s, w, n=3)
    assert order(column(made, "as scheduled")) == [(0,), (1,), (1,), (2,), (2,), (3,)]
    assert "As scheduled: 2 instances run several times." in made.notes
    assert "\u00d72" in "".join("".join(t.itertext()) for t in shapes(made, "text"))


def test_of_more_than_two_coordinates_there_are_parts() -> None:
    s = product()
    made = space(s, "C.update(0)", n=3, m=2)
    assert made.data.axes["C.update(0)"] == ("j", "k")
    heads = [t.text for t in shapes(made, "text") if t.text and t.text.startswith("C.update(0), ")]
    assert heads == ["C.update(0), i=0", "C.update(0), i=1", "C.update(0), i=2"]
    s["C.update(0)"].tile("i", "j", 2, 2)
    assert space(s, "C.update(0)").data.axes["C.update(0)"] == ("i", "j")
    many = space(s, "C.update(0)", n=8, m=3)
    assert "Of the values of k in C.update(0), only k=4 are drawn." in many.notes


def test_all_pieces_and_parts_of_a_stage_are_drawn() -> None:
    f = ps.Func("f", (n, m))
    f[0, j] = j
    f[i, j] = f[i - 1, j] + 1
    made = space(ps.Schedule(f), f, n=3, m=2)
    assert list(made.data.dims) == ["f.piece(0)", "f.piece(1)"]
    s = plane()
    s["f"].peel(i, first=1)
    parts = column(space(s, s.funcs[0], n=3, m=1), "as scheduled").executions
    assert [(e.stage, e.statement, e.point) for e in parts] == [
        ("f.first", "f", (0, 0)),
        ("f", "f", (1, 0)),
        ("f", "f", (2, 0)),
    ]


@pytest.mark.parametrize(
    ("directive", "sizes"),
    [
        (lambda s: None, {"n": 5, "m": 5}),
        (lambda s: s["f"].tile(i, j, 8, 32), {"n": 9, "m": 33}),
        (lambda s: s["f"].split(j, 16, tail="round_up"), {"n": 5, "m": 32}),
        (lambda s: s.assume(n >= 7), {"n": 7, "m": 5}),
        (lambda s: s.assume(n == 2 * m), {"n": 10, "m": 5}),
    ],
)
def test_sizes_are_small_ones_that_a_call_accepts(directive: Any, sizes: dict[str, int]) -> None:
    s = plane()
    directive(s)
    assert dict(space(s, "f").data.sizes) == sizes


def test_sizes_that_are_given_stay() -> None:
    s = plane()
    s["f"].split(j, 4)
    assert dict(space(s, "f", n=1).data.sizes) == {"n": 1, "m": 5}


@pytest.mark.parametrize(
    ("draw", "error", "says"),
    [
        (lambda s: space(s, "f", k=3), ps.LanguageTypeError, "k is no size of this program"),
        (lambda s: space(s, "f", n=-1), ps.ScheduleError, "a size is an integer >= 0"),
        (lambda s: space(s, "f", n=3), ps.ScheduleError, "(?s)no call accepts n=3.*n == 4"),
        (lambda s: space(s, "f", n=4, m=900), ps.ScheduleError, f"too many .*at most {DRAWN}"),
        (lambda s: space(s, "f", n=4, m=9000), ps.ScheduleError, "too many instances of f"),
        (lambda s: space(s, "f", "k"), ps.LanguageTypeError, "and not 'k'\n.*\n.*are i, j"),
        (lambda s: space(s, "f", i, i), ps.LanguageTypeError, "and not 'i' and 'i'"),
        (lambda s: space(s, "g"), ps.ScheduleError, "there is no stage g"),
        (lambda s: space(s, "y"), ps.ScheduleError, "y is inlined into its consumers"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: Any, error: type[Exception], says: str) -> None:
    y, f = ps.Func("y"), ps.Func("f", (n, m))
    y[i] = x[i, 0] * 2
    f[i, j] = y[i] + j
    s = ps.Schedule(f)
    s["y"].compute_inline()
    s.assume(n == 4)
    with pytest.raises(error, match=says):
        draw(s)


def test_what_data_decide_is_said() -> None:
    start = ps.Input("start", ps.int32, (n + 1,), range=(0, m + 1))
    values = ps.Input("values", ps.int32, (m,))
    r = ps.RVar("r", start[i], start[i + 1])
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += values[r]
    made = space(ps.Schedule(f), "f.update(0)", n=2, m=3)
    assert "Data decide which instances of f.update(0) run: all that may are drawn." in made.notes
    assert len(column(made, "as scheduled").executions) == 6
    a = ps.InOut("a", ps.int32, (n,))
    q = ps.RVar("q", 0, n)
    a[a[q] % n] = q
    made = space(ps.Schedule(a), "a.update(0)", n=3)
    assert any("some dependences are only possible" in note for note in made.notes)


def test_what_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    s = plane()
    monkeypatch.setattr("polysched.show.spaces.space.allowance", lambda statements: 10)
    with pytest.raises(ps.ScheduleError, match="too intricate to be drawn in the time allowed"):
        space(s, "f", n=40, m=40)


def test_an_extern_stage_is_refused() -> None:
    f = ps.Func("f", (n,))
    f[i] = x[i, 0]
    e = ps.extern("e", np.sort, [f], (n,), ps.float32)
    with pytest.raises(ps.ScheduleError, match="e is an extern stage, which computes all"):
        space(ps.Schedule(e), e)


def test_no_name_becomes_markup() -> None:
    ran = [
        Execution("<b>", "<b>&", (k,), (), {"<u>": k}, (Level("serial", k),), k) for k in range(2)
    ]
    arrow = Arrow("flow", "<t>", ("<b>&", (0,)), ("<b>&", (1,)), exact=True)
    columns = (Column("<h>", tuple(ran), ((0,), (1,)), ("<u>",)),)
    named = {"<b>&": ("<i>",)}
    made = drawn(Space("<title>", {}, named, named, columns, (arrow,), (), arrow, ("<note>",)))
    for shown in (made.svg, made._repr_html_()):
        assert not any(x in shown for x in ("<b>", "<i>", "<u>", "<t>", "<h>", "<note>"))
        assert "&lt;b&gt;&amp;[&lt;i&gt;=1]" in shown
    ElementTree.fromstring(made.svg)
    assert "<b>" not in made._repr_html_()


def test_a_picture_is_a_file_of_its_own(tmp_path: Path) -> None:
    made = space(plane(), "f", n=2, m=2)
    path = made.save(tmp_path / "f.svg")
    written = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(written)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "--ps-ink" in written
    assert "prefers-color-scheme:dark" in written
    made.save(str(path))
    assert [p.name for p in tmp_path.iterdir()] == ["f.svg"]
    with pytest.raises(ps.LanguageTypeError, match=r"a picture is an SVG file, and not f\.png"):
        made.save(tmp_path / "f.png")
    with pytest.raises(OSError, match=r"the picture cannot be .*none/f\.svg: no such file"):
        made.save(tmp_path / "none" / "f.svg")


def test_the_same_schedule_has_the_same_picture() -> None:
    s = product()
    s["C.update(0)"].tile(i, j, 2, 2)
    assert space(s, "C.update(0)").svg == space(s, "C.update(0)").svg


def test_lanes_of_one_vector_have_a_band_in_each_part_that_has_some() -> None:
    f, k = ps.Func("f", (2, 2, 4)), ps.vars("i j k")[2]
    f[i, j, k] = i + j + k
    s = ps.Schedule(f)
    s[f].vectorize(k, 4)
    wide = space(s, "f", i, j).svg.count('stroke-linecap="round"')
    assert wide == 4 * 4  # four values of k are not drawn, and each has four points
    assert space(s, "f", j, k).svg.count('stroke-linecap="round"') == 4


def test_arrows_from_part_to_part_are_few() -> None:
    assert "Of" not in " ".join(space(product(), "C.update(0)", i, j, n=4, m=2).notes)
    few = space(product(), "C.update(0)", i, j, n=6, m=2)
    assert "2 of 60 dependences are drawn: those of" in " ".join(few.notes)


def test_where_nothing_runs_the_picture_says_so() -> None:
    assert "As scheduled: nothing runs at these sizes." in space(plane(), "f", n=0, m=3).notes
    assert (
        "No iteration of it touches anything at these sizes."
        in footprint(plane(), "f", "i", n=0, m=3).notes
    )
