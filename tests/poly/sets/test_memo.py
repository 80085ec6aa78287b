"""Models that share what they have found are what each would be alone: keys hold all that an answer
depends on. `tests/mutations/run.py` leaves the parts of keys out, one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import pytest

import polysched as ps
from polysched.lang.errors.errors import LanguageError, user_span
from polysched.lang.program.program import Program
from polysched.lang.program.requirements import Requirement
from polysched.poly.model.conditions import conditions
from polysched.poly.model.model import Model
from polysched.poly.model.updates import check_updates
from polysched.poly.program.inline import Definitions, inlined
from polysched.poly.proof.proof import Prover
from polysched.poly.recurrence import recurrence
from polysched.poly.report.requires import on_sizes
from polysched.poly.sets.memo import Memo
from polysched.poly.tree.looptree import text
from polysched.poly.tree.written import as_written

n, m = ps.sizes("n m")
i, j, k = ps.vars("i j k")
Make = Callable[[Memo | None], Model]


def model(program: Program, exact: bool = True, definitions: Definitions | None = None) -> Make:
    """Makes the model of a program, with what others have found."""
    return partial(Model, program, definitions, exact)


def required(condition: ps.Expr) -> Requirement:
    return Requirement(on_sizes("require", condition), "asked for", user_span(), False)


def stencil() -> list[Make]:
    """`f` is needed in pieces that may be filled up; who else reads it needs more of it; an access
    is in bounds at some sizes alone."""
    x = ps.Input("x", ps.int64, (n,))
    f, g, h, twin = ps.Func("f"), ps.Func("g", (n, m)), ps.Func("h", (n, m)), ps.Func("f", (n,))
    f[i, j] = x[ps.clip(i, 0, n - 1)] + j
    f[i, j] += 1
    g[i, j] = f[i, j + 1] + f[i + 1, j] + f[i, j - 1] + f[i - 1, j] + x[3]
    twin[i] = i
    h[i, j] = f[i + 9, j] - twin[i]
    namesake, reader = ps.Func("g"), ps.Func("reader", (n,))
    namesake[i] = x[i]
    reader[i] = namesake[i] + namesake[0]
    plain, both, renamed = Program((g,)), Program((h, g)), Program((reader, g))
    few = Program((g,), requirements=(required(n >= 4), required(m <= 3)))
    return [
        model(plain, False), model(plain),
        model(few), model(both),
        model(few, False), model(renamed),
    ]  # fmt: skip


def with_inlined() -> list[Make]:
    """The consumers of what is inlined are other definitions."""
    x = ps.Input("x", ps.int64, (n, m))
    a, b, c = ps.Func("a"), ps.Func("b"), ps.Func("c", (n, m))
    a[i, j] = x[ps.clip(i, 0, n - 1), ps.clip(j, 0, m - 1)]
    b[i, j] = a[i + 1, j] - a[i, j - 1]
    c[i, j] = b[i, j] * 2
    c[i, j] = ps.maximum(c[i, j], a[i, 2 * j])
    makes: list[Make] = []
    for rule in ([], ["a"], ["b"], ["a", "b"]):
        s = ps.Schedule(c)
        for name in ("a", "b"):
            s[name].compute_inline() if name in rule else s[name].compute_root()
        makes.append(model(s.program, True, s.model.definitions))
    return makes


def chosen() -> list[Make]:
    """A maximum needs a value wherever it is asked for; updates must not depend on their order."""
    x = ps.Input("x", ps.int64, (n,))
    r = ps.RVar("r", 0, m)
    f, g = ps.Func("f", (n,)), ps.Func("g")
    f[i] = ps.max(x[ps.clip(i + r, 0, n - 1)], r)
    g[i] = i
    g[2 * i] = g[2 * i] + 1
    last, other = ps.Func("last", (n,)), ps.Func("other", (n,))
    last[i] = f[i] + g[i]
    other[i] = f[i] + g[i + m]
    bad, third = ps.Func("bad"), ps.Func("third", (n,))
    bad[i] = i
    bad[i] = bad[i - 1] + 1
    third[i] = g[i] + bad[i]
    one, two, three = Program((last,)), Program((other,)), Program((third,))
    some = Program((last,), requirements=(required(m >= 1),))
    return [model(p) for p in (one, some, two, three)]


def recurrent() -> list[Make]:
    """How much of a recurrence is needed follows from its readers; it has one order or another."""
    f, g, h = ps.Func("f", dtype=ps.int64), ps.Func("g", (n,)), ps.Func("h", (n,))
    f[i, j] = ps.select((i > 0) & (j > 0), f[i - 1, j - 1], i + j)
    a, b = ps.Func("a", dtype=ps.int64), ps.Func("b", dtype=ps.int64)
    a[i] = ps.select(i > 0, b[i - 1], 0)
    b[i] = ps.select(i > 0, a[i - 1], 1)
    g[i] = f[i, i] + b[3]
    h[i] = f[i, 2] + g[i] + a[i + 2]
    last = ps.Func("last", (n,))
    last[i] = g[i] + b[i + 4]
    few = Program((g,), requirements=(required(n <= 3),))
    return [model(p) for p in (*(Program((x,)) for x in (g, h, last)), few)]


def in_blocks() -> list[Make]:
    """What is fresh in each iteration, of as much as the block needs."""
    f, g, twice = ps.Func("f", (n,)), ps.Func("g", (n,)), ps.Func("twice")
    f[i] = i
    twice[i] = 2 * i
    with ps.sequential("t", 0, m) as t:
        fresh, r = ps.Func("fresh"), ps.RVar("r", 0, m)
        fresh[i, j] = f[ps.clip(i + t, 0, n - 1)] + j
        fresh[i, j] += 1
        f[i] += fresh[i, r + 1] + fresh[ps.clip(twice[i], 0, n), 9]
        f[i] += fresh[i + 1, r] - fresh[i + 2, r + 1] * fresh[i + 1, r + 2]
    g[i] = f[i] + twice[i] + twice[i + 1]
    one = Program((g,))
    few = Program((g,), requirements=(required(n <= 3), required(m >= 1)))
    makes: list[Make] = [model(p) for p in (one, few)]
    s = ps.Schedule(g)
    s["twice"].compute_inline()
    makes.append(model(s.program, True, s.model.definitions))
    return makes


FAMILIES = (
    *(pytest.param(family, marks=pytest.mark.quick) for family in (with_inlined, recurrent)),
    *(stencil, chosen, in_blocks),
)


def described(model: Model) -> list[object]:
    """All that is said of a model, as text: what isl is given alike it prints alike."""
    told: list[object] = [model.context, model.params, text(as_written(model, recurrence.nest))]
    told += [(f.name, str(region)) for f, region in model.regions.items()]
    for s in model.statements:
        told.append((s.name, str(s.domain), s.guard))
        told += [(a.text, str(a.map), a.must) for a in s.accesses]
    try:
        check_updates(model)
        found = conditions(model)
        told += [(c.text, str(c.allowed)) for c in found.sizes]
        told += [(c.source.name, c.axis) for c in found.checked]
    except LanguageError as error:
        told.append(str(error))
    prover = Prover(model, as_written(model, recurrence.nest))
    told += [(d.kind, d.source.name, d.sink.name, str(d.map)) for d in prover.dependences]
    return [str(x) for x in told]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_models_that_share_are_what_they_are_alone(family: Callable[[], list[Make]]) -> None:
    makes = family()
    alone = [described(make(None)) for make in makes]
    assert len({tuple(x) for x in alone}) == len(makes)
    for order in itertools.permutations(range(len(makes)), 2):
        memo = Memo()
        for which in order:
            assert described(makes[which](memo)) == alone[which], order


def test_each_update_is_checked_for_its_own_order() -> None:
    last, _, _, third = (make(None) for make in chosen())
    check_updates(last)
    with pytest.raises(LanguageError, match=r"bad\.update\(0\) depends on the order of its Vars"):
        check_updates(third)


def test_inlining_shares_what_is_equal_and_nothing_else() -> None:
    x = ps.Input("x", ps.int64, (n,))
    a, b, c = ps.Func("a"), ps.Func("b"), ps.Func("c", (n,))
    a[i], b[i] = x[i] * 3, x[i] - 7
    c[i] = a[i] + b[i]
    program = Program((c,))

    def found(names: str, memo: Memo) -> list[str]:
        definitions, _ = inlined(program, lambda func, uses: func.name in names, memo)
        return [d.text() for ds in definitions.values() for d in ds]

    alone = {names: found(names, Memo()) for names in ("", "a", "b", "ab")}
    assert len(set(map(tuple, alone.values()))) == 4
    for order in itertools.permutations(alone):
        memo = Memo()
        assert {names: found(names, memo) for names in order} == alone
    memo = Memo()
    first, second = (inlined(program, lambda func, uses: True, memo)[0][c] for _ in range(2))
    assert all(x is y for x, y in zip(first, second, strict=True))
