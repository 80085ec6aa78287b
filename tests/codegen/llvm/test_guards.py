"""What must not be touched is not: arrays flush against a page that may not be read.

In a process of its own, because failing means a segmentation fault.
"""

from __future__ import annotations

import ctypes
import mmap
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

pytest.importorskip("resource", reason="needs mprotect")

from codegen.llvm.harness import add, buffer, i, load, loop, lt, module, node, op, run, size, store

import polysched as ps
from polysched.codegen.ir import ir
from polysched.lang.nodes.dtypes import DType, bool_, float32, int64

n = size("n")


@contextmanager
def walled(count: int, dtype: DType) -> Iterator[Any]:
    """An array of ones with an unreadable page right before and right after."""
    page = mmap.PAGESIZE
    assert count * dtype.itemsize == page
    area = mmap.mmap(-1, 3 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for wall in (start, start + 2 * page):
        assert protect(wall, page, 0) == 0
    array = np.frombuffer(area, dtype.numpy, count, page)
    array[:] = 1
    yield array
    for wall in (start, start + 2 * page):
        assert protect(wall, page, mmap.PROT_READ | mmap.PROT_WRITE) == 0


def inside(at: Any, count: int) -> Any:
    above = op("le", node(0), node(at), dtype=bool_)
    return op("and", above, lt(at, count), dtype=bool_)


def guarded_loads() -> None:
    """Three reads around each point, of which those at the ends fall out."""
    with walled(mmap.PAGESIZE // 4, float32) as array:
        count = len(array)
        x, out = buffer("x", float32, n), buffer("out", float32, n, kind="output")
        taps = [load(x, add(i, by), inside(add(i, by), count)) for by in (-1, 0, 1)]
        total = op("add", op("add", *taps[:2]), taps[2])
        got = np.zeros(count + 2000, np.float32)
        body = store(out, add(i, 1000), total)
        run(module([x, out], [n], loop(i, -1000, count + 1000, body)), x=array, out=got, n=0)
        assert got.sum() == 3 * count


def guarded_stores() -> None:
    """To memory that is written where the guard holds, and is not there elsewhere."""
    with walled(mmap.PAGESIZE // 8, int64) as array:
        count = len(array)
        out = buffer("out", int64, n, kind="output")
        body = store(out, i, add(i, 7), inside(i, count))
        run(module([out], [n], loop(i, -500, count + 500, body)), out=array, n=0)
        assert array.tolist() == list(range(7, count + 7))


def branches_and_empty_loops() -> None:
    """Unguarded loads where control does not get to; an invariant one may not be hoisted."""
    with walled(mmap.PAGESIZE // 8, int64) as array:
        count = len(array)
        x, out = buffer("x", int64, n), buffer("out", int64, n, kind="output")
        beyond = load(x, n)
        bodies = [
            loop(i, 0, 100, ir.If(lt(n, count), store(out, 0, beyond))),
            loop(i, 5, 5, store(out, 0, beyond)),
            loop(i, n, count, store(out, 0, beyond)),
        ]
        got = np.zeros(1, np.int64)
        run(module([x, out], [n], *bodies), x=array, out=got, n=count)
        assert got.tolist() == [0]


def strided_vectors() -> None:
    """Every second, third and fourth element, up to the last one; and backwards."""
    a, j = ps.Input("a", ps.float32, (ps.sizes("m"),)), ps.vars("j")
    for step in (-1, 1, 2, 3, 4):
        f = ps.Func("f", (ps.sizes("n"),))
        f[j] = a[ps.sizes("n") - 1 - j] if step < 0 else a[step * j]
        s = ps.Schedule(f)
        s[f].vectorize(j, 8)
        kernel = s.compile()
        with walled(mmap.PAGESIZE // 4, float32) as array:
            for count in (1, 5, 8, 9, 16, 23):
                length = abs(step) * (count - 1) + 1
                out = np.zeros(count, np.float32)
                for part in (array[:length], array[len(array) - length :]):
                    assert kernel(part, out=out).all()


def masked_vectors() -> None:
    """Arrays that end, and begin, where a vector does not; read at a distance, clamped."""
    a, j, count = ps.Input("a", ps.float32, (ps.sizes("n"),)), ps.vars("j"), ps.sizes("n")
    f = ps.Func("f", (count,))
    near = a[ps.clip(j - 3, 0, count - 1)] + a[ps.clip(j + 3, 0, count - 1)]
    f[j] = near + ps.select((j > 1) & (j < count - 2), a[j - 2] * a[j + 2], a[j])
    s = ps.Schedule(f)
    s[f].vectorize(j, 16)
    kernel = s.compile()
    with walled(mmap.PAGESIZE // 4, float32) as array, walled(mmap.PAGESIZE // 4, float32) as out:
        for size in (1, 2, 5, 15, 16, 17, 40, len(array)):
            first, last = slice(0, size), slice(len(array) - size, None)
            for part in (first, last):
                assert (kernel(array[part], out=out[part]) == 3).all()
                out[:] = 1


def partial_narrow_vectors() -> None:
    """The same where an element takes one or two bytes, and a vector may be read backwards."""
    for dtype in (ps.uint8, ps.int16, ps.bool):
        size = mmap.PAGESIZE // np.dtype(str(dtype)).itemsize
        a, j, count = ps.Input("a", dtype, (ps.sizes("n"),)), ps.vars("j"), ps.sizes("n")
        f = ps.Func("f", (count,), dtype)
        f[j] = ps.select(j < count - 3, a[j + 3], a[j]) & a[count - 1 - j]
        s = ps.Schedule(f)
        s[f].vectorize(j, 16)
        kernel = s.for_target("x86-64-v3" if s.target.arch == "x86_64" else s.target).compile()
        with walled(size, f.dtypes[0]) as array, walled(size, f.dtypes[0]) as out:
            for length in (1, 2, 5, 15, 16, 17, 40, size):
                first, last = slice(0, length), slice(size - length, None)
                for part in (first, last):
                    assert (kernel(array[part], out=out[part]) == 1).all()
                    out[:] = 1


def borders_of_narrow_products() -> None:
    """Rows of vectors that are longer than what is left of a row, and of the array."""
    n, m, l = ps.sizes("n m l")
    i, j, k = *ps.vars("i j"), ps.RVar("k", 0, l)
    for dtype, total in ((ps.uint8, ps.int32), (ps.int16, ps.int32), (ps.float16, ps.float32)):
        a, b = ps.Input("a", dtype, (n, l)), ps.Input("b", dtype, (l, m))
        f = ps.Func("f", (n, m), total)
        f[i, j] = 0
        f[i, j] += ps.cast(total, a[i, k]) * ps.cast(total, b[k, j])
        s = ps.Schedule(f)
        s = s.for_target("x86-64-v3" if s.target.arch == "x86_64" else s.target)
        u = s[f].update(0)
        u.tile("i", "j", 3, 16)
        u.reorder("jo", "io", "k", "ii", "ji").accumulate_at("io")
        u.vectorize("ji", ps.native).unroll("ji").unroll("ii")
        kernel = s.compile()
        with walled(mmap.PAGESIZE // a.dtypes[0].itemsize, a.dtypes[0]) as array:
            for rows, columns, terms in ((1, 1, 1), (4, 7, 3), (5, 8, 2), (7, 15, 9), (3, 29, 4)):
                for last in (False, True):
                    at = len(array) - rows * terms if last else 0
                    left = array[at : at + rows * terms].reshape(rows, terms)
                    at = len(array) - terms * columns if last else 0
                    right = array[at : at + terms * columns].reshape(terms, columns)
                    assert (kernel(left, right) == terms).all()


def reads_at_guarded_reads() -> None:
    """Where an index is not read, it is not in the range that is declared for it."""
    n, m, count, j = *ps.sizes("n m count"), ps.vars("j")
    a = ps.Input("a", ps.int64, (n,))
    at = ps.Input("at", ps.int32, (m,), range=(n, 2 * n))
    f = ps.Func("f", (count,))
    f[j] = ps.select(j < m, a[at[j] - n], 1)
    for lanes in (1, 8):
        s = ps.Schedule(f)
        s[f].vectorize(j, lanes)
        kernel = s.compile()
        with walled(mmap.PAGESIZE // 8, int64) as array:
            size = len(array)
            where = np.arange(size, 2 * size, dtype=np.int32)
            for part in (array, array[: size // 2], array[size // 2 :]):
                given = where[: len(part)] - size + len(part)
                assert kernel(at=given, a=part, count=size + 9).all()


CASES = {
    f.__name__: f
    for f in (
        guarded_loads, guarded_stores, branches_and_empty_loops, strided_vectors, masked_vectors,
        partial_narrow_vectors, borders_of_narrow_products, reads_at_guarded_reads,
    )
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_memory_outside_is_not_touched(case: str) -> None:
    code = f"from codegen.llvm import test_guards; test_guards.CASES[{case!r}](); print('done')"
    path = [p for p in sys.path if p]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {code}"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr
