"""Full vectors away from borders run without masks and clamps.

lanes v in [x, x + 8):               ->   if x + 7 < n:
  A[v] = B[min(v + 1, n)] if v < n          lanes v in [x, x + 8): A[v] = B[v + 1]
                                          else: as before

if x + 8 <= n, too. Where a select reads something on either side of a bound, as where two arrays
are put behind each other, there is one more version for vectors on its far side. A comparison of
two functions of the lane whose difference only rises, or only falls, holds in all lanes if it holds
in the last one, or the first, and fails in all of them likewise, which is assumed of those that are
about the borders of an axis; a minimum is the same operand in all lanes if it is that in this one,
and x % n is x in all of them if 0 <= x < n is so in the first and in the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Op, Var, integer, postorder, replaced_all
from ...poly.sets.borders import NEGATED, at_borders, fails_at_beginning
from ...poly.sets.lane_offsets import LaneOffsets
from ...poly.sets.lanes import (
    CHOSEN,
    FAILS_LESS,
    bounded,
    ends,
    goes_round,
    is_bounded,
    moving,
    rises,
)
from ...poly.sets.simplify import FALSE, TRUE, truth
from ...records import dataclass, replace
from ...remembered import remembered
from ..ir.inequalities import compatible, follows, strongest
from ..ir.ir import If, Lanes, Load, Module, Stmt, Stores, expressions
from ..ir.rewrite import map_module
from ..ir.simplify import assuming, folded, two_sided
from .border_loads import is_independent, loaded_together, one_by_one


def full_lanes(module: Module) -> Module:
    """Each vector statement with borders twice: without them, and as it is."""
    serial, assumptions = count(), _Assumptions({}, {})

    def rule(stmt: Stmt) -> Stmt:
        if not isinstance(stmt, Stores) or stmt.lanes is None or stmt.lanes.count == 1:
            return stmt
        if not _has_borders(stmt):
            return stmt
        known = _Known(stmt, stmt.lanes, assumptions)
        if not known.tests:
            return stmt
        test = ix.conjunction(strongest(known.tests))
        if test is None:
            return _fast(stmt, known)
        slow = _at_border(stmt, stmt.lanes, serial) if known.chosen else stmt
        slow = _beyond(stmt, known, assumptions, slow, SIDES - 1)
        return If(test, _fast(stmt, known), slow, choice=True)

    return map_module(module, rule)


def _beyond(stmt: Stores, known: _Known, assumptions: _Assumptions, slow: Stmt, more: int) -> Stmt:
    """A statement where what is known of it does not hold: full vectors on the far side of its
    bounds where there are such, else `slow`."""
    if not known.sides or not more:
        return slow
    far = _Known(stmt, known.lanes, assumptions, known.sides | known.far)
    tests = strongest(far.tests)
    test = ix.conjunction(tests)
    if test is None or len(compatible(tests)) < len(tests):
        return slow
    slow = _beyond(stmt, far, assumptions, slow, more - 1)
    return If(test, _fast(stmt, far), slow, choice=True)


def _fast(stmt: Stores, known: _Known) -> Stmt:
    """A statement where what is known of it holds. Its first lane is then often one of those that
    it may be, as that of blocks behind the first one: what lanes touch is the same in each."""
    made = assuming(stmt, known.values)
    lo = _first_lane(known.lanes.lo, known.tests)
    if lo is known.lanes.lo or not isinstance(made, Stores) or made.lanes is None:
        return made
    return replace(made, lanes=replace(made.lanes, lo=lo))


def _first_lane(lo: Node, tests: Sequence[Node]) -> Node:
    """The operand that a maximum is where some tests hold; itself if that does not follow."""
    match lo:
        case Op(op="max", operands=(a, b)):
            for one, other in ((a, b), (b, a)):
                if follows(ix.compare("le", other, one), tests):
                    return _first_lane(one, tests)
    return lo


SIDES = 4
"""So many versions of full vectors there are at most, on the sides of bounds."""

_Assumption = tuple[Node, tuple[Node, ...], bool]
"""What an expression is where some tests hold, the tests, and whether it is an operand chosen."""


@dataclass(frozen=True, slots=True)
class _Assumptions:
    """What unrolled statements have in common.

    Attributes:
        made: by expressions and lanes.
        plain: expressions in which no test decides anything, folded.
    """

    made: dict[tuple[object, ...], _Assumption]
    plain: dict[Node, Node]


_DECIDED = frozenset({*FAILS_LESS, *CHOSEN, "mod", "floordiv"})


def _has_borders(stmt: Stores) -> bool:
    """Whether there is anything in a statement that a test may decide."""
    return any(_is_decided(root) for root in expressions(stmt))


@remembered
def _is_decided(root: Node) -> bool:
    """Whether a test may decide anything in an expression."""
    return any(isinstance(n, Op) and n.op in _DECIDED for n in postorder(root))


class _Known:
    """What some expressions of a statement are where its tests hold.

    Args:
        assumptions: those that have been made, to which it adds.
        far: conditions of selects that fail in all lanes.
    """

    def __init__(
        self,
        stmt: Stores,
        lanes: Lanes,
        assumptions: _Assumptions,
        far: frozenset[Node] = frozenset(),
    ) -> None:
        self.lanes = lanes
        self._numbers = lanes.var, lanes.lo, lanes.count, lanes.step
        self._assumptions, self._plain = assumptions.made, assumptions.plain
        steps = tuple(k * lanes.step for k in range(lanes.count))
        self.offsets = LaneOffsets(lanes.lo, steps)
        self.values: dict[Node, Node] = {}
        self.tests: list[Node] = []
        #: Whether it is assumed of a minimum or maximum which operand it is.
        self.chosen = False
        self._done: dict[Node, Node] = {}
        places = _places(stmt)
        waiting = [*reversed(expressions(stmt))]
        self.far = far
        self._fails = at_borders(waiting, lanes.var, places) | far
        self._two_sided = {
            x
            for x in two_sided(waiting) - self._fails
            if isinstance(x, Op) and x.op in FAILS_LESS and not fails_at_beginning(x, lanes.var)
        }
        #: Conditions that are assumed to hold, where something else is read than where they fail.
        self.sides: frozenset[Node] = frozenset()
        while waiting:
            node = waiting[-1]
            is_known = node in self._done or node in self._plain
            missing = () if is_known else [a for a in self._live(node) if a not in self._done]
            if not missing:
                self._visit(waiting.pop(), node in places)
            else:
                waiting += reversed(missing)

    def _live(self, node: Node) -> tuple[Node, ...]:
        """The operands that matter: where it is assumed that a condition holds, what is chosen
        else is not looked at, nor tested."""
        if not isinstance(node, Op) or node.op != "select":
            return node.args
        condition, *arms = node.operands
        if condition not in self._done:
            return (condition,)
        holds = truth(self._done[condition])
        return (condition, *(arms if holds is None else [arms[0 if holds else 1]]))

    def _visit(self, node: Node, is_place: bool) -> None:
        if node in self._done:
            return
        if node in self._plain:
            self._done[node] = self._plain[node]
            return
        live = self._live(node)
        if len(live) < len(node.args):
            self._done[node] = self._done[live[-1]]
            if live[0] in self._two_sided:
                self.sides |= {live[0]}
            return
        made = folded(node.with_args(tuple(self._done[a] for a in node.args)))
        key = (made, is_place, fails := node in self._fails, self._numbers)
        found = self._assumptions.get(key)
        if found is None:
            found = self._assumptions[key] = self._assumed(made, is_place, fails)
        self._done[node], tests, chosen = found
        self.tests += tests
        self.chosen = self.chosen or chosen
        if found[0] is not made:
            self.values[made] = found[0]
        elif self._is_plain(node):
            self._plain[node] = made

    def _is_plain(self, node: Node) -> bool:
        """Whether no test decides anything in an expression whose operands are known."""
        is_decided = isinstance(node, Op) and (node.op in _DECIDED or node.op == "select")
        return not is_decided and all(a in self._plain for a in node.args)

    def _assumed(self, node: Node, is_place: bool, fails: bool) -> _Assumption:
        if not isinstance(node, Op) or node.op not in _DECIDED:
            return node, (), False
        match node:
            case Op(op=op, operands=(a, b)) if op in FAILS_LESS and (
                rises(a, b, self.lanes.var) or is_bounded(a, b, self.lanes.var, self.offsets)
            ):
                test = self._test(NEGATED[op] if fails else op, a, b)
                return FALSE if fails else TRUE, (test,), False
            case Op(op="mod" | "floordiv" as op, operands=(a, b)) if is_place and goes_round(
                node, self.lanes.var, self.offsets
            ):
                tests = self._test("ge", a, ix.ZERO), self._test("lt", a, b)
                return a if op == "mod" else ix.ZERO, tests, True
            case Op(op=op, operands=(a, b)) if is_place:
                found = moving(op, a, b, self.lanes.var) or bounded(
                    op, a, b, self.lanes.var, self.offsets
                )
                if found is not None:
                    other = b if found is a else a
                    return found, (self._test(CHOSEN[op], found, other),), True
        return node, (), False

    def _test(self, op: str, a: Node, b: Node) -> Node:
        """The comparison in the lane where it is the first to fail."""
        way = rises(a, b, self.lanes.var)
        if not way:  # lanes go up and down, but by what is known
            found = ends(a, self.lanes.var, self.offsets)
            assert found is not None
            return ix.compare(op, found[1 if FAILS_LESS[op] < 0 else 0], b)
        last = self.lanes.count - 1 if (way > 0) == (FAILS_LESS[op] < 0) else 0
        at = ix.add(self.lanes.lo, integer(last * self.lanes.step))
        x, y = replaced_all((a, b), {self.lanes.var: at})
        return ix.compare(op, x, y)


def _places(stmt: Stores) -> set[Node]:
    """All that says where something is loaded or stored."""
    nodes = postorder(*expressions(stmt))
    indices = [x for n in nodes if isinstance(n, Load) for x in n.index]
    return set(postorder(*indices, *(x for s in stmt.stores for x in s.index)))


def _at_border(stmt: Stores, lanes: Lanes, serial: Iterator[int]) -> Stmt:
    """A statement where lanes read on both sides of a bound: lane by lane, unless its loads are of
    full vectors all the same."""
    if loaded_together(stmt, lanes) is not None or not is_independent(stmt):
        return stmt
    return one_by_one(stmt, lanes, Var(f"{lanes.var.name}#each{next(serial)}"))
