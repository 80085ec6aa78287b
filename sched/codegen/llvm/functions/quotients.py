"""Quotients that do not change in a loop, which are computed before it.

LLVM moves no division out of a loop, or in front of a branch, that it does not see to be executed
anyway: it might trap. Ours never do. So where copies of an unrolled body stand under conditions,
each of them would divide the same numbers in each iteration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ....lang.nodes.nodes import Const, Node, Op, has_below
from ....lang.nodes.rare import usually_computed
from ...ir import ir


def quotients_of(nodes: Collection[Node]) -> frozenset[Node]:
    """Those among some expressions that take long to compute, and read no memory."""
    return frozenset(n for n in nodes if _is_slow(n) and not has_below(ir.Load, n))


def _is_slow(node: Node) -> bool:
    """Whether a division is made; one of integers by a constant is a multiplication."""
    if not isinstance(node, Op) or node.op not in ("floordiv", "mod"):
        return False
    return not isinstance(node.operands[1], Const) or ir.dtype_of(node).is_float


def quotients_in(loop: ir.For, wanted: Collection[Node]) -> Iterator[Node]:
    """Those of `wanted` that some statement in a loop computes, unless it does so seldom."""
    for stmt in ir.walk(loop.body):
        roots = ir.expressions(stmt)
        if roots:
            yield from (n for n in usually_computed(*roots) if n in wanted)
