"""Random recurrences over time: the window is the smallest that loses no value too early.

The oracle runs the loops with the elements stored at their places modulo the window, and looks
whether each element that may be read is still there.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import polysched as ps
from polysched.poly.placement.folding import LARGEST
from polysched.poly.tree.memory import Window

n, T = ps.sizes("n T")
i, t = ps.vars("i t")
POINTS, PLANES = 6, 12

Element = tuple[int, int]


@dataclass(frozen=True)
class Step:
    """A read f[t - back - (0 or 1, if `late`), i + by], or anywhere along i, as the data say."""

    back: int
    by: int
    late: bool
    anywhere: bool


@dataclass(frozen=True)
class Recurrence:
    """f[t, i], or f[i, t] where time is not the first axis, of which the last plane is wanted.
    With `down`, time runs backwards, and the first plane is."""

    reads: tuple[Step, ...]
    time_first: bool
    down: bool

    @property
    def start(self) -> int:
        """The planes that are not computed from others."""
        return max(r.back + r.late for r in self.reads)

    def at(self, plane: ps.Expr, place: ps.Expr) -> tuple[ps.Expr, ps.Expr]:
        return (plane, place) if self.time_first else (place, plane)


def recurrence(rng: random.Random) -> Recurrence:
    time_first = rng.random() < 0.6
    ahead = 2 if time_first else 0
    reads = [
        Step(
            back=rng.randint(1, 4),
            by=rng.choice((0, 0, 0, rng.randint(-2, ahead), rng.randint(-2, ahead))),
            late=rng.random() < 0.2,
            anywhere=time_first and rng.random() < 0.2,
        )
        for _ in range(rng.randint(1, 3))
    ]
    return Recurrence(tuple(reads), time_first, rng.random() < 0.5)


def program(rec: Recurrence) -> ps.Func:
    x = ps.Input("x", ps.int32, (n,))
    planes, start = T + rec.start, rec.start
    f = ps.Func("f", rec.at(planes, n), ps.int32)
    now, sign = (planes - 1 - t, -1) if rec.down else (t, 1)
    value = x[i] + 1
    for k, r in enumerate(rec.reads):
        plane = t - sign * (r.back + (ps.clip(x[i], 0, 1) if r.late else 0))
        place = (x[i] + k) % n if r.anywhere else ps.clip(i + r.by, 0, n - 1)
        value = value + (k + 1) * f[rec.at(plane, place)]
    f[rec.at(t, i)] = ps.select(now < start, x[i] * ps.cast(ps.int32, now), value)
    last = ps.Func("last", (n,))
    last[i] = f[rec.at(0 if rec.down else planes - 1, i)]
    ps.require(T >= 1, "a step", last)
    return last


def touched(r: Step, plane: int, place: int) -> Iterator[Element]:
    """The elements that may be read at a point."""
    planes = [plane - r.back - late for late in ((0, 1) if r.late else (0,))]
    places = range(POINTS) if r.anywhere else [min(max(place + r.by, 0), POINTS - 1)]
    return itertools.product(planes, places)


def is_enough(window: Window, rec: Recurrence) -> bool:
    """By running the loops, at one size."""
    folds_time = (window.axis == 0) == rec.time_first
    held: dict[Element, Element] = {}

    def place_of(element: Element) -> Element:
        plane, place = element
        planes = window.planes
        return (plane % planes, place) if folds_time else (plane, place % planes)

    axes = [range(PLANES + rec.start), range(POINTS)]
    points = itertools.product(*(axes if rec.time_first else axes[::-1]))
    for plane, place in points if rec.time_first else ((b, a) for a, b in points):
        if plane >= rec.start:
            wanted = (e for r in rec.reads for e in touched(r, plane, place))
            if any(held[place_of(e)] != e for e in wanted):
                return False
        held[place_of((plane, place))] = (plane, place)
    last = [(PLANES + rec.start - 1, place) for place in range(POINTS)]
    return all(held[place_of(e)] == e for e in last)


def smallest(rec: Recurrence) -> list[Window]:
    """The window along the first axis that has one."""
    for axis in (0, 1):
        for planes in range(1, LARGEST + 1):
            # What holds as many as there are of the points tells nothing about other sizes.
            along_time = (axis == 0) == rec.time_first
            if planes < (PLANES if along_time else POINTS) and is_enough(Window(axis, planes), rec):
                return [Window(axis, planes)]
    return []


@pytest.mark.parametrize("seed", range(60))
def test_the_smallest_window(seed: int) -> None:
    rec = recurrence(random.Random(seed))
    func = program(rec)
    schedule = ps.Schedule(func)
    assert list(schedule.windows.values()) == smallest(rec)
    data = np.random.default_rng(seed).integers(-3, 4, 7).astype(np.int32)
    kernel = schedule.compile()
    for count in (1, 2, 13):
        np.testing.assert_array_equal(kernel(data, T=count), ps.interpret(func, data, T=count))
