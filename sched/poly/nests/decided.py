"""What is simpler in the instances of a stage than in general.

Conditions that have one value in all of them need no test: as those of a boundary in a stage that
computes the middle of an image. A remainder of what is at most one period away from its range, as
(x + 1) % n of a torus, needs no division, nor does the quotient. An index that is another one at
an end of its axis, as select(x == 0, n - 1, x - 1), is so on one side of a bound, like those that
are compared by an order.
"""

from __future__ import annotations

from contextlib import suppress

from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import bool_, int64
from ...lang.nodes.nodes import Const, Node, Op, Read, dtype_of, integer, postorder
from ...lang.nodes.ops import COMPARISONS
from ..sets.affine_conditions import condition
from ..sets.budget import BudgetExceeded, attempt
from ..sets.isl import Set
from ..sets.simplify import without
from ..tree.stage import Stage

OPERATIONS = 100_000
"""So much work may isl put into one comparison."""


def decisions(stage: Stage, context: Set, roots: tuple[Node, ...]) -> dict[Node, Node]:
    """Comparisons in some expressions that hold in all instances of a stage, or in none, and
    quotients and remainders that need no division, each with what it is."""
    nodes = [n for n in postorder(*roots) if isinstance(n, Op)]
    compared = [n for n in nodes if n.op in COMPARISONS]
    divided = [n for n in nodes if _is_division(n)]
    known: dict[Node, Node] = {}
    if not compared and not divided:
        return known
    visited = _Visited(stage, context)
    for node in compared:
        if all(dtype_of(a).is_int for a in node.operands):
            holds = visited.always(node)
            if holds is not None:
                known[node] = Const(holds, bool_)
    for node in _equalities(roots):
        side = None if node in known else _one_sided(node, visited)
        if side is not None:
            known[node] = side
    for node in divided:
        made = _divided(node, visited)
        if made is not None:
            known[node] = made
    return known


class _Visited:
    """The instances of a stage."""

    def __init__(self, stage: Stage, context: Set) -> None:
        self.frame = stage.statement.frame
        self.where = stage.padded.intersect_params(context)

    def always(self, node: Node) -> bool | None:
        """Whether a comparison holds in all of them, or in none; None if neither is known."""
        with suppress(BudgetExceeded), attempt(OPERATIONS):  # else it is tested
            found = condition(self.frame, node, self.where)
            if found.exact:  # else data say, and the set is that of all points
                if self.where.is_subset(found.set):
                    return True
                if self.where.is_disjoint(found.set):
                    return False
        return None


def _equalities(roots: tuple[Node, ...]) -> dict[Op, None]:
    """Those of integers that choose what index is read, in order."""
    indices = [x for n in postorder(*roots) if isinstance(n, Read) for x in n.index]
    chosen = [n.operands[0] for n in postorder(*indices) if isinstance(n, Op) and n.op == "select"]
    compared = (n for n in postorder(*chosen) if isinstance(n, Op) and n.op in _SIDES)
    return dict.fromkeys(n for n in compared if all(map(_is_position, n.operands)))


def _is_position(node: Node) -> bool:
    """Whether it is an integer that does not come again, as the remainder by a constant does: what
    chooses by that chooses by the number of a lane, and nothing at an end."""
    comes_again = (isinstance(x, Op) and x.op == "mod" for x in postorder(node))
    return dtype_of(node).is_int and not any(comes_again)


#: By whether numbers are equal or not: what says the same of a number below the other one, or
#: equal to it, and of one above.
_SIDES = {"eq": ("ge", "le"), "ne": ("lt", "gt")}


def _one_sided(node: Op, visited: _Visited) -> Node | None:
    """An equality as an order, where one number is never beyond the other one."""
    for never, order in zip(("gt", "lt"), _SIDES[node.op], strict=True):
        if visited.always(ix.compare(never, *node.operands)) is False:
            return ix.compare(order, *node.operands)
    return None


def _is_division(node: Op) -> bool:
    """Whether it is one of indices; a quotient by a constant takes no division as it is."""
    match node:
        case Op(op="mod"):
            return dtype_of(node) is int64
        case Op(op="floordiv", operands=(_, by)):
            return dtype_of(node) is int64 and not isinstance(by, Const)
        case _:
            return False


def _divided(node: Op, visited: _Visited) -> Node | None:
    """a % n or a // n without a division, where -n <= a < 2 n."""
    a, n = node.operands
    if not visited.always(ix.compare("ge", ix.add(a, n), ix.ZERO)):
        return None
    if not visited.always(ix.compare("lt", a, ix.mul(n, integer(2)))):
        return None
    is_quotient = node.op == "floordiv"
    before, made, behind = (
        (integer(-1), ix.ZERO, integer(1)) if is_quotient else (ix.add(a, n), a, ix.sub(a, n))
    )
    if not visited.always(below := ix.compare("lt", a, n)):
        made = Op("select", (below, made, behind), int64)
    if not visited.always(above := ix.compare("ge", a, ix.ZERO)):
        made = Op("select", (above, made, before), int64)
    return made


def decided(stage: Stage, context: Set, roots: tuple[Node, ...]) -> tuple[Node, ...]:
    """The expressions with these in their places."""
    return without(roots, decisions(stage, context, roots))
