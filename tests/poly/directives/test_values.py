"""Random schedules of pipelines: whatever is accepted computes what the interpreter computes."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import polysched as ps
from polysched.poly.schedule.stages import StageHandle
from polysched.poly.tree.edits import stages

from .cases import blur, cholesky, floyd_warshall, i, j, jacobi, lu, m, n, nussinov, product
from .support import same


def chain() -> tuple[ps.Func, ...]:
    """Updates, pieces and a sum, each needing the one before."""
    x = ps.Input("x", ps.int64, (n, m))
    k = ps.RVar("k", 0, m)
    f, g, h = ps.Func("f", (n, m)), ps.Func("g", (n,)), ps.Func("h", (n, m))
    f[i, j] = x[i, j]
    f[i, j] += 2 * i
    g[i] = 0
    g[i] += f[i, k] * x[ps.maximum(i - 1, 0), k]
    h[i, 0] = g[i]
    h[i, j] = g[ps.minimum(i + 1, n - 1)] - f[i, j]
    return f, g, h


def twice() -> tuple[ps.InOut, ...]:
    """Two arrays in one ordered loop, each a step behind the other."""
    a, b = ps.InOut("a", ps.int64, (n + 2, m)), ps.InOut("b", ps.int64, (n + 2, m))
    with ps.sequential("r", 1, n) as r:
        c = ps.RVar("c", 1, m - 1)
        a[r, c] = a[r - 1, c + 1] + b[r, c]
        b[r, c] = a[r, c - 1] - b[r - 1, c]
        a[r, c] += b[r + 1, c]
    return a, b


TAILS = ("auto", "auto", "guard", "mask", "peel", "shift")


def random_directive(rng: random.Random, s: ps.Schedule, stage: StageHandle) -> None:
    rng.choice((_of_loops, _of_loops, _of_coordinates, _of_bodies))(rng, s, stage)


def _of_loops(rng: random.Random, s: ps.Schedule, stage: StageHandle) -> None:
    loops = [x.name for x in stage.loops]
    one = rng.choice(loops)
    match rng.randrange(8):
        case 0:
            stage.split(one, rng.choice((2, 3, 8)), tail=rng.choice(TAILS))
        case 1:
            stage.reorder(*rng.sample(loops, len(loops)))
        case 2:
            chosen = rng.sample(loops, min(2, len(loops)))
            stage.tile(*chosen, *(rng.choice((2, 4)) for _ in chosen))
        case 3:
            stage.parallel(one, rng.choice((None, 2)))
        case 4:
            stage.vectorize(one, rng.choice((None, 2, 4, 8)))
        case 5:
            stage.unroll(one, rng.choice((None, 2, 3)))
        case 6:
            stage.unroll_and_jam(one, rng.choice((2, 3)))
        case _:
            stage.fuse(one, loops[-1])


def _of_coordinates(rng: random.Random, s: ps.Schedule, stage: StageHandle) -> None:
    loops = [x.name for x in stage.loops]
    match rng.randrange(3):
        case 0 if len(loops) > 1:
            outer, inner = (loops[k] for k in sorted(rng.sample(range(len(loops)), 2)))
            stage.skew(outer, inner, rng.choice((-1, 1, 2)))
        case 1 if len(loops) > 1:
            stage.wavefront(*loops[:2], name=f"wave{len(s.directives)}")
        case _:
            stage.shift(rng.choice(loops), rng.choice((-1, 1, 2)))


def _of_bodies(rng: random.Random, s: ps.Schedule, stage: StageHandle) -> None:
    one = rng.choice([x.name for x in stage.loops])
    others = [x.name for x in stages(s.tree) if x.name != stage.name]
    match rng.randrange(4):
        case 0:
            stage.fission(one)
        case 1 if others:
            stage.compute_with(rng.choice(others), one, rng.choice((0, 0, 1, 2)))
        case 2:
            x = ps.vars(rng.choice([x.name for x in stage._stage.statement.loops]))
            stage.partition(rng.choice((x < 2, x >= n - 1, x % 2 == 0)))
        case _:
            stage.peel(one, rng.choice((0, 1, 2)), rng.choice((1, 2)))


PROGRAMS: dict[str, Callable[[], object]] = {
    f.__name__: f for f in (blur, chain, cholesky, floyd_warshall, jacobi, lu, nussinov, twice)
} | {"product": lambda: product(ps.int16)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", PROGRAMS)
def test_random_schedules(name: str, seed: int) -> None:
    rng = random.Random(f"{name}{seed}")
    s = ps.Schedule(PROGRAMS[name]())
    accepted = 0
    for _ in range(40):
        stage = s[rng.choice(list(stages(s.tree))).name]
        before = s.key, str(s)
        try:
            random_directive(rng, s, stage)
        except ps.ScheduleError:
            assert (s.key, str(s)) == before, "a refused directive leaves a trace"
            continue
        accepted += 1
        if accepted == 6:
            break
    assert accepted
    same(s, over=(0, 1, 3, 6, 9) if name not in ("jacobi", "nussinov") else (1, 2, 3, 6, 9))
