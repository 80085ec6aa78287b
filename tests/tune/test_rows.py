"""Vectors along two loops that are one row in memory, and panels that lie one behind the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from gallery.execute import as_tuple, assert_same

import polysched as ps
from polysched.targets.facts import machine
from polysched.tune.facts.facts import facts_of
from polysched.tune.model.model import Model
from polysched.tune.model.work import Site
from polysched.tune.plans.alike import alike
from polysched.tune.plans.fused import is_row
from polysched.tune.plans.places import ROOT
from polysched.tune.plans.plan import NestPlan
from polysched.tune.search.search import Search

from .programs import i, j, m, n, product

c = ps.Var("c")


def pixels(channels: int | ps.Size = 3) -> ps.Func:
    """Smoothed along both axes of an image, the second of which has colours behind it."""
    x = ps.Input("x", ps.float32, (n, m, channels))
    f, g = ps.Func("f", (n, m, channels)), ps.Func("g", (n, m, channels))
    f[i, j, c] = ps.sqrt(x[i, j, c] + 2 * x[i, ps.clip(j + 1, 0, m - 1), c])
    g[i, j, c] = f[i, j, c] + f[ps.clip(i - 1, 0, n - 1), j, c]
    return g


def weighted() -> ps.Func:
    """Colours with a weight each: what vectors along a row read jumps back."""
    x, w = ps.Input("x", ps.float32, (n, m, 3)), ps.Input("w", ps.float32, (3,))
    g = ps.Func("g", (n, m, 3))
    g[i, j, c] = x[i, j, c] * w[c]
    return g


def planes() -> ps.Func:
    """Colours one behind the other."""
    x, g = ps.Input("x", ps.float32, (3, n, m)), ps.Func("g", (n, m, 3))
    g[i, j, c] = x[c, i, j] + 1
    return g


def running() -> ps.Func:
    """Sums along a row of pixels."""
    x, g = ps.Input("x", ps.float32, (n, m, 3)), ps.Func("g", (n, m, 3))
    g[i, j, c] = ps.select(j > 0, g[i, j - 1, c], 0.0) + x[i, j, c]
    return g


def searched(program: ps.Func) -> Search:
    s = ps.Schedule(program)
    return Search(facts_of(s.rewritten, {}), Model(machine("x86-64-v3"), 2), {program.name})


def plans_along_rows(search: Search) -> list[NestPlan]:
    (own,) = search.statements["g"]
    return [x.plan for x in search.candidates.of(own, ROOT) if x.row is not None]


def test_pixels_and_colours_are_one_row() -> None:
    search = searched(pixels())
    (own,) = search.statements["g"]
    assert is_row(own, ROOT.extents(own), ROOT.has_few(own))
    assert plans_along_rows(search)
    directives = ps.Schedule.auto(pixels(), threads=2, target="x86-64-v3").directives
    assert [d.name for d in directives].count("fuse") == 2


@pytest.mark.parametrize("program", [weighted, planes, running, lambda: pixels(m)])
def test_what_is_no_row_is_not_taken_for_one(program: Callable[[], ps.Func]) -> None:
    search = searched(program())
    assert not plans_along_rows(search)
    (own,) = search.statements["g"]
    plan = NestPlan(
        own.name,
        "rows",
        tuple({"vector": 2, "lanes": 8, "columns": 1, "jam": -1, "rows": 1, "row": 1}.items()),
    )
    assert search.candidates.templates(own, ROOT).nest(plan) is None


def test_rows_have_the_same_bits() -> None:
    given = np.random.default_rng(3).random((9, 23, 3), np.float32)
    found = ps.Schedule.auto(pixels(), threads=2)
    assert "fuse" in [d.name for d in found.directives]
    plain = ps.Schedule.default(pixels())
    assert_same(as_tuple(found.compile()(x=given)), as_tuple(plain.compile()(x=given)))


def test_panels_lie_one_behind_the_other() -> None:
    """Each is as large as all that a tile reads of the operand."""
    search = Search(
        facts_of(ps.Schedule(product()).rewritten, {"n": 64, "m": 256, "q": 100}),
        Model(machine("x86-64-v3"), 2),
        {"C"},
    )
    own = next(s for s in search.facts.statements if s.is_update)
    nests = [x for x in search.candidates.of(own, ROOT) if x.packed]
    assert nests
    for nest in nests:
        width = nest.plan.number("lanes") * nest.plan.number("columns")
        work = Site(own, ROOT, {"A": 0, "B": 0, "C": 0}, alike(own)).work(nest)
        (panels,) = (t for t, a in zip(work.touches, own.accesses, strict=True) if a.tensor == "B")
        for y, x in zip(nest.loops, panels.strides, strict=True):
            if own.loops[y.loop].name == "j":
                assert x == (100 * y.step if y.step >= width else y.step)


def test_no_panels_are_copied_along_a_sum_in_lanes() -> None:
    """An update whose RVar is an axis of its results may be in vectors along that: what it reads
    lies there at another place for each, and nothing is accumulated."""
    x = ps.Input("x", ps.uint8, (n,), range=(0, n))
    r = ps.RVar("r", 0, n)
    seen, f = ps.Func("seen", (m + 3,)), ps.Func("f", (m, n))
    seen[i] = ps.cast(ps.float32, x[ps.clip(i * i, 0, n - 1)])
    f[i, j] = i != 0
    f[i, r] ^= seen[ps.cast(ps.int16, x[ps.select(r - 1 < 0, n - 1, r - 1)])] != 0
    numbers = np.arange(5, dtype=np.uint8)
    kernels = (s.compile() for s in (ps.Schedule.auto(f), ps.Schedule.default(f)))
    assert_same(*((kernel(x=numbers, m=9),) for kernel in kernels))
