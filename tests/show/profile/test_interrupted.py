"""Profiled calls that raise, or that Ctrl-C ends: arrays and threads are as before."""

from __future__ import annotations

import signal
import threading
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.show.profile import profiled, runs

n, i = ps.size("n"), ps.Var("i")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "SECONDS", 0.0)
    monkeypatch.setattr(runs, "FEWEST", 2)
    monkeypatch.setattr(profiled, "OVERHEAD", float("inf"))


class Calls:
    """A function of a program that does something instead, at one of its calls."""

    def __init__(self) -> None:
        self.count, self.at, self.instead = 0, 0, signal.raise_signal

    def __call__(self, a: Any, out: Any) -> None:
        self.count += 1
        if self.count == self.at:
            self.instead(signal.SIGINT)
        out[...] = 2 * a


def fail(signal: int) -> None:
    raise ZeroDivisionError("oops")


@pytest.mark.parametrize(
    ("instead", "kind"), [(fail, ZeroDivisionError), (signal.raise_signal, KeyboardInterrupt)]
)
@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_what_a_call_raises_comes_through_and_leaves_all_as_it_was(
    at: int, instead: Any, kind: type[BaseException], request: pytest.FixtureRequest
) -> None:
    """Of the calls the first one allocates, the second one is ordinary, the third one is its code
    alone, the fourth one has marks."""
    before_ours = signal.signal(signal.SIGINT, signal.default_int_handler)  # workers ignore it
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before_ours))
    calls = Calls()
    x, A = ps.Input("x", ps.float32, (n,)), ps.InOut("A", ps.float32, (n,))
    f, g = ps.Func("f", (n,)), ps.extern("g", calls, [x], (n,), ps.float32)
    f[i] = g[i]
    A[i] = A[i] + g[i]
    kernel: Any = ps.Schedule([f, A]).compile()
    given, mine, out = np.ones(4, np.float32), np.ones(4, np.float32), np.full(4, 7, np.float32)
    before = dict(kernel._variants), ps.get_num_threads(), threading.active_count()
    calls.at, calls.instead = calls.count + at, instead
    with pytest.raises(kind):
        kernel.profile(given, mine, out={"f": out}, side_effects=True)
    assert calls.count == calls.at
    np.testing.assert_array_equal(mine, 1)
    np.testing.assert_array_equal(out, 7)
    assert before == (dict(kernel._variants), ps.get_num_threads(), threading.active_count())
    assert {s.name for s in kernel.profile(given, mine, side_effects=True).stages} >= {"f", "g"}
    np.testing.assert_array_equal(kernel(given, mine)[1], 3)
