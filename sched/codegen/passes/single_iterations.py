"""Loops of one iteration are replaced by their bodies.

for y.2 in [y, y + 1): A[y.2]   ->   A[y]
"""

from __future__ import annotations

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node
from ...poly.sets.linear import expanded
from ..ir.ir import For, Module, Stmt
from ..ir.rewrite import map_module, map_tree_expressions


def single_iterations(module: Module) -> Module:
    """Each loop that has one iteration at all sizes becomes its body."""
    return map_module(module, _without)


def _without(stmt: Stmt) -> Stmt:
    if not isinstance(stmt, For) or expanded(ix.sub(stmt.hi, stmt.lo)) != ({}, 1):
        return stmt
    var, lo = stmt.var, stmt.lo

    def rule(node: Node) -> Node:
        return lo if node is var else node

    return map_tree_expressions(stmt.body, rule)
