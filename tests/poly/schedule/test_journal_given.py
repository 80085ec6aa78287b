"""A directive that was accepted before is made when somebody looks, and is what it was said to
be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.poly.state.exactly import exactly_given
from polysched.poly.state.record import KINDS, Directive

from .journals import cache, chain, look, off, packed, product, twice


@pytest.fixture(autouse=True)
def own_cache() -> Iterator[None]:
    with cache():
        yield


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of directives that were made."""
    found: list[str] = []
    check = Directive.__post_init__

    def noted(self: Directive) -> None:
        found.append(self.name)
        check(self)

    monkeypatch.setattr(Directive, "__post_init__", noted)
    return found


def packing() -> ps.Schedule:
    """A schedule of many directives without conditions, whose expressions are looked at."""
    _, C = product()
    s = ps.Schedule(C)
    u = s[C].update(0)
    outer, _, inner, lanes = u.tile("i", "j", 6, ps.native)
    u.reorder("jo", "k", inner, lanes).vectorize(lanes).unroll(inner).parallel(outer)
    return s


def test_none_is_made_where_all_were_accepted(made: list[str]) -> None:
    _, second = twice(packing)
    made.clear()
    again = packing()
    again.proven_copy()
    assert again.digest == second.given.digest
    assert made == []


def test_they_are_made_in_order_and_once(made: list[str]) -> None:
    first, second = twice(packing)
    made.clear()
    found = second.given.directives
    names = ["split", "split", "reorder", "reorder", "vectorize", "unroll", "parallel"]
    assert made == [x.name for x in found] == names
    again = second.given.copy().directives
    assert made == names
    assert all(x is y for x, y in zip(found, again, strict=True))
    assert found == first.directives


def test_each_has_the_line_that_has_given_it() -> None:
    first, second = twice(packing)
    lines = [d.span for d in first.directives]
    assert [d.span for d in second.given.directives] == lines
    assert {x.file for x in lines if x is not None} == {__file__}


@pytest.mark.parametrize("script", [packing, packed])
def test_a_schedule_says_the_same_of_itself(script: Callable[[], ps.Schedule]) -> None:
    _, second = twice(script)
    assert look(second.given) == look(off(script))


def test_each_says_exactly_what_it_says_when_it_is_made() -> None:
    _, second = twice(packing)
    given = [x.exactly for x in second.given._builder.said]
    assert None not in given
    assert given == [d.exactly for d in second.given.directives]


def test_what_is_refused_later_names_what_was_given_before() -> None:
    def refusal() -> str:
        s = packing()
        with pytest.raises(ps.ScheduleError) as error:
            s["C.update(0)"].parallel("k")
        return str(error.value)

    expected = off(refusal)
    twice(packing)
    assert refusal() == expected


@pytest.mark.parametrize("factor", [True, np.int64(1), 1.0, "1"])
def test_refuses_a_factor_that_only_looks_like_one_that_was_accepted(factor: Any) -> None:
    def script(given: Any = 1) -> ps.Schedule:
        s = ps.Schedule(chain())
        s["f"].split("i", given)
        return s

    twice(script)
    with pytest.raises(ps.LanguageTypeError, match="the factor of split is a Python integer"):
        script(factor)


def test_refuses_0_for_a_flag_that_was_false() -> None:
    def script(pad: Any = False) -> ps.Schedule:
        B, C = product()
        s = ps.Schedule(C)
        s[C].update(0).stage(B, at="k", pad=pad)
        return s

    twice(script)
    with pytest.raises(ps.LanguageTypeError, match="pad"):
        script(0)


def test_refuses_a_text_that_only_shows_as_one_that_was_accepted() -> None:
    class Named(str):
        def __repr__(self) -> str:
            return "'i'"

    def script(loop: str = "i") -> ps.Schedule:
        s = ps.Schedule(chain())
        s["f"].split(loop, 4)
        return s

    twice(script)
    with pytest.raises(ps.ScheduleError, match="no loop"):
        script(Named("x"))


def test_nothing_is_said_of_one_that_lacks_a_field() -> None:
    assert exactly_given(KINDS["split"], "f", {"loop": "i", "factor": 4}) is not None
    assert exactly_given(KINDS["split"], "f", {"loop": "i"}) is None


def test_nothing_is_said_of_classes_that_others_have_made() -> None:
    class Own(KINDS["split"]):  # type: ignore[misc]
        pass

    assert exactly_given(Own, "f", {"loop": "i", "factor": 4}) is None
