"""Dependences against their definition: every pair of instances, in the order they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polysched as ps
from polysched.lang.program.program import Program
from polysched.poly.model.model import Model
from polysched.poly.proof import dependences as proof
from polysched.poly.proof.dependences import Dependence, dependences
from polysched.poly.proof.instance_pairs import smallest_pair
from polysched.poly.proof.proof import Prover, Violation
from polysched.poly.sets.isl import Map, isl
from polysched.poly.tree.looptree import Loop, Seq
from polysched.poly.tree.stage import Stage
from polysched.poly.tree.written import as_written

from .. import programs
from ..trees import executed, stages

Instance = tuple[str, tuple[int, ...]]
DependentInstances = tuple[str, Instance, Instance]


def model_of(func: ps.Func) -> Model:
    return Model(Program((func,)))


def points(relation: Map, sizes: dict[str, int]) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The pairs of a map at concrete sizes."""
    for k in range(int(relation.dim(isl.dim_type.param))):
        name = relation.get_dim_name(isl.dim_type.param, k)
        relation = relation.fix_val(isl.dim_type.param, k, isl.Val(sizes[name]))
    split = int(relation.dim(isl.dim_type.in_))
    wrapped = relation.wrap().project_out(
        isl.dim_type.param, 0, int(relation.dim(isl.dim_type.param))
    )
    found = set()

    def visit(point: isl.Point) -> None:
        total = int(wrapped.dim(isl.dim_type.set))
        at = [int(point.get_coordinate_val(isl.dim_type.set, k).to_python()) for k in range(total)]
        found.add((tuple(at[:split]), tuple(at[split:])))

    wrapped.foreach_point(visit)
    return found


def brute_force(model: Model, sizes: dict[str, int]) -> set[DependentInstances]:
    """Flow from the last writer, anti and output between every ordered pair."""
    order = executed(model, as_written(model), sizes)
    touched: dict[Instance, list[tuple[bool, object, tuple[int, ...]]]] = {}
    for statement in model.statements:
        for access in statement.accesses:
            for at, element in points(access.map, sizes):
                touched.setdefault((statement.name, at), []).append(
                    (access.is_write, access.tensor, element)
                )
    found: set[DependentInstances] = set()
    for later, sink in enumerate(order):
        for is_write, tensor, element in touched.get(sink, []):
            writer_seen = False
            for source in reversed(order[:later]):
                for other_write, other, where in touched.get(source, []):
                    if other is not tensor or where != element:
                        continue
                    if is_write:
                        found.add(("output" if other_write else "anti", source, sink))
                    elif other_write and not writer_seen:
                        found.add(("flow", source, sink))
                writer_seen = writer_seen or any(
                    w and t is tensor and e == element for w, t, e in touched.get(source, [])
                )
    return found


def computed(found: tuple[Dependence, ...], sizes: dict[str, int]) -> set[DependentInstances]:
    return {
        (d.kind, (d.source.name, a), (d.sink.name, b))
        for d in found
        for a, b in points(d.map, sizes)
    }


def prefix_sum() -> ps.Func:
    n = ps.sizes("n")
    i = ps.vars("i")
    r = ps.RVar("r", 1, n)
    f = ps.Func("f", (n,))
    f[i] = i
    f[r] += f[r - 1]
    return f


def two_stages() -> ps.Func:
    n = ps.sizes("n")
    i = ps.vars("i")
    g, f = ps.Func("g"), ps.Func("f", (n,))
    g[i] = i * i
    g[i] += 1
    f[i] = g[i] + g[i + 1]
    return f


def read_between() -> ps.Func:
    """The update leaves out elements that are read: its domain is no box, and none will do."""
    n = ps.sizes("n")
    i = ps.vars("i")
    r = ps.RVar("r", 0, n, where=lambda r: (r < 2) | (r > 2))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = i
    f[r] += 1
    g[i] = f[i]
    return g


