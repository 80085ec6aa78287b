"""The pool: its threads take part, and calls share them; nobody waits for ever."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.llvm.functions.polls import emit_poll
from polysched.codegen.llvm.machine import binding
from polysched.codegen.llvm.threads.runtime import Waiting, emit_runtime
from polysched.codegen.runtime import pool as pools
from polysched.targets.host import default_target
from polysched.targets.known import named
from threads.processes import KERNEL, run
from threads.programs import (
    SCHEDULES,
    arguments,
    i,
    j,
    joined,
    m,
    made,
    n,
    on,
    outer,
    rows_of_its_own,
)


# threads really run -------------------------------------------------------------------------------
def test_workers_take_chunks() -> None:
    kernel = outer().compile()
    x = np.zeros((1000, 1000), np.float32)
    pool = made(2)
    before = pool.work_done()
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1
        on(2, kernel, x)

    joined(pool, call)
    assert sum(jobs for _, jobs in pool.work_done()) <= sum(jobs for _, jobs in before) + calls


def test_one_thread_means_no_worker(handed_out: pools.Pool) -> None:
    kernel, before = outer().compile(), handed_out.work_done()
    on(1, kernel, np.zeros((100, 100), np.float32))
    assert handed_out.work_done() == before


def test_little_work_is_not_handed_out() -> None:
    kernel = outer().compile()
    pool = made(2)
    before = pool.work_done()
    for _ in range(100):
        on(2, kernel, np.zeros((4, 4), np.float32))
    assert pool.work_done() == before


def test_no_more_threads_than_asked_for(handed_out: pools.Pool) -> None:
    """The copies of scratch memory are as many as threads."""
    kernel, x = rows_of_its_own().compile(), arguments(rows_of_its_own(), 300, 300)
    before = handed_out.work_done()
    for _ in range(50):
        on(2, kernel, x)
    jobs = [b[1] - a[1] for a, b in zip(before, handed_out.work_done(), strict=True)]
    assert sum(jobs) <= 50


# concurrent calls ---------------------------------------------------------------------------------
@pytest.mark.slow
def test_calls_from_eight_threads_at_once(handed_out: pools.Pool) -> None:
    """On one kernel and on several, with scratch memory of their own."""
    names = ["outer", "rows_of_its_own", "tiles_at_two_levels", "atomic_histogram"]
    schedules = [SCHEDULES[name]() for name in names]
    kernels = [s.compile() for s in schedules]
    inputs = [arguments(s, 40, 30) for s in schedules]
    wanted = [k(x).tobytes() for k, x in zip(kernels, inputs, strict=True)]

    def work(number: int) -> None:
        with ps.threads(1 + number % 4):
            for k in range(60):
                which = (number * (k % 2) + k) % len(kernels)
                assert kernels[which](inputs[which]).tobytes() == wanted[which]

    with ThreadPoolExecutor(8) as executor:
        for done in [executor.submit(work, number) for number in range(8)]:
            done.result(timeout=600)


@pytest.mark.slow
def test_kernels_dropped_while_others_run(handed_out: pools.Pool) -> None:
    gc.collect()
    gc.freeze()  # what is collected below is new
    keep, x = outer().compile(), np.zeros((300, 300), np.float32)
    wanted, stop = keep(x).tobytes(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            with ps.threads(3):
                assert keep(x).tobytes() == wanted

    with ThreadPoolExecutor(2) as executor:
        running = [executor.submit(work) for _ in range(2)]
        for _ in range(8):
            assert on(3, outer().compile(), x).tobytes() == wanted
            gc.collect()
        stop.set()
        for r in running:
            r.result(timeout=600)


def test_a_kernel_called_by_a_stage_of_another(handed_out: pools.Pool) -> None:
    x = ps.Input("x", ps.float32, (n, m))
    f, g = ps.Func("f", (n, m)), ps.Func("g", (n, m))
    f[i, j] = x[i, j] + 1
    g[i, j] = ps.trace(f[i, j], "f") * 2
    s = ps.Schedule(g)
    s[f].compute_root().parallel(i)
    s[g].parallel(i)
    with ps.threads(3):
        assert (s.compile()(np.zeros((3, 2), np.float32)) == 2).all()


@pytest.mark.slow
@pytest.mark.skipif(default_target().arch != "x86_64", reason="writes MXCSR")
def test_workers_have_their_own_floating_point_environment() -> None:
    """A thread begins with that of the one that made it, which may flush denormals to zero."""
    code = """
from polysched.codegen.llvm import compile_module
from polysched.targets.host import default_target
import ctypes
text = '''define void @"polysched.flush"() {
  %word = alloca i32
  store i32 40896, ptr %word
  call void @llvm.x86.sse.ldmxcsr(ptr %word)
  ret void
}'''
code = compile_module(text, default_target())
ctypes.CFUNCTYPE(None)(code.address("flush"))()
f = ps.Func("f", (n, m))
f[i, j] = x[i, j] * 0.5
s = ps.Schedule(f)
s[f].parallel(i)
kernel = s.compile()
small[:] = 2.0 ** -126
for _ in range(100_000):
    bits = kernel(small).view(np.int32)
    assert (bits == 1 << 22).all(), bits
    if work_done() > 50:
        break
print(work_done() > 50)
"""
    assert run(KERNEL + code) == "True\n"


def test_the_native_side_for_another_machine() -> None:
    """As text: AArch64, whose clock, pauses and system calls are others."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = named("neoverse-n1")
    for waiting in (Waiting(True), Waiting(False, 200)):
        assembly = binding.assembly(emit_runtime(target, waiting), target)
        assert "CNTVCT_EL0" in assembly
        assert "yield" in assembly
    assert "CNTVCT_EL0" in binding.assembly(emit_poll(target), target)
    object.__setattr__(target, "arch", "riscv64")
    with pytest.raises(ps.InternalError, match="no futex on riscv64"):
        emit_runtime(target, Waiting(True))


@pytest.mark.slow
def test_exit_while_workers_spin_and_sleep() -> None:
    spin = "kernel(small); print('end')"
    sleep = """
import ctypes
from polysched.codegen.llvm.text.layout import LINE
from polysched.codegen.llvm.threads.runtime import SLEEPING
pool = pools.pool(3)
boxes = [ctypes.c_int64.from_address(pool.address + LINE * (1 + k)) for k in range(2)]
kernel(small)
while not all(box.value & 7 == SLEEPING for box in boxes):
    time.sleep(0.001)
print("end")
"""
    assert run(KERNEL, spin) == run(KERNEL, sleep) == "end\n"


@pytest.mark.slow
def test_exit_while_kernels_run() -> None:
    """In a daemon thread, which never ends."""
    code = """
large = np.ones((4000, 4000), np.float32)
out = np.zeros_like(large)
def work():
    while True:
        kernel(large, out=out)
threading.Thread(target=work, daemon=True).start()
while not out.any():
    pass
print("end")
"""
    for _ in range(3):
        assert run(KERNEL, code) == "end\n"


@pytest.mark.slow
def test_threads_that_nap_instead_of_sleeping() -> None:
    """What systems without futex do."""
    code = """
from polysched.codegen.llvm.threads.runtime import Waiting
import ctypes
pools._waiting = lambda: (Waiting(False, 200), pools._address(ctypes.CDLL(None).usleep))
pools.pool(3).thresholds(0, 0, 0)
with ps.threads(1):
    wanted = kernel(small).tobytes()
for _ in range(100_000):
    assert kernel(small).tobytes() == wanted
    if work_done() > 50:
        break
print(work_done() > 50)
"""
    assert run(KERNEL + code) == "True\n"
