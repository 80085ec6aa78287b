"""Extents and conditions over sizes and Params, and their values at a call.

Affine ones are stored as terms, so that an extent can be solved for a missing size.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..nodes.affine import affine_form
from ..nodes.nodes import Node, Op, Param, Size, postorder
from ..nodes.printer import expr_text
from .evaluate import Scalar, size_value
from .scalar import COMPARE


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
        """The value of an affine extent with zero for the unknown names."""
        return self.constant + sum(a * values[n] for n, a in self.terms if n in values)

    def value(self, values: Mapping[str, Any]) -> int:
        """The value of the extent, where all names are known."""
        if self.only is not None:
            return int(values[self.only])
        if self.affine:
            return self.partial(values)
        return int(size_value(self.node, values, values))


class Condition:
    """A condition over sizes and Params. Comparisons of affine expressions have a fast path."""

    __slots__ = ("_compare", "names", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.names = _names(node)
        self._compare: tuple[Any, Extent, Extent] | None = None
        match node:
            case Op(op=op, operands=(a, b)) if op in COMPARE:
                sides = extent_of(a), extent_of(b)
                if all(s.affine for s in sides):
                    self._compare = (COMPARE[op], *sides)

    def __str__(self) -> str:
        return expr_text(self.node)

    def holds(self, sizes: Mapping[str, int], params: Mapping[str, Scalar]) -> bool:
        """Whether the condition holds at these sizes and Params."""
        if self._compare is None or not params.keys().isdisjoint(self.names):
            return bool(size_value(self.node, sizes, params))
        compare, a, b = self._compare
        return bool(compare(a.partial(sizes), b.partial(sizes)))


def _names(root: Node) -> tuple[str, ...]:
    found = (n.name for n in postorder(root) if isinstance(n, (Size, Param)))
    return tuple(dict.fromkeys(found))


@lru_cache(4096)
def extent_of(node: Node) -> Extent:
    """The extent that a typed node over sizes and Params stands for."""
    return Extent(node)
