"""Stages that run a part of their instances, computed at a loop of a consumer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps
from polysched.checking.examine import check
from polysched.interp import interpret

n = ps.size("n")
i = ps.vars("i")


def _program() -> ps.Func:
    a = ps.Input("a", ps.float32, (n + 2,))
    f = ps.Func("f")
    f[i] = a[i] * 2.0
    g = ps.Func("g", (n,))
    g[i] = f[i] + f[i + 2]
    return g


def _peeled(s: ps.Schedule) -> None:
    s["f"].peel("i", first=1)


def _whole_tiles(s: ps.Schedule) -> None:
    s["f"].split("i", 4, tail="peel")


def _shifted(s: ps.Schedule) -> None:
    s["f"].split("i", 4, tail="shift")


def _at_a_loop(s: ps.Schedule) -> None:
    s["g"].split("i", 8)
    s["f"].compute_at("g", "io")


PARTS = (_peeled, _whole_tiles, _shifted)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("first", [True, False])
def test_parts_are_placed(parts: Callable[[ps.Schedule], None], first: bool) -> None:
    g = _program()
    s = ps.Schedule(g)
    for edit in (parts, _at_a_loop) if first else (_at_a_loop, parts):
        edit(s)
    kernel = s.compile()
    for size in (0, 1, 2, 3, 8, 9, 21):
        a = np.arange(size + 2, dtype=np.float32)
        np.testing.assert_array_equal(kernel(a), interpret(g, a))
    check(s, np.arange(13, dtype=np.float32))


def test_parts_go_back_to_the_root() -> None:
    s = ps.Schedule(_program())
    _peeled(s)
    before = str(s)
    _at_a_loop(s)
    s["f"].compute_root()
    assert before.splitlines()[1:6] == str(s).splitlines()[1:6]


def test_parts_that_loops_around_tell_apart_stay_there() -> None:
    s = ps.Schedule(_program())
    _at_a_loop(s)
    _peeled(s)
    with pytest.raises(ps.ScheduleError, match=r"is a part of its stage by iterations"):
        s["f"].compute_root()
