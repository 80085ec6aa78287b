"""What runs at given sizes, and in which order: compared with executing the loops themselves."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

import polysched as ps
from polysched.checking.arguments import random_arguments
from polysched.checking.execute import Machine, Path, Touch, Write
from polysched.checking.subject import module_of
from polysched.interp.evaluate import Symbols
from polysched.lang.call.binding import bind
from polysched.poly.report.executed import (
    MOST,
    Execution,
    Level,
    arrows,
    at_sizes,
    executions,
    order_of,
    points,
)
from polysched.poly.sets.isl import Frame
from polysched.poly.tree.edits import stages
from polysched.testing.choices import Choices
from polysched.testing.directives import apply, random_directive
from polysched.testing.oracle import instances

from ..directives.kernels import PROGRAMS

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
SIZES = {"n": 5, "m": 4, "l": 3}


class Instances:
    """Notes which instances store, in the order of the executed loops."""

    def __init__(self) -> None:
        self.found: list[tuple[int, tuple[int, ...]]] = []

    def joint(self, path: Path, writes: list[Write]) -> None:
        # A tuple has a store for each of its values, and unrolled copies come in one statement.
        self.found += dict.fromkeys(w.key for w in writes if w.key is not None)

    def looked(self, path: Path, reads: list[Touch]) -> None:
        pass

    def wrong(self, kind: str, text: str) -> None:
        raise AssertionError(f"{kind}: {text}")


def ran(s: ps.Schedule, sizes: dict[str, int]) -> list[tuple[int, tuple[int, ...]]]:
    known = {k: v for k, v in sizes.items() if k in s.parameters}
    binding = bind(s.program, (), random_arguments(s.program, known))
    start = {s.program.names[t]: a.copy() for t, a in binding.arrays.items()}
    start |= {s.program.names[a]: binding.arrays[a.initial].copy() for a in s.program.inouts}
    found = Instances()
    symbols = Symbols(binding.sizes, binding.params)
    Machine(module_of(s), symbols, start, found).run()
    return found.found


def enumerated(s: ps.Schedule, sizes: dict[str, int]) -> list[Execution]:
    return executions(s.tree, [x.name for x in s.model.statements], sizes)


def as_keys(s: ps.Schedule, found: list[Execution]) -> list[tuple[int, tuple[int, ...]]]:
    serials = {x.name: x.definition.serial for x in s.model.statements}
    return [(serials[x.statement], x.point) for x in found]


def is_comparable(s: ps.Schedule) -> bool:
    """Whether the loops say of each instance which it is: those of definitions that directives have
    added count as the user's, and padding iterations are no instances."""
    own = (x.definition for x in s.model.statements)
    has_more = any(d.is_added or d.origin != d.serial for d in own)
    is_padded = any(x.padding for x in stages(s.tree))
    return not (has_more or is_padded or at_sizes(s.accepted, SIZES).is_empty())


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_the_loops_do(name: str, seed: int) -> None:
    s = ps.Schedule(PROGRAMS[name]())
    choices, names = Choices.from_seed(seed + 40), {"ps": ps, **{x: ps.size(x) for x in "nml"}}
    for _ in range(4):
        trial = s.copy()
        with suppress(ps.ScheduleError, ps.LanguageError):
            apply(trial, random_directive(choices, trial), names)
            s = trial if is_comparable(trial) else s
    assert as_keys(s, enumerated(s, SIZES)) == ran(s, SIZES), s.source()


def test_lanes_tiles_and_places() -> None:
    x = ps.Input("x", ps.float32, (n + 2,))
    w, g = ps.Func("w"), ps.Func("g", (n,))
    w[i] = x[i] + 1
    g[i] = w[i] + w[i + 2]
    s = ps.Schedule(g)
    s[g].split(i, 4)
    s[w].compute_at(g, "io").vectorize(i, 4)
    s[g].vectorize("ii")
    found = enumerated(s, {"n": 6})
    assert as_keys(s, found) == ran(s, {"n": 6})
    assert [x.point for x in found if x.stage == "w"] == [
        *((k,) for k in range(6)),
        *((k,) for k in range(4, 8)),
    ]
    assert {x.around for x in found if x.stage == "w"} == {(0,), (1,)}
    assert [x.step for x in found if x.stage == "g"] == [2] * 4 + [4] * 2


