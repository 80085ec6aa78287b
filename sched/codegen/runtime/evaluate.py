"""Expressions over sizes and Params as Python functions: extents, origins, conditions.

Nearly all compute with int64, in which no value of them wraps: Python's operators on integers say
the same. All others are evaluated node by node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...lang.arithmetic.extents import size_value
from ...lang.nodes.dtypes import INDEX, DType, bool_, concrete, int64
from ...lang.nodes.nodes import Const, Node, Op, Param, Size, postorder

Compiled = Callable[[Mapping[str, int]], tuple[int, ...]]

_TEMPLATES = {
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


def compile_nodes(nodes: Sequence[Node]) -> Compiled:
    """A function from the values of sizes and Params to the values of the expressions."""
    names: dict[Node, str] = {}
    lines: list[str] = []
    scope: dict[str, Any] = {"min": min, "max": max, "abs": abs, "value": size_value}
    apart = {root for root in nodes if not _is_plain(root)}
    for node in (*apart, *postorder(*(root for root in nodes if root not in apart))):
        names[node] = name = f"v{len(names)}"
        if node in apart:
            scope[f"n{name}"] = node
            text = f"value(n{name}, s, s)"
        else:
            text = str(_template(node)).format(*(names[a] for a in node.args))
        lines.append(f"    {name} = {text}")
    result = "".join(f"{names[n]}, " for n in nodes)
    source = "\n".join(["def compiled(s):", *lines, f"    return ({result})"])
    exec(source, scope)
    compiled: Compiled = scope["compiled"]
    return compiled


def _is_plain(root: Node) -> bool:
    """Whether Python's integers say what int64 does: extents do, which are near to 0 or else the
    call is refused; a condition does where no product of sizes is compared."""
    nodes = postorder(root)
    return all(
        _template(n) is not None and not (_type(root) is bool_ and _is_product(n)) for n in nodes
    )


def _is_product(node: Node) -> bool:
    is_mul = isinstance(node, Op) and node.op == "mul"
    return is_mul and not any(isinstance(a, Const) for a in node.args)


def _template(node: Node) -> str | None:
    """Python's text for a node; None where its arithmetic is another one."""
    match node:
        case Const(value=value) if _type(node) in (int64, bool_):
            return repr(value)
        case Size(name=name):
            return f"s[{name!r}]"
        case Param(name=name) if _type(node) in (int64, bool_):
            return f"s[{name!r}]"
        case Op(op=op, operands=operands) if _type(node) in (int64, bool_):
            on = _type(operands[-1])
            known = {int64: _TEMPLATES, bool_: _ON_BOOLS}.get(on, {})
            return known.get(op)
    return None


def _type(node: Node) -> DType:
    return concrete(node.type or INDEX)
