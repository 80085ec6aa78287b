"""Reads whose guards depend on each other: each is loaded where it is needed, and nowhere else."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.checking.examine import examine
from polysched.checking.execute import Machine
from polysched.checking.report import Report
from polysched.codegen.build import loads

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


@pytest.fixture
def circles(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of reads of each circle that is solved."""
    found: list[int] = []

    class Counted(loads.Rounds):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            found.append(len(self.guards))

    monkeypatch.setattr(loads, "Rounds", Counted)
    return found


def inputs(count: int) -> list[ps.Input]:
    return [ps.Input(f"A{k}", ps.int32, (n,)) for k in range(count)]


def inside(value: Any, other: Any) -> Any:
    """`value`, whose reads are in bounds only here."""
    return ps.select(i < n, value, other)


def in_a_ring(count: int) -> ps.Func:
    """Each read is needed where the one before it is positive; data say which comes first."""
    start = ps.Input("start", ps.int32, (m,))
    reads = [A[i] for A in inputs(count)]
    f = ps.Func("f", (m,))
    value: Any = 0
    for first in range(count):
        chain: Any = 1
        for k in reversed(range(count)):
            chain = inside(ps.select(reads[(first + k) % count] > 0, chain, 0), 0)
        value = ps.select(start[i] == first, chain, value)
    f[i] = value
    return f


def given(count: int, size: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    drawn = {f"A{k}": rng.integers(-1, 3, size).astype(np.int32) for k in range(count)}
    return {**drawn, "n": size, "m": size + 3}


def agree(s: ps.Schedule, func: ps.Func, **arguments: Any) -> Report:
    read = {x.name for x in s.program.inputs} | {"n", "m"}
    arguments = {name: x for name, x in arguments.items() if name in read}
    wanted = ps.interpret(func, **arguments)
    np.testing.assert_array_equal(s.compile()(**arguments), wanted)
    report = examine(s, **arguments)
    assert not report.breaches
    return report


@pytest.mark.parametrize("count", [2, 4])
def test_a_ring_begins_where_data_say(circles: list[int], count: int) -> None:
    f = in_a_ring(count)
    s = ps.Schedule(f)
    arguments = given(count, 40, count)
    start = np.arange(43, dtype=np.int32) % count
    agree(s, f, start=start, **arguments)
    assert circles.count(count) == len(circles) > 0


def drawn(rng: random.Random, count: int) -> ps.Func:
    """Selects over a few shared values and conditions of reads, one of them at an index that is
    read: which of them are needed, and in which order, only data say."""
    at = ps.Input("at", ps.int64, (n,), range=(1, n + 1))
    start = ps.Input("start", ps.int32, (m,))
    first, *others = inputs(count)
    values = [inside(first[at[i] - 1], 5), *(inside(A[i], 7) for A in others)]
    conditions = [x > 0 for x in values]
    for _ in range(rng.randint(4, 7)):
        c, d, e = (rng.choice(conditions) for _ in range(3))
        x, y = rng.sample(values, 2)
        values.append(ps.select(c, x, y + 1) if rng.random() < 0.8 else x - y)
        conditions.append(rng.choice([ps.select(c, d, e), ~c, c | d, values[-1] > y, x < y]))
    value: Any = 0
    for number in range(4):
        chosen = ps.select(rng.choice(conditions), *(rng.choice(values) for _ in range(2)))
        value = ps.select(start[i] == number, chosen, value)
    f = ps.Func("f", (m,))
    f[i] = value
    return f


def test_programs_of_shared_conditions(circles: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is loaded is what the interpreter reads: an index that is not needed may be of no
    element. Each of a few programs has circles, of 2 to 6 reads."""
    loaded: set[tuple[int, str, tuple[int, ...]]] = set()

    def load(machine: Machine, node: Any, element: tuple[int, ...]) -> Any:
        (point,) = machine.loops.values()
        loaded.add((point, node.buffer.name, element))
        return plainly(machine, node, element)

    plainly = Machine.load
    monkeypatch.setattr(Machine, "load", load)
    rng = random.Random(3)
    for seed in range(20):
        loaded.clear()
        f = drawn(rng, 3)
        random_values = np.random.default_rng(seed)
        at = random_values.integers(1, 10, 9)
        start = random_values.integers(0, 4, 12).astype(np.int32)
        report = agree(ps.Schedule(f), f, at=at, start=start, **given(3, 9, seed))
        read = [(r.key[1][0], r.reads) for r in report.flow.instances.values()]
        assert loaded == {(point, x.name, at) for point, reads in read for x, at in reads}
    assert len(circles) > 12


def test_lanes_load_in_rounds(circles: list[int]) -> None:
    f = in_a_ring(2)
    s = ps.Schedule(f)
    s[f].vectorize(i, 8)
    agree(s, f, start=np.arange(23, dtype=np.int32) % 2, **given(2, 20, 0))
    assert circles
