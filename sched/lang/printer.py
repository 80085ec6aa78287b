"""Expressions as text, in the spelling that a user would write."""

from __future__ import annotations

from .nodes import Const, Node, Op, Param, Read, RVar, Size, Var, postorder
from .ops import OPS

_LIMIT = 20_000


def expr_text(root: Node) -> str:
    """The expression in Python's syntax; a subexpression too long to repeat is elided."""
    text: dict[Node, tuple[str, int]] = {}
    for node in postorder(root):
        text[node] = _one(node, text)
    return text[root][0]


def _one(node: Node, text: dict[Node, tuple[str, int]]) -> tuple[str, int]:
    """The text of one node and how tightly it binds, from those of its operands."""

    def arg(a: Node, at_least: int = 0) -> str:
        string, precedence = text[a]
        if len(string) > _LIMIT:
            string, precedence = "...", 100
        return f"({string})" if precedence < at_least else string

    match node:
        case Const(value=value):
            return repr(value), 65 if not isinstance(value, bool) and value < 0 else 100
        case Var() | RVar() | Size() | Param():
            return node.name, 100
        case Read(tensor=tensor, index=index, component=component):
            suffix = f"[{component}]" if len(tensor.dtypes) > 1 else ""
            return f"{tensor.name}[{', '.join(map(arg, index)) or '()'}]{suffix}", 100
        case Op(op="cast", operands=(a,), type=t):
            return f"{t}({arg(a)})", 100
        case Op(op="bitcast", operands=(a,), type=t):
            return f"bitcast({t}, {arg(a)})", 100
        case Op(op=op, operands=operands):
            info = OPS[op]
            p = info.precedence
            if info.symbol is None:
                return f"{op}({', '.join(map(arg, operands))})", 100
            if len(operands) == 1:
                return f"{info.symbol}{arg(operands[0], p)}", p
            # Comparisons do not associate, so both sides are bracketed at equal strength.
            left = p + 1 if info.rule == "compare" else p
            return f"{arg(operands[0], left)} {info.symbol} {arg(operands[1], p + 1)}", p
        case _:
            raise TypeError(type(node).__name__)
