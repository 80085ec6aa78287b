"""Functions become the operators that they are made of.

    exp(x)   ->   select(x > 88.7, inf, fma(...))

so that scalar code, vector code and the interpreter give the same bits.
"""

from __future__ import annotations

from ...lang.arithmetic.math import expansion_of
from ...lang.nodes.nodes import Node, Op, substitute
from ...lang.nodes.ops import FUNCTIONS
from ..ir.ir import Module
from ..ir.rewrite import map_expressions


def expand_math(module: Module) -> Module:
    """No operator of `ops.FUNCTIONS` remains."""

    def rule(node: Node) -> Node:
        if isinstance(node, Op) and node.op in FUNCTIONS:
            placeholders, body = expansion_of(node)
            return substitute(body, dict(zip(placeholders, node.operands, strict=True)))
        return node

    return map_expressions(module, rule)
