"""Parallel loops on threads: the same bits on any number of them, and nobody waits for ever."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.codegen import pool as pools
from polysched.codegen.ir import Buffer, For, Store, Stores
from polysched.codegen.llvm import Target, binding, host
from polysched.codegen.llvm.polls import emit_poll
from polysched.codegen.llvm.runtime import Waiting, emit_runtime
from polysched.codegen.parallel import why_serial
from polysched.codegen.threads import cgroup_quota
from polysched.lang.nodes import Var, integer

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
Array = np.ndarray
COUNTS = (1, 2, 3, 8)


def made(threads: int) -> pools.Pool:
    pool = pools.pool(threads)
    assert pool is not None
    return pool


@pytest.fixture
def handed_out() -> Iterator[pools.Pool]:
    """Every parallel loop goes to the pool, however short."""
    pool = made(max(COUNTS))
    pool.thresholds(0, 0, 0)
    yield pool
    pool.thresholds(pools.INLINE, pools.SHARE, pools.CHUNK)


# schedules ----------------------------------------------------------------------------------------
def scaled() -> tuple[ps.Func, ps.Schedule]:
    x = ps.Input("x", ps.float32, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = ps.exp(x[i, j]) * 2 + i
    return f, ps.Schedule(f)


def outer() -> ps.Schedule:
    f, s = scaled()
    s[f].parallel(i)
    return s


def inner() -> ps.Schedule:
    f, s = scaled()
    s[f].parallel(j)
    return s


def nested() -> ps.Schedule:
    f, s = scaled()
    s[f].parallel(i)
    s[f].parallel(j)
    return s


def fused() -> ps.Schedule:
    f, s = scaled()
    s[f].split(i, 4, tail="guard")
    s[f].parallel(s[f].fuse("io", "ii"))
    return s


def strips() -> ps.Schedule:
    f, s = scaled()
    s[f].split(i, 3)
    s[f].parallel("io")
    return s


def mirrored() -> ps.Schedule:
    f, s = scaled()
    s[f].parallel(i, 4)
    s[f].parallel("ii")
    return s


def blur() -> tuple[ps.Func, ps.Func, ps.Schedule]:
    x = ps.Input("x", ps.float32, (n + 2, m + 2))
    across, down = ps.Func("across"), ps.Func("blur", (n, m))
    across[i, j] = (x[i, j] + x[i, j + 1] + x[i, j + 2]) / 3
    down[i, j] = (across[i, j] + across[i + 1, j] + across[i + 2, j]) / 3
    return across, down, ps.Schedule(down)


def rows_of_its_own() -> ps.Schedule:
    """Scratch inside of the loop whose size is not known when compiling: one copy a thread."""
    across, down, s = blur()
    s[across].compute_at(down, i)
    s[down].parallel(i)
    return s


def small_tiles() -> ps.Schedule:
    """Storage on the stack."""
    across, down, s = blur()
    s[down].tile(i, j, 2, 4)
    s[across].compute_at(down, "jo")
    s[down].parallel("io")
    return s


def large_tiles() -> ps.Schedule:
    """More than may lie on the stack: 66 times 2050 floats are half a megabyte."""
    across, down, s = blur()
    s[down].tile(i, j, 64, 2048)
    s[across].compute_at(down, "jo")
    s[down].parallel("io")
    return s


def tiles_at_two_levels() -> ps.Schedule:
    """Parallel loops inside of each other, with storage between them and inside of both."""
    across, down, s = blur()
    s[down].tile(i, j, 4, 5)
    s[across].compute_at(down, "jo")
    s[down].parallel("io")
    s[down].parallel("jo")
    return s


def blocks_of_a_histogram() -> ps.Schedule:
    x = ps.Input("x", ps.uint8, (n, m))
    r, c = ps.rdom("r c", (0, n), (0, m))
    h = ps.Func("h", (256,), ps.int32)
    h[i] = 0
    h[x[r, c]] += 1
    s = ps.Schedule(h)
    u = s[h].update(0)
    u.split(r, 3)
    partial = u.rfactor("ro")
    s[partial].update(0).parallel("ro")
    return s


def merged_in_parallel() -> ps.Schedule:
    s = blocks_of_a_histogram()
    s["h.update(0)"].parallel("i")
    return s


def atomic_histogram() -> ps.Schedule:
    x = ps.Input("x", ps.uint8, (n, m))
    r, c = ps.rdom("r c", (0, n), (0, m))
    h = ps.Func("h", (256,), ps.int32)
    h[i] = 0
    h[x[r, c]] += 1
    s = ps.Schedule(h)
    s[h].update(0).atomic().parallel(r)
    return s


def atomic_maximum() -> ps.Schedule:
    x = ps.Input("x", ps.float32, (n, m))
    r, c = ps.rdom("r c", (0, n), (0, m))
    h = ps.Func("h", (3,), ps.float32)
    h[i] = -1.0
    h[(r + c) % 3] = ps.maximum(h[(r + c) % 3], x[r, c])
    s = ps.Schedule(h)
    s[h].update(0).atomic().parallel(r)
    return s


def triangle() -> ps.Schedule:
    """An inner loop whose length depends on the parallel one, in steps of a recurrence."""
    x = ps.Input("x", ps.float64, (n, m))
    k = ps.RVar("k", 0, ps.minimum(i + 1, m))
    f = ps.Func("f", (n,), ps.float64)
    f[i] = 0.0
    f[i] += x[i, k]
    s = ps.Schedule(f)
    s[f].update(0).parallel(i)
    return s


SCHEDULES: dict[str, Callable[[], ps.Schedule]] = {
    f.__name__: f
    for f in (
        outer, inner, nested, fused, strips, mirrored, rows_of_its_own, small_tiles, large_tiles,
        tiles_at_two_levels, blocks_of_a_histogram, merged_in_parallel, atomic_histogram,
        atomic_maximum, triangle,
    )
}  # fmt: skip


def arguments(s: ps.Schedule, rows: int, columns: int) -> Array:
    (x,) = s.program.inputs
    shape = (rows + 2, columns + 2) if len(s.program.funcs) > 1 and "blur" in str(s) else None
    shape = shape or (rows, columns)
    rng = np.random.default_rng(rows)
    if x.dtypes[0] == ps.uint8:
        return rng.integers(0, 256, shape, dtype=np.uint8)
    return rng.standard_normal(shape).astype(x.dtypes[0].numpy)


def on(count: int, kernel: Any, *args: Any) -> Any:
    with ps.threads(count):
        return kernel(*args)


def joined(pool: pools.Pool, call: Callable[[], None], chunks: int = 10) -> None:
    """Calls until the workers have taken so many chunks; others may have the CPUs for a while."""
    before, start = pool.work_done(), time.perf_counter()
    while time.perf_counter() - start < 20:
        call()
        if sum(c for c, _ in pool.work_done()) - sum(c for c, _ in before) >= chunks:
            return
    pytest.fail("no worker took a chunk")


@pytest.mark.parametrize("name", SCHEDULES)
def test_same_bits_on_any_number_of_threads(name: str, handed_out: pools.Pool) -> None:
    s = SCHEDULES[name]()
    kernel = s.compile()
    for rows, columns in ((0, 0), (1, 1), (1, 7), (13, 5), (37, 11)):
        x = arguments(s, rows, columns)
        wanted = ps.interpret(s.program.outputs[0], x)
        for count in COUNTS:
            for _ in range(5):
                found = on(count, kernel, x)
                assert found.tobytes() == wanted.tobytes(), (name, rows, columns, count)
    x = arguments(s, 400, 300)
    alone = on(1, kernel, x)

    def again() -> None:
        for count in COUNTS[1:]:
            assert on(count, kernel, x).tobytes() == alone.tobytes(), (name, count)

    joined(handed_out, again)


@pytest.mark.slow
def test_large_tiles_against_numpy(handed_out: pools.Pool) -> None:
    s = large_tiles()
    x = arguments(s, 517, 2500)
    across = (x[:, :-2] + x[:, 1:-1] + x[:, 2:]) / np.float32(3)
    wanted = (across[:-2] + across[1:-1] + across[2:]) / np.float32(3)
    kernel = s.compile()
    results = [on(count, kernel, x) for count in COUNTS]
    assert all(r.tobytes() == results[0].tobytes() for r in results)
    np.testing.assert_allclose(results[0], wanted, rtol=1e-4, atol=1e-5)


def test_atomic_sums_of_floats(handed_out: pools.Pool) -> None:
    """Of whole numbers, so that their order does not matter."""
    x = ps.Input("x", ps.float64, (n, m))
    r, c = ps.rdom("r c", (0, n), (0, m))
    f = ps.Func("f", (), ps.float64)
    f[()] = 0.0
    f[()] += x[r, c]
    s = ps.Schedule(f)
    s["f.update(0)"].reassociate().atomic().parallel(r)
    x_ = np.arange(64.0 * 500).reshape(64, 500)
    kernel = s.compile()
    for count in COUNTS:
        assert on(count, kernel, x_)[()] == x_.sum()


def test_pairs_that_are_accumulated_run_in_order() -> None:
    """One compare-and-swap holds no pair: such a loop is not handed out."""
    out = [Buffer(name, ps.int64, (integer(1),), (integer(0),), "output") for name in "ab"]
    k = Var("k")
    stores = tuple(Store(b, (integer(0),), k, atomic=True) for b in out)
    one, two = (
        For(k, integer(0), integer(9), 1, "parallel", Stores(s), "k") for s in (stores[:1], stores)
    )
    assert why_serial(one) is None
    assert why_serial(two) == "what it accumulates is not one number at a time"


def test_zero_divisors_are_counted_on_all_threads(handed_out: pools.Pool) -> None:
    x = ps.Input("x", ps.int32, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = 7 // x[i, j]
    s = ps.Schedule(f)
    s[f].parallel(i)
    kernel = s.compile(checks=True)
    x_ = np.zeros((1999, 300), np.int32)
    x_[::3, ::5] = 1
    zeros = int((x_ == 0).sum())

    def again() -> None:
        for count in COUNTS:
            with pytest.raises(ps.CallError, match=f"^{zeros} integer divisions by zero"):
                on(count, kernel, x_)

    joined(handed_out, again, 100)
    # Where the CPUs are busy threads rarely meet, and sums may be right by luck.
    assert "atomicrmw add ptr" in kernel.llvm


@pytest.mark.slow
@pytest.mark.skipif(host().arch != "x86_64", reason="writes MXCSR")
def test_workers_have_their_own_floating_point_environment() -> None:
    """A thread begins with that of the one that made it, which may flush denormals to zero."""
    code = """
