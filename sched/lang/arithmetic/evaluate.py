"""Evaluation of expressions over sizes, Params and loops outside of kernels, node by node or as
compiled Python functions.

`size_value` evaluates node by node, whatever the types are. Nearly all extents, origins, bounds
and conditions compute with int64 and do not wrap, so Python's operators on integers give the same
values, and such expressions are compiled to Python functions. Division by zero gives 0.

The interpreter does not use this: `interp` has an evaluator of its own, since it is the reference
semantics that everything else is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from ..nodes.dtypes import INDEX, DType, bool_, concrete, float64, int64
from ..nodes.nodes import Const, Node, Op, Param, RVar, Size, Var, postorder
from ..nodes.ops import FUNCTIONS
from .scalar import Value, as_value, meaning, wrapping

Scalar = bool | int | float
ByName = Callable[[Mapping[str, int]], tuple[int, ...]]
"""A function of the values of sizes and Params, by their names."""
ByNode = Callable[[Mapping[Node, int]], int]
"""A function of the values of sizes, Params and loops."""


# node by node -----------------------------------------------------------------------------------
def size_value(root: Node, sizes: Mapping[str, Any], params: Mapping[str, Any]) -> Scalar:
    """The value of an expression over sizes and Params, to the bit as a kernel computes it."""
    with np.errstate(all="ignore"):
        value = _evaluated(root, {}, sizes, params)
    result: Scalar = value.item() if isinstance(value, np.generic) else value
    return result


def _evaluated(
    root: Node, values: dict[Node, Value], sizes: Mapping[str, Any], params: Mapping[str, Any]
) -> Value:
    """The value of an expression, some of whose nodes have known values."""
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
        case Op(op="select" | "rarely", operands=(c, a, b)):
            return values[a] if values[c] else values[b]
        case Op(op=op, operands=operands) if op in FUNCTIONS:
            from .math import expansion_of  # on demand: `import polysched` needs no formulas

            placeholders, body = expansion_of(node)
            given = dict(zip(placeholders, map(values.__getitem__, operands), strict=True))
            return _evaluated(body, given, sizes, params)
        case Op(op=op, operands=operands):
            last = operands[-1].type
            of = meaning(op, t, float64 if last is None else concrete(last))
            return of(*map(values.__getitem__, operands))
        case _:
            raise TypeError(f"{type(node).__name__} in an expression over sizes")


# compiled ---------------------------------------------------------------------------------------
_ON_INTS = {
    "add": "({0} + {1})", "sub": "({0} - {1})", "mul": "({0} * {1})", "neg": "(-{0})",
    "floordiv": "({0} // {1} if {1} else 0)", "mod": "({0} % {1} if {1} else 0)",
    "min": "min({0}, {1})", "max": "max({0}, {1})", "abs": "abs({0})",
    "select": "({1} if {0} else {2})", "strict": "({0})",
    "lt": "({0} < {1})", "le": "({0} <= {1})", "gt": "({0} > {1})", "ge": "({0} >= {1})",
    "eq": "({0} == {1})", "ne": "({0} != {1})",
}  # fmt: skip
_ON_BOOLS = {
    "and": "({0} & {1})", "or": "({0} | {1})", "xor": "({0} ^ {1})", "not": "(not {0})",
    "eq": "({0} == {1})", "ne": "({0} != {1})", "cast": "({0})", "strict": "({0})",
    "select": "({1} if {0} else {2})",
}  # fmt: skip


def compile_nodes(nodes: Sequence[Node]) -> ByName:
    """A function from the values of sizes and Params to the values of the expressions.

    Expressions whose arithmetic is not that of Python's integers are evaluated by `size_value`. A
    name without a value is a KeyError.
    """
    if not nodes:
        return lambda values: ()
    code = _Code(lambda node: f"s[{node.name!r}]")
    for node in nodes:
        if not _is_plain(node, Size):
            code.add(node, f"value({code.own(node)}, s, s)")
    code.compute(*nodes)
    compiled: ByName = code.function("".join(f"{code.names[n]}, " for n in nodes))
    return compiled


def compile_over_loops(node: Node) -> ByNode | None:
    """A function from the values of sizes, Params and loops, by node, to the value of an
    expression.

    A symbol without a value is a KeyError.

    Returns:
        None if the expression's arithmetic is not that of Python's integers, or if it reads data.
    """
    if not _is_plain(node, Size | Var | RVar):
        return None
    code = _Code(lambda symbol: f"s[{code.own(symbol)}]")
    code.compute(node)
    compiled: ByNode = code.function(code.names[node])
    return compiled


class _Code:
    """Source text of a Python function of `s`, in which each distinct node is computed once.

    `symbol` gives the text for a size, a Param or a loop.
    """

    def __init__(self, symbol: Callable[[Any], str]) -> None:
        self.symbol = symbol
        self.names: dict[Node, str] = {}
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {"min": min, "max": max, "abs": abs, "value": size_value}

    def own(self, node: Node) -> str:
        """A name in the text for the node object itself, not for its value."""
        name = f"n{len(self.names)}"
        self.scope[name] = node
        return name

    def add(self, node: Node, text: str) -> None:
        self.names[node] = name = f"v{len(self.names)}"
        self.lines.append(f"    {name} = {text}")

    def compute(self, *roots: Node) -> None:
        """Adds a line for each node below the roots that has none yet."""
        for node in postorder(*(root for root in roots if root not in self.names)):
            if node not in self.names:
                self.add(node, self._text(node))

    def _text(self, node: Node) -> str:
        match node:
            case Const(value=value):
                return repr(value)
            case Op():
                return str(_template(node)).format(*(self.names[a] for a in node.operands))
            case _:
                return self.symbol(node)

    def function(self, result: str) -> Any:
        text = "\n".join(["def compiled(s):", *self.lines, f"    return ({result})"])
        exec(_code_of(text), self.scope)
        return self.scope["compiled"]


@lru_cache(256)
def _code_of(text: str) -> CodeType:
    """A text compiled once: names count from 0 in each, so many expressions have the same."""
    return compile(text, "<string>", "exec")


def _is_plain(root: Node, symbols: Any) -> bool:
    """Whether Python's integers give the values that int64 arithmetic gives. They do for extents,
    which are small or else the call is refused, and for conditions without products of sizes,
    which might wrap.

    `symbols` are the classes of nodes that have values, beside Params.
    """
    is_condition = _type(root) is bool_
    return all(
        _is_known(n, symbols) and not (is_condition and _is_product(n)) for n in postorder(root)
    )


def _is_product(node: Node) -> bool:
    is_mul = isinstance(node, Op) and node.op == "mul"
    return is_mul and not any(isinstance(a, Const) for a in node.args)


def _is_known(node: Node, symbols: Any) -> bool:
    """Whether a node has a text in Python, given those of its operands."""
    match node:
        case Const() | Param():
            return _type(node) in (int64, bool_)
        case Op():
            return _template(node) is not None
    return isinstance(node, symbols)


def _template(node: Op) -> str | None:
    """Python's text for an operator; None where Python's arithmetic differs from the language's."""
    if _type(node) not in (int64, bool_):
        return None
    on = _type(node.operands[-1])
    return {int64: _ON_INTS, bool_: _ON_BOOLS}.get(on, {}).get(node.op)


def _type(node: Node) -> DType:
    return concrete(node.type or INDEX)
