"""What an explorer makes of what another process says, whatever that is: without the process."""

from __future__ import annotations

from typing import Any

import pytest

import polysched as ps
from polysched.show.explore import explorer as explorers
from polysched.show.explore.explorer import MOST_LOSSES, Explorer

ENDED = {"lost": "the process that tries directives has ended: killed by signal 9", "ready": True}
PICTURE = {"svg": "<svg/>", "notes": ["f"]}


class Silent:
    """A link that says what a test says."""

    def __init__(self, start: Any, hear: Any) -> None:
        self.hear, self.asked, self.is_closed = hear, [], False

    def ask(self, question: dict[str, Any]) -> None:
        self.asked.append(question)

    def close(self) -> None:
        self.is_closed = True


def vector(name: str = "f") -> ps.Func:
    n, i = ps.size("n"), ps.Var("i")
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func(name, (n,))
    f[i] = x[i] + 1
    return f


@pytest.fixture
def explorer(monkeypatch: pytest.MonkeyPatch) -> Explorer:
    monkeypatch.setattr(explorers, "Link", Silent)
    return Explorer(ps.Schedule(vector()))


def said(e: Explorer, **message: Any) -> None:
    link: Any = e._link
    link.hear({"revision": 1, **message})


def asked(e: Explorer) -> list[dict[str, Any]]:
    link: Any = e._link
    found: list[dict[str, Any]] = link.asked
    return found


def kinds(e: Explorer) -> list[str]:
    return [kind for kind, _ in e.view()["verdicts"]]


def test_a_candidate_that_ends_the_process_leaves_the_others_to_another_one(
    explorer: Explorer,
) -> None:
    before = explorer.schedule.to_json()
    said(explorer, **PICTURE)
    said(explorer, index=0, kind="legal", why="")
    said(explorer, **ENDED)
    assert kinds(explorer)[:3] == ["legal", "unknown", "pending"]
    assert [question["first"] for question in asked(explorer)] == [0, 2]
    assert "killed by signal 9" in explorer.view()["note"]
    assert explorer.schedule.to_json() == before


def test_a_picture_that_ends_the_process_leaves_all_candidates(explorer: Explorer) -> None:
    said(explorer, **ENDED)
    assert set(kinds(explorer)) == {"pending"}
    assert [(q["draws"], q["first"]) for q in asked(explorer)] == [(True, 0), (False, 0)]
    (note,) = explorer.view()["picture"]["notes"]
    assert note.startswith("There is no picture: the process that tries directives has ended")


def test_one_that_ends_before_it_begins_is_no_candidates_fault(explorer: Explorer) -> None:
    said(explorer, **PICTURE)
    said(explorer, **{**ENDED, "ready": False})
    assert set(kinds(explorer)) == {"pending"}


def test_a_process_that_always_ends_is_given_up(explorer: Explorer) -> None:
    for _ in range(MOST_LOSSES + 1):
        said(explorer, **{**ENDED, "ready": False})
    assert explorer.wait(0)
    assert len(asked(explorer)) == MOST_LOSSES + 1
    assert set(kinds(explorer)) == {"unknown"}


def test_one_that_fails_says_why(explorer: Explorer) -> None:
    said(explorer, failed="ModuleNotFoundError: No module named 'mine'")
    assert explorer.wait(0)
    assert "No module named 'mine'" in explorer.view()["note"]
    assert set(kinds(explorer)) == {"unknown"}


def test_what_was_given_up_is_tried_when_it_is_looked_at_again(explorer: Explorer) -> None:
    said(explorer, failed="oops")
    assert explorer.answer({"revision": 1, "do": "choose", "index": split(explorer)})
    assert explorer.answer({"revision": 2, "do": "go", "index": 0})
    assert set(kinds(explorer)) == {"pending"}
    assert explorer.view()["picture"] is None
    assert asked(explorer)[-1]["draws"] is True


def test_what_is_known_of_a_schedule_is_not_asked_again(explorer: Explorer) -> None:
    said(explorer, **PICTURE)
    for k in range(len(kinds(explorer))):
        said(explorer, index=k, kind="legal", why="")
    known = kinds(explorer)
    assert explorer.answer({"revision": 1, "do": "choose", "index": split(explorer)})
    assert set(kinds(explorer)) == {"pending"}
    assert explorer.view()["picture"] is None
    assert explorer.answer({"revision": 2, "do": "go", "index": 0})
    assert kinds(explorer) == known
    assert explorer.view()["picture"] == PICTURE
    question = asked(explorer)[-1]
    assert (question["draws"], question["first"]) == (False, len(known))


def test_a_picture_of_another_revision_is_not_shown(explorer: Explorer) -> None:
    assert explorer.answer({"revision": 1, "do": "choose", "index": split(explorer)})
    said(explorer, **PICTURE)
    assert explorer.view()["picture"] is None


def split(e: Explorer) -> int:
    return [row[3] for row in e.view()["moves"]].index("s[\"f\"].split('i', 4)")


def test_a_closed_explorer_asks_no_process_again(explorer: Explorer) -> None:
    explorer.close()
    assert explorer.wait(0)
    assert explorer.answer({"revision": 1, "do": "choose", "index": split(explorer)})
    assert len(asked(explorer)) == 1
    assert explorer.wait(0)
    assert explorer.view()["note"] == "the explorer was closed"
    assert len(explorer.view()["steps"]) == 2


def test_two_explorers_do_not_know_of_each_other(explorer: Explorer) -> None:
    other = Explorer(ps.Schedule(vector("g")))
    before = other.view()
    assert explorer.answer({"revision": 1, "do": "choose", "index": split(explorer)})
    explorer.close()
    assert other.view() == before
    assert not vars(other._link)["is_closed"]