from polysched.codegen.llvm import compile_module, host
import ctypes
text = '''define void @"polysched.flush"() {
  %word = alloca i32
  store i32 40896, ptr %word
  call void @llvm.x86.sse.ldmxcsr(ptr %word)
  ret void
}'''
code = compile_module(text, host())
ctypes.CFUNCTYPE(None)(code.address("flush"))()
f = ps.Func("f", (n, m))
f[i, j] = x[i, j] * 0.5
s = ps.Schedule(f)
s[f].parallel(i)
kernel = s.compile()
small[:] = 2.0 ** -126
start = time.perf_counter()
while time.perf_counter() - start < 20:
    bits = kernel(small).view(np.int32)
    assert (bits == 1 << 22).all(), bits
    if sum(c for c, _ in pools.pool(3).work_done()) > 50:
        break
print(sum(c for c, _ in pools.pool(3).work_done()) > 50)
"""
    assert run(KERNEL + code) == "True\n"


def test_streamed_stores_are_there_when_a_call_returns(handed_out: pools.Pool) -> None:
    f, s = scaled()
    s[f].stream()
    s[f].parallel(i)
    kernel, x = s.compile(), np.zeros((64, 64), np.float32)
    for k in range(200):
        x[:] = k / 256
        found = on(3, kernel, x)
        assert (found[0] == found[0, 0]).all()
        assert (found - np.arange(64, dtype=np.float32)[:, None] == found[0, 0]).all() or k


def test_a_schedule_says_what_runs_on_one_thread() -> None:
    x = ps.Input("x", ps.float32, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = ps.trace(f[i], "f")
    s = ps.Schedule(g)
    s[f].compute_root().parallel(i)
    assert "one thread" not in str(s)
    s[g].parallel(i)
    note = "i runs on one thread: g calls Python"
    assert str(s).count("one thread") == 1
    assert note in str(s)
    assert note in s.explain()


def test_the_native_side_for_another_machine() -> None:
    """As text: AArch64, whose clock, pauses and system calls are others."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = Target("aarch64-unknown-linux-gnu", "neoverse-n1", "")
    for waiting in (Waiting(True), Waiting(False, 200)):
        assembly = binding.assembly(emit_runtime(target, waiting), target.machine)
        assert "CNTVCT_EL0" in assembly
        assert "yield" in assembly
    assert "CNTVCT_EL0" in binding.assembly(emit_poll(target), target.machine)
    with pytest.raises(ps.InternalError, match="no futex on riscv64"):
        emit_runtime(Target("riscv64-unknown-linux-gnu", "", ""), Waiting(True))


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
    time.sleep(0.01)
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
            done.result(timeout=60)


