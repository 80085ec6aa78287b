"""What this machine can do at most, measured now: multiply-adds in registers, and memory.

The loops are written as LLVM text, so that nothing but llvmlite is needed, and no compiler
decides what is measured.
"""

from __future__ import annotations

import ctypes
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

import llvmlite.binding as llvm
import numpy as np
from setting import Setting

STEPS = 500_000  # of the loop, a few milliseconds
BYTES = 128 << 20  # of one array, beyond the caches
TRIES = 12


@dataclass(frozen=True, slots=True)
class Peak:
    """Of so many threads: operations and bytes a second."""

    threads: int
    flops: dict[str, float]
    bandwidth: float

    def seconds(self, flops: float, dtype: str, nbytes: float) -> float:
        """No program with so many operations and bytes can be faster, unless caches hold them."""
        return max(flops / self.flops[dtype], nbytes / self.bandwidth)

    def or_more(self, other: Peak) -> Peak:
        """The larger one of each: less is what was left of the machine, or of its clock."""
        flops = {t: max(x, other.flops[t]) for t, x in self.flops.items()}
        return Peak(self.threads, flops, max(self.bandwidth, other.bandwidth))

    def __str__(self) -> str:
        f32, f64 = (self.flops[t] / 1e9 for t in ("f32", "f64"))
        return (
            f"measured peak of {self.threads} thread(s): {f32:.0f} GFLOP/s in f32, {f64:.0f} in "
            f"f64, {self.bandwidth / 1e9:.1f} GB/s of memory"
        )


def measure(setting: Setting) -> Peak:
    """Takes about a second."""
    threads, wide = setting.threads, setting.vector_bytes
    barrier = Barrier(threads)
    with ThreadPoolExecutor(threads) as pool:

        def best(work: Callable[[int], object]) -> float:
            def together(number: int) -> None:
                barrier.wait()  # else one thread might do all of it, one after the other
                work(number)

            times = []
            for _ in range(TRIES):
                start = time.perf_counter()
                list(pool.map(together, range(threads)))
                times.append(time.perf_counter() - start)
            return min(times)

        flops = {}
        for dtype, bits in (("f32", 32), ("f64", 64)):
            lanes = wide * 8 // bits
            chains = _chains(wide)
            work = _multiply_adds(lanes, chains, {"f32": "float", "f64": "double"}[dtype])
            # Many short calls a thread would measure the pool: one call each, and long.
            flops[dtype] = (
                threads * 2 * len(chains) * lanes * STEPS / best(lambda _, w=work: w(STEPS))
            )
        bandwidth = _bandwidth(threads, wide, best)
    return Peak(threads, flops, bandwidth)


def _chains(vector_bytes: int) -> range:
    """Multiply-adds that do not wait for each other: more than latency times throughput of any
    core, fewer than its registers."""
    return range(12 if vector_bytes == 32 else 24)


def _bandwidth(
    threads: int, vector_bytes: int, best: Callable[[Callable[[int], object]], float]
) -> float:
    """The better of a copy and a triad a = b + s c; bytes are counted as the program names them,
    not those that a cache reads before it writes."""
    n = BYTES // 8 // threads
    a, b, c = (np.full((threads, n), k, np.float64) for k in range(3))
    triad = _triad(vector_bytes // 8)
    copied = 2 * BYTES / best(lambda t: np.copyto(a[t], b[t]))
    added = 3 * BYTES / best(lambda t: triad(*(x[t].ctypes.data for x in (a, b, c)), n))
    return max(copied, added)


_KEPT: list[object] = []  # engines, whose code must stay


def _compiled(text: str, *types: type) -> Callable[..., None]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(llvm.get_host_cpu_name(), features, opt=3)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    _KEPT.append(engine)
    # A foreign call, during which Python's other threads run.
    return ctypes.CFUNCTYPE(None, *types)(engine.get_function_address("run"))


def _multiply_adds(lanes: int, chains: range, scalar: str) -> Callable[..., None]:
    """x = x * x + x in each of some registers, which stay zero."""
    v = f"<{lanes} x {scalar}>"
    fma = f"@llvm.fma.v{lanes}f{32 if scalar == 'float' else 64}"
    phis = [f"  %x{c} = phi {v} [ zeroinitializer, %entry ], [ %y{c}, %loop ]" for c in chains]
    steps = [f"  %y{c} = call {v} {fma}({v} %x{c}, {v} %x{c}, {v} %x{c})" for c in chains]
    # An empty piece of assembly that reads a register keeps its chain alive.
    kind = "v" if platform.machine() in ("x86_64", "AMD64") else "w"
    ends = [f'  call void asm sideeffect "", "{kind}"({v} %y{c})' for c in chains]
    return _compiled(
        f"""declare {v} {fma}({v}, {v}, {v})
define void @run(i64 %n) "prefer-vector-width"="512" "min-legal-vector-width"="512" {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{_lines(phis)}
{_lines(steps)}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
{_lines(ends)}
  ret void
}}""",
        ctypes.c_int64,
    )


def _triad(lanes: int) -> Callable[..., None]:
    """a = b + 3 c, past the caches."""
    v = f"<{lanes} x double>"
    three = "double " + ", double ".join(["3.0"] * lanes)
    return _compiled(
        f"""declare {v} @llvm.fma.v{lanes}f64({v}, {v}, {v})
define void @run(ptr %a, ptr %b, ptr %c, i64 %n)
  "prefer-vector-width"="512" "min-legal-vector-width"="512" {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %pa = getelementptr double, ptr %a, i64 %i
  %pb = getelementptr double, ptr %b, i64 %i
  %pc = getelementptr double, ptr %c, i64 %i
  %vb = load {v}, ptr %pb, align 8
  %vc = load {v}, ptr %pc, align 8
  %va = call {v} @llvm.fma.v{lanes}f64({v} %vc, {v} <{three}>, {v} %vb)
  store {v} %va, ptr %pa, align 8
  %next = add i64 %i, {lanes}
  %last = add i64 %next, {lanes}
  %more = icmp ule i64 %last, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}""",
        *[ctypes.c_void_p] * 3,
        ctypes.c_int64,
    )


def _lines(parts: list[str]) -> str:
    return "\n".join(parts)
