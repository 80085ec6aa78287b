"""Funcs that read the same, each element by itself, are computed in common loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gallery.case import normal
from gallery.execute import assert_same

import polysched as ps
from polysched.targets.facts import machine
from polysched.tune.facts.facts import facts_of
from polysched.tune.model.model import Model
from polysched.tune.search.decided import Refusals
from polysched.tune.search.search import Search

from .programs import i, j, m, n

V3, V4 = "x86-64-v3", "x86-64-v4"


def gradients() -> ps.Func:
    """Two derivatives of an image, whose windows slide down strips of what reads them."""
    x = ps.Input("x", ps.float32, (n + 4, m + 4))
    p, q, f = ps.Func("p"), ps.Func("q"), ps.Func("f", (n, m))
    p[i, j] = x[i, j] + 2 * x[i + 1, j] + x[i + 2, j] - x[i, j + 2] - x[i + 2, j + 2]
    q[i, j] = x[i, j] + 2 * x[i, j + 1] + x[i, j + 2] - x[i + 2, j] - x[i + 2, j + 2]
    f[i, j] = sum((p[i + a, j + b] * q[i + a, j + b] for a in range(3) for b in range(3)), 0.0)
    return f


def halves() -> tuple[ps.Func, ...]:
    x, a, b = ps.Input("x", ps.float32, (2 * n,)), ps.Func("a", (n,)), ps.Func("b", (n,))
    a[i] = (x[2 * i] + x[2 * i + 1]) / 2
    b[i] = (x[2 * i] - x[2 * i + 1]) / 2
    return a, b


def colours() -> tuple[ps.Func, ...]:
    y, u, v = (ps.Input(name, ps.uint8, (n, m)) for name in "yuv")
    found = [ps.Func(name, (n, m)) for name in ("red", "green", "blue")]
    for f, (of_u, of_v) in zip(found, ((0.0, 1.1), (0.4, 0.6), (2.0, 0.0)), strict=True):
        f[i, j] = 1.2 * (y[i, j] - 16.0) + of_u * (u[i, j] - 128.0) + of_v * (v[i, j] - 128.0)
    return tuple(found)


def pair(second: Callable[[Any, ps.Func], Any], rows: Any = n) -> tuple[ps.Func, ps.Func]:
    x, a, b = ps.Input("x", ps.float32, (n, m)), ps.Func("a", (n, m)), ps.Func("b", (rows, m))
    a[i, j] = ps.exp(x[i, j])
    b[i, j] = second(x, a)
    return a, b


def doubled(a: ps.Func) -> ps.Func:
    twice = ps.Func("twice", (n, m))
    twice[i, j] = 2 * a[i, j]
    return twice


def changed_later() -> tuple[ps.Func, ps.Func]:
    a, b = pair(lambda x, a: x[i, j] + 1)
    a[i, j] += 1.0
    return a, b


# facts ------------------------------------------------------------------------------------------
def test_what_reads_the_same_is_computed_together() -> None:
    (sweep,) = ps.facts(halves()).sweeps
    assert sweep.statements == ("a", "b")
    assert sweep.put_off == ((), ())
    (three,) = ps.facts(colours()).sweeps
    assert three.statements == ("red", "green", "blue")


def other(at: Any) -> Any:
    return ps.Input("y", ps.float32, (n, m))[at]


APART: dict[str, Callable[[], Any]] = {
    "needs the other one": lambda: pair(lambda x, a: x[i, j] * a[i, j]),
    "needs it by another one": lambda: pair(lambda x, a: x[i, j] * doubled(a)[i, j]),
    "goes less far": lambda: pair(lambda x, a: x[i, j], n - 1),
    "reads another array": lambda: pair(lambda x, a: other((i, j))),
    "reads one element of a row": lambda: pair(lambda x, a: other((i, j)) * x[i, 0]),
    "is changed later": changed_later,
}


@pytest.mark.parametrize("build", APART.values(), ids=list(APART))
def test_what_is_computed_apart(build: Callable[[], Any]) -> None:
    assert not [x for x in ps.facts(build()).sweeps if "a" in x.statements]


# plans ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("target", [V3, V4])
@pytest.mark.parametrize(
    ("build", "sizes", "hosted", "shape"),
    [
        (halves, {"n": 3000}, {"a"}, lambda rows: (2 * rows,)),
        (halves, {"n": 5_000_000}, {"a"}, lambda rows: (2 * rows,)),
        (gradients, {"n": 1000, "m": 1000}, {"p"}, lambda rows: (rows + 4, 71)),
        (colours, {"n": 1000, "m": 1000}, {"red", "green"}, lambda rows: (rows, 71)),
    ],
)
def test_they_share_loops_and_keep_their_bits(
    build: Callable[[], Any],
    sizes: dict[str, int],
    hosted: set[str],
    shape: Callable[[int], tuple[int, ...]],
    target: str,
) -> None:
    s = ps.Schedule.auto(build(), sizes=sizes, threads=2, target=target)
    assert {d.stage for d in s.directives if d.name == "compute_with"} == hosted
    streamed = {d.stage for d in s.directives if d.name == "stream"}
    assert not streamed & hosted or hosted < streamed
    again = ps.Schedule.from_json(build(), s.to_json())
    kernel = again.for_target(ps.Schedule(build()).target).compile()
    for rows in (1, 9, 67):
        rng = np.random.default_rng(rows)
        arrays = [normal(rng, *shape(rows)).astype(np.float32) for _ in range(3)]
        arrays = [x.astype(np.uint8) for x in arrays] if build is colours else arrays[:1]
        found, wanted = kernel(*arrays), ps.interpret(build(), *arrays)
        assert_same(*(y if isinstance(y, tuple) else (y,) for y in (found, wanted)))


def searched(outputs: Any, refuses: frozenset[str] = frozenset(), **sizes: int) -> Search:
    s = ps.Schedule(outputs, target=V3)
    names = {s.program.names[x] for x in s.program.outputs}
    refusals = Refusals(alone=refuses)
    return Search(facts_of(s.rewritten, sizes), Model(machine(V3), 1), names, refusals)


@pytest.mark.parametrize("size", [3000, 300_000, 900_000, 5_000_000])
def test_together_they_never_take_longer(size: int) -> None:
    """Also where each of them fits into the last cache, and all of them together do not."""
    whole, alone = (searched(halves(), refused, n=size).best() for refused in (set(), {"a"}))
    assert whole.funcs["a"].plan.host == ("b", whole.funcs["b"].nests[0].loops[-1].name)
    assert alone.funcs["a"].plan.host is None
    assert whole.seconds < 0.9 * alone.seconds