@pytest.mark.slow
def test_kernels_dropped_while_others_run(handed_out: pools.Pool) -> None:
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
            r.result(timeout=60)


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


# the number of threads ----------------------------------------------------------------------------
@pytest.mark.slow
def test_numbers_set_and_scoped() -> None:
    before = ps.get_num_threads()
    with ps.threads(3):
        assert ps.get_num_threads() == 3
        with ps.threads(np.int64(5)):
            assert ps.get_num_threads() == 5
            with ThreadPoolExecutor(1) as executor:  # it holds for this thread only
                assert executor.submit(ps.get_num_threads).result() == before
        assert ps.get_num_threads() == 3
    assert ps.get_num_threads() == before
    code = "import polysched as ps; ps.set_num_threads(7); print(ps.get_num_threads())"
    assert run(code).split() == ["7"]


@pytest.mark.parametrize("wrong", [0, -1, 1025])
def test_numbers_out_of_range(wrong: int) -> None:
    with pytest.raises(
        ValueError, match=rf"set_num_threads\(n\): n must be from 1 to 1024, not {wrong}"
    ):
        ps.set_num_threads(wrong)
    with pytest.raises(ValueError, match=r"^threads\(n\): n must be from 1 to 1024"):
        ps.threads(wrong)


@pytest.mark.parametrize("wrong", [1.0, "2", None, True])
def test_numbers_that_are_none(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"set_num_threads\(n\): n must be an integer, not"):
        ps.set_num_threads(wrong)
    with pytest.raises(TypeError, match=r"^threads\(n\): n must be an integer"):
        ps.threads(wrong)


