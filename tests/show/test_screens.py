"""What displays look like in a real JupyterLab, by a real browser: all scenes of `screens`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

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
