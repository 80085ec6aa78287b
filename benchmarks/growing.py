"""What stays in memory of programs that were compiled, called and dropped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

MEMORY = "memory"
"""`make bench CASE=memory` picks the table."""

WARM, COUNT = 128, 512
"""Programs before anything is counted, and those that are: multiples of how many share a linker."""

MOST_KIB = 16.0
"""KiB that may stay of a program."""

_MEASURED = """
import ctypes, gc, json, os, sys
import numpy as np
import polysched as ps

class Info(ctypes.Structure):
    _fields_ = [(f"f{k}", ctypes.c_size_t) for k in range(10)]

C = ctypes.CDLL(None)
C.mallinfo2.restype = Info
what, warm, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
a = np.ones(64, np.float32)
n, i = ps.size("n"), ps.vars("i")

def one(k):
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = x[i] * 2.0 + float(k)
    if what != "defined":
        s = ps.Schedule(f)
        if what == "run":
            assert s.compile()(a)[0] == k + 2

def pass_builder(k):
    binding.create_pass_builder(machine, options).close()

def operation(k):
    everywhere.coalesce()

def seen():
    gc.collect()
    C.malloc_trim(0)
    info = C.mallinfo2()
    with open("/proc/self/statm") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    objects = sum(type(x).__module__.startswith("polysched") for x in gc.get_objects())
    return info.f7 + info.f4, resident, objects, len(os.listdir("/proc/self/fd"))

do = one
if what == "pass builder":
    from llvmlite import binding
    binding.initialize_native_target()
    machine = binding.Target.from_default_triple().create_target_machine()
    options = binding.create_pipeline_tuning_options()
    do = pass_builder
if what == "operation":
    import islpy
    everywhere = islpy.Set("{ [i] }")
    do = operation
for k in range(warm):
    do(k)
before = seen()
for k in range(warm, warm + count):
    do(k)
print(json.dumps([y - x for x, y in zip(before, seen())]))
"""
_ROWS = {
    "programs defined": "defined",
    "programs scheduled": "scheduled",
    "programs compiled and run": "run",
    "pass builders of llvmlite": "pass builder",
    "operations of islpy": "operation",
}


def memory_table() -> Iterator[bool]:
    """Prints what stays of each of many programs that differ, and of what libraries make for them;
    gives whether that is little, and no file is left open."""
    print(
        f"What stays of each of {COUNT} that were made and dropped, in bytes: what C's allocator "
        "has\nin use, and resident memory; of all together, objects of ours and open files"
    )
    print(f"{'':<28}{'in use':>10}{'resident':>10}{'objects':>10}{'files':>10}")
    if not sys.platform.startswith("linux"):
        print("only Linux says so\n")
        return
    for name, what in _ROWS.items():
        environment = {**os.environ, "POLYSCHED_CACHE": "0", "MALLOC_ARENA_MAX": "1"}
        command = [sys.executable, "-P", "-c", _MEASURED, what, str(WARM), str(COUNT)]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        used, resident, objects, files = json.loads(done.stdout)
        good = used <= MOST_KIB * 1024 * COUNT and files <= 0 and objects < COUNT
        said = "" if good else "  TOO MUCH"
        numbers = f"{used / COUNT:>10.0f}{resident / COUNT:>10.0f}{objects:>10}{files:>10}"
        print(f"{name:<28}{numbers}{said}", flush=True)
        yield good
    print()
