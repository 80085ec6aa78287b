"""Typed nodes in another type: casts, and literals that take the type of their neighbours."""

from __future__ import annotations

import numpy as np

from ..errors.errors import LanguageTypeError, Span
from .dtypes import DType, concrete
from .nodes import Const, Node, Op


def convert(node: Node, to: DType, where: Span | None = None) -> Node:
    """`node` with the type `to`; literals are converted now, and must fit."""
    if node.type == to:
        return node
    weak = not isinstance(node.type, DType)
    if isinstance(node, Const) and weak:
        return Const(literal_value(node.value, to, where), to)
    if weak and node.type is not None and concrete(node.type) == to:
        return node
    if _is_weak_select(node):
        return _convert_arms(node, to, where)
    return Op("cast", (node,), to)


def _is_weak_select(node: Node) -> bool:
    return isinstance(node, Op) and node.op == "select" and not isinstance(node.type, DType)


def _convert_arms(root: Node, to: DType, where: Span | None) -> Node:
    """A select between literals and indices in the type `to`, which its literals take as they do
    elsewhere."""
    done: dict[Node, Node] = {}
    stack = [root]
    while stack:
        condition, *arms = stack[-1].args
        waiting = [a for a in arms if _is_weak_select(a) and a not in done]
        if waiting:
            stack += waiting
            continue
        found = [done[a] if a in done else _convert_arm(a, to, where) for a in arms]
        done[stack.pop()] = Op("select", (condition, *found), to)
    return done[root]


def _convert_arm(arm: Node, to: DType, where: Span | None) -> Node:
    if isinstance(arm, Const):
        return Const(literal_value(arm.value, to, where), to)
    return convert(arm, to, where)


def literal_value(value: bool | int | float, to: DType, where: Span | None) -> bool | int | float:
    """A Python literal as a value of the type `to`."""
    if to.is_float:
        with np.errstate(over="ignore"):
            return float(to.scalar(value))
    if isinstance(value, float):
        raise LanguageTypeError(f"the literal {value!r} is not an integer", where=where)
    if to.is_int and not to.min <= value <= to.max:
        raise LanguageTypeError(
            f"the literal {value} does not fit in {to}, the type of what it is combined with",
            where=where,
            hint="cast the other operand to a wider type first: ps.cast(ps.int32, x)",
        )
    return value
