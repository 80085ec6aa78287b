"""Whether a directive would be accepted, and why not, without an exception and without a trace."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import polysched as ps
from polysched.poly.schedule.why_not import ON_SCHEDULES, ON_STAGES, Verdict
from polysched.poly.state.record import KINDS
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


class Asking:
    """Stands for a schedule in the text of a directive, and asks in place of giving it."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def __getitem__(self, inside: Any) -> Asking:
        return Asking(self.target[inside])

    def __getattr__(self, name: str) -> Any:
        def asked(*args: Any, **options: Any) -> Verdict:
            given = (x.target if isinstance(x, Asking) else x for x in args)
            found: Verdict = self.target.why_not(name, *given, **options)
            return found

        return asked


def snapshot(s: ps.Schedule) -> tuple[object, ...]:
    return s.key, s.source(), s.to_json(), id(s._builder._place), s._builder._batch, len(s.variants)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(2))
def test_it_says_what_giving_says(name: str, seed: int) -> None:
    choices, s = Choices.from_seed(seed + 70), ps.Schedule(PROGRAMS[name]())
    names = {"ps": ps, **{x: ps.size(x) for x in "nml"}}
    for _ in range(10):
        made_of_others = random_rewriting(choices, s) if choices.chance(40) else None
        text = made_of_others or random_directive(choices, s)
        if not text.startswith("s[") or "\n" in text:
            continue
        before = snapshot(s)
        verdict = eval(text, {**names, "s": Asking(s)})  # a directive that this package wrote
        assert snapshot(s) == before, text
        trial, refused = s.copy(), None
        try:
            apply(trial, text, names)
        except (ps.ScheduleError, ps.LanguageError) as error:
            refused = error
        assert verdict.ok == (refused is None), (text, verdict)
        if refused is None:
            s = trial
            continue
        assert (verdict.message, verdict.hint) == (refused.what, refused.hint), text
        assert str(verdict.source) == str(getattr(refused, "source", None)), text
        assert verdict.sizes == getattr(refused, "sizes", {}), text


def test_a_violation_has_its_witness_as_data() -> None:
    s = seidel()
    v = s["f.update(0)"].why_not("reorder", "q", "r")
    assert not v
    assert (v.ok, v.status, v.sizes) == (False, "violation", {"n": 3, "m": 3})
    assert v.source is not None
    assert v.sink is not None
    assert (v.source.stage, v.source.point) == ("f.update(0)", {"r": 1, "q": 1})
    assert (v.sink.stage, v.sink.point) == ("f.update(0)", {"r": 2, "q": 0})
    assert v.hint == 'skew("r", "q", 1) first makes the distance along q go forward'
    assert str(v).startswith("s[\"f.update(0)\"].reorder('q', 'r') is refused: the first would run")


def test_what_would_be_accepted_is_true_and_says_so() -> None:
    s = seidel()
    v = s["f.update(0)"].why_not("parallel", "q")
    assert v
    assert (v.ok, v.error, v.hint, v.code, v.status) == (True, None, None, None, "legal")
    assert (v.source, v.sink, v.sizes, v.message) == (None, None, {}, "")
    assert str(v) == "s[\"f.update(0)\"].parallel('q') would be accepted"
    assert not s.directives


def test_schedules_loops_and_stages_are_asked_alike() -> None:
    s = seidel()
    u = s["f.update(0)"]
    q, f = u["q"], s.funcs[-1]
    asked = [
        s.why_not("vectorize", q, 4),
        s.why_not("vectorize", "q", 4),
        s.why_not("vectorize", u, q, 4),
        u.why_not("vectorize", q, 4),
        q.why_not("vectorize", 4),
    ]
    assert len({str(v).replace("4)", "lanes=4)") for v in asked}) == 1
    assert s.why_not("split", f, i, 8).ok
    assert s.why_not("assume", n >= 4).ok
    assert s.why_not("specialize", n >= 4).ok
    assert not s.variants


