"""Reads that decide about each other: loaded in rounds.

Whether `a` is read may depend on the value of `b`, and whether `b` is read on that of `a`: at some
points the one comes first and at others the other one. Where both are needed, an evaluation by
need reads one of them first, and decided that without the other one. So the first round loads what
is needed whatever the values of the circle are, the next one what is needed given the values of
the round before, and so on. A condition counts only where all that it needs has been loaded, so
that no round loads what is not needed: such an element may be out of bounds. Each round loads at
least the one that an evaluation by need would read next. Therefore as many rounds as there are
reads load all that are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import reduce

from ...lang.nodes.dtypes import bool_
from ...lang.nodes.guards import NEVER, Guard, conjunction
from ...lang.nodes.nodes import Const, Node, Op, Read, postorder
from ...lang.tensors.trace import Trace
from ..ir.ir import dtype_of

ALWAYS = Const(True, bool_)


def circle(start: Node, dependencies: Callable[[Node], Sequence[Node]]) -> set[Node]:
    """The nodes that `start` depends on and that depend on it."""
    users: dict[Node, list[Node]] = {}
    pending, seen = [start], {start}
    while pending:
        node = pending.pop()
        for other in dependencies(node):
            users.setdefault(other, []).append(node)
            if other not in seen:
                seen.add(other)
                pending.append(other)
    pending, found = [start], {start}
    while pending:
        new = [x for x in users.get(pending.pop(), ()) if x not in found]
        pending += new
        found.update(new)
    return found


class Rounds:
    """The rounds of one circle.

    Args:
        inside: the nodes of the circle.
        guard: the condition that a read of the circle must be kept under.
        outside: what becomes of a node that does not depend on the circle.
        load: what becomes of a read, given its index and its guard.
    """

    def __init__(
        self,
        inside: Collection[Node],
        guard: Callable[[Node], Guard],
        outside: Callable[[Node], Node],
        load: Callable[[Read, tuple[Node, ...], Guard], Node],
    ) -> None:
        self.inside, self.load = inside, load
        self.guards = {x: guard(x) for x in inside if isinstance(x, Read)}
        roots = [y for x, g in self.guards.items() for y in (*x.args, g) if y is not None]
        self.order = list(postorder(*roots))
        self.outside = {x: outside(x) for x in self.order if x not in inside}

    def loads(self) -> dict[Node, Node]:
        """The load of each read, after the last round."""
        known: dict[Node, Guard] = dict.fromkeys(self.guards, NEVER)
        loaded: dict[Node, Node] = {x: self.load(x, (), NEVER) for x in self.guards}
        for _ in self.guards:
            loaded, known = self._round(loaded, known)
        return loaded

    def _round(
        self, loaded: dict[Node, Node], known: dict[Node, Guard]
    ) -> tuple[dict[Node, Node], dict[Node, Guard]]:
        """The loads of a round and where each happens, by those of the round before."""
        state = _State(self, loaded, known)
        made: dict[Node, Node] = {}
        where: dict[Node, Guard] = {}
        for read, guard in self.guards.items():
            needed = None if guard is None else state.sure[guard]
            where[read] = _all(needed, *(state.known[x] for x in read.index))
            made[read] = self.load(read, tuple(state.values[x] for x in read.index), where[read])
        return made, where


class _State:
    """What is known after a round: the value of each node, where this value is known, and where a
    condition is known to hold. What does not depend on the circle is known everywhere."""

    def __init__(self, rounds: Rounds, loaded: dict[Node, Node], known: dict[Node, Guard]) -> None:
        self.values: dict[Node, Node] = dict(rounds.outside)
        self.known: dict[Node, Guard] = dict.fromkeys(rounds.outside)
        self.sure: dict[Node, Guard] = dict(rounds.outside)
        for node in rounds.order:
            if node not in rounds.inside:
                continue
            if isinstance(node, Read):
                self.values[node], self.known[node] = loaded[node], known[node]
            elif isinstance(node, Trace):
                (value,) = node.args
                self.values[node], self.known[node] = self.values[value], self.known[value]
            else:
                self.values[node] = node.with_args(tuple(self.values[x] for x in node.args))
                self.known[node] = self._known(node)
            if dtype_of(node).is_bool:
                self.sure[node] = self._sure(node)

    def _known(self, node: Node) -> Guard:
        """Where all operands are known that are needed: of the arms of a select, the chosen one."""
        match node:
            case Op(op="select", operands=(condition, a, b)):
                x, y = self.known[a], self.known[b]
                if x is not y:
                    arms = (self.values[condition], *(ALWAYS if k is None else k for k in (x, y)))
                    x = Op("select", arms, bool_)
                return _all(self.known[condition], x)
            case _:
                return _all(*(self.known[x] for x in node.args))

    def _sure(self, node: Node) -> Guard:
        """Where a condition is known to hold: for this, one alternative is enough."""
        match node:
            case Op(op="and", operands=parts):
                return _all(*(self.sure[x] for x in parts))
            case Op(op="or", operands=parts):
                return reduce(_either, (self.sure[x] for x in parts))
            case _:
                return conjunction(self.known[node], self.values[node])


def _all(*guards: Guard) -> Guard:
    """The guard that holds where all do."""
    return reduce(conjunction, guards, None)


def _either(a: Guard, b: Guard) -> Guard:
    """The guard that holds where one of two does."""
    if a is None or b is None:
        return None
    if NEVER in (a, b):
        return b if a is NEVER else a
    return Op("or", (a, b), bool_)
