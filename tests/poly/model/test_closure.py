"""Regions that follow from themselves: against an enumeration of what is needed, and the values
against the interpreter."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import polysched as ps
from polysched.lang.program.program import Program
from polysched.poly.model.model import Model
from polysched.poly.sets.isl import isl
from polysched.testing.oracle import domain_points

T, n = ps.sizes("T n")
t, i = ps.vars("t i")
Point = tuple[int, ...]

CONDITIONS: list[tuple[Callable[..., ps.Expr], Callable[..., bool]]] = [
    (lambda t, i, T, n: t >= 0, lambda t, i, T, n: True),
    (lambda t, i, T, n: t >= 0, lambda t, i, T, n: True),
    (lambda t, i, T, n: i > 0, lambda t, i, T, n: i > 0),
    (lambda t, i, T, n: i < n - 1, lambda t, i, T, n: i < n - 1),
    (lambda t, i, T, n: t % 2 == 0, lambda t, i, T, n: t % 2 == 0),
    (lambda t, i, T, n: 2 * t < T, lambda t, i, T, n: 2 * t < T),
]


@dataclass(frozen=True)
class Offset:
    """f[t, i] reads source[t - back, i + aside], clamped to the row or not, where it holds."""

    reader: int
    source: int
    back: int
    aside: int
    clamped: bool
    condition: int

    def expr(self, funcs: list[ps.Func]) -> ps.Expr:
        at = i + self.aside
        where = CONDITIONS[self.condition][0](t, i, T, n) & (t >= self.back)
        at = ps.clip(at, 0, n - 1) if self.clamped else at
        return ps.select(where, funcs[self.source][t - self.back, at], 1)

    def needs(self, at: Point, steps: int, size: int) -> Point | None:
        if at[0] < self.back or not CONDITIONS[self.condition][1](*at, steps, size):
            return None
        beside = at[1] + self.aside
        beside = min(max(beside, 0), size - 1) if self.clamped else beside
        return (at[0] - self.back, beside)


@dataclass(frozen=True)
class Case:
    offsets: tuple[Offset, ...]
    count: int
    base: bool
    whole_row: bool
    update: bool

    def build(self) -> ps.Func:
        funcs = [ps.Func(f"f{k}", dtype=ps.int32) for k in range(self.count)]
        for k, f in enumerate(funcs):
            value: ps.Expr = i + 2 * t + k
            for o in self.offsets:
                if o.reader == k:
                    value = value + 2 * o.expr(funcs)
            if self.base:
                f[0, i] = i * 3 + k
            f[t, i] = value
            if self.update:
                f[t, i] += t
        out = ps.Func("row", (n,) if self.whole_row else (1,), dtype=ps.int32)
        ps.require(n >= 1, "a row", out)
        out[i] = funcs[-1][T, i]
        return out

    def needed(self, steps: int, size: int) -> dict[int, set[Point]]:
        """What is needed of each Func, by enumeration."""
        found: dict[int, set[Point]] = {k: set() for k in range(self.count)}
        pending = [(self.count - 1, (steps, x)) for x in range(size if self.whole_row else 1)]
        while pending:
            k, at = pending.pop()
            if at in found[k]:
                continue
            found[k].add(at)
            # An update of its own point runs at the points that are needed.
            for o in self.offsets:
                if o.reader == k and not (self.base and at[0] == 0):
                    needed = o.needs(at, steps, size)
                    pending += [] if needed is None else [(o.source, needed)]
        return found


def case(seed: int) -> Case:
    rng = random.Random(seed)
    count = rng.choice((1, 1, 2))
    offsets = tuple(
        Offset(
            k, rng.randrange(count), rng.choice((1, 1, 2)), rng.randint(-1, 1),
            rng.random() < 0.4, rng.randrange(len(CONDITIONS)),
        )
        for k in range(count)
        for _ in range(rng.randint(1, 3))
    )  # fmt: skip
    return Case(offsets, count, rng.random() < 0.5, rng.random() < 0.6, rng.random() < 0.15)


def region_at(model: Model, func: ps.Func, **sizes: int) -> set[Point]:
    region = model.regions[func].intersect_params(model.context)
    for name, value in sizes.items():
        region = region.fix_val(isl.dim_type.param, model.params.index(name), isl.Val(value))
    return set(domain_points(region.project_out(isl.dim_type.param, 0, len(model.params))))


def _check(seed: int) -> str:
    wanted = case(seed)
    out = wanted.build()
    try:
        kernel = ps.Schedule(out).compile()
        model = Model(Program((out,)))
    except ps.LanguageError as error:
        assert "follows from itself" in str(error), error  # noqa: PT017
        return "refused"
    inner = {f.name: f for f in model.regions}
    for steps, size in itertools.product(range(6), range(1, 6)):
        for k, points in wanted.needed(steps, size).items():
            if f"f{k}" in inner:
                assert region_at(model, inner[f"f{k}"], T=steps, n=size) == points, (seed, k)
        sizes = {k: v for k, v in (("T", steps), ("n", size)) if k in model.params}
        np.testing.assert_array_equal(kernel(**sizes), ps.interpret(out, **sizes), str(seed))
    return "accepted"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(5))
def test_the_region_is_what_is_needed(block: int) -> None:
    found = Counter(_check(seed) for seed in range(block * 25, block * 25 + 25))
    assert found["accepted"] >= 11, found


def fibonacci() -> ps.Func:
    f, g = ps.Func("f", dtype=ps.int64), ps.Func("g", ())
    f[0], f[1] = 0, 1
    f[i] = f[i - 1] + f[i - 2]
    g[()] = f[n]
    return g


def triangle() -> ps.Func:
    """Without pieces at the sides, a wider row is needed the earlier it is."""
    f, g = ps.Func("f", dtype=ps.int32), ps.Func("g", (n,))
    f[0, i] = i
    f[t, i] = f[t - 1, i - 1] + 2 * f[t - 1, i + 1]
    g[i] = f[T, i]
    return g


def in_turn() -> ps.Func:
    f, g, h = ps.Func("f", dtype=ps.int32), ps.Func("g", dtype=ps.int32), ps.Func("h", (n,))
    f[0] = 1
    f[i] = g[i - 1] * 2
    g[i] = f[i] + 1
    h[i] = g[i + 3]
    return h


def with_a_sum() -> ps.Func:
    k = ps.RVar("k", 0, n)
    f, g = ps.Func("f", dtype=ps.int32), ps.Func("g", (n,))
    f[0, i] = i + 1
    f[t, i] = ps.sum(f[t - 1, k] * (i + k), k)
    g[i] = f[T, i]
    return g


def downwards() -> ps.Func:
    f, g = ps.Func("f", dtype=ps.int32), ps.Func("g", (n,))
    f[n + 3] = 5
    f[i] = f[i + 1] + i
    g[i] = f[i]
    return g


@pytest.mark.slow
@pytest.mark.parametrize("build", [fibonacci, triangle, in_turn, with_a_sum, downwards])
def test_a_region_closes(build: Callable[[], ps.Func]) -> None:
    func = build()
    schedule = ps.Schedule(func)
    kernel, names = schedule.compile(), schedule.program.sizes
    for sizes in itertools.product(range(7), repeat=len(names)):
        given = dict(zip(names, sizes, strict=True))
        np.testing.assert_array_equal(kernel(**given), ps.interpret(func, **given), str(given))


def test_one_step_alone_is_needed_where_the_start_is_asked_for() -> None:
    model = Model(Program((fibonacci(),)))
    (f,) = (func for func in model.regions if func.name == "f")
    assert region_at(model, f, n=0) == {(0,)}
    assert region_at(model, f, n=1) == {(1,)}
    assert region_at(model, f, n=4) == {(0,), (1,), (2,), (3,), (4,)}


@pytest.mark.slow
def test_a_region_with_time_keeps_a_few_planes() -> None:
    assert {f.name: w.planes for f, w in ps.Schedule(triangle()).windows.items()} == {"f": 2}


@pytest.mark.slow
def test_a_region_without_an_end_is_refused() -> None:
    f, g = ps.Func("f", dtype=ps.int32), ps.Func("g", ())
    f[i] = f[i + 2] + 1
    g[()] = f[n]
    with pytest.raises(ps.LanguageError, match="has no end: along axis 0 it goes on upwards"):
        ps.Schedule(g)
    with pytest.raises(ps.LanguageError, match="has no end: after 10000 steps there is still more"):
        ps.interpret(g, n=3)


def test_a_base_that_is_stepped_over_is_no_end() -> None:
    """Steps of two from an odd number go past 0."""
    f, g = ps.Func("f", dtype=ps.int32), ps.Func("g", ())
    f[0] = 1
    f[i] = f[i - 2] + 1
    g[()] = f[2 * n + 1]
    with pytest.raises(ps.LanguageError, match="f that is needed follows from itself"):
        ps.Schedule(g)
    g = ps.Func("g", ())
    g[()] = f[2 * n]
    assert int(g(n=4)) == 5


def test_an_index_that_depends_on_data_is_refused() -> None:
    x = ps.Input("x", ps.int32, (n,))
    f, g = ps.Func("f", dtype=ps.int32), ps.Func("g", (n,))
    f[0] = 1
    f[i] = f[ps.clip(x[i], 0, i - 1)] * 2
    g[i] = f[i]
    with pytest.raises(ps.LanguageError, match="through an index that depends on data"):
        ps.Schedule(g)


def test_a_consumer_that_reads_anything_is_refused() -> None:
    x = ps.Input("x", ps.int64, (n,))
    f, g = ps.Func("f", dtype=ps.int32), ps.Func("g", (n,))
    f[0] = 1
    f[i] = f[i - 1] * 2
    g[i] = f[x[i]]
    with pytest.raises(ps.LanguageError, match="an index that depends on data reaches it"):
        ps.Schedule(g)


def test_a_region_that_is_no_set_is_refused() -> None:
    f, g = ps.Func("f", dtype=ps.int32), ps.Func("g", ())
    f[0] = 1
    f[i] = f[i // 2] + i
    g[()] = f[n]
    with pytest.raises(ps.LanguageError, match="no exact form of it was found") as caught:
        ps.Schedule(g)
    assert "declare a shape: ps.Func('f', (n, m))" in str(caught.value)


def test_a_point_that_no_piece_defines_is_refused() -> None:
    f, g = ps.Func("f", dtype=ps.int32), ps.Func("g", ())
    f[0, i] = 1
    f[1, i] = f[0, i + 1] + f[2, i]
    g[()] = f[1, 0]
    with pytest.raises(ps.LanguageError, match="is not defined"):
        ps.Schedule(g)


def test_a_cycle_within_a_region_is_refused() -> None:
    f, g = ps.Func("f", dtype=ps.int32), ps.Func("g", ())
    f[i] = f[1 - i] + 1
    g[()] = f[0]
    with pytest.raises(ps.LanguageError, match="needs itself"):
        ps.Schedule(g)
    with pytest.raises(ps.LanguageError, match="needs itself"):
        ps.interpret(g)
