"""Sketches: directives that are carried out, looked at, and proven when one of many is chosen."""

from __future__ import annotations

import numpy as np
import pytest
from counting import operations

import polysched as ps

from ..legality.test_legal import seidel


def test_directives_are_carried_out_and_not_proven() -> None:
    s = seidel()
    t = s.sketch()
    t["f.update(0)"].reorder("q", "r")
    assert [x.name for x in t["f.update(0)"].loops] == ["q", "r"]
    assert [x.name for x in s["f.update(0)"].loops] == ["r", "q"]
    assert "for q in" in str(t)
    assert t != s


def test_what_is_right_is_proven() -> None:
    t = seidel().sketch()
    t["f.update(0)"].skew("r", "q", 1, name="d")
    t["f.update(0)"].reorder("d", "r")
    assert t.prove() is t
    assert np.array_equal(t.compile()(n=5, m=4), ps.interpret(t.program.outputs[0], n=5, m=4))
    assert ps.Schedule.from_json(t.program.outputs, t.to_json()) == t
    t["f"].vectorize("j", 4)  # proven at once, as ever
    with pytest.raises(ps.ScheduleError, match="would run after the second"):
        t["f.update(0)"].transform(("d", "r"), lambda d, r: (d, -r))


def test_refuses_what_is_wrong_and_stays_a_sketch() -> None:
    t = seidel().sketch()
    t["f"].split("i", 8)
    t["f.update(0)"].reorder("q", "r")
    for _ in range(2):
        with pytest.raises(
            ps.ScheduleError, match=r"reorder\('q', 'r'\) in a sketch is refused"
        ) as caught:
            t.prove()
        assert caught.value.status == "violation"
    assert [d.name for d in t.directives] == ["split", "reorder"]
    t["f.update(0)"].reorder("r", "q")
    t.prove()
    t.compile()


@pytest.mark.parametrize("sizes", [{}, {"n": 4}], ids=["any sizes", "given sizes"])
def test_refuses_to_run_what_is_not_proven(sizes: dict[str, int]) -> None:
    t = seidel().sketch()
    with t.batch():
        t["f.update(0)"].reorder("q", "r")
    with pytest.raises(ps.ScheduleError, match="this is a sketch") as caught:
        t.compile(**sizes)
    assert "prove()" in str(caught.value)


def test_what_means_nothing_is_refused_at_once() -> None:
    t = seidel().sketch()
    with pytest.raises(ps.ScheduleError, match="has no loop k"):
        t["f"].split("k", 4)
    with pytest.raises(ps.ScheduleError):
        t["f"].split("i", 0)
    assert t.directives == ()


def test_a_copy_of_a_sketch_is_one() -> None:
    t = seidel().sketch()
    t["f.update(0)"].reorder("q", "r")
    u = t.copy()
    with pytest.raises(ps.ScheduleError, match="this is a sketch"):
        u.compile()
    u["f.update(0)"].reorder("r", "q")
    u.prove()
    u.compile()
    with pytest.raises(ps.ScheduleError, match="this is a sketch"):
        t.compile()


def test_no_trust_is_left() -> None:
    t = seidel().sketch()
    t["f"].split("i", 4)
    t.prove()
    assert t.trusted == ()


def test_proofs_are_asked_when_it_is_proven() -> None:
    s, t = seidel(), seidel().sketch()
    proven = operations(lambda: s["f.update(0)"].split("q", 8))
    assert operations(lambda: t["f.update(0)"].split("q", 8)) < proven / 4
    assert operations(t.prove) > proven / 2


def test_nothing_sketched_is_nothing_to_prove() -> None:
    s = seidel()
    assert s.prove() is s
    t = s.sketch().prove()
    assert t == s
    assert t.to_json() == s.to_json()


def test_variants_are_proven_too() -> None:
    """Each is a schedule of its own, which runs where its condition holds."""
    t = seidel().sketch()
    variant = t.specialize(ps.size("n") >= 8)
    variant["f.update(0)"].reorder("q", "r")
    with pytest.raises(ps.ScheduleError, match="would run after the second"):
        t.prove()
    with pytest.raises(ps.ScheduleError, match="this is a sketch"):
        t.compile()
    with pytest.raises(ps.ScheduleError, match="this is a sketch"):
        t.compile(n=9)
    variant["f.update(0)"].reorder("r", "q")
    kernel = t.prove().compile()
    assert np.array_equal(kernel(n=9, m=4), ps.interpret(t.program.outputs[0], n=9, m=4))
