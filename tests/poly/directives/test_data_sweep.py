"""Every directive over programs whose indices and bounds are data: what is accepted compiles,
prints, explains and gives the interpreter's bits."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.ir.text import module_text

n, m, size = ps.sizes("n m l")
i, j = ps.vars("i j")
Arguments = dict[str, Any]


def _ints(values: list[int], dtype: ps.DType) -> np.ndarray:
    return np.array(values, dtype.numpy)


def rows(dtype: ps.DType, kind: str) -> tuple[ps.Func, Arguments]:
    """Sums over a part of y for each row."""
    signed = dtype.min < 0
    low = -3 if kind == "clamped" and signed else 0
    start = ps.Input("start", dtype, (n + 1,), range=(low, m + 1))
    y = ps.Input("y", ps.int32, (m,))
    lo, hi = {
        "rows": (start[i], start[i + 1]),
        "ends": (0, start[i]),
        "clamped": (ps.maximum(start[i], 0), start[i + 1]),
        "unordered": (ps.minimum(start[i], start[i + 1]), ps.maximum(start[i], start[i + 1])),
    }[kind]
    k = ps.RVar("k", lo, hi)
    f, g = ps.Func("f", (n,), ps.int32), ps.Func("g", (n,), ps.int32)
    f[i] = 0
    f[i] += y[k] * (k + 1)
    g[i] = f[i] + f[n - 1 - i]
    ends = [3, 0, 5, 5, 11, 2] if kind == "unordered" else [0 + low, 2, 5, 5, 9, 11]
    return g, {"start": _ints(ends, dtype), "y": np.arange(11, dtype=np.int32)}


def nested(dtype: ps.DType) -> tuple[ps.Func, Arguments]:
    """Rows of rows."""
    a = ps.Input("a", dtype, (n + 1,), range=(0, size + 1))
    b = ps.Input("b", dtype, (size + 1,), range=(0, m + 1))
    y = ps.Input("y", ps.int32, (m,))
    k = ps.RVar("k", a[i], a[i + 1])
    e = ps.RVar("e", b[k], b[k + 1])
    f = ps.Func("f", (n,), ps.int32)
    f[i] = 0
    f[i] += y[e]
    inner = _ints([0, 1, 4, 4, 7, 9, 11], dtype)
    return f, {"a": _ints([0, 2, 3, 6], dtype), "b": inner, "y": np.arange(11, dtype=np.int32)}


def scatter(dtype: ps.DType, ranged: bool, shaped: bool) -> tuple[ps.Func, Arguments]:
    at = ps.Input("at", dtype, (m,), range=(0, n) if ranged else None)
    k = ps.RVar("k", 0, m)
    f, g = ps.Func("f", (n,) if shaped else None, ps.int32), ps.Func("g", (n, 3), ps.int32)
    f[i] = i
    f[at[k]] += k
    g[i, j] = f[i] + f[i // 2] * j
    return g, {"at": _ints([0, 4, 1, 1, 3, 0, 2], dtype), "n": 5}


def gather(dtype: ps.DType, ranged: bool, shaped: bool) -> tuple[ps.Func, Arguments]:
    at = ps.Input("at", dtype, (m,), range=(0, n) if ranged else None)
    f, g = ps.Func("f", (n,) if shaped else None, ps.int32), ps.Func("g", (m,), ps.int32)
    f[i] = i * 3
    g[i] = f[at[i]] + f[at[m - 1 - i]]
    return g, {"at": _ints([0, 4, 1, 1, 3, 0, 2], dtype), "n": 5}


PROGRAMS: dict[str, Callable[[], tuple[ps.Func, Arguments]]] = {
    **{
        f"{kind} {t}": lambda kind=kind, t=t: rows(t, kind)  # type: ignore[misc]
        for kind, t in [
            ("rows", ps.int32), ("rows", ps.uint32), ("rows", ps.int8), ("ends", ps.int64),
            ("clamped", ps.int16), ("clamped", ps.int32), ("unordered", ps.int32),
        ]
    },
    "nested": lambda: nested(ps.int32),
    **{
        f"scatter {t} {ranged} {shaped}": (
            lambda t=t, ranged=ranged, shaped=shaped: scatter(t, ranged, shaped)  # type: ignore[misc]
        )
        for t, ranged, shaped in [
            (ps.int8, False, False), (ps.int16, True, False), (ps.int32, True, False),
            (ps.int32, False, True), (ps.uint32, True, True),
        ]
    },
    "gather int32 True False": lambda: gather(ps.int32, True, False),
    "gather int64 False True": lambda: gather(ps.int64, False, True),
}  # fmt: skip

Moves = Iterator[tuple[str, Callable[[], object]]]


def _stages(s: ps.Schedule) -> list[str]:
    return [statement.name for statement in s.model.statements]


def _moves(s: ps.Schedule) -> Moves:
    for stage in _stages(s):
        h = s[stage]
        loops = [x.name for x in h.loops]
        for loop in loops:
            yield from _of_loop(s, stage, loop)
        for a, b in itertools.permutations(loops, 2):
            yield f"{stage}: fuse {a} {b}", lambda h=h, a=a, b=b: h.fuse(a, b)
            yield f"{stage}: reorder {a} {b}", lambda h=h, a=a, b=b: h.reorder(a, b)
            yield f"{stage}: tile {a} {b}", lambda h=h, a=a, b=b: h.tile(a, b, 2, 3)
            yield f"{stage}: skew {a} {b}", lambda h=h, a=a, b=b: h.skew(a, b, 1)
            yield f"{stage}: wavefront {a} {b}", lambda h=h, a=a, b=b: h.wavefront(a, b)
        yield f"{stage}: compute_inline", lambda h=h: h.compute_inline()
        yield f"{stage}: fold_storage", lambda h=h: h.fold_storage(0, 2)
        yield f"{stage}: atomic", lambda h=h: h.atomic()
    yield "assume", lambda: s.assume(n >= 2)
    yield "specialize", lambda: s.specialize(n < 4)


def _of_loop(s: ps.Schedule, stage: str, x: str) -> Moves:
    h = s[stage]
    of_loop: dict[str, Callable[[], object]] = {
        **{f"split {t}": lambda t=t: h.split(x, 3, tail=t) for t in ("auto", "guard", "peel")},  # type: ignore[misc]
        **{f"split {t}": lambda t=t: h.split(x, 3, tail=t) for t in ("shift", "round_up", "pad")},  # type: ignore[misc]
        "unroll": lambda: h.unroll(x, 2),
        "vectorize": lambda: h.vectorize(x, 4),
        "parallel": lambda: h.parallel(x),
        "peel": lambda: h.peel(x, last=1),
        "partition": lambda: h.partition(ps.vars(x) < 2),
        "shift": lambda: h.shift(x, 2),
        "mirror": lambda: h.transform([x], lambda at: 3 - at),
        "rfactor": lambda: h.rfactor(x),
        "accumulate_at": lambda: h.accumulate_at(x),
        "bound": lambda: h.bound(x, 5),
        "unroll_and_jam": lambda: h.unroll_and_jam(x, 2),
    }
    for other in _stages(s):
        if other != stage:
            of_loop[f"compute {other} at"] = lambda o=other: s[o].compute_at(stage, x)  # type: ignore[misc]
            of_loop[f"compute {other} with"] = lambda o=other: s[o].compute_with(stage, x)  # type: ignore[misc]
    for source in s.program.inputs:
        of_loop[f"stage {source.name} at"] = lambda t=source: h.stage(t, at=x)  # type: ignore[misc]
    yield from ((f"{stage}: {text} {x}", move) for text, move in of_loop.items())


def _checked(s: ps.Schedule, given: Arguments, wanted: np.ndarray) -> None:
    assert str(s)
    assert s.explain()
    kernel = s.compile()
    assert "2147483647" not in module_text(kernel._lowered.module)
    try:
        got = kernel(**given)
    except ps.CallError as error:
        if "the schedule assumes" not in str(error):
            raise
        return  # round_up, bound and their like ask for other sizes
    np.testing.assert_array_equal(got, wanted)


def _sweep(program: str, every: int, first: int = 0) -> tuple[int, int]:
    """How many of some directives are accepted and refused."""
    func, given = PROGRAMS[program]()
    wanted = ps.interpret(func, **given)
    written = ps.Schedule(func)
    accepted, count = 0, len(list(_moves(written)))
    chosen = range(first, count, every)
    for number in chosen:
        s = written.copy()
        text, move = next(itertools.islice(_moves(s), number, None))
        try:
            move()
        except (ps.ScheduleError, ps.LanguageError):
            continue
        accepted += 1
        try:
            _checked(s, given, wanted)
        except Exception as error:
            raise AssertionError(f"{program}, {text}: {error}") from error
    return accepted, len(chosen) - accepted


@pytest.mark.slow
def test_some() -> None:
    found = [
        _sweep(program, 43) for program in ("rows int32", "nested", "scatter int32 True False")
    ]
    accepted, refused = map(sum, zip(*found, strict=True))
    assert accepted > 3
    assert refused > 3


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_all(program: str) -> None:
    accepted, refused = _sweep(program, 1)
    assert accepted > 15
    assert refused > 10
