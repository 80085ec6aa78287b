"""Which conditions of selects are taken to be those of the borders of an axis."""

from __future__ import annotations

import pytest

import polysched as ps
from polysched.lang.nodes.nodes import Node, Op, Read, postorder
from polysched.poly.sets.borders import at_borders

n, k = ps.sizes("n"), ps.size("k")
i = ps.vars("i")
x = ps.Input("x", ps.int32, (n,))


def found(value: ps.Expr) -> list[str]:
    """The comparisons that are taken to fail, where lanes are values of i."""
    f = ps.Func("f", (n,))
    f[i] = value
    (root,) = f.history.typed()[0].values
    reads = (r for r in postorder(root) if isinstance(r, Read))
    places: set[Node] = set(postorder(*(a for r in reads for a in r.index)))
    (var,) = f.history.typed()[0].vars
    fails = at_borders((root,), var, places)
    return sorted(c.op for c in postorder(root) if isinstance(c, Op) and c in fails)


@pytest.mark.parametrize(
    ("index", "wanted"),
    [
        (ps.select(i - 1 < 0, n - 1, i - 1), ["lt"]),
        (ps.select(i - 1 >= 0, i - 1, n - 1), []),
        (ps.select(i >= n - 5, 0, i), ["ge"]),
        (ps.select(n - 5 > i, i, 0), []),
        (ps.select(i - 1 < 0, i - 1 + n, i - 1), ["lt"]),
        (ps.select(n <= i + 1, i + 1 - n, i + 1), ["le"]),
        (ps.select(i + 1 < n, i + 1, i + 1 - n), []),
        (ps.select((i < 1) | (i >= n - 1), 0, i), ["ge", "lt"]),
        (ps.select((i > 0) & (i < n - 1), i, 0), []),
        (ps.select(i < k, i, n - 1 - i), []),
        (ps.select(i >= 20, i - 20, i), []),
    ],
    ids=str,
)
def test_conditions_of_indices(index: ps.Expr, wanted: list[str]) -> None:
    assert found(x[ps.clip(index, 0, n - 1)]) == wanted


def test_a_condition_that_something_else_needs_is_not_taken_to_fail() -> None:
    first = i < 1
    assert found(ps.select(first, 0, x[i])) == ["lt"]
    assert found(ps.select(first, 0, x[i]) + ps.select(first & (x[i] > 2), 1, 0)) == []
    assert found(ps.select(first, 0, x[i]) + ps.cast(ps.int32, first)) == []