def test_pieces_are_asked_together() -> None:
    f = ps.Func("f", (n,))
    f[i] = ps.select(i < 1, 0, i)
    f = ps.Func("f", (n, m))
    f[0, j] = j
    f[i, j] = f[i - 1, j] + 1
    s = ps.Schedule(f)
    assert s[f].why_not("parallel", j).ok
    assert not s[f].why_not("parallel", i).ok


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda u: u.why_not("split", "nix", 4), "f.update(0) has no loop nix"),
        (lambda u: u.why_not("split", "q", 0), "the factor of split is at least 1, not 0"),
        (lambda u: u.why_not("split", "q", 2.5), "the factor of split is a Python integer"),
        (lambda u: u.why_not("split", "q"), "missing 1 required positional argument: 'factor'"),
        (lambda u: u.why_not("compute_at", "g", "q"), "there is no stage g"),
        (lambda u: u._schedule.why_not("parallel", "nix"), "there is no loop nix"),
    ],
)
def test_mistakes_in_arguments_are_answers(ask: Any, says: str) -> None:
    v = ask(seidel()["f.update(0)"])
    assert not v.ok
    assert says in v.message
    assert says in str(v)
    assert "refused" in str(v)
    assert v.status == "malformed"


def test_unknown_directives_are_refused_with_what_is_near() -> None:
    s = seidel()
    with pytest.raises(ps.LanguageError, match="no directive vectorise; did you mean vectorize"):
        s.why_not("vectorise", "q")
    with pytest.raises(ps.LanguageError, match="directives are accumulate_at, "):
        s["f"].why_not("compile")
    with pytest.raises(ps.LanguageTypeError, match="takes the name of a directive first, not i"):
        s.why_not(i, "parallel")  # type: ignore[arg-type]
    with pytest.raises(ps.LanguageTypeError, match="does not say of which stage"):
        s.why_not("parallel")
    with pytest.raises(ps.LanguageError, match="said of the whole schedule"):
        s["f"].why_not("assume", n > 1)


def test_every_directive_can_be_asked() -> None:
    stages = {x for x, kind in KINDS.items() if kind.scope != "schedule"}
    assert stages - ON_STAGES <= ON_SCHEDULES
    assert {"tile", "wavefront", "unroll_and_jam"} <= ON_STAGES
    assert not ON_STAGES & {"update", "piece", "reduction", "pipe", "why_not", "loops"}


def test_a_batch_counts_with_what_is_in_it() -> None:
    s = seidel()
    with s.batch():
        u = s["f.update(0)"]
        u.reverse("r")  # which alone is wrong, and right with the next one
        assert not u.why_not("split", "q", 4).ok
        assert u.why_not("reverse", "r").ok
        u.reverse("r")
    assert len(s.directives) == 2


def test_a_sketch_is_proven_for_the_answer_and_stays_one() -> None:
    s = seidel().sketch()
    s["f.update(0)"].reorder("q", "r")
    v = s["f.update(0)"].why_not("split", "q", 4)
    assert not v.ok
    assert "the first would run after the second" in v.message
    with pytest.raises(ps.ScheduleError, match="this is a sketch"):
        s.compile()


def test_trust_does_not_answer() -> None:
    s = seidel()
    with s.trust("not so"):
        assert not s["f.update(0)"].why_not("reorder", "q", "r").ok
        s["f.update(0)"].reorder("q", "r")
    assert s["f.update(0)"].why_not("split", "q", 4).ok  # what was trusted is excused


def test_trust_does_not_answer_in_a_batch() -> None:
    s = seidel()
    with s.batch(), s.trust("not so"):
        s["f"].split("i", 4)
        assert not s["f.update(0)"].why_not("reorder", "q", "r").ok
        assert s["f.update(0)"].why_not("skew", "r", "q").ok


def test_what_was_tried_can_be_given_then() -> None:
    """Also directives that make Funcs, which would be there twice if the trial left one."""
    x = ps.Input("x", ps.int32, (n, m))
    g = ps.Func("g", (n,))
    k = ps.RVar("k", 0, m)
    g[i] = 0
    g[i] += x[i, k]
    s, plain = ps.Schedule(g), ps.Schedule(g)
    for t in (s, plain):
        t["g.update(0)"].split("k", 8)
    assert s["g.update(0)"].why_not("rfactor", "ko").ok
    for t in (s, plain):
        t["g.update(0)"].rfactor("ko")
    assert str(s) == str(plain)
    assert s.key == plain.key


def test_internal_errors_are_no_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ps.InternalError("broken")

    s = seidel()
    monkeypatch.setattr("polysched.poly.directives.apply.applied", broken)
    with pytest.raises(ps.InternalError, match="broken"):
        s["f"].why_not("split", "i", 8)


def test_verdicts_travel_without_the_schedule() -> None:
    v = seidel()["f.update(0)"].why_not("reorder", "q", "r")
    read = pickle.loads(pickle.dumps(v))
    assert isinstance(read, Verdict)
    assert str(read) == str(v)
    assert (read.source, read.sizes) == (v.source, v.sizes)
    with pytest.raises(ps.LanguageError, match="read from a pickle"):
        read.picture()