def test_lanes_count_as_the_innermost_loop() -> None:
    f = ps.Func("f", (n, m))
    f[i, j] = i * j
    s = ps.Schedule(f)
    s[f].vectorize(i, 4)
    found = enumerated(s, {"n": 4, "m": 2})
    assert as_keys(s, found) == ran(s, {"n": 4, "m": 2})
    assert [x.point for x in found] == [(a, b) for b in range(2) for a in range(4)]
    assert [x.step for x in found] == [0] * 4 + [1] * 4


def test_serial_orders_are_those_of_isl() -> None:
    f = ps.Func("f", (n, m))
    f[i, j] = i * j
    r, q = ps.rdom("r q", (1, n), (0, m - 1))
    f[r, q] = f[r - 1, q + 1] + 1
    s = ps.Schedule(f)
    s["f.update(0)"].skew(r, q, 1, name="d")
    s["f.update(0)"].reorder("d", "r")
    s["f"].tile(i, j, 2, 3)
    sizes = {"n": 5, "m": 6}
    found = [(x.statement, x.point) for x in enumerated(s, sizes)]
    assert found == instances(s.model, s.tree, sizes)


def test_steps_of_a_wavefront_are_its_waves() -> None:
    a = ps.InOut("a", ps.float32, (n, n))
    p, q = ps.rdom("p q", (1, n), (1, n))
    a[p, q] = a[p - 1, q] + a[p, q - 1]
    s = ps.Schedule(a)
    s["a.update(0)"].wavefront("p", "q")
    s["a.update(0)"].parallel("q")
    for x in enumerated(s, {"n": 5}):
        assert x.step == sum(x.point) - 2
        assert x.of_kind("parallel") == (x.loops["q"],)


def execution(*levels: tuple[Any, int]) -> Execution:
    return Execution("f", "f", (), (), {}, tuple(Level(*x) for x in levels))


def test_how_two_executions_run_to_each_other() -> None:
    first = execution(("seq", 0), ("serial", 1), ("seq", 0))
    assert order_of(first, execution(("seq", 0), ("serial", 2), ("seq", 0))) == "before"
    assert order_of(first, execution(("seq", 0), ("serial", 0), ("seq", 1))) == "after"
    assert order_of(first, first) == "same"
    lane = execution(("seq", 0), ("vector", 1), ("seq", 0), ("serial", 3))
    assert (
        order_of(lane, execution(("seq", 0), ("vector", 0), ("seq", 0), ("serial", 3))) == "lanes"
    )
    assert (
        order_of(lane, execution(("seq", 0), ("vector", 0), ("seq", 0), ("serial", 4))) == "before"
    )
    one = execution(("seq", 0), ("parallel", 1), ("seq", 0), ("serial", 3))
    assert (
        order_of(one, execution(("seq", 0), ("parallel", 0), ("seq", 0), ("serial", 9)))
        == "threads"
    )
    assert order_of(one, execution(("seq", 1), ("parallel", 0))) == "before"


def test_dependences_are_pairs_of_instances() -> None:
    f = ps.Func("f", (n,))
    f[i] = i
    r = ps.RVar("r", 1, n)
    f[r] = f[r - 1] + f[r]
    s = ps.Schedule(f)
    found = arrows(s.dependences(), {"n": 4})
    flow = {(x.source, x.sink) for x in found if x.kind == "flow"}
    update = "f.update(0)"
    assert flow == {
        (("f", (0,)), (update, (1,))),
        *((("f", (k,)), (update, (k,))) for k in range(1, 4)),
        *(((update, (k,)), (update, (k + 1,))) for k in range(1, 3)),
    }


def test_what_is_large_or_has_no_end_is_refused() -> None:
    frame = Frame((), ("x", "y"))
    half = frame.dim("x").ge_set(frame.constant(0))
    with pytest.raises(ps.ScheduleError, match="cannot be counted: data decide"):
        points(half, "instances of f")
    box = frame.within("x", frame.constant(0), frame.constant(MOST))
    box = box.intersect(frame.within("y", frame.constant(0), frame.constant(2)))
    with pytest.raises(ps.ScheduleError, match=f"more than {MOST}\n.*\n  hint: give smaller sizes"):
        points(box, "instances of f")
    thin = box.intersect(frame.dim("x").le_set(frame.dim("y")))
    assert points(thin, "") == [(0, 0), (0, 1), (1, 1)]
    assert points(frame.empty, "") == []
