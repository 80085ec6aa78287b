"""What lanes have been found to hold, for later statements of the same lanes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....lang.nodes.nodes import Node, has_below, postorder
from ...ir import ir
from ..text.values import Value

LASTING = ("input", "const")
"""The kinds of buffers that nothing is stored to while a kernel runs."""

_Numbers = tuple[Node, Node, int, int]


class HeldVectors:
    """The values of expressions in all lanes, in a stretch of code without branches."""

    def __init__(self) -> None:
        self._of: dict[_Numbers, dict[Node, tuple[Value, int]]] = {}
        #: How many statements there were; at which of them buffers were stored to last.
        self._now = 0
        self._stored: dict[ir.Buffer, int] = {}
        self._any = 0

    def find(self, lanes: ir.Lanes, node: Node) -> Value | None:
        """The value of an expression, if an earlier statement has found it and it still holds."""
        found = self._of.get(_numbers(lanes), {}).get(node)
        return found[0] if found is not None and self._holds(node, found[1]) else None

    def keep(self, lanes: ir.Lanes, values: Mapping[Node, Value]) -> None:
        """Notes values; conditions are left out, whose form depends on what they are for."""
        mine, now = self._of.setdefault(_numbers(lanes), {}), self._now
        for node, value in values.items():
            if not value.dtype.is_bool:
                mine[node] = value, now

    def forget(self, buffers: Iterable[ir.Buffer]) -> None:
        """Something is stored to these."""
        self._now += 1
        self._stored.update(dict.fromkeys(buffers, self._now))

    def forget_memory(self) -> None:
        """Something may be stored to any."""
        self._now += 1
        self._any = self._now

    def _holds(self, node: Node, since: int) -> bool:
        """Whether nothing that an expression loads has been stored to."""
        if not has_below(ir.Load, node):
            return True
        loaded = {n.buffer for n in postorder(node) if isinstance(n, ir.Load)}
        return all(
            b.kind in LASTING or since >= max(self._any, self._stored.get(b, 0)) for b in loaded
        )


def _numbers(lanes: ir.Lanes) -> _Numbers:
    """Which numbers lanes are."""
    return lanes.var, lanes.lo, lanes.count, lanes.step
