"""Journals as they are stored, and what is no journal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import polysched as ps
from polysched.poly.directives.loops import Split
from polysched.poly.schedule import journal

from .journals import (
    cache,
    chain,
    events,
    journals,
    look,
    packed,
    product,
    ran,
    twice,
)


@pytest.fixture(autouse=True)
def own_cache() -> Iterator[None]:
    with cache():
        yield


# what is stored ---------------------------------------------------------------------------------
def test_what_others_have_stored_stays() -> None:
    def script(factor: int) -> ps.Schedule:
        s = ps.Schedule(chain())
        s["f"].split("i", factor)
        return s

    schedules = [script(k) for k in range(2, 6)]
    for s in schedules:  # each knows nothing of the others
        s.keep()
    for k in range(2, 6):
        assert ran(lambda k=k: script(k)).is_free


def test_a_journal_has_so_many_nodes_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MOST", 6)

    def script(factor: int) -> ps.Schedule:
        s = ps.Schedule(chain())
        s["f"].split("i", factor)
        return s

    for k in range(2, 12):
        script(k).keep()
    (root,) = journals()
    assert len(list(events(root))) < 6
    assert ran(lambda: script(11)).is_free


def test_it_is_written_only_where_something_is_new() -> None:
    twice(packed)
    written: list[Any] = []
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(journal.store, "write", lambda *given: written.append(given))
        packed().proven_copy()
    assert written == []


def stored() -> Any:
    s = ps.Schedule(product()[1])
    s["C"].update(0).stage("B", "i")
    s["C"].split("i", 4)
    return journal.written(next(iter(_kept(s))))


def _kept(s: ps.Schedule) -> Iterator[journal.Reached]:
    s.keep()
    yield from journals()


def test_refuses_what_is_no_journal() -> None:
    whole = stored()
    assert journal.written(journal.read(whole)) == whole
    for damaged in _damaged(whole):
        assert journal.read(damaged) is None, damaged
    assert journal.read(None) is None
    assert journal.read({**whole, "above": [], "events": []}) is None


def _damaged(whole: Any) -> Iterator[Any]:
    """The same without one thing, or with something of another type or in another place."""
    for column in whole:
        yield {k: v for k, v in whole.items() if k != column}
        yield {**whole, column: None}
        yield {**whole, column: whole["format"] + 1}
    above, events = whole["above"], whole["events"]
    for k in range(len(above)):
        for wrong in (k, k + 1, -2, -1 if k else 0, "0", True, None):
            yield {**whole, "above": [*above[:k], wrong, *above[k + 1 :]]}
        for wrong in (3, None, ["i"]):
            yield {**whole, "events": [*events[:k], wrong, *events[k + 1 :]]}
        yield {**whole, "above": above[:k]}
    outside = str(len(above))
    for column, kept in (("made", ["i"]), ("funcs", [["f", ["int32"]]]), ("answers", {"q": 1})):
        for number in (outside, "-1", "x", "01"):
            yield {**whole, column: {number: kept}}
        for wrong in (None, "i", [None], {"q": None}, [[]], [["f"]], [["f", []]], [[1, ["int32"]]]):
            yield {**whole, column: {"0": wrong}}


@pytest.mark.slow
def test_a_journal_that_means_nothing_is_a_miss_and_goes() -> None:
    first = packed()
    first.proven_copy()
    (kept,) = [x for x in journal.store.entries() if x.kind == journal.KIND]
    journal.store.write(journal.KIND, kept.key, {"above": 3})
    assert look(packed()) == look(first)
    assert journals() == []


def test_a_directive_is_told_from_one_with_other_values() -> None:
    texts = {
        Split("f", loop="i", factor=4).exactly,
        Split("f", loop="i", factor=8).exactly,
        Split("f", loop="i4", factor=4).exactly,
        Split("g", loop="i", factor=4).exactly,
        Split("f", loop="i", factor=4, tail="guard").exactly,
        Split("f", loop="i", factor=ps.factor("x", 4).resolve(*_any_target())).exactly,
    }
    assert len(texts) == 6


def _any_target() -> tuple[Any, Any]:
    return ps.Schedule(chain()).target, ps.int32
