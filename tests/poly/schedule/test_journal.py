"""What was accepted before is not proven again, and nothing else is taken for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import polysched as ps
from polysched.poly.program import rewrites
from polysched.poly.schedule.handles.base import LoopHandle
from polysched.poly.schedule.stages import StageHandle

from .journals import (
    SCRIPTS,
    cache,
    look,
    off,
    product,
    ran,
    twice,
)


@pytest.fixture(autouse=True)
def own_cache() -> Iterator[None]:
    with cache():
        yield


# what is known ----------------------------------------------------------------------------------


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_was_accepted_asks_nothing_of_isl(script: Callable[[], ps.Schedule]) -> None:
    first, second = twice(script)
    assert second.is_free
    s = second.given
    kept = ran(s.proven_copy)
    assert kept.is_free
    assert ran(lambda: (s.source(), s.to_json(), s.digest, s.broken_by, s.key)).is_free
    assert look(kept.given) == look(s) == look(first) == look(off(script))


@pytest.mark.parametrize("script", SCRIPTS)
def test_json_is_known_as_well(script: Callable[[], ps.Schedule]) -> None:
    first = script()
    text = first.to_json()
    again = ps.Schedule.from_json(first.base.outputs, text)
    again.proven_copy()
    second = ran(lambda: ps.Schedule.from_json(script().base.outputs, text))
    assert second.given.to_json() == text
    assert not second.given._builder._place.is_made


def test_sizes_that_are_fixed() -> None:
    def script() -> ps.Schedule:
        s = ps.Schedule(product()[1])
        s["C"].parallel("i")
        return s

    script().compile(n=8)
    second = script()
    assert ran(lambda: second.fixed({"n": 8})).is_free
    assert not ran(lambda: second.fixed({"n": 9})).is_free


def test_a_program_without_directives() -> None:
    twice(lambda: ps.Schedule(product()[1]))
    assert ran(lambda: ps.Schedule(product()[1]).proven_copy()).is_free
    assert not ran(lambda: ps.Schedule.default(product()[1])).is_free  # begins in another way


# Funcs that directives add ----------------------------------------------------------------------
def test_a_copy_is_a_func_once_somebody_looks() -> None:
    def script() -> tuple[ps.Schedule, ps.Func]:
        B, C = product()
        s = ps.Schedule(C)
        return s, s[C].update(0).stage(B, at="i")

    first, made = script()
    first.proven_copy()
    second = ran(script)
    assert second.is_free
    s, copy = second.given
    assert (copy.name, ran(lambda: s[copy].name).given) == (made.name, made.name)
    assert [repr(x) for x in copy.vars] == [repr(x) for x in made.vars]
    assert type(copy) is ps.Func
    assert copy in s.program.funcs
    s[copy].vectorize(copy.vars[1], 8)
    first[made].vectorize(made.vars[1], 8)
    assert str(s) == str(first)


def staged() -> tuple[ps.Schedule, ps.Func]:
    B, C = product()
    s = ps.Schedule(C)
    return s, s[C].update(0).stage(B, at="i")


def test_others_wait_for_a_copy_that_is_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    staged()[0].keep()
    s, copy = staged()
    seen: list[Any] = []

    def look_at_it() -> None:
        try:
            seen.append(len(copy.history.typed()))
        except ps.LanguageError as error:
            seen.append(error)

    other, close = threading.Thread(target=look_at_it), rewrites.close

    def closed(func: Any, definitions: Any) -> Any:
        other.start()
        other.join(0.2)  # it looks meanwhile
        return close(func, definitions)

    monkeypatch.setattr(rewrites, "close", closed)
    assert str(s)
    other.join()
    assert seen == [1]


def test_a_copy_whose_making_is_interrupted_is_made_later(monkeypatch: pytest.MonkeyPatch) -> None:
    staged()[0].keep()
    s, copy = staged()

    def interrupted(func: Any, definitions: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as changed:
        changed.setattr(rewrites, "close", interrupted)
        with pytest.raises(KeyboardInterrupt):
            str(s)
    assert [repr(x) for x in copy.vars] == ["x0", "x1"]
    assert str(s) == str(off(lambda: staged()[0]))


def test_copies_of_a_schedule_share_what_was_added_before() -> None:
    def script() -> tuple[ps.Schedule, ps.Schedule, ps.Func]:
        B, C = product()
        s = ps.Schedule(C)
        copy = s[C].update(0).stage(B, at="i")
        other = s.copy()
        other[copy].split("x1", 4)
        s[copy].split("x0", 4)
        return s, other, copy

    for s in script()[:2]:
        s.keep()
    second = ran(script)
    assert second.is_free
    s, other, copy = second.given
    assert str(other)
    assert copy in other.program.funcs
    assert copy in s.program.funcs
    assert (str(s), str(other)) == tuple(map(str, off(script)[:2]))


def test_refuses_a_func_of_another_schedule() -> None:
    def script() -> tuple[ps.Schedule, ps.Func]:
        B, C = product()
        s = ps.Schedule(C)
        return s, s[C].update(0).stage(B, at="i")

    script()[0].proven_copy()
    (s, _), (_, foreign) = script(), script()
    with pytest.raises(ps.ScheduleError, match="is not part of this schedule"):
        s[foreign]


def test_handles_are_those_of_a_proven_schedule() -> None:
    def script() -> list[Any]:
        s = ps.Schedule(product()[1])
        u = s["C"].update()
        made: list[Any] = [u, *u.tile("i", "j", 4, 8), u.fuse("ii", "ji"), *u.loops, u["k"]]
        made += [u.loops[0].kind, s[u].name, s.loop("io"), *u.split("k", 8)]
        s.keep()
        return [
            (x.stage_name, x.name) if isinstance(x, LoopHandle) else
            x.name if isinstance(x, StageHandle) else x
            for x in made
        ]  # fmt: skip

    first = script()
    second = ran(script)
    assert second.is_free
    assert second.given == first
