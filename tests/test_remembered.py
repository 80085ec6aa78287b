"""What is remembered during work: as long as any work is under way, and no longer."""

from __future__ import annotations

import gc
import weakref

import pytest

from polysched.garbage import uncollected
from polysched.remembered import remembered

asked: list[int] = []


class Thing:
    """What answers may hold."""


@remembered
def doubled(number: int) -> int:
    asked.append(number)
    return 2 * number


@remembered
def about(thing: Thing) -> tuple[Thing]:
    return (thing,)


@pytest.fixture(autouse=True)
def nothing_asked() -> None:
    asked.clear()


def test_answers_are_kept_during_work_only() -> None:
    assert (doubled(1), doubled(1), asked) == (2, 2, [1, 1])
    with uncollected():
        with uncollected():
            assert (doubled(1), doubled(1), asked) == (2, 2, [1, 1, 1])
        assert (doubled(1), asked) == (2, [1, 1, 1])
    assert (doubled(1), asked) == (2, [1] * 4)


def test_answers_go_with_an_error() -> None:
    with pytest.raises(ZeroDivisionError), uncollected():
        _ = doubled(2) / doubled(0)
    doubled(2)
    assert asked == [2, 0, 2]


def test_what_answers_hold_is_freed_when_work_ends() -> None:
    gc.disable()
    try:
        thing = Thing()
        alive = weakref.ref(thing)
        with uncollected():
            about(thing)
            del thing
            assert alive() is not None
        assert alive() is None
    finally:
        gc.enable()
