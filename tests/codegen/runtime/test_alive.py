"""What stays alive when programs, schedules and kernels are let go: nothing of ours.

Objects are counted, not bytes: islpy and llvmlite leave a little behind at each call of theirs.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched import forks
from polysched.codegen.llvm.machine import binding
from polysched.codegen.runtime import calls
from polysched.lang.nodes import nodes

HANDLES = "/proc/self/fd"

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


_caches: list[Any] = []


@pytest.fixture(autouse=True)
def what_was_there_before() -> None:
    """It is looked at once, for caches of ours. What is counted comes later."""
    gc.collect()
    gc.unfreeze()
    _caches[:] = caches()
    gc.freeze()


def caches() -> Iterator[Any]:
    for thing in gc.get_objects():
        if isinstance(thing, functools._lru_cache_wrapper) and _is_ours(thing):
            yield thing


def counted() -> Counter[str]:
    """Live objects by type, of ours, islpy and llvmlite, that a test has made; and what tables
    hold."""
    for cache in (*_caches, *caches()):
        cache.cache_clear()
    gc.collect()
    types = (type(thing) for thing in gc.get_objects())
    found = Counter(t.__qualname__ for t in types if _is_ours(t))
    found["nodes"], found["locks"] = len(nodes._table), len(forks._locks)
    found["calls"] = len(calls._mine.calls) + len(calls._mine.asked)
    if os.path.isdir(HANDLES):
        found["files"] = len(os.listdir(HANDLES))
    return found


def _is_ours(thing: Any) -> bool:
    # Those without a bound of their own are few, and small: what a machine is, what a type is.
    if getattr(thing, "cache_parameters", dict)().get("maxsize", 0) is None:
        return False
    return str(thing.__module__).startswith(("polysched", "islpy", "llvmlite"))


def compiled(number: int) -> ps.Kernel:
    """A program like no other, with storage, vectors, threads, and a stage that calls Python."""
    x, g = ps.Input("x", ps.float32, (n + 2, m)), ps.Func("g")
    g[i, j] = x[i, j] + x[i + 1, j] + number
    f = ps.Func(f"f{number}", (n, m))
    f[i, j] = g[i, j] * g[i + 1, j]
    h = ps.extern(f"h{number}", lambda a: a + number, [f], (n, m), ps.float32)
    s = ps.Schedule(h)
    s[g].compute_at(f, i)
    s[f].split(j, 8)
    s[f].vectorize("ji")
    s[f].parallel(i)
    return s.compile()


def run(number: int) -> None:
    """Compiles and calls; also what fails, a part of the output, strided arrays, a bare call."""
    kernel, x = compiled(number), np.ones((5, 9), np.float32)
    assert kernel(x)[0, 0] == (2 + number) ** 2 + number
    assert kernel(np.ones((5, 18), np.float32)[:, ::2]).shape == (3, 9)
    assert kernel(x, region=((0, 1), (0, 2))).shape == (1, 2)
    with pytest.raises(ps.CallError):
        kernel(x, out=x)
    f = ps.Func("f", (n,))
    f[i] = ps.Input("y", ps.float32, (n,))[i] * number
    assert f(x[0])[1] == number
    with pytest.raises(ps.ScheduleError):
        ps.Schedule(f)["f"].split("nothing", number + 2)


@pytest.mark.slow
def test_a_func_that_reads_itself_goes() -> None:
    """Nodes are shared by a table, whose keys keep nothing alive."""

    def made(number: int) -> None:
        f = ps.Func("f", (n,), ps.int32)
        f[i] = number
        f[i] += f[i] * number
        f[i] = ps.select(f[i] > number, f[i] - 1, f[i])

    made(0)
    before = counted()
    for number in range(1, 21):
        made(number)
    after = counted()
    # The last Func may stay for a while, with its nodes, of which it has seven.
    assert [name for name in ("Func", "Read", "nodes") if after[name] >= before[name] + 20] == []


@pytest.mark.slow
def test_nothing_of_ours_stays() -> None:
    for number in range(3):
        run(number)
    before = counted()
    for number in range(3, 15):
        run(number)
    after = counted()
    # The last of a kind may stay until the next one comes, but not one for each.
    assert {name: (before[name], k) for name, k in after.items() if k >= before[name] + 6} == {}


@pytest.mark.slow
def test_of_linkers_only_those_stay_whose_code_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their libraries leave something behind in them, until they go themselves."""
    from polysched.codegen.llvm import compile_module
    from polysched.codegen.llvm.machine import loader
    from polysched.targets.host import default_target

    def linked() -> Any:
        return compile_module('define i32 @"polysched.six"() { ret i32 6 }', default_target())

    monkeypatch.setattr(loader, "loaded", lambda *_: None)  # LLVM links what is not plain
    kept = linked()

    def linkers() -> int:
        gc.collect()
        return sum(type(thing).__name__ == "LLJIT" for thing in gc.get_objects())

    before = linkers()
    for _ in range(3 * binding.EACH):
        linked().address("six")
    assert linkers() <= before + 1  # the newest one may have kept nothing until now
    assert kept.address("six") != 0
    assert sys.getrefcount(kept._library.jit) >= 2
