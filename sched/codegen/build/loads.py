"""Expressions of a statement as those of the loop IR: reads become loads."""

from __future__ import annotations

from ...lang.errors.errors import LanguageError, Span
from ...lang.nodes.guards import Guard, guards
from ...lang.nodes.nodes import Const, Node, Read, postorder, replaced_all
from ...lang.nodes.printer import written_text
from ...lang.tensors.trace import Trace
from ..ir.ir import Buffer, Load, dtype_of
from .storage import Storage


class Converter:
    """Expressions of a statement with reads replaced by loads, guarded where they must be."""

    def __init__(
        self,
        storage: Storage,
        safe: frozenset[Read],
        span: Span,
        roots: tuple[Node, ...],
        own: tuple[tuple[Node, ...], Storage] = ((), {}),
        absent: frozenset[Buffer] = frozenset(),
    ) -> None:
        """
        Args:
            safe: the reads that are in bounds wherever the statement runs.
            span: the line of the statement.
            own: an index, and where elements are at this one.
            absent: tensors without storage around the statement. Reads are proven to find their
                elements, so no read of these happens.
        """
        self.storage = storage
        self.own = own
        self.absent = absent
        self.safe = safe
        self.span = span
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
            guard = self._guard(node)
            waiting = [x for x in (*node.args, guard) if x is not None and x not in self.done]
            if waiting:
                begun.add(node)
                self._refuse_circle(begun, waiting)
                stack += waiting
            else:
                self.done[stack.pop()] = self._one(node, guard)
        return self.done[root]

    def _refuse_circle(self, begun: set[Node], waiting: list[Node]) -> None:
        for node in waiting:
            if node in begun:
                raise LanguageError(
                    f"whether {written_text(node)} is read depends on other reads, and whether "
                    "these happen depends on it",
                    where=self.span,
                    hint="clamp their indices, or compute the conditions in a Func of their own",
                )

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
            index, own = self.own
            key = (node.tensor, node.component)
            buffer = own[key] if node.index == index and key in own else self.storage[key]
            if buffer in self.absent:
                return _zero(node)
            condition = None if guard is None else self.done[guard]
            return Load(buffer, args, condition, buffer.dtype)
        return node.with_args(args)


def _zero(node: Node) -> Const:
    t = dtype_of(node)
    return Const(False if t.is_bool else 0.0 if t.is_float else 0, t)
