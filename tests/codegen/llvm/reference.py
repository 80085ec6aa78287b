"""The meaning of int64 loop IR, executed one statement at a time: what machine code must match."""

from __future__ import annotations

from typing import Any

from codegen.llvm import oracle

from polysched.codegen.ir import ir
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import Const, Node, Op

Memory = dict[ir.Buffer, Any]


class Machine:
    """Executes statements on the arrays in `memory`. A load outside of them is an IndexError."""

    def __init__(self, memory: Memory, scalars: dict[Node, int], counters: int) -> None:
        self.memory = memory
        self.env = dict(scalars)
        self.counters = [0] * counters

    def run(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Seq(parts=parts):
                for part in parts:
                    self.run(part)
            case ir.For(var=var, lo=lo, hi=hi, step=step, body=body):
                for value in range(self.value(lo), self.value(hi), step):
                    self.env[var] = value
                    self.run(body)
            case ir.If(condition=condition, body=body):
                if self.value(condition):
                    self.run(body)
            case ir.Count(counter=counter, condition=condition):
                self.counters[counter] += self.value(condition)
            case ir.Stores(stores=stores):
                self._store(stores)

    def _store(self, stores: tuple[ir.Store, ...]) -> None:
        ready = [
            (s.buffer, self.value(s.index[0]), self.value(s.value))
            for s in stores
            if s.guard is None or self.value(s.guard)
        ]
        for buffer, index, value in ready:
            self.memory[buffer][_inside(index, self.memory[buffer])] = value

    def value(self, node: Node) -> int:
        match node:
            case Const(value=value):
                return int(value)
            case ir.Load(buffer=buffer, index=(index,), guard=guard):
                if guard is not None and not self.value(guard):
                    return 0
                array = self.memory[buffer]
                return int(array[_inside(self.value(index), array)])
            case Op(op="select", operands=(c, a, b)):
                return self.value(a if self.value(c) else b)
            case Op(op=op, operands=(a, b)):
                return int(oracle.binary(op, self.value(a), self.value(b), int64))
            case _:
                return self.env[node]


def _inside(index: int, array: Any) -> int:
    if not 0 <= index < len(array):
        raise IndexError(index)
    return index