def run(code: str, timeout: float = 60, **variables: str) -> str:
    """What a program prints that ends as it should."""
    unset = ("POLYSCHED_NUM_THREADS", "OMP_NUM_THREADS")
    environment = {k: v for k, v in os.environ.items() if k not in unset}
    done = subprocess.run(
        [sys.executable, "-P", "-X", "faulthandler", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**environment, **variables},
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    assert done.stderr == ""
    return done.stdout


NUMBER = "import polysched as ps; print(ps.get_num_threads())"


@pytest.mark.slow
def test_numbers_from_the_environment() -> None:
    assert run(NUMBER, POLYSCHED_NUM_THREADS="5", OMP_NUM_THREADS="3").split() == ["5"]
    assert run(NUMBER, OMP_NUM_THREADS="3").split() == ["3"]
    assert run(NUMBER, OMP_NUM_THREADS="4,2").split() == ["4"]
    assert run(NUMBER, POLYSCHED_NUM_THREADS="", OMP_NUM_THREADS="dynamic").split() == [
        run(NUMBER).strip()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["0", "-2", "many", "1.5"])
def test_wrong_numbers_in_the_environment(text: str) -> None:
    code = """
        import polysched as ps
        try:
            ps.get_num_threads()
        except ValueError as error:
            print(error)
    """
    wanted = f"POLYSCHED_NUM_THREADS must be an integer from 1 to 1024, not {text!r}\n"
    assert run(code, POLYSCHED_NUM_THREADS=text) == wanted


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="affinity is Linux's")
def test_numbers_from_the_affinity() -> None:
    code = f"import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); {NUMBER}"
    assert run(code).split() == ["1"]


def test_quotas_of_cgroups(tmp_path: Path) -> None:
    groups, root = tmp_path / "cgroup", tmp_path / "fs"
    inner = root / "a" / "b"
    inner.mkdir(parents=True)
    groups.write_text("0::/a/b\n")
    assert cgroup_quota(groups, root) is None
    (inner / "cpu.max").write_text("max 100000\n")
    assert cgroup_quota(groups, root) is None
    (root / "a" / "cpu.max").write_text("150000 100000\n")
    assert cgroup_quota(groups, root) == 2
    (inner / "cpu.max").write_text("50000 100000\n")
    assert cgroup_quota(groups, root) == 1
    groups.write_text("0::/elsewhere\n")  # a container sees its own group as the root
    (root / "cpu.max").write_text("300000 100000\n")
    assert cgroup_quota(groups, root) == 3
    assert cgroup_quota(tmp_path / "none", root) is None


