"""How profiles are shown, without a run."""

from __future__ import annotations

import re

from polysched.show.profile.display import BAR, display_of
from polysched.show.profile.profile import Profile, StageTime


def shown(*stages: StageTime) -> list[str]:
    """The bars of a profile, as SVG."""
    p = Profile(
        "f(x)", 4.0, 4.0, 4.0, 1, 4.0, 0.0, 4.0, stages, (), 1, 1.0, (), None, 1.0, "", 9, 0.0
    )
    return re.findall(r"<svg.*?</svg>", display_of(p))


def length(bar: str) -> float:
    (found,) = re.findall(r'<rect[^>]* width="([0-9.]+)"', bar)
    return float(found)


def test_bars_are_as_long_as_times() -> None:
    long, short = shown(StageTime("a", 3.0), StageTime("b", 0.75))
    assert (length(long), length(short)) == (BAR, BAR / 4)
    assert "<line" not in long + short


def test_what_was_sampled_has_its_error_around_the_end_of_the_bar() -> None:
    timed, sampled = shown(StageTime("a", 1.0), StageTime("b", 2.0, error=0.5, how="sampled"))
    assert "<line" not in timed
    assert length(sampled) == BAR * 2.0 / 2.5
    across = re.search(r'<line x1="([0-9.]+)" y1="7.5" x2="([0-9.]+)"', sampled)
    assert across is not None
    assert [float(x) - 1 for x in across.groups()] == [BAR * 1.5 / 2.5, BAR]


def test_names_of_stages_are_text() -> None:
    (bar,) = shown(StageTime("a<b>", 1.0))
    assert "a&lt;b&gt;" in bar
