"""Processes that fork: the child compiles and calls, whatever others were at."""

from __future__ import annotations

import os

import pytest

from threads.processes import KERNEL, run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

BEGIN = """
import os, signal, sys, threading, time
import numpy as np
import polysched as ps

n, i = ps.sizes("n"), ps.vars("i")

def program(q):
    x, h = ps.Input("x", ps.int32, (n,)), ps.Func("h", (n,))
    h[i] = x[i] + q
    return h

def works(q=5):
    # A bare call, which proves, compiles and links.
    return program(q)(np.arange(3, dtype=np.int32)).tolist() == [q, q + 1, q + 2]

def forked(good):
    # What a child finds, which is killed if it hangs.
    pid = os.fork()
    if pid == 0:
        signal.alarm(100)
        found = False
        try:
            found = good()
        finally:
            os._exit(0 if found else 1)
    return ended(pid)

def ended(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def beside(enter):
    # Another thread that is in a block while this one goes on.
    inside, go = threading.Event(), threading.Event()
    def stay():
        with enter:
            inside.set()
            go.wait()
    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait()
    return lambda: (go.set(), thread.join())
"""


@pytest.mark.slow
def test_locks_that_another_thread_holds() -> None:
    """Every one of ours, as long as the process lives; and a budget for isl."""
    code = """
    from polysched import forks
    from polysched.poly.sets import budget, isl
    assert works(1)
    leave = [beside(lock) for lock in list(forks._locks)]
    assert len(leave) >= 5
    print(forked(works), forked(lambda: forked(works) == 0))
    for each in leave:
        each()
    leave = beside(budget.budget(1000))
    print(forked(lambda: works() and isl.CONTEXT.get_max_operations() == 0))
    leave()
    with budget.budget(1000):
        print(forked(lambda: isl.CONTEXT.get_max_operations() == 1000))
    print(isl.CONTEXT.get_max_operations())
    """
    assert run(BEGIN, code).split() == ["0", "0", "0", "0", "0"]


@pytest.mark.slow
def test_a_lock_that_the_forking_thread_holds_is_held_on() -> None:
    code = """
    from polysched import forks
    lock = forks.reentrant()
    def good():
        held = forks.is_mine(lock)
        lock.release()
        return held and not forks.is_mine(lock) and works()
    lock.acquire()
    print(forked(good), forks.is_mine(lock))
    """
    assert run(BEGIN, code).split() == ["0", "True"]


@pytest.mark.slow
@pytest.mark.parametrize("lock", ["ffi.lib._lock", "ps.later.loading"])
def test_a_fork_waits_for_what_cannot_be_made_anew(lock: str) -> None:
    """LLVM in the midst of a compilation, and modules half imported."""
    code = f"""
    from llvmlite.binding import ffi
    assert works()
    inside, left = threading.Event(), False
    def stay():
        global left
        with {lock}:
            inside.set()
            for _ in range(1000):
                time.sleep(0)  # lets the thread that forks come to it
            left = True
    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait()
    print(forked(lambda: left and works()))
    thread.join()
    with {lock}:
        print(forked(works))
    """
    assert run(BEGIN, code).split() == ["0", "0"]


@pytest.mark.slow
def test_another_thread_imports_what_a_call_needs() -> None:
    code = """
    from importlib.abc import MetaPathFinder
    found, importing = False, threading.Event()
    class Slow(MetaPathFinder):
        def find_spec(self, name, path, target=None):
            if name == "polysched.poly.sets.isl":
                importing.set()
                for _ in range(1000):
                    time.sleep(0)
    sys.meta_path.insert(0, Slow())
    thread = threading.Thread(target=works)
    thread.start()
    importing.wait()
    print(forked(works))
    thread.join()
    """
    assert run(BEGIN, code).split() == ["0"]


@pytest.mark.slow
@pytest.mark.parametrize("start", ["forked(works)", "process()"])
def test_another_thread_compiles(start: str) -> None:
    code = f"""
    import multiprocessing
    def child():
        signal.alarm(100)
        sys.exit(not works())
    def process():
        there = multiprocessing.get_context("fork").Process(target=child)
        there.start()
        there.join()
        return there.exitcode
    compiled, stop = 0, False
    def compile_on():
        global compiled
        while not stop:
            compiled += 1
            ps.Schedule(program(compiled)).compile()
    threads = [threading.Thread(target=compile_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    print({{{start} for _ in range(12)}})
    stop = True
    for thread in threads:
        thread.join()
    """
    assert run(BEGIN, code).split() == ["{0}"]


@pytest.mark.slow
def test_properties_that_another_thread_computes() -> None:
    """Those of functools hold a lock, in some versions of Python."""
    code = """
    from polysched.cached import cached_property
    class Slow:
        steps = []
        @cached_property
        def value(self):
            self.steps.append(threading.current_thread())
            if len(self.steps) == 1:
                with inside:
                    return 1
            return 2
    inside, slow = threading.Lock(), Slow()
    inside.acquire()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    while not slow.steps:
        time.sleep(0)
    print(forked(lambda: slow.value == 2 == slow.value))
    second = slow.value
    inside.release()
    thread.join()
    print(second, slow.value, len(slow.steps))
    """
    assert run(BEGIN, code).split() == ["0", "2", "2", "2"]


