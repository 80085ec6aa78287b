"""Warnings of what is likely to be slow: at which line, how often, and of whose directives."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator

import pytest

import polysched as ps
from polysched.poly.schedule import performance
from polysched.poly.schedule.performance import warn_of

from .journals import cache, ran

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def program() -> ps.Func:
    a, f = ps.Input("a", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = a[i, j] * 2 + 1
    return f


def columns() -> ps.Schedule:
    s = ps.Schedule(program())
    s["f"].vectorize("i", 8)  # the line that is to blame
    return s


@pytest.fixture
def given() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        yield found


def test_the_line_is_that_of_the_directive(given: list[warnings.WarningMessage]) -> None:
    s = columns()
    s.compile()
    (one,) = given
    lines, first = inspect.getsourcelines(columns)
    assert one.filename == __file__
    assert "to blame" in lines[one.lineno - first]
    assert isinstance(one.message, ps.PerformanceWarning)
    assert one.message.cause == "gathers"
    assert "\n  hint: " in str(one.message)


def test_a_cause_is_named_once_a_line(given: list[warnings.WarningMessage]) -> None:
    for _ in range(2):
        warn_of(columns())
    assert len(given) == 1
    warnings.simplefilter("always")
    for _ in range(2):
        warn_of(columns())
    assert len(given) == 3


@pytest.mark.parametrize(("count", "listed"), [(4, 4), (5, 3), (9, 3)])
def test_of_many_of_a_line_a_few_are_listed(
    count: int, listed: int, given: list[warnings.WarningMessage]
) -> None:
    before: ps.Func | ps.Input = ps.Input("a", ps.float32, (n, m))
    funcs = [ps.Func(f"f{k}", (n, m)) for k in range(count)]
    for f in funcs:
        f[i, j] = before[i, j] * 2 + 1
        before = f
    s = ps.Schedule.default(funcs[-1])
    for f in funcs:
        (s[f] if f is funcs[-1] else s[f].compute_root()).vectorize("i", 8)
    warn_of(s)
    (one,) = given
    what, hint = str(one.message).split("\n  hint: ")
    left = f"; and {count - listed} more like these" if listed < count else ""
    for said in (what, hint):
        assert said.endswith(left)
        assert len(said.split("; ")) == listed + bool(left)


def test_variants_say_the_same_at_the_same_line(given: list[warnings.WarningMessage]) -> None:
    s = columns()
    s.specialize(n % 8 == 0)
    warn_of(s)
    assert len(given) == 1
    s = ps.Schedule(program())
    s.specialize(n % 8 == 0)["f"].vectorize("i", 8)
    warn_of(s)
    assert len(given) == 2


def test_it_can_be_filtered(given: list[warnings.WarningMessage]) -> None:
    warnings.filterwarnings("ignore", category=ps.PerformanceWarning)
    warn_of(columns())
    assert not given
    warnings.filterwarnings("error", category=ps.PerformanceWarning)
    with pytest.raises(ps.PerformanceWarning, match="scatters f"):
        columns().compile()


def test_nothing_is_said_where_nobody_wrote_a_directive(
    given: list[warnings.WarningMessage],
) -> None:
    warn_of(ps.Schedule(program()))
    warn_of(ps.Schedule(program()).fixed({"n": 4096, "m": 4096}))
    assert not given


def test_nothing_is_said_of_what_a_model_has_chosen(given: list[warnings.WarningMessage]) -> None:
    f = ps.Func("f", (m, n))
    a = ps.Input("a", ps.float32, (n, m))
    f[i, j] = a[j, i]
    s = ps.Schedule.auto(f, sizes={"n": 512, "m": 512}, threads=2)
    assert s.chosen == len(s.directives) > 0
    again = s.for_target("x86-64-v3")
    assert again.chosen == len(again.directives)
    read = ps.Schedule.from_json(f, s.to_json())
    for x in (s, again, s.copy(), s.fixed({"n": 4096, "m": 4096}), read):
        warn_of(x)
    assert not given
    s = columns()
    s.chosen = len(s.directives)
    warn_of(s)
    assert not given


def test_tasks_are_compared_with_what_it_takes_to_wake_threads(
    given: list[warnings.WarningMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    def tasks() -> ps.Schedule:
        s = ps.Schedule(program())
        s["f"].tile("i", "j", 64, 512)
        s["f"].vectorize("ji", 8).parallel("jo")
        return s

    warn_of(tasks())
    assert not given

    class Slow:
        wake = 1.0

    monkeypatch.setattr(performance, "machine", lambda target: Slow)
    warn_of(tasks())
    assert [x.message.cause for x in given] == ["fine tasks"]  # type: ignore[union-attr]


def test_what_was_found_once_is_not_looked_for_again(
    given: list[warnings.WarningMessage],
) -> None:
    warnings.simplefilter("always")
    with cache():
        s = columns()
        warn_of(s)
        s.keep()
        assert ran(lambda: warn_of(columns())).is_free
    assert len(given) == 2
