"""Comparisons that come out alike wherever a stage runs."""

from __future__ import annotations

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
