"""From isl back to expressions: conditions whose coefficients are large."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import polysched as ps
from polysched.lang.nodes.nodes import Const, Node, Op, Size, postorder
from polysched.poly.nests.wraps import Fits
from polysched.poly.report.idle_iterations import _function
from polysched.poly.sets.expressions import Translator
from polysched.poly.sets.isl import Set, isl

N, X, Y = Size("n", None), Size("x", None), Size("y", None)


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


@pytest.mark.parametrize("factors", [(1, 1), (1, -1), (-3, -2), (2, -5)])
@pytest.mark.parametrize("relation", [">=", "="])
def test_a_condition_of_two_large_products_holds_where_its_set_has_the_point(
    factors: tuple[int, int], relation: str
) -> None:
    """A sum of both without their common divisor is compared with a quotient."""
    common = 1 << 31
    x_factor, y_factor = (f * common for f in factors)
    where = Set(f"[n] -> {{ [x, y] : {x_factor} * x + {y_factor} * y - n {relation} 2 }}")
    condition = Translator({"n": N}, [X, Y]).condition(where)
    assert condition is not None
    assert not products(condition)
    holds = _function(condition)
    for x, y in product((-3, 0, 1, 2), (-2, 0, 3)):
        total = x_factor * x + y_factor * y - 2
        for n in (total + d for d in (-common, -1, 0, 1, common)):
            wanted = total >= n if relation == ">=" else total == n
            assert bool(holds({N: n, X: x, Y: y})) == wanted, (n, x, y)


def test_products_without_a_common_divisor_are_refused() -> None:
    """Each of them may be beyond 64 bits, and no quotient takes their place."""
    where = Set("[n] -> { [x, y] : 2147483648 * x + 2147483647 * y >= n }")
    condition = Translator({"n": N}, [X, Y]).condition(where)
    assert condition is not None
    with pytest.raises(ps.ScheduleError, match="may not fit in 64 bits"):
        Fits()._range(condition, {X: (0, 1 << 44), Y: (0, 1 << 44)}, "a condition")


def test_a_part_of_what_high_bits_go_round_needs_no_large_product() -> None:
    """High bits of a size within a period of another one: `n * 2**31` and `j * 2**31` at once."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    r = ps.RVar("r", 0, 3)
    f, g = ps.Func("f"), ps.Func("g", dtype=ps.int64)
    f[i, j] = ps.cast(ps.int64, j)
    f[i, (m >> 31) % n] += r
    g[i] = f[ps.select(i < n - 1, i, i - 2), i % n]
    kernel = ps.Schedule(g).compile()
    whole = ps.interpret(g, n=3, m=5, shape=(7,))
    assert whole.tolist() == [3, 1, 2, 3, 1, 2, 3]
    for lo, hi in ((0, 2), (1, 7), (3, 3)):
        assert kernel(n=3, m=5, region=((lo, hi),)).tolist() == whole[lo:hi].tolist()


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


@pytest.mark.parametrize(
    ("text", "largest"),
    [
        ("n + 65530x - 65535*floor((13106 + 13106x)/13107)", 5),
        ("65530x - 65535*floor((26213 + 13106x - 13100n)/13107)", 5),
        ("x - 5000*floor((n + 2500x)/5000)", 4999),
        ("x + 5000*floor((n + 2501x + 3*floor((x + n)/3))/5000)", 5001),
    ],
)
def test_a_quotient_is_split_where_its_factor_is_large(text: str, largest: int) -> None:
    """Its value is the same, and loops are multiplied by small numbers only."""
    value = isl.PwAff(f"[n] -> {{ [x] -> [({text})] }}")
    found = Translator({"n": N}, [X]).pw_aff(value, N)
    for node in postorder(found):
        if isinstance(node, Op) and node.op == "mul" and X in node.operands:
            assert all(abs(int(k.value)) <= largest for k in node.operands if isinstance(k, Const))
    at = _function(found)
    for n in (-13108, -1, 0, 1, 7, 4999):
        for x in (-13107, -2501, -3, -1, 0, 1, 2, 13106, 13107, 30000):
            point = value.intersect_params(Set(f"[n] -> {{ : n = {n} }}"))
            exact = point.intersect_domain(Set(f"{{ [{x}] }}")).max_val()
            assert at({N: n, X: x}) == int(exact.to_python()), (n, x)


def test_a_tile_of_a_fused_loop_over_data_needs_no_large_product() -> None:
    n = ps.sizes("n")
    i, j = ps.vars("i j")
    ends = ps.Input("ends", ps.uint16, (1,), range=(0, n + n))
    r = ps.RVar("r", 0, ends[0])
    f = ps.Func("f", (n, n))
    f[i, j] = 0
    f[0, j] += r
    s = ps.Schedule(f)
    s["f.update(0)"].fuse("j", "r")
    s["f.update(0)"].tile("jr", 5)
    made = s.compile()(np.array([4], np.uint16), n=3)
    assert made.tolist() == [[6, 6, 6], [0, 0, 0], [0, 0, 0]]
