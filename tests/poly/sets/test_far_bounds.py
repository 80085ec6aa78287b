"""Ends of loops that are far off at some sizes only: at the range of an index type, say."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from polysched.lang.nodes import index as ix
from polysched.lang.nodes.nodes import Node, Size, Var
from polysched.lang.nodes.printer import expr_text
from polysched.poly.nests.bounds import loop_bounds
from polysched.poly.report.idle_iterations import _function
from polysched.poly.sets.expressions import Translator
from polysched.poly.sets.isl import PwAff, Set, isl

SYMBOLS: dict[str, Node] = {name: Size(name, None) for name in "nm"}
SIZES = [{"n": n, "m": m} for n in (0, 3, 70000) for m in (0, 5, 65535, 65536, 70000)]


def ends(found: Node, sizes: Mapping[str, int]) -> int:
    return _function(found)({SYMBOLS[k]: v for k, v in sizes.items()})


def holds(where: Set, sizes: Mapping[str, int], x: int) -> bool:
    for name, value in sizes.items():
        at = where.find_dim_by_name(isl.dim_type.param, name)
        if at >= 0:
            where = where.fix_val(isl.dim_type.param, at, isl.Val(value))
    return not where.fix_val(isl.dim_type.set, 0, isl.Val(x)).is_empty()


@pytest.mark.parametrize(
    ("text", "small"),
    [
        ("0 <= x < n or (m >= 65536 and 0 <= x < 65533)", (0, 5)),
        ("0 <= x < n or (m >= 65536 and n >= 2 and -65533 <= x < 65533)", (0, 5)),
        ("0 <= x < m or 1 <= x < n + 2 or (m >= 65536 and -70000 <= x < 7)", (0, 5)),
        ("(m >= 65536 and 0 <= x < 65533) or (n >= 65536 and 0 <= x < 65536)", None),
        ("0 <= x < n or 0 <= x < 65533", None),
        ("0 <= x < 65536 and (x < n or x < 2m - 3 or (x >= 1 and x < m - 1))", (0, 7)),
        ("0 <= x < 65536 and (x < n or x < 2m - 3) or x = 65533", None),
    ],
)
def test_far_bounds_count_at_the_sizes_that_need_them(
    text: str, small: tuple[int, int] | None
) -> None:
    """What is described is what the bounds are, and all of the set is within them."""
    visited = Set(f"[n, m] -> {{ [x] : n >= 0 and m >= 0 and ({text}) }}")
    known = Set("[n, m] -> { [x] : n >= 0 and m >= 0 }")
    bounds = loop_bounds(visited, known, Translator(SYMBOLS))
    for sizes in SIZES:
        lo, hi = ends(bounds.lo, sizes), ends(bounds.hi, sizes)
        for x in (-70001, -65533, -1, 0, 2, 3, 4, 7, 65532, 65533, 65536, 70000, lo - 1, lo, hi):
            within = lo <= x < hi
            assert holds(bounds.described, sizes, x) == within, (sizes, x)
            assert within or not holds(visited, sizes, x), (sizes, x)
    if small is not None:
        at = {"n": 3, "m": 5}
        lo, hi = ends(bounds.lo, at), ends(bounds.hi, at)
        assert lo == small[0]
        assert hi <= small[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x < n and n < 2**64 + x", "n >= x + 1"),
        ("n < 2**64 or x < n", None),
        ("n >= 2**64 and x < n", "False"),
    ],
)
def test_what_holds_of_all_numbers_of_64_bits_is_no_condition(text: str, said: str | None) -> None:
    where = Set(f"[n] -> {{ [x] : {text.replace('2**64', str(2**64))} }}")
    found = Translator(SYMBOLS, (Var("x"),)).condition(where)
    assert (None if found is None else expr_text(found)) == said


def test_a_value_where_no_size_is_leaves_no_trace() -> None:
    value = PwAff(f"[n] -> {{ [] -> [(n)] : n < {2**64}; [] -> [(n - {2**64})] : n >= {2**64} }}")
    assert Translator(SYMBOLS).pw_aff(value, ix.ZERO) is SYMBOLS["n"]
    assert Translator(SYMBOLS).pw_aff(value, ix.ZERO, Set("[n] -> { [] }")) is SYMBOLS["n"]
