"""Expressions to instructions: each shared node once, where its value may be reused.

Two rules decide. *Dominance*: what was computed in a loop body or a branch is forgotten at its
end, what was computed around it stays known. *Memory*: a store may change what a load gives, so
whatever depends on a load is reused within one statement only; inputs and constants do not change
while a kernel runs, so what is loaded from them counts as arithmetic. What lanes hold is reused by
statements of the same lanes that follow each other without a loop or a branch, as the copies of an
unrolled loop do, until somebody stores to what it is loaded from (`HeldVectors`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from ....lang.errors.errors import InternalError
from ....lang.nodes.nodes import Const, Node, Op
from ....lang.nodes.rare import needed_first
from ...ir import ir
from ..operators import casts, instructions
from ..operators.short_payloads import ShortPayloads
from ..text.function_builder import FunctionBuilder
from ..text.values import Value, constant
from .held_vectors import HeldVectors
from .partial_vectors import PartialVectors

_Place = tuple[ir.Buffer, str, bool]
"""A buffer, an offset, and whether an element is there."""


class Evaluator:
    """Computes expressions at the builder's current place.

    `symbols` are the values of sizes and Params (loop variables come by `bind`), `pointers` the
    addresses of the buffers, `partial` the functions for parts of vectors; `payloads` says whose
    NaNs are as short as a bfloat16's; `own` are buffers that nobody else touches meanwhile.
    """

    def __init__(
        self,
        builder: FunctionBuilder,
        symbols: Mapping[Node, Value],
        pointers: Mapping[ir.Buffer, str],
        partial: PartialVectors,
        payloads: ShortPayloads,
        own: Collection[ir.Buffer],
    ) -> None:
        self.builder = builder
        self.own = frozenset(own)
        self.partial = partial
        self.payloads = payloads
        self._pointers = pointers
        self._values: dict[Node, Value] = dict(symbols)
        self._places: dict[_Place, str] = {}
        #: What the scopes around this place have added, with what was known before, if anything.
        self._added: list[list[tuple[Node, Value | None]]] = [[]]
        self._placed: list[list[_Place]] = [[]]
        self.held = HeldVectors()
        self._statement: dict[Node, Value] = {}
        self._fleeting: dict[Node, bool] = {}

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A stretch of code that does not dominate what comes after it."""
        self._added.append([])
        self._placed.append([])
        outside, self.held = self.held, HeldVectors()
        yield
        for node, before in reversed(self._added.pop()):
            if before is None:
                del self._values[node]
            else:
                self._values[node] = before
        for place in self._placed.pop():
            del self._places[place]
        outside.forget_memory()
        self.held = outside

    @contextmanager
    def branch(self) -> Iterator[None]:
        """The same in the middle of a statement, of which nothing is stored before it ends."""
        before = dict(self._statement)
        with self.scope():
            yield
        self._statement = before

    def bind(self, symbol: Node, value: Value) -> None:
        """Gives a loop variable its value in the current scope."""
        self._added[-1].append((symbol, self._values.get(symbol)))
        self._values[symbol] = value

    def pointer(self, buffer: ir.Buffer) -> str:
        """The address of a buffer."""
        return self._pointers[buffer]

    def value(self, symbol: Node) -> Value:
        """What has been computed, or bound."""
        return self._get(symbol)

    def knows(self, node: Node) -> bool:
        """Whether an expression has a value here, in this statement and in later ones."""
        return node in self._values or isinstance(node, Const)

    def compute(self, *roots: Node) -> list[Value]:
        """The values of all expressions of one statement."""
        self._statement = {}
        return self.also(*roots)

    def also(self, *roots: Node) -> list[Value]:
        """The values of more expressions of the same statement."""
        lasting, fleeting, waiting = self._values, self._statement, [*reversed(roots)]
        while waiting:
            node = waiting[-1]
            if node in lasting or node in fleeting:
                waiting.pop()
            elif missing := [
                a for a in needed_first(node) if a not in lasting and a not in fleeting
            ]:
                waiting += missing[::-1]
            else:
                value = self._value(node)
                fleeting = self._statement  # another one behind a branch
                if self._is_fleeting(node):
                    fleeting[node] = value
                else:
                    self.bind(node, value)
        return [self._get(r) for r in roots]

    def address(self, buffer: ir.Buffer, index: tuple[Node, ...], is_there: bool = True) -> str:
        """The address of an element whose index has been computed; it may be out of bounds
        unless `is_there`."""
        if len(index) != 1:
            raise InternalError(f"the index of {buffer.name} is not flattened: {len(index)} axes")
        return self.place(buffer, self._get(index[0]), is_there)

    def place(self, buffer: ir.Buffer, offset: Value, is_there: bool = True) -> str:
        """The address of the element at an offset; with lanes, those of several, as a vector."""
        key = buffer, offset.text, is_there
        found = self._places.get(key)
        if found is None:
            unit = None if buffer.strided else buffer.dtype
            found = self.builder.element(self._pointers[buffer], offset, unit, is_there)
            self._places[key] = found
            self._placed[-1].append(key)
        return found

    def _known(self, node: Node) -> Value | None:
        return self._statement.get(node) or self._values.get(node)

    def _get(self, node: Node) -> Value:
        value = self._known(node)
        if value is None:
            raise InternalError(f"{node!r} has no value here")
        return value

    def _is_fleeting(self, node: Node) -> bool:
        """Whether a store may change the node's value; that of its operands is known already."""
        found = self._fleeting.get(node)
        if found is None:
            found = any(self._is_fleeting(a) for a in node.args)
            if isinstance(node, ir.Load):
                found = found or node.buffer.kind not in ("input", "const")
            self._fleeting[node] = found
        return found

    def _value(self, node: Node) -> Value:
        dtype = ir.dtype_of(node)
        match node:
            case Const(value=number):
                return constant(number, dtype)
            case Op(op="rarely", operands=(condition, rare, usual)):
                return self._rarely(self._get(condition), rare, self._get(usual))
            case Op(op="cast", operands=(x,)):
                return casts.cast_of(self.builder, node, self._get(x))
            case Op(op=op, operands=operands):
                args = [self._get(a) for a in operands]
                return instructions.apply(self.builder, op, args, dtype)
            case ir.Load():
                return self._load(node)
            case _:
                raise InternalError(f"{node!r} is unknown in this kernel")

    def _rarely(self, condition: Value, rare: Node, usual: Value) -> Value:
        b = self.builder
        before, inside, after = b.block, b.label("rare"), b.label("usual")
        b.branch(b.seldom(condition), inside, after)
        b.start(inside)
        with self.branch():
            (found,) = self.also(rare)
        last = b.block
        b.jump(after)
        b.start(after)
        return b.phi(usual.dtype, [(found, last), (usual, before)])

    def _load(self, load: ir.Load) -> Value:
        b, dtype = self.builder, load.buffer.dtype
        if load.guard is None:
            return b.load(self.address(load.buffer, load.index), dtype)
        guard = self._get(load.guard)
        before, inside, after = b.block, b.label("load"), b.label("loaded")
        b.branch(guard, inside, after)
        b.start(inside)
        with self.scope():
            value = b.load(self.address(load.buffer, load.index), dtype)
        b.jump(after)
        b.start(after)
        return b.phi(dtype, [(value, inside), (constant(0, dtype), before)])
