"""Random programs under random directives: accepted if and only if no pair is out of order."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest

import polysched as ps
import polysched.codegen.build.build
from polysched.poly.schedule.stages import StageHandle
from polysched.testing.native import copied

from .oracle import LARGEST, PAD, Nest, Random, first_wrong, pairs, random_program
from .support import both_ways, witness

Asked = tuple[str, Callable[[StageHandle], object], Nest]


def random_directive(rng: random.Random, nest: Nest) -> Asked:
    """A directive, and the loops if it is accepted."""
    names = [x.name for x in nest.levels]
    serial = [x.name for x in nest.levels if x.kind == "serial"]
    kind = rng.choice(("reorder", "skew", "transform", "parallel", "parallel", "vectorize"))
    if kind == "skew":
        a, b = sorted(rng.sample(range(len(names)), 2))
        by = rng.choice((-2, -1, 1, 2))
        outer, inner = names[a], names[b]
        if nest.levels[b].kind == "serial":
            return (
                f"skew({outer}, {inner}, {by})",
                lambda s: s.skew(outer, inner, by),
                nest.skewed(outer, inner, by),
            )
    if kind == "transform" and serial == names and len(names) == 2:
        matrix = rng.choice(
            (((-1, 0), (0, 1)), ((1, 0), (0, -1)), ((1, 1), (0, 1)), ((0, 1), (1, 1)),
             ((1, 2), (1, 1)), ((1, -1), (1, 1)), ((0, 1), (-1, 0)), ((2, 1), (1, 0)))
        )  # fmt: skip
        (a, b), (c, d) = matrix
        return (
            f"transform({matrix})",
            lambda s: s.transform(tuple(names), lambda x, y: (a * x + b * y, c * x + d * y)),
            nest.transformed(names, matrix),
        )
    if kind == "parallel":
        name = rng.choice(names)
        if name in serial:
            return f"parallel({name})", lambda s: s.parallel(name), nest.kind(name, "parallel")
    if kind == "vectorize" and serial == names[:2] == names:
        name, lanes = rng.choice(names), rng.choice((2, 3))
        inner = f"{name}i"
        made = nest.split(name, lanes, (name, inner)).kind(inner, "vector")
        return f"vectorize({name}, {lanes})", lambda s: s.vectorize(name, lanes), made
    order = rng.sample(names, len(names))
    return f"reorder({order})", lambda s: s.reorder(*order), nest.reordered(order)


def ask(stage: StageHandle, asked: Asked, program: Random, known: Nest | None = None) -> bool:
    """Whether the directive is accepted; the oracle must say so, too.

    Args:
        known: the loops before it, where what is out of order in them is trusted.
    """
    text, apply, after = asked
    schedule = stage._schedule
    before = schedule.key, str(schedule)
    wrong = first_wrong(program, after, known=known)
    error: ps.ScheduleError | None = None
    try:
        apply(stage)
    except ps.ScheduleError as found:
        error = found
    if error is None:
        assert after.is_well_formed, text
        assert wrong is None, (text, program, wrong)
        return True
    assert (schedule.key, str(schedule)) == before, "a refused directive leaves a trace"
    if error.status == "malformed":
        assert not after.is_well_formed, (text, error)
        return False
    assert error.status == "violation"
    sizes, source, sink = witness(error)
    pair = sizes["n"], sizes["m"]
    if max(pair) > LARGEST:
        wrong = first_wrong(program, after, max(pair), known)
    assert wrong == (sum(pair), pair, (*source, *sink)), (text, program, str(error))
    return False


def outcomes(program: Random, schedule: ps.Schedule) -> None:
    """Native code equals the interpreter, also with parallel loops backwards."""
    arrays = program.arrays()
    rng = np.random.default_rng(0)
    kernels = both_ways(schedule)
    for n, m in ((0, 3), (1, 1), (4, 7), (5, 3)):
        sizes = {"n": n, "m": m}
        extent = 4 * n + 4 * m + 2 * PAD
        data = {f"A{k}": rng.integers(-9, 9, (extent,) * d) for k, d in enumerate(program.ndims)}
        used = {k: v for k, v in data.items() if k in str(schedule.program.signature())}
        wanted = _tuple(ps.interpret(arrays, **copied(used), **sizes))
        for kernel in kernels:
            for w, f in zip(wanted, _tuple(kernel(**copied(used), **sizes)), strict=True):
                np.testing.assert_array_equal(f, w)


def _tuple(x: object) -> tuple[object, ...]:
    return x if isinstance(x, tuple) else (x,)


@pytest.mark.parametrize("seed", range(60))
def test_accepted_iff_no_pair_is_out_of_order(seed: int) -> None:
    rng = random.Random(seed)
    program = random_program(rng)
    schedule = ps.Schedule(program.arrays())
    stage = schedule[f"A{program.lines[0].write.array}.update(0)"]
    nest, accepted = Nest(), 0
    for _ in range(4):
        asked = random_directive(rng, nest)
        if ask(stage, asked, program):
            nest = asked[2]
            accepted += 1
    if accepted and seed % 4 == 0:
        outcomes(program, schedule)


@pytest.mark.parametrize("seed", range(60))
def test_behind_trust_accepted_iff_nothing_more_is_out_of_order(seed: int) -> None:
    rng = random.Random(f"trust {seed}")
    program = random_program(rng)
    schedule = ps.Schedule(program.arrays())
    stage = schedule[f"A{program.lines[0].write.array}.update(0)"]
    nest = Nest()
    for k in range(4):
        asked = random_directive(rng, nest)
        if k % 2:
            if ask(stage, asked, program, nest if schedule.trusted else None):
                nest = asked[2]
            continue
        with schedule.trust("a reason"), suppress(ps.ScheduleError):  # lanes inside of lanes
            asked[1](stage)
            nest = asked[2]


def first_behind_which(program: Random, nests: list[Nest], error: ps.ScheduleError) -> set[int]:
    """The places of the first of some loops in which, and in all later ones, the two instances
    are out of order; for each dependence that there is between them."""
    sizes, source, sink = witness(error)
    ends = [p for p in pairs(program, sizes["n"], sizes["m"]) if not nests[-1].keeps(p)]
    found = set()
    for pair in ends:
        if (pair.source[1], pair.sink[1]) == (source, sink):
            kept = [k for k, nest in enumerate(nests) if nest.keeps(pair)]
            found.add(kept[-1] + 1 if kept else 0)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_a_batch_is_refused_for_the_directive_that_broke_it(seed: int) -> None:
    rng = random.Random(f"batch {seed}")
    program = random_program(rng)
    schedule = ps.Schedule(program.arrays())
    stage = schedule[f"A{program.lines[0].write.array}.update(0)"]
    nests, texts = [Nest()], [""]
    try:
        with schedule.batch():
            for _ in range(3):
                asked = random_directive(rng, nests[-1])
                asked[1](stage)
                nests.append(asked[2])
                texts.append(schedule._builder._batch.changes[-1].request.text)
    except ps.ScheduleError as found:
        error = found
    else:
        return
    if error.status == "violation":
        assert error.directive in {texts[k] for k in first_behind_which(program, nests, error)}
        assert f"{error.directive} in a batch is refused" in error.what


def test_the_oracle_sees_both_sides() -> None:
    """Of the directives above, a good part is accepted and a good part is not."""
    verdicts = []
    for seed in range(100):
        rng = random.Random(seed)
        program = random_program(rng)
        verdicts.append(first_wrong(program, random_directive(rng, Nest())[2], 4) is None)
    assert 20 <= sum(verdicts) <= 80
    assert LARGEST >= 6
