"""Full vectors: what is looked at once for all statements that have it."""

from __future__ import annotations

from collections import Counter

import pytest

import polysched as ps
from polysched.codegen.build.build import build
from polysched.codegen.passes import full_lanes as passes
from polysched.lang.nodes.nodes import Node

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def test_what_no_test_decides_is_folded_once_for_unrolled_statements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its operands are not looked at again either."""
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = x[i, ps.clip(j + 1, 0, m - 1)] * ps.cast(ps.float32, 3 * m + n)
    s = ps.Schedule(f)
    s[f].unroll(i, 4).vectorize(j, 8)
    module, looked_at, fold = build(s.loop_program), Counter[Node](), passes.folded

    def noted(node: Node) -> Node:
        looked_at[node] += 1
        return fold(node)

    monkeypatch.setattr(passes, "folded", noted)
    assert passes.full_lanes(module) is not module
    plain = {node: k for node, k in looked_at.items() if not passes._is_decided(node)}
    assert plain
    assert [node for node, k in plain.items() if k > 1] == []