def test_quotas_of_older_cgroups(tmp_path: Path) -> None:
    groups, root = tmp_path / "cgroup", tmp_path / "fs"
    group = root / "cpu,cpuacct" / "docker" / "x"
    group.mkdir(parents=True)
    groups.write_text("5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n")
    (group / "cpu.cfs_period_us").write_text("100000\n")
    (group / "cpu.cfs_quota_us").write_text("-1\n")
    assert cgroup_quota(groups, root) is None
    (group / "cpu.cfs_quota_us").write_text("250000\n")
    assert cgroup_quota(groups, root) == 3


@pytest.mark.slow
def test_one_thread_inside_of_workers_of_joblib_and_dask() -> None:
    """With stand-ins that look like what these packages have."""
    code = """
        import sys, types
        import polysched as ps
        joblib = types.ModuleType("joblib")
        level = types.SimpleNamespace(nesting_level=0)
        joblib.parallel = types.SimpleNamespace(get_active_backend=lambda: (level, 1))
        sys.modules["joblib"] = joblib
        default = ps.get_num_threads()
        level.nesting_level = 1
        print(ps.get_num_threads())
        level.nesting_level = 0
        assert ps.get_num_threads() == default
        sys.modules["dask"] = types.ModuleType("dask")
        sys.modules["distributed"] = distributed = types.ModuleType("distributed")
        distributed.get_worker = lambda: "a worker"
        print(ps.get_num_threads())
        with ps.threads(3):
            print(ps.get_num_threads())
    """
    assert run(code, OMP_NUM_THREADS="4").split() == ["1", "1", "3"]


# processes ----------------------------------------------------------------------------------------
KERNEL = """
import os, signal, sys, threading, time
import numpy as np
import polysched as ps
from polysched.codegen import pool as pools
from polysched.codegen.ir import Buffer, For, Store, Stores
from polysched.codegen.llvm import host
from polysched.codegen.parallel import why_serial
n, m = ps.sizes("n m")
i, j = ps.vars("i j")
x = ps.Input("x", ps.float32, (n, m))
f = ps.Func("f", (n, m))
f[i, j] = ps.tanh(ps.exp(x[i, j])) * 2
s = ps.Schedule(f)
s[f].parallel(i)
kernel = s.compile()
ps.set_num_threads(3)
small = np.ones((300, 1000), np.float32)
"""

FORK = """
def child():
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        good, before = True, pools._pool.work_done() if pools._pool else []
        for _ in range(1000):
            good = good and kernel(small).tobytes() == wanted
            if pools._pool.work_done() != before and any(c for c, _ in pools._pool.work_done()):
                os._exit(0 if good else 1)
        os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""


def test_forked_before_and_after_the_first_use() -> None:
    before = """
with ps.threads(1):
    wanted = kernel(small).tobytes()
assert pools._pool is None
print(child())
"""
    after = """
assert kernel(small).tobytes() == wanted
print([child() for _ in range(5)])
assert kernel(small).tobytes() == wanted
"""
    assert run(KERNEL + FORK + before + after).split("\n")[:2] == ["0", "[0, 0, 0, 0, 0]"]


@pytest.mark.slow
def test_forked_while_another_thread_runs_a_kernel() -> None:
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
    assert run(KERNEL + FORK + code).split("\n")[0] == "[0, 0, 0, 0, 0]"


@pytest.mark.slow
def test_exit_while_workers_spin_and_sleep() -> None:
    for pause in ("0", "0.2"):
        assert run(KERNEL + f"kernel(small); time.sleep({pause}); print('end')") == "end\n"


@pytest.mark.slow
def test_exit_while_kernels_run() -> None:
    """In a daemon thread, for seconds more."""
    code = """
large = np.ones((4000, 4000), np.float32)
out = np.empty_like(large)
def work():
    while True:
        kernel(large, out=out)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
print("end")
"""
    for _ in range(3):
        start = time.perf_counter()
        assert run(KERNEL + code) == "end\n"
        assert time.perf_counter() - start < 20


@pytest.mark.slow
def test_threads_that_nap_instead_of_sleeping() -> None:
    """What systems without futex do."""
    code = """
from polysched.codegen.llvm.runtime import Waiting
import ctypes
pools._waiting = lambda: (Waiting(False, 200), pools._address(ctypes.CDLL(None).usleep))
pools.pool(3).thresholds(0, 0, 0)
with ps.threads(1):
    wanted = kernel(small).tobytes()
