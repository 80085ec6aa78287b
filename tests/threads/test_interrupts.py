"""Signals while kernels run: handlers are called at the next poll, and what they raise ends the
kernel there. Nothing here is timed: polls, iterations and chunks are counted."""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.codegen import lower
from polysched.codegen.llvm import compile_module
from polysched.codegen.llvm.functions import polls
from polysched.codegen.llvm.functions.polls import FEW, SEVERAL
from polysched.codegen.runtime import native_calls, pool as pools
from polysched.targets.host import default_target
from threads.polls import Polls
from threads.processes import run
from threads.programs import Array, i, j, m, n, on

SIGNAL = signal.SIGUSR1 if hasattr(signal, "SIGUSR1") else signal.SIGTERM
l = ps.size("l")


class Enough(Exception):
    """What the handler raises."""


@pytest.fixture(autouse=True)
def asking(monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls can be stopped, as otherwise only long ones can."""
    monkeypatch.setattr(native_calls, "LONG", 0)


@pytest.fixture(autouse=True)
def raising() -> Iterator[None]:
    """A handler that raises; also where somebody lets this process ignore Ctrl-C."""

    def handler(*_: Any) -> None:
        raise Enough

    before = signal.signal(SIGNAL, handler)
    yield
    signal.signal(SIGNAL, before)


def product(parallel: bool) -> ps.Kernel:
    """Many short iterations, or few long ones."""
    k = ps.RVar("k", 0, m)
    A, B = ps.Input("A", ps.float32, (n, m)), ps.Input("B", ps.float32, (m, l))
    C = ps.Func("C", (n, l))
    C[i, j] = 0
    C[i, j] += A[i, k] * B[k, j]
    s = ps.Schedule(C)
    if parallel:
        s["C.update(0)"].parallel(i)
    return s.compile()


def flat(parallel: bool) -> ps.Kernel:
    """One loop."""
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = ps.tanh(ps.exp(x[i]))
    s = ps.Schedule(f)
    if parallel:
        s[f].parallel(i)
    return s.compile()


SQUARE = np.ones((40, 40), np.float32)
WIDE, HIGH = np.zeros((2, 5000), np.float32), np.zeros((5000, 30), np.float32)
ROW = np.zeros(1_000_000, np.float32)


def unwritten(*shape: int) -> Array:
    return np.full(shape, np.nan, np.float32)


# one thread ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [1, 3])
def test_it_stops_at_the_poll_at_which_the_signal_is_there(counted: Polls, count: int) -> None:
    """A loop that is not parallel, on any number of threads."""
    for kernel, arrays in ((product(False), (SQUARE, SQUARE)), (flat(False), (ROW,))):
        for poll in (1, 2, 7):
            counted.expect(SIGNAL, every=poll)
            with pytest.raises(Enough):
                on(count, kernel, *arrays)
            assert (counted.counts[0], counted.told[0]) == (poll, 1)
            assert sum(counted.counts) == poll


def test_nothing_is_written_behind_it(counted: Polls) -> None:
    kernel, out = flat(False), unwritten(len(ROW))
    counted.expect()
    kernel(ROW)
    polls = counted.counts[0]
    for poll in (1, 5):
        out[:] = np.nan
        counted.expect(SIGNAL, every=poll)
        with pytest.raises(Enough):
            kernel(ROW, out=out)
        written = np.isfinite(out)
        assert written[: written.sum()].all()
        assert poll <= written.sum() * (polls + 1) / len(ROW) < poll + 1
    counted.expect()
    kernel(ROW, out=out)  # nothing is left behind
    assert np.isfinite(out).all()
    assert counted.told[0] == 0


@pytest.mark.parametrize("parallel", [False, True])
def test_loops_poll_often(counted: Polls, parallel: bool) -> None:
    """After four iterations of a loop with a loop inside, and of another after some 60,000."""
    with ps.threads(1):
        kernel = product(parallel)
        for length in (8, 3000):
            counted.expect()
            kernel(np.ones((3, 100), np.float32), np.ones((100, length), np.float32))
            assert counted.counts[0] >= 3 * length // 4
        counted.expect()
        flat(parallel)(ROW)
        assert counted.counts[0] >= 10


def test_loops_over_rows_of_data_poll_after_some_rows(counted: Polls) -> None:
    """Rows of a sparse matrix are many and mostly short; long ones poll by themselves."""
    starts, x = (
        ps.Input("starts", ps.int64, (n + 1,), range=(0, m + 1)),
        ps.Input("x", ps.float32, (m,)),
    )
    f, k = ps.Func("f", (n,)), ps.RVar("k", starts[i], starts[i + 1])
    f[i] = 0.0
    f[i] += x[k]
    kernel = ps.Schedule(f).compile()
    with ps.threads(1):
        for rows, length, polls in ((640, 2, 10), (2, 4_000_000, 4)):
            counted.expect()
            kernel(np.arange(rows + 1) * length, np.ones(rows * length, np.float32))
            assert polls <= counted.counts[0] <= 2 * polls + 8


@pytest.mark.parametrize("step", [1, 2, 3, 12, 64])
def test_variables_of_loops_say_when_to_poll(step: int) -> None:
    """Once in so many iterations, wherever a loop begins: from one poll to the next as many."""
    for strip in (FEW, SEVERAL):
        bits = polls._phase(step, strip)
        for begin in range(-70, 70, 7):
            due = [k for k in range(4 * strip) if (begin + k * step) & bits == 0]
            assert [k - due[0] for k in due] == list(range(0, 4 * strip, strip))
            assert due[0] < strip


def test_a_short_kernel_does_not_poll(counted: Polls) -> None:
    f = ps.Func("f", (64,), ps.float32)
    f[i] = ps.exp(i)
    kernel = ps.Schedule(f).compile()
    counted.expect(SIGNAL, every=1)
    kernel()
    assert sum(counted.counts) == 0


def begun_with_a_signal(kernel: ps.Kernel) -> None:
    """Lets a signal come between Python and native code."""
    variant = kernel._variants[False]
    raise_ = ctypes.cast(ctypes.CDLL(None)["raise"], ctypes.c_void_p).value
    begin = ctypes.cast(variant.function, ctypes.c_void_p).value
    text = f"""
    define void @"polysched.begin"(ptr %slots) {{
      %raise = inttoptr i64 {raise_} to ptr
      %sent = call i32 %raise(i32 {int(SIGNAL)})
      %begin = inttoptr i64 {begin} to ptr
      call void %begin(ptr %slots)
      ret void
    }}
    """
    code = compile_module(text, default_target())
    pools.keep_for_ever((code, variant.function))
    variant.function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("begin"))


@pytest.mark.parametrize("count", [1, 3])
def test_a_signal_that_comes_before_native_code_begins(count: int) -> None:
    """The first poll always asks, however soon it is."""
    kernel, out = flat(False), unwritten(len(ROW))
    begun_with_a_signal(kernel)
    with pytest.raises(Enough), ps.threads(count):
        kernel(ROW, out=out)
    assert 0 < np.isfinite(out).sum() < len(ROW) // 4  # as it is without counted polls, too


# several threads ----------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [1, 3])
def test_all_threads_stop(counted: Polls, handed_out: pools.Pool, count: int) -> None:
    """Each is told at its next poll in the loop, and behind its chunk, and begins no other."""
    kernels = [
        (product(True), (SQUARE, SQUARE)),
        (product(True), (WIDE, HIGH)),
        (flat(True), (ROW,)),
    ]
    for kernel, arrays in kernels:
        ended = 0
        while ended < 20:
            counted.expect(SIGNAL, every=1)
            try:
                on(count, kernel, *arrays)
            except Enough:
                ended += 1
                assert counted.told[0] > 0
            else:  # others have done all of it before the caller came to a chunk
                assert counted.counts[0] == 0
            assert max(counted.told[1:]) <= 2
            assert not any(counted.counts[count:])
    counted.expect()
    assert on(count, product(True), SQUARE, SQUARE).tobytes() == (SQUARE @ SQUARE).tobytes()


def test_calls_on_other_threads_go_on(counted: Polls, handed_out: pools.Pool) -> None:
    """Python runs handlers on the main thread only."""
    kernel, calls, seen = product(True), [], []
    signal.signal(SIGNAL, lambda *_: seen.append(threading.current_thread()))
    counted.expect(SIGNAL, every=1)
    thread = threading.Thread(target=lambda: calls.append(on(3, kernel, SQUARE, SQUARE)))
    thread.start()
    thread.join()
    assert calls[0].tobytes() == (SQUARE @ SQUARE).tobytes()
    assert max(counted.told) == 0 < counted.counts[0]
    assert set(seen) == {threading.main_thread()}


# handlers -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("parallel", [False, True])
def test_handlers_that_raise_nothing_change_nothing(
    counted: Polls, handed_out: pools.Pool, parallel: bool
) -> None:
    """They may call kernels, which are not interrupted themselves."""
    kernel, small = product(parallel), np.eye(9, dtype=np.float32)
    seen = 0

    def handler(*_: Any) -> None:
        nonlocal seen
        seen += 1
        signal.signal(SIGNAL, signal.SIG_IGN)
        assert (kernel(small, small) == small).all()
        signal.signal(SIGNAL, handler)

    for count in (1, 3):
        seen = 0
        signal.signal(SIGNAL, handler)
        counted.expect(SIGNAL, every=40)
        assert on(count, kernel, SQUARE, SQUARE).tobytes() == (SQUARE @ SQUARE).tobytes()
        assert seen > 0 or count > 1
        assert max(counted.told) == 0


def test_a_signal_that_is_ignored_changes_nothing(counted: Polls) -> None:
    """As Ctrl-C is by what a shell runs in the background."""
    signal.signal(SIGNAL, signal.SIG_IGN)
    counted.expect(SIGNAL, every=1)
    assert product(False)(SQUARE, SQUARE).tobytes() == (SQUARE @ SQUARE).tobytes()
    assert (counted.told[0], counted.counts[0] > 100) == (0, True)


def test_a_second_signal_comes_while_one_is_dealt_with(counted: Polls) -> None:
    kernel, seen = flat(False), []

    def handler(*_: Any) -> None:
        seen.append(len(seen))
        if len(seen) % 3:
            signal.raise_signal(SIGNAL)
        raise Enough(len(seen))

    signal.signal(SIGNAL, handler)
    for calls in (1, 2, 3):
        counted.expect(SIGNAL, every=4)
        with pytest.raises(Enough) as raised:
            kernel(ROW)
        assert isinstance(raised.value, Enough)
        assert len(seen) == 3 * calls
        assert counted.counts[0] == 4


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration])
def test_whatever_a_handler_raises_arrives(counted: Polls, kind: type[BaseException]) -> None:
    wanted, kernel = kind("this one"), flat(False)

    def handler(*_: Any) -> None:
        raise wanted

    signal.signal(SIGNAL, handler)
    for _ in range(3):
        counted.expect(SIGNAL, every=3)
        with pytest.raises(kind) as raised:
            kernel(ROW)
        assert raised.value is wanted
        assert counted.counts[0] == 3


def test_kernels_inside_of_each_other(counted: Polls) -> None:
    """The inner one is interrupted, and what it raises ends the stage that has called it, and the
    kernel around that."""
    inner, x = flat(False), ps.Input("x", ps.float32, (n,))
    after = []
    stage = ps.extern(
        "stage", lambda a: (inner(ROW), after.append(a))[0][:3], [x], (3,), ps.float32
    )
    f = ps.Func("f", (3,))
    f[i] = stage[i] * 2
    kernel = ps.Schedule(f).compile()
    counted.expect(SIGNAL, every=5)
    with pytest.raises(Enough):
        kernel(ROW)
    assert (counted.counts[0], counted.told[0], after) == (5, 1, [])
    counted.expect()
    assert (kernel(ROW) == 2 * inner(ROW)[0]).all()


def test_while_a_kernel_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left half done: it is compiled again, and cycles are collected."""

    def interrupted(module: Any) -> Any:
        signal.raise_signal(SIGNAL)
        return module

    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = x[i] + 1
    for at in range(0, len(lower.PASSES), 4):
        passes = (*lower.PASSES[:at], interrupted, *lower.PASSES[at:])
        with monkeypatch.context() as patch:
            patch.setattr(lower, "PASSES", passes)
            with pytest.raises(Enough):
                f(ROW)
        assert gc.isenabled()
    assert (f(ROW) == 1).all()


# Python inside of kernels -------------------------------------------------------------------------
class Loud:
    """Standard output that cannot be written to."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.writes = 0

    def write(self, text: str) -> int:
        self.writes += 1
        raise self.error

    def flush(self) -> None:
        pass


@pytest.mark.parametrize("kind", [ValueError, GeneratorExit, KeyboardInterrupt, StopIteration])
def test_an_error_in_a_trace_ends_the_kernel(
    counted: Polls, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]
) -> None:
    x = ps.Input("x", ps.float32, (n, m))
    k = ps.RVar("k", 0, m)
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = 0.0
    f[i] += ps.exp(x[i, k])
    g[i] = ps.trace(f[i], "f")
    s = ps.Schedule(g)
    s[f].compute_at(g, i)
    kernel, long = s.compile(), np.zeros((1000, 1000), np.float32)
    loud = Loud(kind("loud"))
    monkeypatch.setattr(sys, "stdout", loud)
    counted.expect()
    with pytest.raises(kind) as raised:
        kernel(long)
    monkeypatch.undo()
    assert raised.value is loud.error
    assert loud.writes == 1
    assert counted.told[0] == 1
    assert counted.counts[0] < 10  # of 250 and more


# real signals -------------------------------------------------------------------------------------
ENDLESS = """
import os, signal, threading, time
import numpy as np
import polysched as ps
from polysched.codegen.runtime import native_calls, pool as pools

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have let us ignore it
n, i = ps.size("n"), ps.vars("i")
steps = ps.Param("steps", ps.int64)

def endless(parallel, first):
    # Years, if nobody ends it; of the first iteration, or of the others.
    k = ps.RVar("k", 0, ps.select(i == 0 if first else i > 0, steps, 0))
    x, f = ps.Input("x", ps.float64, (n,)), ps.Func("f", (n,))
    f[i] = 0.0
    f[i] += ps.exp(x[i] * k)
    s = ps.Schedule(f)
    if parallel:
        s["f.update(0)"].parallel(i)
    return s.compile()

def interrupted(kernel, count):
    # Sent as soon as the kernel writes.
    out = np.full(5, np.nan)
    def send():
        while np.isnan(out).any():
            time.sleep(0)
        os.kill(os.getpid(), signal.SIGINT)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        with ps.threads(count):
            kernel(np.zeros(5), steps=1 << 39, out=out)
    except KeyboardInterrupt:
        return True
    finally:
        sender.join()
"""


@pytest.mark.slow
def test_ctrl_c_ends_a_kernel_that_would_not_end() -> None:
    """Whoever has the iterations that are long: the caller, which polls in them, or a worker, for
    which it waits."""
    code = """
    pools.pool(3).thresholds(0, 0, 0)
    kernels = [endless(parallel, first) for parallel in (False, True) for first in (False, True)]
    print(all(interrupted(k, count) for k in kernels for count in (1, 2, 3) for _ in range(3)))
    """
    assert run(ENDLESS, code) == "True\n"


@pytest.mark.slow
def test_ctrl_c_where_threads_nap() -> None:
    """What systems without futex do."""
    code = """
    from polysched.codegen.llvm.threads.runtime import Waiting
    import ctypes
    pools._waiting = lambda: (Waiting(False, 200), pools._address(ctypes.CDLL(None).usleep))
    pools.pool(3).thresholds(0, 0, 0)
    kernels = [endless(True, first) for first in (False, True)]
    print(all(interrupted(kernel, 3) for kernel in kernels for _ in range(5)))
    """
    assert run(ENDLESS, code) == "True\n"
