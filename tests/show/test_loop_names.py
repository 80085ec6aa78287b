"""Loops are called what the language lets them be called, `a'b` and words of Python among it: text,
pages, pictures and traces have the names as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from show.test_parts import Seen

import polysched as ps
from polysched import show
from polysched.show.explore.export import exported
from polysched.show.explore.model import Exploration

NAMES = ("a'b", "for", "i.1''", "строка")
IMAGE = np.ones((10, 16), np.float32)


def scheduled(name: str) -> ps.Schedule:
    """A blur whose stages both have a loop of that name."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    x, g, f = ps.Input("x", ps.float32, (n + 2, m)), ps.Func("g"), ps.Func("f", (n, m))
    g[i, j] = x[i, j] * 2.0
    f[i, j] = g[i, j] + g[i + 2, j]
    s = ps.Schedule(f)
    s[f].split(i, 4, names=(name, "ii'"))
    s[f].parallel(name)
    s[g].compute_root().rename(i, name).parallel(name)
    return s


@pytest.fixture(scope="module")
def one() -> ps.Schedule:
    """The one that is compiled."""
    return scheduled("a'b")


@pytest.mark.parametrize("name", NAMES)
def test_text_makes_the_schedule_again(name: str) -> None:
    s = scheduled(name)
    (f,) = s.program.outputs
    made: dict[str, Any] = {"ps": ps, "f": f}
    exec(s.source(), made)
    assert made["s"] == s == ps.Schedule.from_json(f, s.to_json())
    assert f"for {name} in" in str(s)


@pytest.mark.parametrize("name", NAMES)
def test_displays_and_pictures_have_it(name: str) -> None:
    s = scheduled(name)
    shown = {
        "schedule": s._repr_html_(),
        "verdict": s["f"].why_not("reorder", name, "j")._repr_mimebundle_()["text/html"],
        "space": str(show.space(s, "f").html),
        "footprint": str(show.footprint(s, "f", name).html),
        "animation": str(show.animation(s).html),
        "explorer": str(exported(Exploration(s).view())),
    }
    assert [k for k, html in shown.items() if name not in Seen(html).words] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_an_explorer_offers_can_be_pasted(name: str) -> None:
    explored = Exploration(scheduled(name))
    offered = [m for m in explored.moves if repr(name)[1:-1] in m.text()]
    assert {m.name for m in offered} >= {"reorder", "unroll"}
    for move in offered[::4]:
        mine, theirs = explored.schedule.copy(), explored.schedule.copy()
        try:
            move.apply(mine)
        except ps.PolyschedError:
            continue
        exec(move.text(), {"ps": ps, "s": theirs})
        assert mine == theirs


def test_reports_profiles_and_traces_have_it(one: ps.Schedule, tmp_path: Path) -> None:
    kernel = one.compile()
    page = kernel.report(tmp_path / "page.html", args=(IMAGE,)).read_text()
    assert "for a'b in" in Seen(page).words
    profile = kernel.profile(IMAGE)
    assert [x.name for x in profile.loops] == ["a'b", "a'b"]
    assert "loop a'b of g on" in Seen(profile._repr_html_()).words
    profile.trace(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())
