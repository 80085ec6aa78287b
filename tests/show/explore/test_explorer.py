"""What an explorer does without a browser: its lists, its process, and messages that are none."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from show.test_parts import Seen

import polysched as ps
from polysched.poly.state.record import KINDS
from polysched.show.explore import explorer as explorers, export
from polysched.show.explore.explorer import Explorer
from polysched.show.explore.export import exported
from polysched.show.explore.model import Exploration, Verdict
from polysched.show.explore.moves import LEFT_OUT, ROWS, moves, stage_names
from polysched.show.explore.nest import rows
from polysched.show.explore.picture import sketched
from polysched.show.explore.widget import SCRIPT
from polysched.show.extras import MissingExtra
from polysched.show.parts import theme
from polysched.show.rich import nests


def product() -> ps.Func:
    n, p, m = ps.sizes("n p m")
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, p)
    A = ps.Input("A", ps.float32, (n, p))
    B = ps.Input("B", ps.float32, (p, m))
    C = ps.Func("C", (n, m))
    C[i, j] = 0
    C[i, j] += A[i, k] * B[k, j]
    return C


def index_of(text: str, found: Any) -> int:
    return [move.text() for move in found].index(text)


def test_every_directive_is_offered_or_left_out_with_a_reason() -> None:
    s = ps.Schedule(product())
    offered = {m.name for m in moves(s, "C.update(0)")} | set(ROWS)
    assert set(LEFT_OUT) <= set(KINDS)
    assert not set(LEFT_OUT) & offered
    # These need another Func, or a loop that holds two stages.
    assert set(KINDS) - offered - set(LEFT_OUT) <= {"clone_in", "compute_with", "fission"}


def test_the_same_schedule_has_the_same_candidates_in_another_process() -> None:
    s = ps.Schedule(product())
    s["C.update(0)"].tile("i", "j", 8, ps.native)
    again = ps.from_json(ps.to_json(s))
    assert isinstance(again, ps.Schedule)
    for stage in stage_names(s):
        assert [m.text() for m in moves(s, stage)] == [m.text() for m in moves(again, stage)]


@pytest.mark.slow
def test_the_text_of_a_candidate_does_what_it_does() -> None:
    for move in moves(ps.Schedule(product()), "C.update(0)"):
        one, two = ps.Schedule(product()), ps.Schedule(product())
        try:
            move.apply(one)
        except ps.PolyschedError as error:
            with pytest.raises(type(error)):
                exec(move.text(), {"s": two, "ps": ps})
        else:
            exec(move.text(), {"s": two, "ps": ps})
            assert one.written == two.written


def test_rows_are_the_lines_of_the_listing_with_their_loops() -> None:
    s = ps.Schedule(product())
    s["C.update(0)"].vectorize("j", 8)
    s["C.update(0)"].parallel("i")
    found = rows(s)
    listing = str(s).splitlines()[1:]
    assert ["  " * (r.depth + 1) + r.text for r in found] == listing[: len(found)]
    kinds = [(r.loop, r.kind) for r in found if r.kind in ("parallel", "vector")]
    assert kinds == [("i", "parallel"), ("ji", "vector")]
    assert [r.stages for r in found if r.kind == "stage"] == [("C",), ("C.update(0)",)]


def test_undo_and_redo_give_the_schedules_that_there_were() -> None:
    e = Exploration(ps.Schedule(product()))
    first = e.schedule.written
    assert e.choose(index_of("s[\"C.update(0)\"].split('i', 4)", e.moves))
    second = e.schedule.written
    assert e.go(0)
    assert e.schedule.written == first
    assert e.go(1)
    assert e.schedule.written == second
    assert not e.go(2)
    assert e.go(0)
    assert e.choose(index_of("s[\"C.update(0)\"].reverse('i')", e.moves))
    assert [step.text for step in e.steps] == ["", "s[\"C.update(0)\"].reverse('i')"]


def test_a_refused_candidate_changes_nothing_and_says_why() -> None:
    e = Exploration(ps.Schedule(product()))
    before = e.revision, e.schedule.written
    index = index_of("s[\"C.update(0)\"].parallel('k')", e.moves)
    assert not e.choose(index)
    assert (e.revision, e.schedule.written) == before
    assert "parallel('k') is refused" in e.note
    assert e.verdicts[index].kind == "refused"


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
_near = st.fixed_dictionaries(
    {
        "revision": st.sampled_from((0, 2, -1, True, "1", 1.0, None)),
        "do": st.sampled_from(("choose", "go", "stage", "eval", "__class__")) | _anything,
        "index": st.integers(-3, 3) | _anything,
    }
)
_odd = st.fixed_dictionaries(
    {
        "revision": st.just(1),
        "do": st.sampled_from(("choose", "go", "stage", "apply", "_look", "")),
        "index": st.sampled_from((-1, 10**9, True, 0.0, "0", None, [], {"index": 0})),
    }
)


@pytest.mark.slow
@given(_anything | _near | _odd)
@settings(max_examples=300, deadline=None)
def test_a_message_that_is_none_changes_nothing(message: Any) -> None:
    before = _shared.view()
    assert _shared.answer(message) is False
    assert _shared.view() == before


_shared = Exploration(ps.Schedule(product()))


def test_what_is_said_of_another_revision_counts_for_nothing() -> None:
    e = Exploration(ps.Schedule(product()))
    assert not e.hear(e.revision + 1, 0, Verdict("legal"))
    assert not e.hear(e.revision, len(e.moves), Verdict("legal"))
    assert not e.measured(e.revision - 1, 1.0)
    assert {v.kind for v in e.verdicts} == {"pending"}


# one process for all of these, in any order ------------------------------------------------------
together = pytest.mark.xdist_group("explorer")
GIVEN = np.ones((8, 8), np.float32)


@pytest.fixture(scope="module")
def explorer() -> Iterator[Explorer]:
    made = Explorer(ps.Schedule(product()), (GIVEN, GIVEN))
    yield made
    made.close()


@pytest.mark.slow
@together
def test_the_process_says_of_each_candidate_what_this_one_would(explorer: Explorer) -> None:
    assert explorer.wait()
    view = explorer.view()
    assert view["note"] == ""
    found = moves(explorer.schedule, view["stage"])
    for move, (kind, why) in zip(found, view["verdicts"], strict=True):
        try:
            move.apply(explorer.schedule)
        except ps.PolyschedError as error:
            found_here = "refused", str(error).splitlines()[0]
        else:
            found_here = "legal", ""
        assert (kind, why.partition("\n")[0]) == found_here


@pytest.mark.slow
@together
def test_the_process_draws_what_this_one_would(explorer: Explorer) -> None:
    assert explorer.wait()
    view = explorer.view()
    assert view["picture"] == sketched(explorer.schedule, view["stage"]).plain()


@pytest.mark.slow
@together
def test_arguments_are_measured_and_stay_as_they_are(explorer: Explorer) -> None:
    assert explorer.wait()
    (_, time), *_ = explorer.view()["steps"]
    assert time.endswith(" ms")
    assert (GIVEN == 1).all()


@pytest.mark.slow
@together
def test_an_interrupt_leaves_the_process_alone(explorer: Explorer) -> None:
    assert explorer.wait()
    process = explorer._link._process
    assert process is not None
    process.send_signal(signal.SIGINT)
    view = explorer.view()
    another = next(k for k, stage in enumerate(view["stages"]) if stage != view["stage"])
    assert explorer.answer({"revision": view["revision"], "do": "stage", "index": another})
    assert explorer.wait()
    assert explorer._link._process is process
    assert explorer.view()["note"] == ""


@pytest.mark.slow
@together
def test_a_process_that_ends_is_shown_and_replaced(explorer: Explorer) -> None:
    assert explorer.wait()
    process = explorer._link._process
    assert process is not None
    process.kill()
    process.wait()
    with explorer._changed:
        assert explorer._changed.wait_for(lambda: "has ended" in explorer._model.note, 60)
    view = explorer.view()
    assert "killed by signal 9" in view["note"]
    text = f"s[\"{view['stage']}\"].split('i', 4)"
    (split,) = (k for k, row in enumerate(view["moves"]) if row[3] == text)
    assert explorer.answer({"revision": view["revision"], "do": "choose", "index": split})
    assert explorer.wait()
    assert {kind for kind, _ in explorer.view()["verdicts"]} == {"legal", "refused"}


def test_closing_ends_the_process() -> None:
    explorer = Explorer(ps.Schedule(product()))
    process = explorer._link._process
    assert process is not None
    explorer.close()
    assert process.poll() is not None


def test_without_anywidget_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(what: str, extra: str, *packages: str) -> None:
        raise MissingExtra(what, extra, packages)

    monkeypatch.setattr(explorers, "need", missing)
    with pytest.raises(MissingExtra, match=r"exploring needs anywidget: pip install .*\[viz\]"):
        ps.explore(product())


def test_functions_are_not_run_to_measure_unless_that_is_allowed() -> None:
    n = ps.size("n")
    x = ps.Input("x", ps.float64, (n,))
    f = ps.extern("f", np.sort, [x], (n,), ps.float64)
    with pytest.raises(ps.LanguageError, match="measuring would run the functions"):
        Explorer(ps.Schedule(f), (np.ones(3),))


def test_arguments_that_do_not_travel_are_refused() -> None:
    with pytest.raises(ps.LanguageTypeError, match="cannot be given to another process"):
        Explorer(ps.Schedule(product()), (lambda: 0,))


def test_a_page_has_the_texts_of_users_as_text() -> None:
    view = Exploration(ps.Schedule(product())).view()
    bad = "<script>alert(1)</script>"
    view |= {"title": bad, "source": bad, "stage": bad, "steps": [[bad, bad]]}
    view["rows"], view["picture"] = [[0, bad, "serial", True]], {"svg": "", "notes": [bad]}
    view["moves"], view["verdicts"] = [[bad, bad, bad, bad]], [["refused", bad]]
    assert "<script" not in exported(view)
    assert "&lt;script&gt;" in exported(view)


def test_the_script_writes_text_only_and_loads_nothing() -> None:
    script = (Path(explorers.__file__).parent / "explorer.js").read_text()
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "eval", "Function(", "http", "import"):
        assert word not in script


def test_rules_of_other_displays_reach_no_row() -> None:
    """On the page of a notebook theirs go before those of the explorer."""
    view = Exploration(ps.Schedule(product())).view()
    others = set(re.findall(r"\.([a-z][\w-]*)", theme.STYLE + nests.STYLE)) - {"polysched"}
    own = set(re.findall(r"\.([a-z][\w-]*)", export.STYLE)) - {"polysched"} - others
    written = [a.get("class") or "" for _, a in Seen(exported(view)).elements]
    written += re.findall(r'element\("\w+", ["`]([^"`]+)', SCRIPT.read_text(encoding="utf-8"))
    assert {"row", "explored", "move"} <= own & set(" ".join(written).split())
    kinds = set(export.KIND_COLOURS)
    assert [x for x in written if own & {*x.split()} and (others - kinds) & {*x.split()}] == []
