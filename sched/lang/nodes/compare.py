"""Typed comparisons, which are exact also where no type holds both operands."""

from __future__ import annotations

from ..errors.errors import Span
from .convert import convert
from .dtypes import WEAK_INT, DType, bool_, concrete, int64, uint64
from .nodes import Const, Node, Op


def typed_comparison(op: str, a: Node, b: Node, t: DType, span: Span) -> Node:
    """`a op b` of typed operands with the common type `t`; integers are compared exactly."""
    if _is_weak_integer(a) and not _is_weak_integer(b):
        return _compare_literal(_flipped(op), b, a, t, span)
    if _is_weak_integer(b) and not _is_weak_integer(a):
        return _compare_literal(op, a, b, t, span)
    if {concrete(x.type or int64) for x in (a, b)} == {int64, uint64}:
        return _compare_signs(op, a, b)
    return Op(op, (convert(a, t, span), convert(b, t, span)), bool_)


def _compare_literal(op: str, a: Node, literal: Node, t: DType, span: Span) -> Node:
    """A comparison with an integer literal, exact also where the type of `a` cannot hold it."""
    assert isinstance(literal, Const)
    if a.type == bool_ and literal.value == 0 and op in ("eq", "ne"):
        return a if op == "ne" else Op("not", (a,), bool_)
    if t.is_float or t.is_bool or t.min <= literal.value <= t.max:
        return Op(op, (convert(a, t, span), convert(literal, t, span)), bool_)
    above = literal.value > t.max
    holds = op == "ne" or op in (("lt", "le") if above else ("gt", "ge"))
    # The outcome is known, but `a` stays an operand, so that its reads still happen.
    return Op("le" if holds else "gt", (convert(a, t, span), Const(t.max, t)), bool_)


def _is_weak_integer(node: Node) -> bool:
    return isinstance(node, Const) and node.type is WEAK_INT


def _flipped(op: str) -> str:
    """The operator that means the same with its operands exchanged: `<` becomes `>`."""
    return {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(op, op)


def _compare_signs(op: str, a: Node, b: Node) -> Node:
    """int64 against uint64, exactly: no type holds both."""
    if concrete(a.type or int64) == uint64:
        return _compare_signs(_flipped(op), b, a)
    a = convert(a, int64)
    negative = Op("lt", (a, Const(0, int64)), bool_)
    compared = Op(op, (Op("cast", (a,), uint64), convert(b, uint64)), bool_)
    return Op("select", (negative, Const(op in ("lt", "le", "ne"), bool_), compared), bool_)
