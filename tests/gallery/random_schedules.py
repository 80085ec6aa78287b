"""Random directives on any schedule: those that mean something on the loops there are."""

from __future__ import annotations

import random
from collections.abc import Callable

import polysched as ps
from polysched.poly.schedule.stages import StageHandle

Attempt = Callable[[StageHandle, list[str], random.Random], object]

TAILS = ("auto", "guard", "mask", "peel", "shift")


def _pick(loops: list[str], rng: random.Random) -> str:
    return rng.choice(loops)


def _pair(loops: list[str], rng: random.Random) -> tuple[str, str]:
    outer = rng.randrange(len(loops))
    return loops[outer], loops[rng.randrange(outer, len(loops))]


ATTEMPTS: dict[str, Attempt] = {
    "split": lambda s, x, r: s.split(_pick(x, r), r.choice((2, 3, 4, 8)), tail=r.choice(TAILS)),
    "tile": lambda s, x, r: s.tile(*_pair(x, r), r.choice((2, 4, 5)), r.choice((3, 8))),
    "reorder": lambda s, x, r: s.reorder(*r.sample(x, min(len(x), r.randint(2, 3)))),
    "vectorize": lambda s, x, r: s.vectorize(_pick(x, r), r.choice((2, 4, 8))),
    "unroll": lambda s, x, r: s.unroll(_pick(x, r), r.choice((2, 3))),
    "unroll_and_jam": lambda s, x, r: s.unroll_and_jam(_pick(x, r), 2),
    "parallel": lambda s, x, r: s.parallel(_pick(x, r), r.choice((None, 2, 4))),
    "skew": lambda s, x, r: s.skew(*_pair(x, r), r.choice((1, 2, -1))),
    "wavefront": lambda s, x, r: s.wavefront(*_pair(x, r)),
    "peel": lambda s, x, r: s.peel(_pick(x, r), first=r.randint(0, 2), last=r.randint(0, 2)),
    "fission": lambda s, x, r: s.fission(_pick(x, r)),
    "shift": lambda s, x, r: s.shift(_pick(x, r), r.choice((1, -1, 2))),
}


def scramble(schedule: ps.Schedule, rng: random.Random, attempts: int) -> list[str]:
    """Tries random directives; gives those that were accepted."""
    accepted = []
    for _ in range(attempts):
        names = [line.stage for line in schedule.directives]
        stage = StageHandle(schedule, rng.choice(_stage_names(schedule)))
        loops = [x.name for x in stage.loops]
        if not loops:
            continue
        kind = rng.choice(list(ATTEMPTS))
        try:
            ATTEMPTS[kind](stage, loops, rng)
        except (ps.ScheduleError, ps.LanguageError):
            assert names == [line.stage for line in schedule.directives]
            continue
        accepted.append(kind)
    return accepted


def _stage_names(schedule: ps.Schedule) -> list[str]:
    from polysched.poly.tree.edits import stages

    return [s.name for s in stages(schedule.tree)]
