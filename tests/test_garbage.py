"""The pause of Python's collector: as long as any thread needs it, and no longer."""

from __future__ import annotations

import collections
import gc
import os
import threading
from collections.abc import Iterator

import pytest

import polysched as ps
from polysched.garbage import uncollected
from polysched.poly.model.model import Model
from polysched.poly.tree.looptree import Loop, Seq


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_it_ends_with_the_block() -> None:
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_ends_with_an_error() -> None:
    with pytest.raises(ps.ScheduleError):
        a_schedule()["f"].split("nothing", 2)
    assert gc.isenabled()


def a_schedule() -> ps.Schedule:
    n, i = ps.size("n"), ps.vars("i")
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = x[i] + 1
    return ps.Schedule(f)


def test_who_does_without_goes_on_without() -> None:
    gc.disable()
    a_schedule().compile()
    assert not gc.isenabled()


def test_what_was_proven_goes_with_the_schedule() -> None:
    """Trees, models and plans are no cycles: nothing waits for the collector."""
    gc.collect()
    gc.disable()
    before = collections.Counter(map(type, gc.get_objects()))
    s = a_schedule()
    with s.batch():
        s["f"].split("i", 8)
        s["f"].vectorize("ii")
    s = ps.Schedule.auto(s.program.outputs[0])
    del s
    after = collections.Counter(map(type, gc.get_objects()))
    assert {kind.__name__ for kind in (Model, Seq, Loop) if after[kind] > before[kind]} == set()


def test_the_last_thread_ends_it() -> None:
    inside, go = threading.Event(), threading.Event()

    def wait() -> None:
        with uncollected():
            inside.set()
            go.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    inside.wait()
    with uncollected():
        pass
    assert not gc.isenabled()
    go.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_collects() -> None:
    """Whether another thread is in a pause, or the one that forks."""
    with uncollected():
        child = os.fork()
        if not child:
            collects = gc.isenabled()
            with uncollected():
                collects = collects and not gc.isenabled()
            os._exit(0 if collects and gc.isenabled() else 1)
        _, status = os.waitpid(child, 0)
    assert status == 0


def test_an_error_inside_names_the_user_s_line() -> None:
    """Nothing of the pause is between them on the stack."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    x, f, g = ps.Input("x", ps.float32, (n, m)), ps.Func("f"), ps.Func("g", (n, m))
    f[i, j] = x[i, j] * 2
    g[i, j] = f[i, j] + f[i, 0]
    s = ps.Schedule(g)
    s["f"].compute_at("g", i)
    with pytest.raises(ps.ScheduleError, match="holds more") as refused:
        s["g"].reorder(j, i)
    assert refused.value.where is not None
    assert refused.value.where.file == __file__