for k in range(50):
    assert kernel(small).tobytes() == wanted
    time.sleep(0.001)
print(sum(c for c, _ in pools.pool(3).work_done()) > 0)
"""
    assert run(KERNEL + code) == "True\n"


# signals ------------------------------------------------------------------------------------------
LONG = """
import os, signal, threading, time
import numpy as np
import polysched as ps
n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, m)
A, B = ps.Input("A", ps.float32, (n, m)), ps.Input("B", ps.float32, (m, l))
C = ps.Func("C", (n, l))
C[i, j] = 0
C[i, j] += A[i, k] * B[k, j]
x = ps.Input("x", ps.float32, (n,))
f = ps.Func("f", (n,))
f[i] = ps.tanh(ps.exp(x[i]))
serial = ps.Schedule(C).compile()
s = ps.Schedule(C)
s["C.update(0)"].parallel(i)
parallel = s.compile()
flat = ps.Schedule(f).compile()
s = ps.Schedule(f)
s[f].parallel(i)
flat_parallel = s.compile()
a = np.ones((2500, 2500), np.float32)
# Of zeros, which take no memory until they are read: gigabytes of ones take a minute to write.
wide, high = np.zeros((2, 1_000_000), np.float32), np.zeros((1_000_000, 900), np.float32)
row = np.zeros(200_000_000, np.float32)

def interrupted(kernel, *arrays, **options):
    # The quickest of three counts: others share the machine.
    late = [interruption(kernel, *arrays, **options)]
    while min(late) >= 0.2 and len(late) < 3:
        late.append(interruption(kernel, *arrays, **options))
    print("yes" if min(late) < 0.2 else late)

def interruption(kernel, *arrays, **options):
    sent = 0.0
    def send():
        nonlocal sent
        sent = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.2, send)
    timer.start()
    try:
        kernel(*arrays, **options)
        late = float("inf")
    except KeyboardInterrupt:
        late = time.perf_counter() - sent
    timer.join()
    return late
"""


@pytest.mark.slow
def test_interrupted_within_a_fifth_of_a_second() -> None:
    """Many short iterations, few long ones, one loop or three; on one thread and on several."""
    code = """
out = np.empty_like(row)
for count in (1, 3):
    with ps.threads(count):
        interrupted(serial, a, a)
        interrupted(parallel, a, a)
        interrupted(parallel, wide, high)
        interrupted(flat, row, out=out)
        interrupted(flat_parallel, row, out=out)
eye = np.eye(50, dtype=np.float32)
assert (parallel(eye, eye) == eye).all()  # nothing is left behind
"""
    assert run(LONG + code).split() == ["yes"] * 10


@pytest.mark.slow
def test_handlers_run_while_a_kernel_does() -> None:
    """One that raises nothing changes nothing, and may call kernels."""
    code = """
b = np.random.default_rng(1).standard_normal((600, 600)).astype(np.float32)
wanted, small = serial(b, b), np.eye(9, dtype=np.float32)
seen = []
def handler(*_):
    seen.append(time.perf_counter())
    assert (parallel(small, small) == small).all()
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
for kernel in (serial, parallel):
    for count in (1, 3):
        with ps.threads(count):
            for _ in range(3):
                start, before = time.perf_counter(), len(seen)
                assert (kernel(b, b) == wanted).all()
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(seen) > 3)
def fail(*_):
    raise RuntimeError("enough")
signal.signal(signal.SIGALRM, fail)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    serial(a, a)
except RuntimeError as error:
    print(error)
"""
    assert run(LONG + code) == "True\nenough\n"


def test_an_error_in_a_callback_ends_the_kernel() -> None:
    x = ps.Input("x", ps.float32, (n, m))
    k = ps.RVar("k", 0, m)
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = 0.0
    f[i] += ps.exp(x[i, k])
    calls = []

    class Loud:
        def write(self, text: str) -> int:
            calls.append(text)
            raise ValueError("loud")

    g[i] = ps.trace(f[i], "f")
    s = ps.Schedule(g)
    s[f].compute_at(g, i)
    kernel, long = s.compile(), np.zeros((1000, 100_000), np.float32)
    start = time.perf_counter()
    stdout, sys.stdout = sys.stdout, Loud()  # type: ignore[assignment]
    try:
        with pytest.raises(ValueError, match="loud"):
            kernel(long)
    finally:
        sys.stdout = stdout
    assert len(calls) == 1
    assert time.perf_counter() - start < 0.3  # of about half a second
