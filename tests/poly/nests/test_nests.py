"""Loop bounds against isl's own code generator: the same instances, in the same order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps
from polysched.lang.nodes.nodes import Size
from polysched.lang.program.program import Program
from polysched.poly.model.model import Model
from polysched.poly.nests.loop_nest import LoopNest, NestIf, NestLoop, NestSeq
from polysched.poly.nests.nests import loop_nests
from polysched.poly.report.listing import text
from polysched.poly.sets.isl import isl
from polysched.poly.tree.looptree import Loop, Seq
from polysched.poly.tree.written import as_written
from polysched.testing.oracle import domain_points, instances

from .. import programs
from ..trees import executed, fused_tree, nest, random_tree, split, stages

_PARAM = isl.dim_type.param
SIZES = (0, 1, 2, 3, 5)
FuncMaker = Callable[[], ps.Func]


def model_of(build: FuncMaker, exact: bool = True) -> Model:
    return Model(Program((build(),)), None, exact)


def sizes_of(model: Model, n: int) -> dict[str, int]:
    return {name: n + k for k, name in enumerate(model.params)}


@pytest.mark.parametrize("build", programs.ALL, ids=lambda b: b.__name__)
@pytest.mark.parametrize("exact", [True, False])
def test_as_written(build: FuncMaker, exact: bool) -> None:
    model = model_of(build, exact)
    tree = as_written(model)
    for n in SIZES:
        sizes = sizes_of(model, n)
        assert executed(model, tree, sizes) == instances(model, tree, sizes)


@pytest.mark.parametrize("build", programs.ALL, ids=lambda b: b.__name__)
@pytest.mark.parametrize("seed", range(6))
def test_random_trees(build: FuncMaker, seed: int) -> None:
    model = model_of(build)
    tree = random_tree(model, seed)
    for n in (0, 1, 4, 5):
        sizes = sizes_of(model, n)
        assert executed(model, tree, sizes) == instances(model, tree, sizes)


@pytest.mark.parametrize(
    "build", [programs.rectangle, programs.triangle, programs.pipeline], ids=lambda b: b.__name__
)
def test_stages_that_share_a_loop(build: FuncMaker) -> None:
    model = model_of(build)
    tree = fused_tree(model)
    for n in SIZES:
        sizes = sizes_of(model, n)
        assert executed(model, tree, sizes) == instances(model, tree, sizes)


@pytest.mark.parametrize("build", programs.ALL, ids=lambda b: b.__name__)
def test_every_instance_once(build: FuncMaker) -> None:
    """The same from the domains, without isl's code generator."""
    model = model_of(build)
    found = executed(model, as_written(model), sizes_of(model, 4))
    wanted = []
    for statement in model.statements:
        fixed = statement.domain.intersect_params(_fixed(model, 4))
        projected = fixed.project_out(_PARAM, 0, len(model.params))
        wanted += [(statement.name, p) for p in domain_points(projected)]
    assert found == wanted


def test_a_strided_domain_becomes_a_step() -> None:
    model = model_of(programs.strided)
    listing = "\n".join(text(t) for t in _nests_of(model))
    assert "by 3" in listing or "by 6" in listing
    assert "if" not in listing


def test_a_rectangle_has_no_guard_even_when_split() -> None:
    """A tail is two bounds (min), never a test in the loop."""
    model = model_of(programs.rectangle)
    stage = stages(model)[0]
    io, ii = split(stage.coordinates[0], 4)
    tree = Seq(
        (nest(type(stage)(stage.statement, (io, stage.coordinates[1], ii)), ["io", "j", "ii"]),)
    )
    listing = "\n".join(text(t) for t in _nests_of(model, tree))
    assert "if" not in listing
    assert "min(" in listing


def test_a_condition_on_sizes_leaves_all_loops() -> None:
    found = _nests_of(model_of(programs.pipeline))
    for listing in map(text, found):
        assert not any("n >= 1" in line for line in listing.splitlines()[1:])
    assert text(found[0]).startswith("if n >= 1:")


def test_what_all_parts_of_a_condition_ask_of_sizes_leaves_all_loops() -> None:
    """The full tiles of a piece of a definition, but for a point of another piece."""
    i, j = ps.vars("i j")
    f = ps.Func("f", ps.sizes("n m"))
    f[i, 2] = 0
    f[1, 2] = 0
    f[i, j] = 0
    s = ps.Schedule(f)
    s["f.piece(0)"].split("i", 16, tail="peel")
    (head,) = [x for x in s.nests if "if (ii >= 2)" in text(x)]
    first, *rest = text(head).splitlines()
    assert first == "if (n >= 32) & (m >= 3):"
    assert not any(x in line for line in rest for x in ("n >=", "m >="))


def test_loops_keep_the_names_given() -> None:
    model = model_of(programs.rectangle)
    stage = stages(model)[0]
    tree = Seq((Loop("rows", (Loop("columns", (stage,)),)),))
    assert "for rows in [0, n)" in text(_nests_of(model, tree)[0])


def _nests_of(model: Model, tree: Seq | None = None) -> tuple[LoopNest, ...]:
    parameters = {n: Size(n, None) for n in model.params}
    return loop_nests(tree or as_written(model), dict(parameters), model.context)


def _fixed(model: Model, n: int) -> isl.Set:
    frame = model.parameters
    result = model.context
    for name, value in sizes_of(model, n).items():
        result = result.intersect(frame.param(name).eq_set(frame.constant(value)).params())
    return result


def test_a_condition_of_all_parts_of_a_body_stands_outside_of_it() -> None:
    """Around each part it was tested in every iteration: of a loop that is said to have 2**31,
    also where it has none."""
    n = ps.sizes("n")
    i, j = ps.vars("i j")
    f = ps.Func("f", (n, n + 2))
    f[i, 0] = 1
    f[i, 1] = 2
    f[i, j] = 3
    s = ps.Schedule(f)
    s["f.piece(0)"].bound(i, 1 << 31)
    s["f.piece(2)"].compute_with(s["f.piece(0)"], i)
    (nest, _) = s.nests
    assert isinstance(nest, NestIf)
    assert isinstance(nest.body, NestLoop)
    assert isinstance(nest.body.body, NestSeq)
    assert not any(isinstance(x, NestIf) for x in nest.body.body.parts)


@pytest.mark.parametrize("vectorized", [False, True])
def test_quotients_of_narrow_integers_that_are_loops_keep_their_type(vectorized: bool) -> None:
    """In tiles they are loops, which are int64: the sum of one and a uint8 could not be emitted."""
    a, g, i = ps.Input("a", ps.int32, (8,)), ps.Func("g", (ps.sizes("n"),)), ps.vars("i")
    half = ps.cast(ps.uint8, i % 4) // 2 + np.uint8(1)
    g[i] = a[half] * 10 + a[ps.cast(ps.int16, i % 8) % 3 + np.int16(2)]
    s = ps.Schedule(g)
    s[g].split(i, 8)
    if vectorized:
        s[g].vectorize("ii")
    numbers = np.arange(8, dtype=np.int32) ** 2
    assert np.array_equal(s.compile()(numbers, n=21), ps.interpret(g, numbers, n=21))
