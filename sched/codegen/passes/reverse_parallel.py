"""Parallel loops run backwards: a test, since results stay the same if the loops may be parallel.
It runs before all other passes.

parallel i in [0, n): A[i]   ->   parallel i in [0, n): A[n - 1 - i]
"""

from __future__ import annotations

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, integer
from ...records import replace
from ..ir.ir import For, Module, Stmt
from ..ir.rewrite import map_module, map_tree_expressions


def reverse_parallel(module: Module) -> Module:
    """Each parallel loop backwards."""
    return map_module(module, _reversed)


def _reversed(stmt: Stmt) -> Stmt:
    if not isinstance(stmt, For) or stmt.kind != "parallel":
        return stmt
    steps = ix.floordiv(ix.sub(ix.sub(stmt.hi, integer(1)), stmt.lo), stmt.step)
    last = ix.add(stmt.lo, ix.mul(steps, integer(stmt.step)))
    mirrored: dict[Node, Node] = {stmt.var: ix.sub(ix.add(stmt.lo, last), stmt.var)}
    return replace(stmt, body=map_tree_expressions(stmt.body, lambda n: mirrored.get(n, n)))
