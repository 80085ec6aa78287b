"""Conditions that have one value in all instances of a stage, so that they need no test: as those
of a boundary in a stage that computes the middle of an image."""

from __future__ import annotations

from contextlib import suppress

from ...lang.nodes.dtypes import bool_
from ...lang.nodes.nodes import Const, Node, Op, dtype_of, postorder
from ...lang.nodes.ops import COMPARISONS
from ..sets.affine import condition
from ..sets.budget import BudgetExceeded, attempt
from ..sets.isl import Set
from ..sets.simplify import without
from ..tree.stage import Stage

OPERATIONS = 100_000
"""So much work may isl put into one comparison."""


def decisions(stage: Stage, context: Set, roots: tuple[Node, ...]) -> dict[Node, Const]:
    """The comparisons in some expressions that hold in all instances of a stage, or in none."""
    compared = [n for n in postorder(*roots) if isinstance(n, Op) and n.op in COMPARISONS]
    known: dict[Node, Const] = {}
    if not compared:
        return known
    frame = stage.statement.frame
    visited = stage.padded.intersect_params(context)
    for node in compared:
        if not all(dtype_of(a).is_int for a in node.operands):
            continue
        with suppress(BudgetExceeded), attempt(OPERATIONS):  # else it is tested
            where = condition(frame, node)
            if not where.exact:
                continue  # data say, and the set is that of all points
            if visited.is_subset(where.set):
                known[node] = Const(True, bool_)
            elif visited.is_disjoint(where.set):
                known[node] = Const(False, bool_)
    return known


def decided(stage: Stage, context: Set, roots: tuple[Node, ...]) -> tuple[Node, ...]:
    """The expressions without them."""
    return without(roots, decisions(stage, context, roots))
