"""Extents and conditions over sizes and Params, and their values at a call."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ..nodes.affine import affine_form
from ..nodes.dtypes import concrete, float64
from ..nodes.nodes import Const, Node, Op, Param, Size, postorder
from ..nodes.ops import FUNCTIONS
from ..nodes.printer import expr_text
from .math import expansion
from .scalar import Value, as_value, meaning, wrapping

Scalar = bool | int | float


class Extent:
    """An extent: `constant + sum of factor * name`, or an expression that is not affine.

    Attributes:
        names: the sizes and integer Params in it.
        terms: the factors by name; empty if it is not affine.
        only: the name, if the extent is just one size.
    """

    __slots__ = ("affine", "constant", "names", "node", "only", "terms")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.names = _names(node)
        form = affine_form(node)
        self.affine = form is not None
        self.constant, terms = form if form is not None else (0, {})
        self.terms = tuple((n, a) for n, a in terms.items() if a)
        self.only = self.names[0] if isinstance(node, Size) else None

    def __str__(self) -> str:
        return expr_text(self.node)

    def is_known(self, values: Mapping[str, int]) -> bool:
        """Whether every name in it has a value."""
        return all(n in values for n in self.names)

    def unknown(self, values: Mapping[str, int]) -> str | None:
        """The one name that is missing, if the extent can be solved for it."""
        if not self.affine:
            return None
        missing = [n for n, _ in self.terms if n not in values]
        return missing[0] if len(missing) == 1 else None

    def partial(self, values: Mapping[str, int]) -> int:
        """Its value with the unknown names at zero."""
        return self.constant + sum(a * values[n] for n, a in self.terms if n in values)

    def value(self, values: Mapping[str, Any]) -> int:
        """Its value, all names known."""
        if self.only is not None:
            return int(values[self.only])
        if self.affine:
            return self.partial(values)
        return int(size_value(self.node, values, values))


class Condition:
    """A condition over sizes and Params. One that compares affine expressions is fast to check."""

    __slots__ = ("_compare", "names", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.names = _names(node)
        self._compare: tuple[Any, Extent, Extent] | None = None
        match node:
            case Op(op=op, operands=(a, b)) if op in _COMPARE:
                sides = extent_of(a), extent_of(b)
                if all(s.affine for s in sides):
                    self._compare = (_COMPARE[op], *sides)

    def __str__(self) -> str:
        return expr_text(self.node)

    def holds(self, sizes: Mapping[str, int], params: Mapping[str, Scalar]) -> bool:
        """Whether it does at these sizes and Params."""
        if self._compare is None or not params.keys().isdisjoint(self.names):
            return bool(size_value(self.node, sizes, params))
        compare, a, b = self._compare
        return bool(compare(a.partial(sizes), b.partial(sizes)))


_COMPARE = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}


def _names(root: Node) -> tuple[str, ...]:
    found = (n.name for n in postorder(root) if isinstance(n, (Size, Param)))
    return tuple(dict.fromkeys(found))


@lru_cache(4096)
def extent_of(node: Node) -> Extent:
    """The extent that a typed node over sizes and Params stands for."""
    return Extent(node)


# values ---------------------------------------------------------------------------------------
def size_value(root: Node, sizes: Mapping[str, Any], params: Mapping[str, Any]) -> Scalar:
    """The value of an expression over sizes and Params, to the bit as a kernel computes it."""
    with np.errstate(all="ignore"):
        value = _evaluated(root, {}, sizes, params)
    result: Scalar = value.item() if isinstance(value, np.generic) else value
    return result


def _evaluated(
    root: Node, values: dict[Node, Value], sizes: Mapping[str, Any], params: Mapping[str, Any]
) -> Value:
    """The value of an expression; of some of its nodes it is known."""
    for node in postorder(root):
        if node not in values:
            values[node] = _value(node, values, sizes, params)
    return values[root]


def _value(
    node: Node, values: dict[Node, Value], sizes: Mapping[str, Any], params: Mapping[str, Any]
) -> Value:
    # Bounds of a float Input's range are not typed: they are float64.
    t = float64 if node.type is None else concrete(node.type)
    match node:
        case Const(value=value):
            return as_value(value, t)
        case Size(name=name):
            return int(sizes[name])
        case Param(name=name):  # an uint64 wraps to int64
            given = params[name]
            return as_value(wrapping(t)(int(given)) if t.is_int else given, t)
        case Op(op="select", operands=(c, a, b)):
            return values[a] if values[c] else values[b]
        case Op(op=op, operands=operands) if op in FUNCTIONS:
            placeholders, body = expansion(op, t)
            given = dict(zip(placeholders, map(values.__getitem__, operands), strict=True))
            return _evaluated(body, given, sizes, params)
        case Op(op=op, operands=operands):
            last = operands[-1].type
            of = meaning(op, t, float64 if last is None else concrete(last))
            return of(*map(values.__getitem__, operands))
        case _:
            raise TypeError(f"{type(node).__name__} in an expression over sizes")
