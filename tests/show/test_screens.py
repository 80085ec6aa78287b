"""The explorer in a real page of JupyterLab, by a real browser."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import screens

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(screens.chromium() is None, reason="Chromium is not installed"),
    pytest.mark.skipif(
        importlib.util.find_spec("playwright") is None, reason="needs polysched[screens]"
    ),
]


def test_two_clicks_change_the_nest_in_both_themes() -> None:
    seen = {}
    scene = next(x for x in screens.SCENES if x.name == "explorer-after")
    with screens.lab() as (address, folder), screens.browser() as found:
        for theme in screens.THEMES:
            with screens.page_of(found, address, folder, scene, theme) as page:
                nests = [page.inner_text(scene.shown)]
                for words in scene.clicks:
                    screens.settled(page)
                    screens.click(page, words)
                    nests.append(page.inner_text(scene.shown))
                assert len(set(nests)) == 3
                assert "(vector)" in nests[-1]
                assert "(vector)" not in nests[0]
                explorer = page.locator(scene.shown)
                assert explorer.evaluate("e => e.scrollWidth <= e.clientWidth")
                seen[theme] = explorer.evaluate("e => getComputedStyle(e).color")
    assert seen["light"] != seen["dark"]
