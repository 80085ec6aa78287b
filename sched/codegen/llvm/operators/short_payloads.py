"""Which float32s have no NaN but those that bfloat16 has as well: their lower halves are empty.

Such a NaN is rounded like any number: nothing is carried into its upper half, and that is a NaN.
So are the NaNs of a widened bfloat16. What operators make of operands is a NaN without a payload,
or has that of an operand. Those of memory that users write may have any.
"""

from __future__ import annotations

from collections.abc import Collection

from ....lang.nodes.dtypes import DType, bfloat16, float32
from ....lang.nodes.nodes import Const, Node, Op
from ...ir import ir

#: Operators whose NaNs are those of operands, or none's. Minima and maxima are not: they are made
#: of the bits of both operands.
PASS_ON = frozenset({"add", "sub", "mul", "div", "fma", "sqrt", "neg", "abs", "strict"})
_KINDS = ("stack", "scratch")


class ShortPayloads:
    """What is known of one module."""

    def __init__(self, module: ir.Module) -> None:
        self._known: dict[Node, bool] = {}
        self._buffers: Collection[ir.Buffer] = ()
        stores = [
            store
            for function in module.functions
            for stmt in ir.walk(function.body)
            for store in (stmt.stores if isinstance(stmt, ir.Stores) else ())
        ]
        if any(s.buffer.dtype == bfloat16 for s in stores):
            self._buffers = self._closed(module, stores)

    def holds(self, node: Node) -> bool:
        """Whether a float32 has no other NaNs."""
        waiting = [node]
        while waiting:
            top = waiting[-1]
            missing = [x for x in _passed_on(top) if x not in self._known]
            if top in self._known or not missing:
                self._known.setdefault(waiting.pop(), self._one(top))
            else:
                waiting += missing
        return self._known[node]

    def _closed(self, module: ir.Module, stores: list[ir.Store]) -> Collection[ir.Buffer]:
        """The buffers of float32s that nobody else writes to, and that only such numbers are
        stored to, as long as those have no others that are loaded from them."""
        called = {b for f in module.functions for s in ir.walk(f.body) for b in _passed(s)}
        found = {s.buffer for s in stores if s.buffer.kind in _KINDS} - called
        while True:
            self._buffers, self._known = found, {}
            left = found - {s.buffer for s in stores if not self.holds(s.value)}
            if left == found:
                return found
            found = left

    def _one(self, node: Node) -> bool:
        """The same, where it is known of what the node passes on."""
        match node:
            case Const(value=number):
                return number == number
            case ir.Load(buffer=buffer):
                return buffer.dtype == float32 and buffer in self._buffers
            case Op(op="cast", operands=(operand,)):
                return _widens_without_payload(ir.dtype_of(operand))
            case Op() if ir.dtype_of(node) == float32 and (passed := _passed_on(node)):
                return all(self._known[x] for x in passed)
            case _:
                return False


def _passed_on(node: Node) -> tuple[Node, ...]:
    """The operands whose NaNs may be those of a node."""
    match node:
        case Op(op=op, operands=operands) if op in PASS_ON:
            return operands
        case Op(op="select" | "rarely", operands=(_, *choices)):
            return tuple(choices)
        case _:
            return ()


def _widens_without_payload(dtype: DType) -> bool:
    return dtype == bfloat16 or not dtype.is_float


def _passed(stmt: ir.Stmt) -> tuple[ir.Buffer, ...]:
    return stmt.buffers if isinstance(stmt, ir.Call) else ()
