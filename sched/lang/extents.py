"""Extents and conditions over sizes and Params: their affine form, and their value at a call."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from .dtypes import INDEX, concrete, float64, int64
from .errors import LanguageError
from .nodes import Const, Node, Op, Param, Read, RVar, Size, Var, postorder
from .printer import expr_text

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
        form = _affine(node)
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


Form = tuple[int, dict[str, int]]


def _affine(root: Node) -> Form | None:
    """The constant and the factors of an affine expression, else None."""
    forms: dict[Node, Form | None] = {}
    for node in postorder(root):
        forms[node] = _form(node, forms)
    return forms[root]


def never_affine(*roots: Node) -> Node | None:
    """A product, quotient or remainder of what is no constant, which nothing makes affine again.

    It is found where a user writes it; all else that may not be affine only proofs can tell.
    """
    forms: dict[Node, Form | None] = {}
    found = None
    for node in postorder(*roots):
        if isinstance(node, Read):
            return None  # what is read from data is bounded, not computed with
        forms[node] = _form(node, forms)
        match node:
            case Op(op="mul", operands=operands) if any(_is_constant(a, forms) for a in operands):
                continue
            case Op(op="mul"):
                found = found or node
            case Op(op="floordiv" | "mod", operands=(_, by)) if not _is_constant(by, forms):
                found = found or node
    return found


def _is_constant(node: Node, forms: Mapping[Node, Form | None]) -> bool:
    form = forms[node]
    if form is not None:
        return not any(form[1].values())
    return not any(isinstance(n, (Size, Param, Var, RVar)) for n in postorder(node))


def own_size(extent: Node) -> str:
    """What to write in place of an extent that is not affine."""
    return f"make it a size of its own: nz = ps.size('nz', default={expr_text(extent)})"


def _form(node: Node, forms: Mapping[Node, Form | None]) -> Form | None:
    match node:
        case Const(value=value) if not isinstance(value, float):
            return (int(value), {})
        case Size() | Param() | Var() | RVar():
            return (0, {node.name: 1})
        case Op(op=op, operands=operands) if concrete(node.type or INDEX) == int64:
            # Sizes are small enough for int64; in a narrower type the arithmetic might wrap.
            return _operator(op, [forms[a] for a in operands])
        case _:
            return None


def _operator(op: str, args: list[Form | None]) -> Form | None:
    if any(a is None for a in args):
        return None
    known = [a for a in args if a is not None]
    match op, known:
        case "add", [a, b]:
            return _sum(a, b, 1)
        case "sub", [a, b]:
            return _sum(a, b, -1)
        case "neg", [a]:
            return _sum((0, {}), a, -1)
        case "mul", [(c, terms), (d, {**others})] if not terms or not others:
            scale, (constant, rest) = (c, (d, others)) if not terms else (d, (c, terms))
            return scale * constant, {n: scale * a for n, a in rest.items()}
        case (("cast" | "strict"), [a]):
            return a
        case _:
            return None


def _sum(a: Form, b: Form, sign: int) -> Form:
    terms = dict(a[1])
    for name, factor in b[1].items():
        terms[name] = terms.get(name, 0) + sign * factor
    return a[0] + sign * b[0], terms


# values ---------------------------------------------------------------------------------------
#: Operators on NumPy scalars of one type: integers wrap, a division by zero gives 0.
_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "neg": np.negative,
    "abs": np.absolute,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "shl": np.left_shift,
    "shr": np.right_shift,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
}


def size_value(root: Node, sizes: Mapping[str, Any], params: Mapping[str, Any]) -> Scalar:
    """The value of an expression over sizes and Params."""
    values: dict[Node, Any] = {}
    with np.errstate(all="ignore"):
        for node in postorder(root):
            values[node] = _value(node, values, sizes, params)
    result: Scalar = values[root].item()
    return result


def _value(
    node: Node, values: dict[Node, Any], sizes: Mapping[str, Any], params: Mapping[str, Any]
) -> Any:
    # Bounds of a float Input's range are not typed: they are float64, or compared as they are.
    t = (float64 if node.type is None else concrete(node.type)).numpy.type
    match node:
        case Const(value=value):
            # The end of a range of int64 may be one more than that holds.
            return np.uint64(value) if t is np.int64 and value > int64.max else t(value)
        case Size(name=name):
            return np.int64(sizes[name])
        case Param(name=name):
            return np.asarray(params[name]).astype(t)[()]  # an uint64 wraps to int64
        case Op(op="select", operands=(c, a, b)):
            return values[a] if values[c] else values[b]
        case Op(op="cast" | "strict", operands=(a,)):
            return values[a].astype(t)
        case Op(op="fma", operands=(a, b, c)):
            return values[a] * values[b] + values[c]
        case Op(op=op, operands=(a, b)) if op in _COMPARE:
            return np.bool_(_COMPARE[op](values[a], values[b]))
        case Op(op=op, operands=operands) if op in _UFUNCS:
            return _UFUNCS[op](*(values[a] for a in operands))
        case Op(op=op, operands=operands):
            raise LanguageError(
                f"{op} is not available in expressions over sizes and Params alone: "
                f"{expr_text(node)}",
                hint="compute it before the call, and pass it as a Param",
            )
        case _:
            raise TypeError(f"{type(node).__name__} in an expression over sizes")
