"""Guards of vectors that conditions around them imply for all lanes."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.nodes.nodes import Const, Node, integer, leaves_below, replaced_all
from ...records import replace
from .inequalities import Known, as_sums
from .ir import Lanes, Load, Stmt, Store, Stores
from .lane_number import LANE, at_lane
from .rewrite import map_statements, on_expressions
from .simplify import conjuncts, load_guards


def without_needless_guards(stmt: Stmt, conditions: Sequence[Node]) -> Stmt:
    """A statement where some conditions hold, which read no memory, without the guards of vectors
    that hold in all lanes for this reason."""
    return map_statements(stmt, _Under(conditions).stmt) if conditions else stmt


class _Under:
    def __init__(self, conditions: Sequence[Node]) -> None:
        self.known = Known(conditions)
        self._symbols = [_symbols(x) for x in conditions]
        self._found: dict[tuple[Node, Lanes], bool] = {}

    def stmt(self, stmt: Stmt) -> Stmt:
        """One statement."""
        if not isinstance(stmt, Stores) or stmt.lanes is None:
            return stmt
        return self._freed(stmt, stmt.lanes)

    def _freed(self, stmt: Stores, lanes: Lanes) -> Stmt:
        def load(node: Node) -> Node:
            if not isinstance(node, Load) or not self._holds(node.guard, lanes):
                return node
            return Load(node.buffer, node.index, None, node.type)

        def store(s: Store) -> Store:
            return replace(s, guard=None) if self._holds(s.guard, lanes) else s

        guards = [g for s in stmt.stores for g in (s.guard, *load_guards(s.value))]
        if not any(self._holds(g, lanes) for g in guards):
            return stmt
        made = on_expressions(load, only=Load)(stmt)
        assert isinstance(made, Stores)
        return replace(made, stores=tuple(map(store, made.stores)))

    def _holds(self, guard: Node | None, lanes: Lanes) -> bool:
        """Whether a guard holds in all lanes. Parts of it alone are not left out: masks of several
        accesses are often the same, and are computed once then."""
        if guard is None:
            return False
        if (guard, lanes) not in self._found:
            self._found[guard, lanes] = all(self._in_all(x, lanes) for x in conjuncts(guard))
        return self._found[guard, lanes]

    def _in_all(self, condition: Node, lanes: Lanes) -> bool:
        """Whether a condition holds in the first lane and in the last one, with which the sums in
        between only rise or fall."""
        about = _symbols(condition) - {lanes.var}
        if not any(about <= symbols for symbols in self._symbols):
            return False  # as most conditions, it is about something else
        (at,) = at_lane((condition,), lanes)
        sums = as_sums(at)
        if sums is None or any(_moves_in_steps(x) for terms, _ in sums for x, _ in terms):
            return False
        ends = (replaced_all((at,), {LANE: integer(k)})[0] for k in (0, lanes.count - 1))
        return all(self.known.implies(x) for x in ends)


def _symbols(node: Node) -> frozenset[Node]:
    return frozenset(x for x in leaves_below(node) if not isinstance(x, Const))


def _moves_in_steps(term: Node) -> bool:
    """Whether a term is another function of the lane than its number: a quotient, say."""
    return term is not LANE and LANE in leaves_below(term)
