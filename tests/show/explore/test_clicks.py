"""Clicks at random: the Python of what came of them gives the same schedule, and undoing gives the
one of before."""

from __future__ import annotations

import random
from typing import Any

import pytest

import polysched as ps
from polysched.show.explore.model import Exploration

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
CLICKS = 12


def blur() -> dict[str, Any]:
    a, b, c = ps.Input("a", ps.float32, (n + 2, m)), ps.Func("b"), ps.Func("c", (n, m))
    b[i, j] = a[i, j] * 2
    c[i, j] = b[i, j] + b[i + 2, j]
    return {"b": b, "c": c}


def product() -> dict[str, Any]:
    k = ps.RVar("k", 0, 4)
    a, c = ps.Input("a", ps.int32, (n, 4)), ps.Func("c", (n, m))
    c[i, j] = 0
    c[i, j] += a[i, k] * j
    return {"c": c}


@pytest.mark.parametrize("make", [blur, product])
@pytest.mark.parametrize("seed", range(3))
def test_the_source_makes_what_clicks_have_made(make: Any, seed: int) -> None:
    numbers, funcs = random.Random(seed), make()
    e = Exploration(ps.Schedule(funcs["c"]))
    reached = [e.schedule.to_json()]
    for _ in range(CLICKS):
        if len(e.stages) > 1:
            e.look_at(numbers.randrange(len(e.stages)))
        if numbers.random() < 0.2 and e.at:
            assert e.go(e.at - 1)
        elif e.choose(numbers.randrange(len(e.moves))):
            reached[e.at :] = [e.schedule.to_json()]
        assert e.schedule.to_json() == reached[e.at]
        names = {"ps": ps, **funcs}
        exec(e.source, names)
        made: Any = names["s"]
        assert made == e.schedule
        assert made.key == e.schedule.key
    assert len(reached) > 2
    for k in reversed(range(len(reached))):
        e.go(k)
        assert e.schedule.to_json() == reached[k]
