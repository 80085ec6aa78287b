"""Accumulations whose lanes all add to one element: one value of all lanes, added once.

The order is free there, so the lanes are added in a tree.
"""

from __future__ import annotations

from ....lang.nodes.dtypes import DType, bool_
from ....lang.nodes.nodes import Node, Op, postorder
from ....records import replace
from ...ir import ir
from ..operators import extrema, instructions
from ..text.values import Value, constant, suffix
from .expressions import Evaluator
from .vectors import Vectors

#: By operator: LLVM's reduction of floats, of signed and of unsigned integers.
_REDUCTIONS = {
    "add": ("fadd", "add", "add"),
    "mul": ("fmul", "mul", "mul"),
    "min": ("fminimum", "smin", "umin"),
    "max": ("fmaximum", "smax", "umax"),
    "and": (None, "and", "and"),
    "or": (None, "or", "or"),
    "xor": (None, "xor", "xor"),
}


class Fold:
    """`element = element op term`, for all lanes at once. `is_one` says whether it can be."""

    def __init__(self, evaluator: Evaluator, stmt: ir.Stores) -> None:
        assert stmt.lanes is not None
        self.evaluator, self.builder = evaluator, evaluator.builder
        self.lanes = stmt.lanes
        self.store = stmt.stores[0]
        self.vectors = Vectors(evaluator, stmt.lanes, [s.value for s in stmt.stores])
        self.parts = self._terms() if len(stmt.stores) == 1 else None

    @property
    def is_one(self) -> bool:
        """Whether all lanes accumulate in one element by an operator that LLVM reduces with."""
        s = self.store
        return self.parts is not None and self.vectors.stride(s.buffer, s.index[0]) == 0

    def _terms(self) -> tuple[str, str, Node] | None:
        """The operator between lanes, that with the old value, and the term of a lane."""
        value, dtype = self.store.value, self.store.buffer.dtype
        if not isinstance(value, Op) or dtype.is_narrow:
            return None
        own = [x for x in postorder(value) if self._is_own(x)]
        if len(own) != 1:
            return None
        match value.op, value.operands:
            case "fma", (a, b, c) if c is own[0]:
                return "add", "add", Op("mul", (a, b), dtype)
            case "sub", (a, b) if a is own[0]:
                return "add", "sub", b
            case op, (a, b) if op in _REDUCTIONS and own[0] in (a, b):
                kind = 0 if dtype.is_float else 1
                if _REDUCTIONS[op][kind] is not None and not dtype.is_bool:
                    return op, op, b if a is own[0] else a
        return None

    def _is_own(self, node: Node) -> bool:
        s = self.store
        return isinstance(node, ir.Load) and (node.buffer, node.index) == (s.buffer, s.index)

    def emit(self) -> None:
        """Computes the new value of the element."""
        assert self.parts is not None
        among, last, term = self.parts
        b, s = self.builder, self.store
        self.evaluator.compute()
        mask = None if s.guard is None else self.vectors.value(s.guard)
        each = self.vectors.value(term)
        after = None
        if mask is not None:
            neutral = constant(_neutral(among, s.buffer.dtype), each.dtype, each.lanes)
            each = b.select(mask, each, neutral)
            some = b.assign(f"call i1 @llvm.vector.reduce.or.v{mask.lanes}i1({mask.typed})", bool_)
            inside, after = b.label("fold"), b.label("folded")
            b.branch(some, inside, after)
            b.start(inside)
        with self.evaluator.scope():
            total = self._reduced(among, each)
            index = self.vectors.at_lane(s.index[0], 0)
            self.evaluator.also(index)
            where = self.evaluator.address(s.buffer, (index,))
            old = b.load(where, s.buffer.dtype)
            b.store(instructions.apply(b, last, [old, total], s.buffer.dtype), where)
        if after is not None:
            b.jump(after)
            b.start(after)

    def _reduced(self, op: str, x: Value) -> Value:
        """All lanes in one value."""
        if op in ("min", "max") and extrema.serves(self.builder, x.dtype):
            return extrema.of_all_lanes(self.builder, op, x)
        kind = {"f": 0, "i": 1, "u": 2}[x.dtype.kind]
        name = _REDUCTIONS[op][kind]
        assert name is not None
        element = replace(x, text="", lanes=1, number=None).type
        start = ""
        if name in ("fadd", "fmul"):
            start = f"{constant(_neutral(op, x.dtype), x.dtype).typed}, "
        flags = "reassoc " if start else ""
        called = f"llvm.vector.reduce.{name}.{suffix(x.dtype, x.lanes)}"
        return self.builder.assign(f"call {flags}{element} @{called}({start}{x.typed})", x.dtype)


def _neutral(op: str, dtype: DType) -> float | int:
    """The neutral element of an operator."""
    if op == "add":
        return -0.0 if dtype.is_float else 0
    if op == "mul":
        return 1
    if op in ("min", "max"):
        if dtype.is_float:
            return float("inf") if op == "min" else float("-inf")
        return dtype.max if op == "min" else dtype.min
    return -1 if op == "and" else 0
