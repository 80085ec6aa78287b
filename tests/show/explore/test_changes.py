"""What a page is told of changes: all of them, each once, in order, and not too often."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

from polysched.show.explore import widget as widgets
from polysched.show.explore.changes import PAUSE, Changes, changed

View = dict[str, Any]


def merged(view: View, change: View) -> View:
    """What a page knows behind a change."""
    made = {**view, **change}
    told = made.pop("verdicts", [])
    if "revision" in change:
        made["verdicts"] = [["pending", ""] for _ in made["moves"]]
    else:
        made["verdicts"] = list(view["verdicts"])
    if "verdicts" in change:
        for k, kind, why in told:
            made["verdicts"][k] = [kind, why]
    return made


def views(seed: int, count: int) -> list[View]:
    """Views of which each has something that the last one had not."""
    numbers = random.Random(seed)
    found = [view(1, 4)]
    while len(found) < count:
        now = {**found[-1], "verdicts": list(found[-1]["verdicts"])}
        match numbers.randrange(4):
            case 0:
                now = view(now["revision"] + 1, numbers.randrange(1, 6))
            case 1:
                now["picture"] = {"svg": f"<svg id='{len(found)}'/>", "notes": []}
            case _:
                now["verdicts"][numbers.randrange(len(now["verdicts"]))] = ["legal", str(seed)]
        found.append(now)
    return found


def view(revision: int, moves: int) -> View:
    return {
        "revision": revision, "moves": [f"m{k}" for k in range(moves)], "picture": None,
        "verdicts": [["pending", ""]] * moves,
    }  # fmt: skip


class Page:
    """A page that shows what it is told.

    Attributes:
        now: what there is to be shown. late: what is to be done later.
    """

    def __init__(self, now: View) -> None:
        self.now, self.sent, self.late = now, list[View](), list[Callable[[], None]]()
        self.changes = Changes(lambda: self.now, self.sent.append, self._after)
        self.shown = self.changes.state()

    def _after(self, seconds: float, work: Callable[[], None]) -> None:
        assert seconds == PAUSE
        self.late.append(work)

    def read(self) -> None:
        """Takes what was sent."""
        for change in self.sent:
            assert change["number"] == self.shown["number"] + 1
            self.shown = merged(self.shown, change)
        self.sent.clear()


@pytest.mark.parametrize("seed", range(20))
def test_a_page_shows_the_last_view_when_nothing_is_left_to_do(seed: int) -> None:
    numbers, (first, *rest) = random.Random(seed), views(seed, 30)
    page = Page(first)
    for now in rest:
        page.now = now
        page.changes.tell()
        if numbers.random() < 0.3 and page.late:
            page.late.pop()()
    while page.late:
        page.late.pop()()
    page.read()
    assert {k: x for k, x in page.shown.items() if k in page.now} == page.now


def test_only_what_differs_is_sent() -> None:
    a = view(1, 3)
    b = {**a, "verdicts": [["pending", ""], ["legal", ""], ["pending", ""]]}
    assert changed(a, a) == {}
    assert changed(a, b) == {"verdicts": [[1, "legal", ""]]}
    assert changed(b, {**b, "picture": {}}) == {"picture": {}}
    again = {**b, "revision": 2}
    assert changed(b, again) == {"revision": 2, "verdicts": [[1, "legal", ""]]}


def test_between_two_changes_there_is_a_pause() -> None:
    page = Page(view(1, 9))
    for k in range(9):
        page.now = {**page.now, "verdicts": [["legal", ""]] * (k + 1) + [["pending", ""]] * (8 - k)}
        page.changes.tell()
    assert [len(change["verdicts"]) for change in page.sent] == [1]
    (rested,) = page.late
    page.late.clear()
    rested()
    assert [len(change["verdicts"]) for change in page.sent] == [1, 8]


def test_a_page_that_has_missed_something_is_told_all() -> None:
    page = Page(view(1, 3))
    page.now = {**page.now, "picture": {}}
    page.changes.tell()
    page.changes.asked(1)
    assert [change["whole"] for change in page.sent] == [False]
    page.changes.asked(0)
    last = page.sent[-1]
    assert last["whole"] is True
    assert last["number"] == 2
    assert last.keys() >= page.now.keys() - {"verdicts"}


def test_a_view_never_overtakes_a_later_one() -> None:
    """Another thread has something to say while a view is being taken."""
    sent: list[View] = []
    others: list[threading.Thread] = []
    current = view(1, 1)

    def look() -> View:
        nonlocal current
        taken = current
        if not others:
            current = {**current, "picture": {}}
            others.append(threading.Thread(target=changes.asked, args=(-1,)))
            others[0].start()
            others[0].join(0.05)  # it cannot end before this view has been sent
        return taken

    changes = Changes(look, sent.append, lambda *_: None)
    changes.tell()
    others[0].join()
    assert [change["picture"] for change in sent] == [None, {}]
    assert [change["number"] for change in sent] == [1, 2]


class Explorer:
    """What a widget needs of an explorer."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []
        self.now, self.answered = view(1, 2), list[Any]()

    def view(self) -> View:
        return self.now

    def answer(self, message: Any) -> None:
        self.answered.append(message)


def test_a_page_that_begins_gets_all_and_changes_nothing_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("anywidget")
    explorer = Explorer()
    widget = widgets.made(explorer)
    sent: list[View] = []
    monkeypatch.setattr(type(widget), "send", lambda _, content: sent.append(content))
    assert widget.get_state()["view"] == {**explorer.now, "number": 0}
    explorer.now = {**explorer.now, "picture": {}}
    (tell,) = explorer._listeners
    tell()
    assert sent == [{"picture": {}, "number": 1, "whole": False}]
    assert widget.get_state()["view"] == {**explorer.now, "number": 1}
    widget.set_state({"view": view(9, 9)})
    assert widget.view == {}
    assert widget.get_state()["view"] == {**explorer.now, "number": 1}
    message = {"revision": 1, "do": "choose", "index": 0}
    for content in (message, {"do": "show", "number": 0}, {"do": "show", "number": 2}):
        widget._handle_custom_msg(content, [])
    assert explorer.answered == [message]
    assert [change["whole"] for change in sent] == [False, True]
