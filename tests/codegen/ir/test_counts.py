"""What stages do, as totals over sizes, is what the loop IR does when it is executed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from gallery.case import Case
from gallery.execute import schedule
from gallery.registry import some

import polysched as ps
from polysched.checking.execute import Machine, Touch, Write
from polysched.codegen.build.build import build
from polysched.codegen.ir.counts import WEIGHTS, Counts, counts, stage_names, stage_of
from polysched.codegen.ir.ir import Load, Store
from polysched.codegen.ir.totals import Total
from polysched.codegen.passes.expand_math import expand_math
from polysched.interp.evaluate import Evaluator, Symbols
from polysched.lang.call.binding import bind
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.dtypes import bool_
from polysched.lang.nodes.nodes import Op, Size, Var, postorder

n, m, p = ps.sizes("n m p")
i, j = ps.vars("i j")


class Nobody:
    """Watches nothing."""

    def joint(self, path: Any, writes: list[Write]) -> None: ...
    def looked(self, path: Any, reads: list[Touch]) -> None: ...
    def wrong(self, kind: str, text: str) -> None: ...


class Counting(Machine):
    """Counts what happens when it happens."""

    names: dict[int, str]
    done: Counter[tuple[str, str]]

    def _begin(self, stmt: Any, env: Any) -> Any:
        self.loaded: set[Load] = set()
        return super()._begin(stmt, env)

    def load(self, node: Load, element: Any) -> Any:
        self.loaded.add(node)
        return super().load(node, element)

    def _store(self, s: Store, functions: Any, env: Any) -> Any:
        made = super()._store(s, functions, env)
        if made is not None:
            stage = stage_of(s, self.names)
            self.done[stage, "instances"] += s.origin is not None
            kind = "held" if s.buffer.kind == "stack" else "stored"
            self.done[stage, kind] += s.buffer.dtype.itemsize
            for node in self.loaded.intersection(postorder(s.value, *s.index)):
                kind = "held" if node.buffer.kind == "stack" else "loaded"
                self.done[stage, kind] += node.buffer.dtype.itemsize
        return made


def compared(s: ps.Schedule, arguments: dict[str, Any]) -> dict[str, Counts]:
    """The counts of a schedule, which are compared with those of an execution."""
    module, names = build(s.loop_program), stage_names(s.loop_program)
    bound = bind(s.base, (), arguments)
    values = {**bound.sizes, **bound.params}
    arrays = {s.base.names[t]: a for t, a in bound.arrays.items()}
    symbols = Symbols(bound.sizes, bound.params)
    machine = Counting(module, symbols, arrays, Nobody())
    machine.names, machine.done = names, Counter()
    machine.run()
    found = counts(module, names)
    sizes = {k: int(v) for k, v in values.items() if isinstance(v, int | np.integer)}
    for stage, of in found.items():
        at = of.at(sizes)
        for kind in ("instances", "loaded", "stored", "held"):
            number, done = getattr(at, kind), machine.done[stage, kind]
            if of.at_most:
                assert number is None or number >= done, (stage, kind)
            elif number is not None:
                assert number == done, (stage, kind)
    assert {stage for stage, _ in machine.done} <= set(found)
    return found


@pytest.mark.parametrize("case", some(24), ids=lambda case: case.name)
@pytest.mark.parametrize("size", [1, 5])
def test_the_gallery_counts_as_it_runs(case: Case, size: int) -> None:
    s = schedule(case)
    given = case.make(np.random.default_rng(0), **case.small_sizes(size))
    given.pop("shape", None)
    if not s.base.inouts and "shape" not in given:
        compared(s, given)


def product() -> ps.Func:
    a, b = ps.Input("a", ps.float32, (n, p)), ps.Input("b", ps.float32, (p, m))
    k = ps.RVar("k", 0, p)
    c = ps.Func("c", (n, m))
    c[i, j] = 0.0
    c[i, j] += a[i, k] * b[k, j]
    return c


@pytest.mark.parametrize("sizes", [(1, 1, 1), (4, 8, 3), (5, 13, 2), (9, 7, 4)])
def test_tiles_count_each_instance_once(sizes: tuple[int, int, int]) -> None:
    s = ps.Schedule(product())
    u = s["c.update(0)"]
    u.tile("i", "j", 4, 8)
    u.reorder("io", "jo", "k", "ii", "ji")
    u.accumulate_at("jo").unroll("ii").vectorize("ji")
    rows, columns, depth = sizes
    a, b = np.ones((rows, depth), np.float32), np.ones((depth, columns), np.float32)
    update = compared(s, {"a": a, "b": b})["c.update(0)"]
    assert str(update.instances) == "m * n * p"
    assert {k: str(t) for k, t in update.operations.items()} == {"fma float32": "m * n * p"}
    assert update.arithmetic.at({"n": 512, "m": 512, "p": 512}) == 2 * 512**3


def test_triangles_are_sums() -> None:
    x = ps.Input("x", ps.float64, (n,))
    r = ps.RVar("r", 0, i)
    f = ps.Func("f", (n,))
    f[i] = 0.0
    f[i] += x[r]
    found = compared(ps.Schedule(f), {"x": np.ones(7)})["f.update(0)"]
    assert found.instances.at({"n": 1000}) == 499500


def test_recomputation_counts() -> None:
    x = ps.Input("x", ps.float32, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = f[i] + f[ps.clip(i + 1, 0, n - 1)]
    s = ps.Schedule(g)
    s["g"].split("i", 4)
    s["f"].compute_at("g", "io")
    found = compared(s, {"x": np.ones(10, np.float32)})
    assert found["f"].instances.at({"n": 10}) == 12  # two of them twice


def test_data_decide() -> None:
    starts = ps.Input("starts", ps.int64, (n,), range=(0, n + 1))
    x = ps.Input("x", ps.float32, (n,))
    r = ps.RVar("r", 0, starts[i])
    f = ps.Func("f", (n,))
    f[i] = 0.0
    f[i] += x[r]
    s = ps.Schedule(f)
    found = counts(build(s.loop_program), stage_names(s.loop_program))
    assert found["f"].at({"n": 9}).instances == 9
    assert found["f.update(0)"].at({"n": 9}).instances is None
    assert str(found["f.update(0)"].instances) == "data decide"


def test_too_much_to_add_up_is_no_number() -> None:
    size = Size("n", None)
    v, w = Var("v"), Var("w")
    one = Total.of(1).where(Op("lt", (w, ix.mod(v, 3)), bool_))
    total = one.over(w, ix.ZERO, v).over(v, ix.ZERO, size)
    assert total.at({"n": 9}) == sum(w < v % 3 for v in range(9) for w in range(v))
    assert total.at({"n": 10**7}) is None
    assert total.at({}) is None


class Eager(Machine):
    """Counts each operator that is computed, also in arms of a select that are not chosen."""

    done = 0

    def _functions(self, stmt: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Evaluator, "_function", self._counted(Evaluator._function))
            return super()._functions(stmt)

    def _counted(self, plain: Any) -> Any:
        def made(evaluator: Any, node: Any) -> Any:
            function = plain(evaluator, node)
            if not isinstance(node, Op):
                return function
            if node.op == "select":
                which, *arms = (evaluator._functions[x] for x in node.operands)

                def function(env: Any) -> Any:
                    chosen = which(env)
                    yes, no = (arm(env) for arm in arms)
                    return yes if chosen else no

            def counted(env: Any) -> Any:
                self.done += WEIGHTS.get(node.op, 0)
                return function(env)

            return counted

        return made


FUNCTIONS = {
    "tanh": ps.tanh, "exp": ps.exp, "log": ps.log, "cos": ps.cos, "erf": ps.erf,
    "two": lambda x: ps.sigmoid(x) * 3.0 + ps.sigmoid(x), "pow": lambda x: x**1.7,
}  # fmt: skip


@pytest.mark.parametrize("dtype", [ps.float32, ps.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_count_as_the_operators_of_their_formulas(name: str, dtype: Any) -> None:
    """What is computed seldom, as for large angles, does not count, nor does it run here."""
    x, f = ps.Input("x", dtype, (n,)), ps.Func("f", (n,))
    f[i] = FUNCTIONS[name](x[i])
    s = ps.Schedule(f)
    module = build(s.loop_program)
    found = counts(module, stage_names(s.loop_program))["f"].arithmetic.at({"n": 4})
    arrays = {"x": np.array([0.1, 0.7, 1.5, 3.0], dtype.numpy), "f": np.zeros(4, dtype.numpy)}
    machine = Eager(expand_math(module), Symbols({"n": 4}, {}), arrays, Nobody())
    machine.run()
    assert found == machine.done > 4 * 10