def borders() -> ps.Func:
    """What is needed of f are pieces, each with an edge of its own."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    r = ps.RVar("r", 1, m, where=lambda r: r % 2 == 0)
    f, g = ps.Func("f"), ps.Func("g", (n, m))
    f[i, j] = i * j
    f[i, j] += r
    g[i, j] = f[ps.minimum(i + 2, n - 1), ps.minimum(j + 1, m - 1)] + f[i, ps.minimum(i, m - 1)]
    return g


def updates_of_other_elements() -> ps.Func:
    """Two Funcs whose updates run in the same order, and write other elements."""
    n = ps.sizes("n")
    i = ps.vars("i")
    r = ps.RVar("r", 0, n - 1)
    f, g, h = (ps.Func(name, (n,)) for name in "fgh")
    f[i] = 0
    f[r] += 1
    g[i] = 0
    g[r + 1] += 1
    h[i] = f[i] + g[i]
    return h


@pytest.mark.parametrize(
    "build",
    [
        read_between,
        borders,
        updates_of_other_elements,
        programs.triangle,
        programs.strided,
        programs.union,
        programs.pipeline,
        prefix_sum,
        two_stages,
    ],
    ids=lambda b: b.__name__,
)
def test_all_dependences(build: Callable[[], ps.Func]) -> None:
    model = model_of(build())
    found = dependences(model, as_written(model))
    for n in (0, 1, 2, 4):
        sizes = {name: n + k for k, name in enumerate(model.params)}
        assert computed(found, sizes) == brute_force(model, sizes)
    assert all(d.exact for d in found)


@pytest.mark.slow
def test_pieces_of_what_is_needed_do_not_multiply() -> None:
    """isl's analysis of the nine pieces of f2 took half a minute; of their hull, 10 ms."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    a = ps.Input("a", ps.float64, (n, m))
    r3, r5, r7 = (
        ps.RVar("r3", 2, m, where=lambda r: r % 2 == 0),
        ps.RVar("r5", 2, n - 2),
        ps.RVar("r7", 2, m),
    )
    f2, f4, f6 = (
        ps.Func(f, shape, ps.float64) for f, shape in (("f2", (n, m)), ("f4", (n, m)), ("f6", (n,)))
    )
    f2[i, j] = a[i, ps.clip(j + 1, 0, m - 1)] + ps.sum(a[ps.clip(i + 2, 0, n - 1), j], r3)
    f4[i, j] = ps.sum(f2[ps.clip(i + 2, 0, n - 1), ps.clip(j + 1, 0, m - 1)], r5)
    f6[i] = f2[i, ps.clip(i, 0, m - 1)] + ps.sum(f2[ps.clip(i + 1, 0, n - 1), r7 + 1], r7)
    s = ps.Schedule((f4, f6))
    s["f6.sum0"].compute_at(s["f6.sum0.update(0)"], "r7")


def sums_at_other_places(count: int) -> ps.Func:
    n = ps.sizes("n")
    i = ps.vars("i")
    x, r = ps.Input("x", ps.uint32, (n,)), ps.RVar("r", 0, n)
    f = ps.Func("f", (n + count,), ps.uint32)
    f[i] = 0
    for k in range(count):
        f[r + k] += x[r]
    return f


