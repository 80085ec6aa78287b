"""Operations and bytes of a report, against those of an execution of the loop IR; the roofline."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.checking.arguments import random_arguments
from polysched.checking.execute import Machine, Touch, Write
from polysched.codegen.ir.ir import Load, Store
from polysched.codegen.runtime.preconditions import Preconditions
from polysched.interp.evaluate import Symbols
from polysched.lang.call.binding import bind
from polysched.lang.nodes.nodes import postorder
from polysched.show.reporting.roofline import Point, Roofs, roofline
from polysched.show.reporting.subject import Subject
from polysched.show.reporting.work import Work
from polysched.testing.choices import Choices
from polysched.testing.directives import apply_random
from polysched.testing.programs import random_program

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")


class Watcher:
    """Adds up the bytes of an execution, in memory and on the stack."""

    def __init__(self) -> None:
        self.loaded = self.stored = self.held = 0

    def joint(self, path: Any, writes: list[Write]) -> None:
        """The stores of one statement, and what they have read."""
        for w in writes:
            self._add("stored", w.to)
            for touch in w.reads:
                self._add("loaded", touch)

    def _add(self, what: str, touch: Touch) -> None:
        name = "held" if touch.buffer.kind == "stack" else what
        setattr(self, name, getattr(self, name) + touch.buffer.dtype.itemsize)

    def looked(self, path: Any, reads: list[Touch]) -> None:
        """What a bound has read."""

    def wrong(self, kind: str, text: str) -> None:
        """An access that must not be."""
        pytest.fail(f"{kind}: {text}")


def _product() -> tuple[ps.Schedule, dict[str, Any], int]:
    """In tiles, with a packed operand and private accumulators."""
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    k = ps.RVar("k", 0, l)
    C = ps.Func("C", (n, m))
    C[i, j] = 0
    C[i, j] += A[i, k] * B[k, j]
    s = ps.Schedule(C)
    u = s[C].update(0)
    u.split(i, 2, names=("io", "ii"))
    u.split(j, 4, names=("jo", "ji"))
    u.reorder("io", "jo", k, "ii", "ji")
    u.accumulate_at("jo")
    u.vectorize("ji").unroll("ii").parallel("io")
    return s, {"A": np.ones((5, 3)), "B": np.ones((3, 7))}, 2 * 5 * 3 * 7


def _blur() -> tuple[ps.Schedule, dict[str, Any], int]:
    """Computed in strips, some rows twice."""
    x = ps.Input("x", ps.float32, (n + 2, m))
    f, g = ps.Func("f"), ps.Func("g", (n, m))
    f[i, j] = x[i, j] * 0.5
    g[i, j] = f[i, j] + f[i + 1, j] + f[i + 2, j]
    s = ps.Schedule(g)
    s[g].split(i, 2, names=("io", "ii"))
    s[f].compute_at(g, "io")
    # Three strips of 2, 2 and 1 rows need 4, 4 and 3 rows of f.
    return s, {"x": np.ones((7, 4))}, 4 * (11 + 2 * 5)


def _triangle() -> tuple[ps.Schedule, dict[str, Any], int]:
    """Bounds that depend on a loop."""
    x, y = ps.Input("x", ps.float32, (n,)), ps.Input("y", ps.float32, (n,))
    k = ps.RVar("k", 0, i + 1)
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += x[k] * y[i]
    return ps.Schedule(f), {"x": np.ones(6), "y": np.ones(6)}, 2 * 21


@pytest.mark.parametrize("make", [_product, _blur, _triangle])
def test_bytes_and_operations_are_those_of_an_execution(make: Any) -> None:
    s, arrays, operations = make()
    arrays = {name: a.astype(np.float32) for name, a in arrays.items()}
    kernel = s.compile()
    bound = bind(s.program, (), arrays)
    values = Preconditions(s.requirements, s.program).check(bound)
    found = Work(Subject(kernel, kernel, values, s), values)
    watcher = Watcher()
    symbols = Symbols(values, bound.params)
    Machine(kernel._lowered.module, symbols, arrays, watcher).run()
    assert found.whole("arithmetic") == operations
    assert found.whole("stored") == watcher.stored
    assert found.whole("loaded") == watcher.loaded
    assert found.whole("held") == watcher.held
    assert found.whole("bytes") == watcher.stored + watcher.loaded


class Loading(Machine):
    """Counts each load of a store that happens, also of elements that were loaded already."""

    def _store(self, s: Store, functions: Any, env: Any) -> Any:
        done = super()._store(s, functions, env)
        loads = [x for x in postorder(s.value, *s.index) if isinstance(x, Load)]
        for x in loads if done else ():
            if x.guard is None or self.holds(functions[x.guard]):
                name = "held" if x.buffer.kind == "stack" else "loaded"
                found = getattr(self.watcher, name) + x.buffer.dtype.itemsize
                setattr(self.watcher, name, found)
        return done


class Storing(Watcher):
    """Adds up what is stored."""

    def joint(self, path: Any, writes: list[Write]) -> None:
        for w in writes:
            self._add("stored", w.to)


@pytest.mark.parametrize("seed", range(8))
def test_bytes_of_random_schedules_are_those_of_an_execution(seed: int) -> None:
    choices = Choices.from_seed(seed)
    sample = random_program(choices)
    s = ps.Schedule(sample.build())
    apply_random(choices, s, 4, sample.namespace())
    arguments = random_arguments(s.program, {"n": 7, "m": 5}, seed)
    kernel, bound = s.compile(), bind(s.program, (), arguments)
    values = Preconditions(s.requirements, s.program).check(bound)
    work, watcher = Work(Subject(kernel, kernel, values, s), values), Storing()
    arrays = {s.program.names[t]: a.copy() for t, a in bound.arrays.items()}
    arrays |= {s.program.names[a]: bound.arrays[a.initial].copy() for a in s.program.inouts}
    Loading(kernel._lowered.module, Symbols(values, bound.params), arrays, watcher).run()
    assert not any(found.at_most for found in work.stages.values())
    for what in ("loaded", "stored", "held"):
        assert work.whole(what) == getattr(watcher, what), what


def test_arrays_are_counted_once_and_inouts_twice() -> None:
    t, x = ps.InOut("t", ps.float64, (n,)), ps.Input("x", ps.float32, (n, m))
    t[i] += x[i, 0]
    s = ps.Schedule(t)
    kernel = s.compile()
    assert Work(Subject(kernel, kernel, {}, s), {"n": 10, "m": 3}).once == 2 * 80 + 4 * 30


def test_what_data_decide_is_not_known(tmp_path: Any) -> None:
    ends = ps.Input("ends", ps.int32, (n,), range=(0, m + 1))
    x = ps.Input("x", ps.float32, (m,))
    k = ps.RVar("k", 0, ends[i])
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += x[k]
    text = ps.Schedule(f).compile().report(tmp_path / "a.html", n=4, m=9).read_text()
    assert "Data decide how much is done" in text


# the roofline -----------------------------------------------------------------------------------
ROOFS = Roofs(1e11, (("L1", 2e11), ("memory", 1e10)), "measured on 2026-01-01")


def test_the_roof_is_the_lower_of_peak_and_bandwidth() -> None:
    assert ROOFS.at(0.1, 2e11) == pytest.approx(2e10)
    assert ROOFS.at(100, 1e10) == 1e11


def _circles(drawn: str) -> list[tuple[float, float]]:
    return [
        (float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)
    ]


def test_points_are_drawn_where_they_are() -> None:
    """Ten times as many operations are one decade up, and ten times as many a byte one to the
    right."""
    points = [Point("a", 1.0, 1e9), Point("b", 1.0, 1e10), Point("c", 10.0, 1e9)]
    a, b, c = _circles(roofline(ROOFS, points))
    assert a[0] == b[0]
    assert a[1] == c[1]
    assert b[1] < a[1]
    assert c[0] > a[0]
    (d,) = _circles(roofline(ROOFS, [*points[:0], Point("d", 1.0, 1e10)]))
    assert 0 < d[0] < 700
    assert "nan" not in roofline(ROOFS, points, cores=4)


@pytest.mark.parametrize("intensity", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("rate", [None, 1.0, 1e13])
def test_nothing_is_drawn_outside(intensity: float, rate: float | None) -> None:
    drawn = roofline(ROOFS, [Point("a", intensity, rate)], cores=2)
    numbers = [float(x) for x in re.findall(r' (?:x|x1|x2|cx)="(-?[\d.e+]+)"', drawn)]
    heights = [float(x) for x in re.findall(r' (?:y|y1|y2|cy)="(-?[\d.e+]+)"', drawn)]
    assert min(numbers) >= 0
    assert max(numbers) <= 680
    assert min(heights) >= 0
    assert max(heights) <= 380
