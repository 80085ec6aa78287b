"""What displays look like in a real JupyterLab, by a real browser: all scenes of `screens`."""

from __future__ import annotations

import base64
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polysched.show.explore import export

sys.path.insert(0, str(Path(__file__).parent))
import screens

NEEDED = ("jupyterlab", "playwright", "anywidget")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("screens"),
    pytest.mark.skipif(screens.chromium() is None, reason="Chromium is not installed"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]

# Formulas are no text to `innerText`.
READ = "e => e.innerText + [...e.querySelectorAll('math')].map(m => m.textContent).join(' ')"
SCENES = {scene.name: scene for scene in screens.SCENES}


@pytest.fixture(scope="module")
def stage() -> Iterator[screens.Stage]:
    with screens.stage() as made:
        yield made


@pytest.fixture(scope="module")
def nests(stage: screens.Stage) -> list[str]:
    """What the explorer that is clicked shows, from the beginning to the end."""
    scene = SCENES["explorer-after"]
    found = [stage.of(scene).inner_text()]
    for words in scene.clicks:
        stage.click(scene, words)
        found.append(stage.of(scene).inner_text())
    return found


def test_each_click_changes_the_nest_of_its_explorer_alone(
    stage: screens.Stage, nests: list[str]
) -> None:
    before, reordered, vectorised = (nest.partition("undo")[0] for nest in nests)
    assert before.index("for j in", before.index("fma") - 80) < before.index("for k in")
    assert reordered.index("for k in") < reordered.rindex("for j in")
    assert "(vector)" not in reordered
    assert "(vector)" in vectorised
    assert "(vector)" not in stage.of(SCENES["explorer"]).inner_text().partition("undo")[0]


def test_each_click_changes_the_picture(stage: screens.Stage, nests: list[str]) -> None:
    written, reordered, vectorised = (nest.partition("undo")[0] for nest in nests)
    assert "lanes of a vector" in vectorised
    assert "lanes of a vector" not in reordered
    assert "C.update(0), at n=3, p=3, m=3" in written


SCRIPT = Path(export.__file__).with_name("explorer.js").read_text(encoding="utf-8")
WITH_SCRIPT = "async ([script, given]) => {{ const m = await import(script); return {}; }}"


def by_script(stage: screens.Stage, code: str, given: Any) -> Any:
    """What the explorer's script makes of something."""
    address = "data:text/javascript;base64," + base64.b64encode(SCRIPT.encode()).decode()
    return stage.page.evaluate(WITH_SCRIPT.format(code), [address, given])


def test_a_page_says_when_python_does_not_answer(stage: screens.Stage) -> None:
    view = {
        "revision": 1, "title": "f", "rows": [[0, "f[i] = 1", "", True]], "stages": ["f"],
        "stage": "f", "moves": [["i", "parallel", "parallel", "parallel(i)"]], "at": 0,
        "verdicts": [["legal", ""]], "steps": [["as written", ""]], "picture": None,
        "source": "", "note": "",
    }  # fmt: skip
    said = by_script(stage, """(() => {
      const el = document.createElement("div");
      const send = () => { throw new Error("Cannot send"); };
      const model = { get: () => given, send, on: () => 0, off: () => 0 };
      m.default.render({ model, el });
      const before = el.querySelector(".why").textContent;
      el.querySelector(".move.legal").click();
      return [before, el.querySelector(".why").textContent];
    })()""", view)  # fmt: skip
    assert said[0] == ""
    assert "Python has not answered" in said[1]


def test_a_page_copies_shapes_of_a_picture_and_nothing_else(stage: screens.Stage) -> None:
    svg = """<svg xmlns="http://www.w3.org/2000/svg" width="9" onload="alert(1)"><script>alert(1)
    </script><g onclick="x()"><title>a &lt;b&gt;</title><circle r="2" fill="url(#x)"/></g>
    <foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>
    <text style="fill:red" href="javascript:x">f</text></svg>"""
    found = by_script(stage, "m.drawn(given).innerHTML", {"svg": svg, "notes": ["<b>"]})
    assert re.sub(r"\s+(?=<)", "", found) == (
        '<svg width="9"><g><title>a &lt;b&gt;</title><circle r="2"></circle></g>'
        '<text style="fill:red">f</text></svg><div class="faint">&lt;b&gt;</div>'
    )
    for wrong in ("", "<svg", "<b>x</b>", "<svg><script/></svg>"):
        found = by_script(stage, "m.drawn(given).innerHTML", {"svg": wrong, "notes": []})
        assert found == ""


def test_a_page_merges_changes(stage: screens.Stage) -> None:
    view = {"revision": 1, "moves": [[], []], "verdicts": [["legal", ""], ["pending", ""]]}
    told = by_script(stage, "m.merged(...given)", [view, {"verdicts": [[1, "refused", "why"]]}])
    assert told == {**view, "verdicts": [["legal", ""], ["refused", "why"]]}
    new = {"revision": 2, "moves": [[], [], []], "verdicts": [[2, "legal", ""]]}
    made = by_script(stage, "m.merged(...given)", [view, new])
    assert made == {**new, "verdicts": [["pending", ""], ["pending", ""], ["legal", ""]]}


def test_undo_shows_the_nest_of_before(stage: screens.Stage, nests: list[str]) -> None:
    scene = SCENES["explorer-after"]
    for button, nest in (("undo", nests[1]), ("redo", nests[2])):
        stage.of(scene).locator("button", has_text=button).click()
        wanted = nest.partition("undo")[0]
        stage.page.wait_for_function(
            "([e, wanted]) => e.innerText.startsWith(wanted)",
            arg=[stage.of(scene).element_handle(), wanted],
        )
        stage.settled(scene)


@pytest.mark.usefixtures("nests")
@pytest.mark.parametrize("theme", list(screens.THEMES))
def test_scenes_say_what_they_should_and_fit(stage: screens.Stage, theme: str) -> None:
    stage.theme(theme)
    for scene in screens.SCENES:
        with stage.shown(scene, theme) as shown:
            read = shown.evaluate(READ)
            assert [words for words in scene.words if words not in read] == [], scene.name
            assert shown.evaluate("e => e.scrollWidth <= e.clientWidth"), scene.name


@pytest.mark.usefixtures("nests")
def test_text_reads_on_its_background_in_light_and_dark(stage: screens.Stage) -> None:
    lightness: dict[str, dict[str, int]] = {}
    for theme in screens.THEMES:
        stage.theme(theme)
        for scene in screens.SCENES:
            with stage.shown(scene, theme) as shown:
                part = shown.locator(".polysched").first if scene.page else shown
                ink = part.evaluate("e => getComputedStyle(e).color")
            numbers = ink.partition("(")[2].rstrip(")").split(",")[:3]
            lightness.setdefault(scene.name, {})[theme] = sum(map(int, numbers))
    assert {
        name: (x["light"] < 200, x["dark"] > 500) for name, x in lightness.items()
    } == dict.fromkeys(SCENES, (True, True))


@pytest.mark.usefixtures("nests")
def test_nothing_on_the_page_was_an_error(stage: screens.Stage) -> None:
    assert stage.errors == []