def test_sums_into_a_func_have_the_order_of_their_statements_in_common(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Counted(proof._InOrder):
        made = 0

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            Counted.made += 1

    monkeypatch.setattr(proof, "_InOrder", Counted)
    counts = []
    for count in (3, 6):
        Counted.made = 0
        ps.Schedule(sums_at_other_places(count))["f"].parallel("i")
        counts.append(Counted.made)
    assert counts[0] == counts[1] > 1


def test_a_scatter_keeps_every_earlier_write_as_a_possible_source() -> None:
    n = ps.sizes("n")
    x = ps.vars("x")
    a = ps.Input("a", ps.uint8, (n,))
    r = ps.RVar("r", 0, n)
    h = ps.Func("h", (256,))
    h[x] = 0
    h[a[r]] += 1
    model = model_of(h)
    found = dependences(model, as_written(model))
    flow = [d for d in found if d.kind == "flow"]
    assert flow
    assert not any(d.exact for d in flow)
    own = next(d for d in flow if d.source is d.sink)
    assert {b[0] - a[0] for a, b in points(own.map, {"n": 4})} == {1, 2, 3}


def test_a_division_behind_a_scatter() -> None:
    """isl's analysis ended the process. What is found holds more than what may be."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    x = ps.Input("x", ps.int64, (n, m))
    r, t = ps.RVar("r", 0, (m + 1) // 2), ps.RVar("t", 0, 4)
    f = ps.Func("f", (m, n))
    f[i, j] = i
    scattered = ps.clip(x[n - 1, r], 0, n - 1)
    f[m - 1 - r, scattered] = f[r - r % 2, ps.clip(r * r, 0, n - 1)] + t
    model = model_of(f)
    found = dependences(model, as_written(model))
    for n in (1, 2, 3):
        sizes = {name: n + k for k, name in enumerate(model.params)}
        some, pairs = brute_force(model, sizes), computed(found, sizes)
        assert some <= pairs
        assert {p for p in pairs - some if p[0] != "flow"} == set()


def test_what_is_fresh_in_each_iteration_is_read_in_the_iteration_that_writes_it() -> None:
    """Every earlier scatter may be the source, but for those of earlier iterations: their storage
    is gone. A directive was refused for such a pair, which the written order breaks as well."""
    n = ps.sizes("n")
    i = ps.vars("i")
    x = ps.Input("x", ps.int64, (n,), range=(0, n))
    r, last = ps.RVar("r", 0, n, where=lambda r: r % 2 == 0), ps.RVar("last", n // 2, n)
    f = ps.Func("f", (n,))
    f[i] = i
    with ps.sequential("t", 0, 3) as t:
        g = ps.Func("g")
        g[i] = f[i] + t
        g[x[r]] += r
        f[i] += g[i - last // 2]
    s = ps.Schedule(f)
    found = dependences(s.model, as_written(s.model))
    flow = [d for d in found if d.tensor.name == "g" and d.kind == "flow"]
    assert flow
    assert not all(d.exact for d in flow)
    for d in flow:
        assert all(first[0] == second[0] for first, second in points(d.map, {"n": 4}))
    s[f].update(0).split("i", 1)


def backwards(model: Model) -> Seq:
    """The loop of the update of a prefix sum, run backwards."""
    init, update = stages(model)
    assert isinstance(update, Stage)
    reversed_update = Stage(update.statement, (_negated(update.coordinates[0]),))
    return Seq((Loop("i", (init,)), Loop("r", (reversed_update,))))


def test_what_was_found_of_an_order_is_not_taken_for_another() -> None:
    model = model_of(prefix_sum())
    before = points_of_flow(model, as_written(model))
    assert before == {(1, 2), (2, 3)}
    assert points_of_flow(model, backwards(model)) == set()
    assert points_of_flow(model, as_written(model)) == before


def points_of_flow(model: Model, tree: Seq) -> set[tuple[int, int]]:
    """The terms of the update of a prefix sum of four that read what others wrote."""
    found = (d for d in dependences(model, tree) if d.kind == "flow")
    own = (d for d in found if d.source is d.sink)
    return {(a[0], b[0]) for d in own for a, b in points(d.map, {"n": 4})}


def test_a_reversed_order_violates_and_has_the_smallest_witness() -> None:
    model = model_of(prefix_sum())
    written, tree = as_written(model), backwards(model)
    prover = Prover(model, written)

    def broken(by: Seq) -> list[Violation]:
        return list(prover.violations(by, lambda s: False, model.context))

    (violation,) = broken(tree)
    smallest = smallest_pair(violation.pairs, *violation.statements)
    assert smallest is not None
    assert smallest.sizes == {"n": 3}
    assert (smallest.source.point, smallest.sink.point) == ({"r": 1}, {"r": 2})
    assert not broken(written)


def _negated(node: object) -> object:
    from polysched.lang.nodes.dtypes import int64
    from polysched.lang.nodes.nodes import Op

    return Op("neg", (node,), int64)
