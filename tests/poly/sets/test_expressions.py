"""From isl back to expressions: conditions whose coefficients are large."""

from __future__ import annotations

import pytest

import polysched as ps
from polysched.lang.nodes.nodes import Const, Node, Op, Size, postorder
from polysched.poly.report.visits import _function
from polysched.poly.sets.expressions import Translator
from polysched.poly.sets.isl import Set, isl

N, X = Size("n", None), Size("x", None)


def products(condition: Node) -> list[Node]:
    """What multiplies a loop or a size by a large number."""
    return [
        node
        for node in postorder(condition)
        if isinstance(node, Op) and node.op == "mul"
        and any(isinstance(x, Const) and abs(int(x.value)) > 1 << 18 for x in node.operands)
    ]  # fmt: skip


@pytest.mark.parametrize("coefficient", [3, 1 << 18, (1 << 18) + 1, 1 << 31, 3 << 41])
@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("relation", [">=", "="])
def test_a_condition_holds_where_its_set_has_the_point(
    coefficient: int, sign: str, relation: str
) -> None:
    """Also with a loop whose coefficient is large, which is compared with a quotient instead."""
    where = Set(f"[n] -> {{ [x] : {sign}{coefficient} * x + n {relation} 2 }}")
    condition = Translator({"n": N}, [X]).condition(where)
    assert condition is not None
    assert not products(condition)
    holds = _function(condition)
    edges = [k * coefficient + d for k in (-2, -1, 0, 1, 2) for d in (-1, 0, 1, 2, 3)]
    for n in (-coefficient // 2, *edges):
        for x in (-3, -2, -1, 0, 1, 2, 3):
            point = where.fix_val(isl.dim_type.set, 0, isl.Val(x))
            point = point.fix_val(isl.dim_type.param, 0, isl.Val(n))
            assert bool(holds({N: n, X: x})) == (not point.is_empty()), (n, x)


def test_a_region_of_high_bits_needs_no_large_product() -> None:
    """An update by the high bits of a loop writes beside a region that has no end: the loop over
    both is compared with a quotient of the size."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    r = ps.RVar("r", 0, n + 1)
    f = ps.Func("f")
    f[i, j] = j
    f[i, (r >> 31) % 4] = 5
    g = ps.Func("g", (n, m))
    g[i, j] = f[i, 3 * j]
    found = g(n=2, m=3)
    assert found.tolist() == [[5, 3, 6], [5, 3, 6]]