# kernels that run ---------------------------------------------------------------------------------
CHILD = """
def child():
    pid = os.fork()
    if pid == 0:
        signal.alarm(100)
        good, before = True, pools._pool.work_done() if pools._pool else []
        for _ in range(100_000):
            good = good and kernel(small).tobytes() == wanted
            if pools._pool.work_done() != before and any(c for c, _ in pools._pool.work_done()):
                os._exit(0 if good else 1)
        os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""


@pytest.mark.slow
def test_before_and_after_the_first_use() -> None:
    """The child has threads of its own."""
    code = """
    with ps.threads(1):
        wanted = kernel(small).tobytes()
    assert pools._pool is None
    print(child())
    assert kernel(small).tobytes() == wanted
    print([child() for _ in range(5)])
    assert kernel(small).tobytes() == wanted
    """
    assert run(KERNEL, CHILD, code).split("\n")[:2] == ["0", "[0, 0, 0, 0, 0]"]


@pytest.mark.slow
def test_another_thread_runs_a_kernel() -> None:
    code = """
    wanted = kernel(small).tobytes()
    stop = False
    def work():
        while not stop:
            kernel(small)
    other = threading.Thread(target=work)
    other.start()
    print([child() for _ in range(5)])
    stop = True
    other.join()
    """
    assert run(KERNEL, CHILD, code).split("\n")[0] == "[0, 0, 0, 0, 0]"


@pytest.mark.slow
def test_a_handler_forks_in_the_midst_of_a_parallel_loop() -> None:
    """Both processes do all iterations, in the child the one thread that is left. Workers are in
    a chunk when the signal comes, or the loop is tried again."""
    code = """
    import ctypes
    from polysched.codegen.llvm.text.layout import BOX, LINE
    from polysched.codegen.llvm.threads.runtime import RUNNING
    pool = pools.pool(3)
    pool.thresholds(0, 0, 0)
    large = np.linspace(-1, 1, 4_000_000, dtype=np.float32).reshape(400, -1)
    wanted = kernel(large).tobytes()
    boxes = [ctypes.c_int64.from_address(pool.address + LINE * (1 + k)) for k in range(2)]
    me, over, child, late = threading.main_thread().ident, False, None, 0

    def handler(*_):
        global child
        if child is None and not over:
            child = os.fork()
            if child == 0:
                signal.alarm(100)

    def send():
        while not any(box.value & 7 == RUNNING for box in boxes):
            if over:
                return
        signal.pthread_kill(me, signal.SIGUSR1)

    signal.signal(signal.SIGUSR1, handler)
    forks, codes = 0, set()
    while forks < 8:
        over, child = False, None
        sender = threading.Thread(target=send)
        sender.start()
        good = kernel(large).tobytes() == wanted
        if child == 0:
            os._exit(0 if good and kernel(large).tobytes() == wanted else 1)
        over = True
        sender.join()
        assert good
        if child is not None:
            codes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            forks += 1
    print(codes)
    """
    assert run(KERNEL, code) == "{0}\n"


@pytest.mark.slow
def test_an_extern_stage_forks() -> None:
    """The call goes on in both."""
    code = """
    def fork(a):
        global child
        child = os.fork()
        if child == 0:
            signal.alarm(100)
        return a + 1
    y = ps.Input("y", ps.float32, (n, m))
    stage = ps.extern("stage", fork, [y], (n, m), ps.float32)
    g = ps.Func("g", (n, m))
    g[i, j] = stage[i, j] * 2
    s = ps.Schedule(g)
    s[g].parallel(i)
    both = s.compile()
    pools.pool(3).thresholds(0, 0, 0)
    for _ in range(5):
        good = (both(small) == 4).all()
        if child == 0:
            os._exit(0 if good and (kernel(small) == kernel(small)[0, 0]).all() else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), good)
    """
    assert run(KERNEL, code).split() == ["0", "True"] * 5


@pytest.mark.slow
def test_signals_in_a_child_whose_parent_was_in_a_handler() -> None:
    """Another thread forks, and is the main thread of the child: there it can be interrupted."""
    code = """
    from polysched.codegen.runtime.calls import Call
    from polysched.codegen.llvm.text.layout import CALL
    def asks():
        with Call(1) as call:
            return call.words[CALL["callback"] // 8] != 0
    codes = []
    def handler(*_):
        thread = threading.Thread(target=lambda: codes.append(forked(asks)))
        thread.start()
        thread.join()
        codes.append(asks())
        raise KeyboardInterrupt
    signal.signal(signal.SIGINT, handler)
    k = ps.RVar("k", 0, ps.Param("steps", ps.int64))
    x, f = ps.Input("x", ps.float64, (n,)), ps.Func("f", (n,))
    f[i] = 0.0
    f[i] += ps.exp(x[i] * k)
    kernel, out = ps.Schedule(f).compile(), np.full(1, np.nan)
    def send():
        while np.isnan(out[0]):
            time.sleep(0)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        kernel(np.zeros(1), steps=1 << 39, out=out)
    except KeyboardInterrupt:
        print(codes)
    sender.join()
    """
    assert run(BEGIN, code) == "[0, False]\n"
