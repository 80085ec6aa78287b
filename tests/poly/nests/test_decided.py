"""Comparisons that come out alike wherever a stage runs."""

from __future__ import annotations

import numpy as np

import polysched as ps
from polysched.lang.arithmetic.scalar import COMPARE
from polysched.lang.nodes.nodes import Op, postorder
from polysched.lang.nodes.printer import expr_text
from polysched.lang.program.program import Program
from polysched.poly.model.model import Model
from polysched.poly.nests.decided import decisions

from ..trees import stages

n = ps.sizes("n")
i = ps.vars("i")


def test_what_holds_everywhere_or_nowhere_is_decided_and_nothing_that_data_say() -> None:
    x, f = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,), ps.int64)
    conditions = (i >= 0, i > n, i < 3, x[i] > 0, x[i] != i, i + x[i] < 2 * n)
    f[i] = sum((ps.select(c, k, 0) for k, c in enumerate(conditions)), start=i)
    model = Model(Program((f,)), None)
    (stage,) = stages(model)
    roots = stage.statement.definition.values
    compared = [a for a in postorder(*roots) if isinstance(a, Op) and a.op in COMPARE]
    assert len(compared) == len(conditions)
    found = decisions(stage, model.context, roots)
    said = {expr_text(node): value.value for node, value in found.items()}
    assert said == {"i >= 0": True, "i > n": False}


def test_an_equality_of_an_index_at_an_end_of_its_axis_is_an_order_and_no_other_is() -> None:
    x, f = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,), ps.int64)
    before, behind = ps.select(i == 0, n - 1, i - 1), ps.select(i != n - 1, i + 1, 0)
    inside, by_data = ps.select(i == 3, 0, i), ps.select(x[i] == 0, 0, i)
    f[i] = x[before] + x[behind] + x[inside] + x[by_data] + ps.select(i + 1 == n, 7, 0)
    model = Model(Program((f,)), None)
    (stage,) = stages(model)
    found = decisions(stage, model.context, stage.statement.definition.values)
    said = {expr_text(node): expr_text(value) for node, value in found.items()}
    assert said == {"i == 0": "i <= 0", "i != n - 1": "i < n - 1"}


def test_vectors_of_a_torus_by_equalities_gather_nothing() -> None:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = x[ps.select(i == 0, n - 1, i - 1)] + x[ps.select(i == n - 1, 0, i + 1)]
    s = ps.Schedule(f)
    s[f].vectorize(i, 8)
    assert "gathers" not in str(s)
    numbers = np.arange(37, dtype=np.float32)
    assert np.array_equal(s.compile()(numbers), np.roll(numbers, 1) + np.roll(numbers, -1))
