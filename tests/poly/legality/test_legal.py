"""Whether a directive would be accepted, asked without trying it."""

from __future__ import annotations

import pytest
from counting import operations

import polysched as ps
from polysched.poly.schedule.schedule_builder import ScheduleBuilder
from polysched.poly.state.record import Directive, made
from polysched.testing.choices import Choices
from polysched.testing.directives import apply, random_directive
from polysched.testing.rewriting import random_rewriting

from ..directives.kernels import PROGRAMS

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def seidel() -> ps.Schedule:
    f = ps.Func("f", (n, m))
    f[i, j] = i * j
    r, q = ps.rdom("r q", (1, n), (0, m - 1))
    f[r, q] = f[r - 1, q + 1] + 1
    return ps.Schedule(f)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(2))
def test_it_says_what_trying_shows(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of random directives, accepted and refused; and the schedule stays what it is."""
    given: list[Directive] = []
    before = ScheduleBuilder.apply

    def noted(builder: ScheduleBuilder, directive: Directive) -> tuple[str, ...]:
        given.append(directive)
        return before(builder, directive)

    monkeypatch.setattr(ScheduleBuilder, "apply", noted)
    choices, s = Choices.from_seed(seed), ps.Schedule(PROGRAMS[name]())
    for _ in range(16):
        made_of_others = random_rewriting(choices, s) if choices.chance(40) else None
        text = made_of_others or random_directive(choices, s)
        trial = s.copy()
        given.clear()
        try:
            apply(trial, text, {"ps": ps, **{x: ps.size(x) for x in "nml"}})
        except (ps.ScheduleError, ps.LanguageError):
            accepted = False
        else:
            accepted = True
        if len(given) != 1 or "with s.batch" in text:
            continue
        state, records = s._builder.state, s.directives
        assert s.legal(given[0]) == accepted, text
        assert s._builder.state is state
        assert s.directives is records
        if accepted:
            s = trial


def test_records_of_other_schedules_can_be_asked() -> None:
    s, t = seidel(), seidel()
    s["f"].split("i", 8)
    assert all(t.legal(d) for d in s.directives)
    assert not s.legal(s.directives[0])  # there is no loop i any more
    assert not t.legal(made("f.update(0)", "reorder", {"loops": ("q", "r")}))
    assert not t.legal(made("g", "split", {"loop": "i", "factor": 8}))


def test_in_a_batch_all_of_it_counts() -> None:
    s = seidel()
    swap = made("f.update(0)", "reorder", {"loops": ("q", "r")})
    with s.batch():
        s["f.update(0)"].skew("r", "q", 1, name="d")
        assert s.legal(made("f.update(0)", "reorder", {"loops": ("d", "r")}))
        assert not s.legal(swap)
    assert "reorder" not in [d.name for d in s.directives]


def test_trust_does_not_answer() -> None:
    s = seidel()
    with s.trust("not so"):
        assert not s.legal(made("f.update(0)", "reorder", {"loops": ("q", "r")}))


def test_no_instances_and_no_hint_are_looked_for() -> None:
    swap = made("f.update(0)", "reorder", {"loops": ("q", "r")})
    s, t = seidel(), seidel()
    asked = operations(lambda: t.legal(swap))

    def tried() -> None:
        with pytest.raises(ps.ScheduleError):
            s["f.update(0)"].reorder("q", "r")

    assert asked < operations(tried) * 0.6
    assert operations(lambda: t.legal(swap)) < operations(tried) / 4  # it is known
