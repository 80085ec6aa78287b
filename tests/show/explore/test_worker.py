"""What the process answers that tries candidates: the questions of an explorer, in this one."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import pytest

import polysched as ps
from polysched.lang.travel import text
from polysched.show.explore import picture
from polysched.show.explore.moves import Move, moves
from polysched.show.explore.worker import Trials

n, i = ps.size("n"), ps.Var("i")


def vector() -> ps.Func:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = x[i] + 1
    return f


def answered(
    f: ps.Func, hear: Callable[[SimpleQueue[Any], dict[str, Any]], None] = lambda *_: None,
    **other: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """What is said of a question about a Func as it is written."""
    s = ps.Schedule(f)
    said: list[dict[str, Any]] = []
    questions: SimpleQueue[Any] = SimpleQueue()

    def say(message: dict[str, Any]) -> None:
        said.append(message)
        hear(questions, message)

    program = text.written("program", s.base.outputs, s.base.inputs)
    start = {"program": program, "modules": [], "arguments": None}
    question = {
        "revision": 1, "schedule": s.to_json(), "stage": f.name, "draws": True, "first": 0,
        "moves": [move.text() for move in moves(s, f.name)],
    }  # fmt: skip
    Trials(start, questions, say).answer({**question, **other})
    return said


def test_first_comes_the_picture_then_each_candidate_in_order() -> None:
    drawn, *tried, done = answered(vector())
    assert drawn["svg"].startswith("<svg")
    assert drawn["notes"][0].startswith("f, at n=")
    s = ps.Schedule(vector())
    assert [m["index"] for m in tried] == list(range(len(moves(s, "f"))))
    assert {m["kind"] for m in tried} == {"legal", "refused"}
    assert done == {"revision": 1, "done": True}


def test_what_is_known_is_not_tried_again() -> None:
    found = answered(vector(), draws=False, first=3)
    assert "svg" not in found[0]
    assert found[0]["index"] == 3


def test_the_next_question_ends_this_one() -> None:
    found = answered(vector(), lambda questions, message: questions.put({"revision": 2}))
    assert [sorted(m) for m in found] == [["notes", "revision", "svg"]]


def test_candidates_that_are_others_here_are_not_tried() -> None:
    (only,) = answered(vector(), moves=["s[\"f\"].split('i', 4)"])
    assert only["failed"] == "the candidates differ in another process"


def test_a_fault_of_one_candidate_is_said_of_that_one(monkeypatch: pytest.MonkeyPatch) -> None:
    apply = Move.apply

    def faulty(move: Move, schedule: ps.Schedule) -> None:
        if move.name == "unroll":
            raise KeyError("oops")
        apply(move, schedule)

    monkeypatch.setattr(Move, "apply", faulty)
    _, *tried, _ = answered(vector())
    names = [move.name for move in moves(ps.Schedule(vector()), "f")]
    wrong = {names[m["index"]]: m["why"] for m in tried if m["kind"] == "unknown"}
    assert wrong == {"unroll": "KeyError: 'oops'"}


def test_the_picture_is_of_the_order_that_is_scheduled() -> None:
    s = ps.Schedule(vector())
    s["f"].split("i", 2, names=("io", "ii"))
    found = picture.sketched(s, "f")
    assert "as written" not in found.svg
    assert "tiles: io" in found.svg


def test_where_there_is_no_picture_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = ps.Func("wide", (3000,))
    wide[i] = i
    (note,) = picture.sketched(ps.Schedule(wide), "wide").notes
    assert note == "There is no picture: 3000 instances are too many to be drawn: at most 2000."
    monkeypatch.setattr(picture, "MOST", 10)
    (note,) = picture.sketched(ps.Schedule(vector()), "f").notes
    assert note == "There is no picture: this is too intricate to be drawn in the time allowed."


def test_a_fault_of_a_picture_says_nothing_of_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr(picture, "space_as_scheduled", faulty)
    drawn, *tried, _ = answered(vector())
    assert drawn["notes"] == ["There is no picture: KeyError: 'oops'"]
    assert "legal" in {m["kind"] for m in tried}
