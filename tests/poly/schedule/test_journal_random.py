"""Random programs, and those of the gallery, under random directives: proven, and known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from gallery.registry import some

import polysched as ps
from polysched.lang.errors.errors import PolyschedError
from polysched.testing.choices import Choices
from polysched.testing.directives import random_directive
from polysched.testing.programs import Sample
from polysched.testing.trials import random_case

from .journals import (
    cache,
    look,
    off,
    twice,
)


@pytest.fixture(autouse=True)
def own_cache() -> Iterator[None]:
    with cache():
        yield


# random programs and directives -----------------------------------------------------------------
Line = tuple[str, str | None]
Make = Callable[[], tuple[ps.Schedule, dict[str, Any]]]


def said(s: ps.Schedule, names: dict[str, Any], text: str) -> str | None:
    """Why a directive is refused, if it is."""
    try:
        exec(text, {**names, "s": s})
    except PolyschedError as error:
        return re.sub(r"<string>:\d+", "", str(error))
    return None


def drawn(make: Make, choices: Choices, count: int) -> list[Line]:
    """Directives, and what is said of those that are refused."""
    (s, names), found = make(), []
    for _ in range(count):
        text = random_directive(choices, s)
        with suppress(NameError):  # a condition on what has no name here
            found.append((text, said(s, names, text)))
    return found


def agrees(make: Make, lines: list[Line]) -> None:
    """Schedules by the same script: without a cache, for it, and from it."""

    def accepted() -> ps.Schedule:
        s, names = make()
        for text, refused in lines:
            if refused is None:
                assert said(s, names, text) is None
        return s

    plain = off(accepted)
    first, second = twice(accepted)
    assert second.is_free
    assert second.given.to_json() == first.to_json() == plain.to_json()
    # What was refused in between is refused, and what comes behind it is known.
    s, names = make()
    for text, refused in lines:
        assert said(s, names, text) == refused, text
    assert s.to_json() == plain.to_json()
    later = second.given
    for text, _ in lines:  # in another state these may be accepted or not
        assert said(later, names, text) == said(plain, names, text), text
    assert look(later) == look(plain)


@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed: int) -> None:
    case, choices = random_case(7000 + seed)

    def make() -> tuple[ps.Schedule, dict[str, Any]]:
        names = Sample(case.source, case.outputs).namespace()
        begin = ps.Schedule.default if case.default else ps.Schedule
        return begin(tuple(names[name] for name in case.outputs)), names

    agrees(make, off(lambda: drawn(make, choices, 10)))


QUICK = ("solve_lower", "nearest_centroid")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.quick] if case.name in QUICK else [])
        for case in some(12)
    ],
)
def test_the_gallery(case: Any) -> None:
    def make() -> tuple[ps.Schedule, dict[str, Any]]:
        return ps.Schedule(case.build()), {}

    agrees(make, off(lambda: drawn(make, Choices.from_seed(11), 8)))
