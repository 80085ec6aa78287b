"""Expressions of a statement as those of the loop IR: reads become loads."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.nodes.guards import NEVER, Guard, guards
from ...lang.nodes.nodes import Const, Node, Read, postorder, replaced_all
from ...lang.tensors.trace import Trace
from ..ir.ir import Buffer, Load, dtype_of
from .circles import Rounds, circle
from .storage import Storage


class Converter:
    """Expressions of a statement with reads replaced by loads, guarded where they must be."""

    def __init__(
        self,
        storage: Storage,
        safe: frozenset[Read],
        roots: tuple[Node, ...],
        own: tuple[tuple[Node, ...], Storage] = ((), {}),
        absent: frozenset[Buffer] = frozenset(),
    ) -> None:
        """
        Args:
            safe: the reads that are in bounds wherever the statement runs.
            own: an index, and where elements are at this one.
            absent: tensors without storage around the statement. Reads are proven to find their
                elements, so no read of these happens.
        """
        self.storage = storage
        self.own = own
        self.absent = absent
        self.safe = safe
        self.needed: dict[Node, Guard] = guards(roots)
        self.done: dict[Node, Node] = {}
        self.guards: dict[Node, Guard] = {}

    def __call__(self, root: Node) -> Node:
        stack, begun = [root], set[Node]()
        while stack:
            node = stack[-1]
            if node in self.done:
                stack.pop()
                continue
            waiting = [x for x in self._dependencies(node) if x not in self.done]
            if not begun.isdisjoint(waiting):
                self._solve_circle(node)
                begun.clear()  # what is left of the circle has an order now
            elif waiting:
                begun.add(node)
                stack += waiting
            else:
                self.done[stack.pop()] = self._one(node, self._guard(node))
        return self.done[root]

    def _dependencies(self, node: Node) -> Sequence[Node]:
        """What must be done before a node."""
        guard = self._guard(node)
        return node.args if guard is None else (*node.args, guard)

    def _solve_circle(self, node: Node) -> None:
        """The loads of reads whose guards depend on each other."""
        inside = circle(node, self._dependencies)
        self.done.update(Rounds(inside, self._guard, self, self._load).loads())

    def _guard(self, node: Node) -> Guard:
        """The condition that a read must be kept under: none where it is in bounds anyway."""
        if node not in self.guards:
            self.guards[node] = self._needed(node)
        return self.guards[node]

    def _needed(self, node: Node) -> Guard:
        if not isinstance(node, Read):
            return None
        if node in self.safe and not self._is_of_guarded(node):
            return None
        needed = self.needed.get(node)
        if needed is None or node not in postorder(needed):
            return needed
        # Where the element is not needed, no condition of this guard depends on it. Where it is,
        # one of the alternatives holds that is decided without it; so without what is read at an
        # index that is made of it, too, which is in bounds at the right one only.
        dependent = [x for x in postorder(needed) if isinstance(x, Read) and node in postorder(x)]
        return replaced_all((needed,), {x: _zero(x) for x in dependent})[0]

    def _is_of_guarded(self, node: Read) -> bool:
        """Whether an index contains a read under a guard. Such an index is in bounds only where
        that read happens, even if the declared range of its values is in bounds."""
        inside = (x for x in postorder(*node.args) if isinstance(x, Read))
        found = [self._guard(x) for x in inside]  # of all of them, innermost first
        return any(x is not None for x in found)

    def _one(self, node: Node, guard: Guard) -> Node:
        args = tuple(self.done[a] for a in node.args)
        if isinstance(node, Trace):
            return args[0]
        if isinstance(node, Read):
            return self._load(node, args, None if guard is None else self.done[guard])
        return node.with_args(args)

    def _load(self, node: Read, args: tuple[Node, ...], guard: Guard) -> Node:
        """The load of a read, given its index and its guard in terms of loads."""
        index, own = self.own
        key = (node.tensor, node.component)
        buffer = own[key] if node.index == index and key in own else self.storage[key]
        if buffer in self.absent or guard is NEVER:
            return _zero(node)
        return Load(buffer, args, guard, buffer.dtype)


def _zero(node: Node) -> Const:
    t = dtype_of(node)
    return Const(False if t.is_bool else 0.0 if t.is_float else 0, t)
