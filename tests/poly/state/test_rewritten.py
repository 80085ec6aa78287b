"""A rewritten program that reuses parts of an earlier one is what it would be if made anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polysched as ps
from polysched.poly.model.model import Model
from polysched.poly.model.statements import Statement
from polysched.poly.recurrence import recurrence
from polysched.poly.sets.isl import Set
from polysched.poly.sets.memo import Memo, Same
from polysched.poly.state.rewritten import RewrittenProgram, rewritten_program
from polysched.poly.tree.edits import stages
from polysched.poly.tree.looptree import Loop, Tree, text
from polysched.poly.tree.stage import Stage
from polysched.steps import Log
from polysched.testing.choices import Choices
from polysched.testing.directives import apply
from polysched.testing.rewriting import random_rewriting

from ..directives.kernels import PROGRAMS as KERNELS

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def padded_chain() -> ps.Func:
    """Stencils with borders, the first two of which some shapes bound; blur of what is inlined."""
    x = ps.Input("x", ps.float32, (n, m))
    found: ps.Func | ps.Input = x
    for k in range(4):
        around = ps.boundary.constant(found, 0.0)
        f = ps.Func(f"f{k}", (n, m)) if k % 2 else ps.Func(f"f{k}")
        f[i, j] = around[i - 1, j] + around[i + 1, j] * 2
        g = ps.Func(f"g{k}", (n, m))
        g[i, j] = ps.maximum(f[i, j], 0)
        found = g
    assert isinstance(found, ps.Func)
    return found


def demanded_by_two() -> ps.Func:
    """What is needed of `a` and `b` is different as long as one of their readers is inlined."""
    a, b, c, d, last = (ps.Func(name) for name in ("a", "b", "c", "d", "last"))
    a[i, j] = ps.sqrt(i + 2 * j + 7.0)
    b[i, j] = a[i + 1, j] * 3
    b[i, j] += a[i, j - 2]
    c[i, j] = b[i, j + 5]
    d[i, j] = b[2 * i, j] + a[i, 3]
    shaped = ps.Func("shaped", (n, m))
    shaped[i, j] = c[i, j] - d[i, j]
    last[i, j] = shaped[i, 0] + c[i, j]
    result = ps.Func("result", (n, m))
    result[i, j] = last[i, j]
    return result


def in_blocks() -> ps.Func:
    """What is fresh in each iteration reads what is made before."""
    a, b, f, g = ps.Func("a"), ps.Func("b"), ps.Func("f", (n,)), ps.Func("g", (n,))
    a[i] = i * 3
    b[i] = a[i] - a[i + 1]
    f[i] = i
    with ps.sequential("t", 0, m) as t:
        fresh = ps.Func("fresh")
        fresh[i] = b[i + t] + f[i]
        fresh[i] += 1
        f[i] += fresh[i]
    g[i] = f[i] + a[2] + b[i]
    return g


def recurrent() -> ps.Func:
    """A recurrence without a shape, of what could be inlined."""
    a, f, g = ps.Func("a"), ps.Func("f", dtype=ps.int64), ps.Func("g", (n,))
    a[i] = i * i
    f[i] = ps.select(i > 0, f[i - 1] + a[i], a[0])
    g[i] = f[i] + a[i + 1]
    return g


OWN = {p.__name__: p for p in (padded_chain, demanded_by_two, in_blocks, recurrent)}
PROGRAMS: dict[str, Callable[[], ps.Func]] = {**OWN, **KERNELS}


def equal_sets(a: Set, b: Set) -> bool:
    return bool(a.is_equal(b))


def described(s: Statement) -> list[object]:
    """What is compared by equality of a statement."""
    names = [(a.tensor.name, a.index, a.must, a.is_write) for a in s.accesses]
    return [s.name, s.guard, s.data_bounds, s.frame.dims, names]


def check_same(found: RewrittenProgram, wanted: RewrittenProgram) -> None:
    """The models are equal, and so are the loops before any directive."""
    a, b = found.model, wanted.model
    assert {f.name for f in a.regions} == {f.name for f in b.regions}
    for func, region in a.regions.items():
        assert equal_sets(region, b.regions[func]), func.name
    assert [described(s) for s in a.statements] == [described(s) for s in b.statements]
    for s, t in zip(a.statements, b.statements, strict=True):
        assert equal_sets(s.domain, t.domain), s.name
        for x, y in zip(s.accesses, t.accesses, strict=True):
            assert x.map.is_equal(y.map), (s.name, x.text)
    assert text(found.written) == text(wanted.written)
    for x, y in zip(found.prover.dependences, wanted.prover.dependences, strict=True):
        assert (x.kind, x.source.name, x.sink.name) == (y.kind, y.source.name, y.sink.name)
        assert x.map.is_equal(y.map)


def anew(rewritten: RewrittenProgram) -> RewrittenProgram:
    return rewritten_program(
        rewritten.base, rewritten.rule, Log(), rewritten.choices, rewritten.rewrites
    )


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_form_is_what_it_would_be_anew(name: str, seed: int) -> None:
    choices = Choices.from_seed(seed)
    s = ps.Schedule(PROGRAMS[name]())
    accepted = 0
    for _ in range(12):
        given = random_rewriting(choices, s)
        inlined = [f.name for f in s.program.funcs if f not in s.model.regions]
        if inlined and choices.chance(30):
            given = f's["{choices.pick(inlined)}"].compute_root()'
        before = s.rewritten
        try:
            apply(s, given or "", {"ps": ps})
        except (ps.ScheduleError, ps.LanguageError):
            continue
        accepted += s.rewritten is not before
        if s.rewritten is not before:
            check_same(s.rewritten, anew(s.rewritten))
    if name == "padded_chain":
        assert accepted >= 2


# what stays is not found again ------------------------------------------------------------------
def chain(stages: int) -> ps.Func:
    """Sums of neighbours, each of which reads the one before where that is not negative."""
    found = ps.Func("f0", (n,))
    found[i] = i
    for k in range(1, stages):
        f, g = ps.Func(f"f{k}", (n,)), ps.Func(f"g{k}")
        f[i] = ps.sum(found[ps.clip(i + ps.RVar("r", 0, 3), 0, n - 1)], ps.RVar("r", 0, 3))
        g[i] = ps.maximum(f[i], 0)
        found = ps.Func(f"h{k}", (n,))
        found[i] = g[i] - 1
    return found


def made_by(s: ps.Schedule, stage: str) -> set[str]:
    """The stages whose statements are other objects behind `compute_root`."""
    before = {id(x): x for x in s.model.statements}
    s[stage].compute_root()
    return {x.name for x in s.model.statements if id(x) not in before}


NEIGHBOURS = {"g3", "f4.sum0", "f4.sum0.update(0)"}
"""What is stored anew, and who reads it: neither what it reads nor anything farther away."""


def test_statements_stay_where_their_inputs_do() -> None:
    assert made_by(ps.Schedule(chain(6)), "g3") == NEIGHBOURS


def test_stages_and_loops_stay_too() -> None:
    s = ps.Schedule(chain(6))
    before = s.tree
    s["g3"].compute_root()
    kept = {id(node) for _, node in before.nodes}
    new = [node for _, node in s.tree.nodes if id(node) not in kept]
    assert {x.name for x in new if isinstance(x, Stage)} == NEIGHBOURS
    inside = {id(x) for loop in new if isinstance(loop, Loop) for x in stages(loop)}
    assert inside == {id(x) for x in new if isinstance(x, Stage)}


def test_what_is_needed_in_other_words_is_found_again() -> None:
    """As long as `c` is inlined, its readers ask for `b` themselves."""
    s = ps.Schedule.default(demanded_by_two())
    s["d"].compute_inline()
    before = s.model.regions[next(f for f in s.funcs if f.name == "a")]
    s["d"].compute_root()
    s["c"].compute_root()
    check_same(s.rewritten, anew(s.rewritten))
    assert before.is_equal(s.model.regions[next(f for f in s.funcs if f.name == "a")])


def test_the_order_of_a_recurrence_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it reads is stored and inlined in turn, and it reads itself as before."""
    asked, along_axes = [], recurrence._along_axes

    def counted(*given: Any) -> Tree | None:
        asked.append(given)
        return along_axes(*given)

    monkeypatch.setattr(recurrence, "_along_axes", counted)
    s = ps.Schedule.default(recurrent())
    s["a"].compute_inline()
    s["a"].compute_root()
    assert len(asked) == 1
    check_same(s.rewritten, anew(s.rewritten))
    assert len(asked) == 2


