"""Access relations and conditions against plain evaluation at every point of a small box."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
from hypothesis import given, settings, strategies as st

import polysched as ps
from polysched.lang.errors.errors import user_span
from polysched.lang.expr.expr import as_node
from polysched.lang.nodes.nodes import Node, Read, postorder
from polysched.lang.nodes.typing import infer_condition, typed_size
from polysched.poly.sets.affine import access_relation, affine_value
from polysched.poly.sets.affine_conditions import condition
from polysched.poly.sets.isl import Frame, Map, Set, isl

FRAME = Frame(("n",), ("i", "j"))
BOX = [(n, i, j) for n in (0, 1, 4) for i in (-3, 0, 2, 5) for j in (-2, 0, 1, 6)]

Both = tuple[object, Callable[[int, int, int], int]]
"""An expression and the function that it should be."""

_BINARY: dict[str, tuple[Callable[..., object], Callable[..., int]]] = {
    "add": (operator.add, operator.add),
    "sub": (operator.sub, operator.sub),
    "min": (ps.minimum, min),
    "max": (ps.maximum, max),
    "absd": (lambda a, b: ps.cast(ps.int64, ps.absd(a, b)), lambda a, b: abs(a - b)),
}


@st.composite
def indices(draw: st.DrawFn, depth: int = 3) -> Both:
    """A quasi-affine expression of i, j and n."""
    kind = draw(st.sampled_from(["leaf", *_BINARY, "scale", "div", "mod", "neg", "abs", "select"]))
    if depth == 0 or kind == "leaf":
        return draw(
            st.sampled_from(
                [
                    (ps.vars("i"), lambda n, i, j: i),
                    (ps.vars("j"), lambda n, i, j: j),
                    (ps.sizes("n"), lambda n, i, j: n),
                    (ps.vars("i") * 0 + 3, lambda n, i, j: 3),
                ]
            )
        )
    a, fa = draw(indices(depth - 1))
    if kind in _BINARY:
        b, fb = draw(indices(depth - 1))
        build, value = _BINARY[kind]
        return build(a, b), lambda n, i, j: value(fa(n, i, j), fb(n, i, j))
    c = draw(st.sampled_from([-3, -2, -1, 2, 3, 5]))
    if kind == "scale":
        return a * c, lambda n, i, j: fa(n, i, j) * c
    if kind == "div":
        return a // c, lambda n, i, j: fa(n, i, j) // c
    if kind == "mod":
        return a % c, lambda n, i, j: fa(n, i, j) % c
    if kind == "neg":
        return -a, lambda n, i, j: -fa(n, i, j)
    if kind == "abs":
        return abs(a), lambda n, i, j: abs(fa(n, i, j))
    b, fb = draw(indices(depth - 1))
    return ps.select(a < c, a, b), lambda n, i, j: fa(n, i, j) if fa(n, i, j) < c else fb(n, i, j)


def typed(expr: object) -> Node:
    return typed_size(as_node(expr), user_span())


def at(relation: Map, n: int, i: int, j: int) -> Set:
    """The elements that one instance touches."""
    where = FRAME.universe
    for name, value in (("i", i), ("j", j)):
        where = where.intersect(FRAME.dim(name).eq_set(FRAME.constant(value)))
    where = where.intersect(FRAME.param("n").eq_set(FRAME.constant(n)))
    return where.apply(relation)


def elements(image: Set) -> list[int]:
    image = image.project_out(isl.dim_type.param, 0, 1)
    found: list[int] = []
    image.foreach_point(
        lambda p: found.append(int(p.get_coordinate_val(isl.dim_type.set, 0).to_python()))
    )
    return sorted(found)


@pytest.mark.slow
@given(indices())
@settings(max_examples=60, deadline=None)
def test_affine_expressions_are_exact(both: Both) -> None:
    expr, function = both
    relation = access_relation(FRAME, (typed(expr),))
    assert not relation.may
    for point in BOX:
        assert elements(at(relation.map, *point)) == [function(*point)]


_COMPARE = {"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne}


@pytest.mark.slow
@given(indices(2), indices(2), st.sampled_from(sorted(_COMPARE)), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_conditions_are_exact(a: Both, b: Both, symbol: str, flip: bool, both: bool) -> None:
    compare = _COMPARE[symbol]
    expr = compare(a[0], b[0])
    expr = ~expr if flip else expr
    expr = expr & (ps.vars("i") > 0) if both else expr | (ps.vars("j") > 0)
    found = condition(FRAME, infer_condition(as_node(expr), user_span()))
    assert found.exact
    for n, i, j in BOX:
        holds = compare(a[1](n, i, j), b[1](n, i, j)) != flip
        wanted = holds and i > 0 if both else holds or j > 0
        point = at(Map.identity(found.set.get_space().map_from_set()), n, i, j)
        assert point.is_subset(found.set) == wanted


def relation_of(expr: object) -> tuple[Map, bool]:
    """The access relation of the index in `T[expr]`."""
    t = ps.Input("T", ps.float32, (1000,))
    f = ps.Func("f")
    f[ps.vars("i"), ps.vars("j")] = t[expr]
    value = f.history.typed()[0].values[0]
    read = next(x for x in postorder(value) if isinstance(x, Read) and x.tensor is t)
    found = access_relation(FRAME, read.index)
    return found.map, found.may


def bounds(expr: object, n: int = 4) -> tuple[int, int]:
    map_, may = relation_of(expr)
    assert may
    found = elements(at(map_, n, 2, 1))
    return found[0], found[-1]


u8 = ps.Input("u8", ps.uint8, (ps.sizes("n"),))
i8 = ps.Input("i8", ps.int8, (ps.sizes("n"),))
i32 = ps.Input("i32", ps.int32, (ps.sizes("n"),))
ranged = ps.Input("ranged", ps.int32, (ps.sizes("n"),), range=(0, ps.sizes("n")))
f32 = ps.Input("f32", ps.float32, (ps.sizes("n"),))
i, j = ps.vars("i j")


@pytest.mark.parametrize(
    ("expr", "wanted"),
    [
        (u8[i], (0, 255)),
        (i8[i], (-128, 127)),
        (u8[i] + 1, (0, 255)),  # wraps in uint8
        (ps.cast(ps.int32, u8[i]) + 1, (1, 256)),
        (ps.cast(ps.int32, u8[i]) * 2 - 3, (-3, 507)),
        (ps.clip(i32[i], 0, 9), (0, 9)),
        (ps.clip(i32[i] * i32[j], -2, 9), (-2, 9)),
        (i32[i] % 7, (0, 6)),
        (i32[i] % -7, (-6, 0)),
        (i + ps.cast(ps.int64, u8[j]), (2, 257)),
        (ranged[i], (0, 3)),
        (ranged[i] + i, (2, 5)),
        (ps.clip(ps.cast(ps.int32, f32[i] * 10), 0, 9), (0, 9)),
        (ps.clip(i * j, 0, 5), (0, 5)),
        (ps.select(f32[i] > 0, i, 9), (2, 9)),
        (ps.select(i32[i] < 0, 0, ps.select(i32[i] > 9, 9, i32[i])), (0, 9)),
        (u8[i] >> 4, (0, 15)),
        (u8[i] & 15, (0, 15)),
        (u8[i] & u8[j], (0, 255)),
        ((i & 15) & ps.cast(ps.int64, u8[j]), (0, 2)),
        (ps.abs(ps.cast(ps.int32, i8[i])), (0, 128)),
    ],
    ids=str,
)
def test_unknowns_are_bounded_by_type_range_and_operator(
    expr: object, wanted: tuple[int, int]
) -> None:
    assert bounds(expr) == wanted


def test_minimum_and_maximum_of_conditions() -> None:
    for least, wanted in ((ps.minimum, [1]), (ps.maximum, [5])):
        map_, may = relation_of(ps.select(least(i < 3, j > 4), 5, 1))
        assert not may
        assert elements(at(map_, 4, 2, 1)) == wanted


def test_two_uses_of_one_unknown_agree() -> None:
    """x - x is 0 whatever x is."""
    x = ps.cast(ps.int64, u8[i])
    assert bounds(x - x + 7) == (7, 7)


@pytest.mark.parametrize(
    "expr", [ps.clip(ps.cast(ps.int32, i), 7, 7), ps.clip(i * j, 7, 7), ps.clip(i32[i], 7, 7)]
)
def test_what_has_one_value_is_known_whatever_it_is_made_of(expr: ps.Expr) -> None:
    map_, may = relation_of(expr + i)
    assert not may
    assert elements(at(map_, 4, 2, 1)) == [9]


def test_what_has_one_value_by_its_range_is_not_known_before_it_is_checked() -> None:
    zero = ps.Input("zero", ps.int32, (ps.sizes("n"),), range=(0, 1))
    assert bounds(zero[i]) == (0, 0)
    assert bounds(ps.maximum(zero[i], 0)) == (0, 0)


def test_a_modulus_by_a_size_is_below_it() -> None:
    map_, may = relation_of(i % ps.sizes("n"))
    assert may
    assert elements(at(map_, 4, 22, 1)) == [0, 1, 2, 3]
    assert elements(at(map_, 0, 2, 1)) == [0]


def test_a_modulus_has_the_sign_of_what_may_be_negative() -> None:
    map_, _ = relation_of(i % (ps.sizes("n") - 4))
    assert elements(at(map_, 0, 2, 1)) == [-3, -2, -1, 0]
    assert elements(at(map_, 4, 2, 1)) == [0]


@pytest.mark.parametrize("operator_of", [operator.floordiv, operator.mod])
def test_quotients_and_remainders_by_a_size_are_known_within_a_few_periods(
    operator_of: Callable[[ps.Expr, ps.Expr], ps.Expr],
) -> None:
    n = ps.sizes("n")
    map_, _ = relation_of(operator_of(i - 1, n))
    for size in range(1, 4):
        for x in range(-size + 1, 2 * size + 1):
            assert elements(at(map_, size, x, 0)) == [operator_of(x - 1, size)], (size, x)


WHOLE_PERIODS: list[tuple[Callable[..., ps.Expr], int]] = [
    (lambda e, n: n * (e // n), 1),
    (lambda e, n: (e // n) * (3 * n), 3),
    (lambda e, n: -(n * 2) * (e // n), -2),
]


@pytest.mark.parametrize(("of", "times"), WHOLE_PERIODS)
def test_whole_periods_are_known_nearby_and_less_than_one_off_beyond(
    of: Callable[..., ps.Expr], times: int
) -> None:
    n = ps.sizes("n")
    map_, may = relation_of(of(i - 1, n))
    assert may
    for size in range(1, 4):
        for x in range(-size + 1, 2 * size + 1):
            wanted = times * size * ((x - 1) // size)
            assert elements(at(map_, size, x, 0)) == [wanted], (size, x)
    far = range(21 - 3, 21 + 1)  # a remainder less
    assert set(elements(at(map_, 4, 22, 0))) >= {times * 20}
    assert set(elements(at(map_, 4, 22, 0))) <= {
        x for r in far for x in range(times * r - abs(times), times * r + abs(times) + 1)
    }
    assert elements(at(map_, 0, 22, 0)) == [0]


def test_whole_periods_have_the_sign_of_what_may_be_negative() -> None:
    size = ps.sizes("n") - 4
    map_, _ = relation_of(size * (i // size))
    assert elements(at(map_, 0, 22, 0)) == [22, 23, 24, 25]
    assert elements(at(map_, 4, 22, 0)) == [0]


def test_products_with_other_quotients_are_anything() -> None:
    n = ps.sizes("n")
    for product in (n * (i // (n + 1)), i * (i // n), n * (i32[i] // n)):
        f, tensor = ps.Func("f", (n,)), ps.Input("A", ps.float32, (n,))
        f[i] = tensor[product]
        with pytest.raises(ps.LanguageError, match="nothing but its type bounds"):
            ps.Schedule(f)


def _inside(expr: ps.Expr, low: ps.Expr | int, high: ps.Expr) -> bool:
    """Whether the element is known where i is in [low, high)."""
    f, tensor = ps.Func("f"), ps.Input("A", ps.float32, (ps.sizes("n"),))
    f[i, j] = ps.select((i >= low) & (i < high), tensor[expr], 0.0)
    select = f.history.typed()[0].values[0]
    read = next(x for x in postorder(select) if isinstance(x, Read) and x.tensor is tensor)
    where = condition(FRAME, select.args[0]).set
    return not access_relation(FRAME, read.index).within(where).may


def test_an_element_is_known_only_where_all_points_are_near() -> None:
    n = ps.sizes("n")
    assert _inside((i + 1) % n, 0, n)
    assert _inside((i - n) % n + (i + n) // n, 0, n)
    assert _inside(i + 1 - n * ((i + 1) // n), 0, n)
    assert not _inside((i - n - 1) % n, 0, n)
    assert not _inside(i + n - n * ((i + n + 1) // n), 0, n)
    assert not _inside((i + n + 1) % n, 0, n)
    assert not _inside((i + 1) % n, -n, 3 * n)
    assert not _inside(i32[i] % n, 0, n)


def test_arithmetic_that_may_wrap_is_not_affine() -> None:
    """int32(i) + 1 wraps where i is huge, so nothing but its type bounds it."""
    narrow = typed(ps.cast(ps.int8, i) + 1)
    assert affine_value(FRAME, narrow) is None


def test_a_condition_on_data_is_dropped() -> None:
    f = ps.Func("f")
    f[i, j] = ps.select((i < j) & (f32[i] > 0), 1.0, 2.0)
    chosen = f.history.typed()[0].values[0].args[0]
    found = condition(FRAME, chosen)
    assert not found.exact
    assert found.set.is_equal(FRAME.dim("i").lt_set(FRAME.dim("j")))
    assert found.negated(FRAME).set.is_equal(FRAME.universe)
