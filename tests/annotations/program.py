"""A user's program with what the language and schedules have. Type checkers accept all of it in
their strictest mode, and infer what it says with `assert_type`; it runs, too."""

from __future__ import annotations

import logging
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import polysched as ps
from polysched.poly.schedule.handles.base import LoopHandle
from polysched.poly.schedule.stages import StageHandle

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
assert_type(n, ps.Size)
assert_type(i, ps.Var)
rows: ps.Size = ps.sizes("rows")
at: ps.Var = ps.vars("at")
half = ps.size("half", default=n // 2)
k = ps.RVar("k", 0, l)
even = ps.RVar("even", 0, n, where=lambda r: r % 2 == 0)
ry, rx = ps.rdom("ry rx", (0, 3), (0, 3))
assert_type(ry, ps.RVar)
scale = ps.Param("scale", ps.float32, default=1.0)
steps = ps.Param("steps", "int32", default=2, min=0, max=8)


# the language -----------------------------------------------------------------------------------
A = ps.Input("A", ps.float32, (n, l))
B = ps.Input("B", np.float32, (l, m))
index = ps.Input("index", np.dtype("int32"), n, range=(0, n))
table = ps.Const("table", [1.0, 2.0, 3.0])
state = ps.InOut("state", ps.float32, [n])
assert_type(A[i, k], ps.Expr)
assert_type(table[0], ps.Expr)
assert_type(state.final[i], ps.Expr)
assert_type(A.shape, tuple[ps.Expr, ...])


def product(left: ps.Input, right: ps.Input) -> ps.Func:
    """A function of a library."""
    C = ps.Func("C", (n, m), dtype=ps.float32)
    C[i, j] = 0.0
    C[i, j] += left[i, k] * right[k, j]
    C[i, j] *= scale
    return C


C = product(A, B)
blur = ps.Func("blur", (n, m))
near = ps.boundary.repeat_edge(C)
blur[i, j] = near[i - 1, j] + 2 * near[i, j] + near[i + 1, j]
out = ps.Func("out", (n, m))
out[i, j] = ps.select(blur[i, j] > 0, ps.exp(-abs(blur[i, j])), ps.clip(blur[i, j], -1, 1))
out[i, j] -= ps.where((i == 0) & ~(j < 2), np.float32(0.5), ps.minimum(out[i, j], 1.0))

best = ps.Func("best", (), dtype=(ps.float32, ps.int64))
value, place = best[()]
assert_type(value, ps.Expr)
best[()] = (-np.inf, 0)
best[()] = ps.select(A[even, 0] > value, (A[even, 0], even), (value, place))

top = ps.max(A[i, k], k)
assert_type(top, ps.Expr)
softmax = ps.Func("softmax", (n, l))
softmax[i, j] = ps.exp(A[i, j] - top) / ps.sum(ps.exp(A[i, k] - top), [k], dtype=ps.float32)
gathered = ps.compute("gathered", (n, l), lambda y, x: A[index[y], x])
einsum = ps.einsum("ik,kj->ij", A, B, name="einsum", dtype=ps.float64)
sorted_rows = ps.extern("sorted", np.sort, [A], (n, l), ps.float32)

with ps.sequential("t", 0, steps) as t:
    state[i] += ps.cast(ps.float32, t) * table[ps.clip(i, 0, 2)]
with ps.sequential():
    state[0] = ps.trace(state[0], "first")
ps.require(n >= 1, "at least one row", C, out)

powers: ps.Expr = i**2 + (-j) // 2 % 3 - (i << 1)
rounded = round(ps.sqrt(A[i, j])) + ps.floor(A[i, j]) + divmod(i, 2)[0] + i.astype(ps.int32)
assert_type(rounded, ps.Expr)


# schedules --------------------------------------------------------------------------------------
s = ps.Schedule(C, args=(B, A), target=None)
update = s[C].update(0)
assert_type(update, StageHandle)
io, ii = update.split(i, 4, tail="peel")
assert_type(io, LoopHandle)
jo, ji = update.split("j", 2 * ps.native, tail="auto", names=("jo", "ji"))
update.reorder(io, jo, k, ii, ji).vectorize(ji).unroll(ii)
update.parallel(io, chunk=1)
assert_type(io.kind in ("serial", "parallel"), bool)
tiled = ps.Schedule((out, C))
tiles = tiled[out].tile(i, j, 8, ps.factor("columns", 32))
assert_type(tiles, tuple[LoopHandle, ...])
tiled[blur].compute_at(out, tiles[0]).store_in("heap").align_storage(1, 8)
tiled["blur"].compute_root().reorder_storage(1, 0).store_root()
copies = ps.Schedule(C)
copies[C].update(0).split(k, 16)
panel = copies[C].update(0).stage(B, at="ko", pad=False)
assert_type(panel, ps.Func)
copies[panel].vectorize(panel.vars[-1], 4)
wavy = ps.Schedule(blur)
whole, rest = wavy[blur].partition(i < n // 2)
assert_type(whole, StageHandle)
large = wavy.assume(n >= 4).specialize(n >= 64)
assert_type(large, ps.Schedule)
with large.batch() as inside:
    assert_type(inside, ps.Schedule)
    large[whole].peel(i, first=1)
with large.trust("it is only read here"):
    assert_type(large[rest].loops, tuple[LoopHandle, ...])
again = ps.Schedule.from_json(C, s.to_json())
assert_type(again, ps.Schedule)
assert_type(s.copy(), ps.Schedule)
assert_type(s.sketch().prove(), ps.Schedule)
assert_type(s.conditions, tuple[str, ...])
text: str = s.source() + s.explain() + str(s.digest)


def wider(stage: StageHandle, by: int) -> StageHandle:
    """A directive of the user's own."""
    return stage.vectorize("j", by)


ps.Schedule.default(blur)[blur].pipe(wider, 8)
found = ps.Schedule.auto(C, sizes={"n": 64, "m": 64, "l": 64}, threads=1)
assert_type(found, ps.Schedule)


# calls ------------------------------------------------------------------------------------------
a: NDArray[np.float32] = np.ones((8, 4), np.float32)
b = np.ones((4, 16), np.float32)
kernel = s.compile()
assert_type(kernel, ps.Kernel)
fixed: ps.Kernel = s.compile(checks=True, n=8)
result: NDArray[np.float32] = kernel(A=a, B=b)
result = kernel(b, a, scale=2.0, out=np.empty((8, 16), np.float32))
part: NDArray[np.float32] = C(a, b, region=((0, 2), (0, 4)))
ps.interpret(C, a, b)
seconds: dict[str, float] = kernel.seconds
listing: str = kernel.loops + kernel.llvm + kernel.signature
with ps.threads(1):
    ps.set_num_threads(ps.get_num_threads())

try:
    kernel(a)
except ps.CallError as error:
    logging.getLogger(__name__).debug("%s", error)

report: dict[str, dict[str, Any]] = ps.show_versions(as_dict=True)
facts = ps.facts(C, sizes={"n": 8})
peak: float = ps.machine().peak(ps.float32)