# keys -------------------------------------------------------------------------------------------
def test_an_answer_is_found_once() -> None:
    memo, asked = Memo(), []

    def answer() -> object:
        asked.append(1)
        return object()

    x = Set("{ [i] : i > 0 }")
    first = memo.of(("a", Same(x)), answer)
    assert memo.of(("a", Same(x)), answer) is first
    assert memo.of(("b", Same(x)), answer) is not first
    assert memo.of(("a", Same(Set("{ [i] : i > 0 }"))), answer) is not first
    assert len(asked) == 3


def test_what_is_raised_is_raised_again() -> None:
    def fail() -> object:
        raise ValueError("no answer")

    memo = Memo()
    for _ in range(2):
        with pytest.raises(ValueError, match="no answer"):
            memo.of(("a",), fail)


def test_sets_in_the_same_words_are_one() -> None:
    memo = Memo()
    a, b, c = (Set(f"[n] -> {{ [i] : 0 <= i < {end} }}") for end in ("n", "n", "n + 1"))
    assert memo.alike("x", a) is a
    assert memo.alike("x", b) is a
    assert memo.alike("x", c) is c
    assert memo.alike("y", b) is b


def test_rewritten_programs_of_another_program_share_nothing() -> None:
    s, t = ps.Schedule(chain(2)), ps.Schedule(chain(2))
    assert s.rewritten.memo is not t.rewritten.memo
    assert isinstance(s.model, Model)
    assert s.model.memo is s.rewritten.memo


def test_a_region_that_is_known_is_not_asked_for_more() -> None:
    """Who reads a Func has been visited before its region is found: else it would be stored too
    small."""
    s = ps.Schedule(demanded_by_two())
    model = s.model
    late = next(x for x in model.statements if x.name == "c")
    with pytest.raises(ps.InternalError, match="reads b, whose region is known"):
        model._add(late)
