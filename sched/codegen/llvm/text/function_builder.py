"""Writes the body of one LLVM function: instructions into blocks, with fresh SSA names.

The builder knows LLVM's syntax and nothing of ours: which instructions make up an operator is
said in `instructions`, which operators a kernel needs in `functions`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence

from ....lang.nodes.dtypes import DType, bool_, int64
from ....targets.target import Target
from .locations import Locations
from .values import Number, Value, constant, memory_type_name, suffix, type_name

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.]")


class FunctionBuilder:
    """The body of a function under construction; instructions go into the current block.

    `locations` are there where LLVM shall be told which statement each instruction is of.
    """

    def __init__(
        self,
        locations: Locations | None = None,
        of: object = None,
        target: Target | None = None,
    ) -> None:
        """
        Args:
            of: what instructions are of that belong to no statement inside.
            target: the machine, where one may be better served by other instructions.
        """
        self.target = target
        #: Whether lanes of words are in pairs (`vectors/pair_lanes.py`).
        self.in_pairs = False
        self.lines: list[str] = []
        self.places = None if locations is None else locations.places(of)
        self.block = ""
        self._serial = 0
        self.start(self.label("entry"))

    # names and blocks -------------------------------------------------------------------------
    def name(self, hint: str = "") -> str:
        """A fresh SSA name."""
        self._serial += 1
        return f"%{_NOT_IN_NAMES.sub('_', hint)}.{self._serial}"

    def label(self, hint: str) -> str:
        """A fresh name for a block."""
        return self.name(hint)[1:]

    def start(self, label: str) -> None:
        """Begins a block; the one before must have been ended by a branch."""
        self.lines.append(f"{label}:")
        self.block = label

    def emit(self, instruction: str) -> None:
        """An instruction without a result."""
        self.lines.append("  " + instruction)

    def assign(self, instruction: str, dtype: DType, lanes: int = 1) -> Value:
        """An instruction with a result."""
        self._serial += 1
        name = f"%.{self._serial}"
        self.lines.append(f"  {name} = {instruction}")
        return Value(name, dtype, lanes)

    def jump(self, label: str) -> None:
        self.emit(f"br label %{label}")

    def branch(self, condition: Value, yes: str, no: str) -> None:
        self.emit(f"br {condition.typed}, label %{yes}, label %{no}")

    def phi(self, dtype: DType, incoming: Sequence[tuple[Value, str]]) -> Value:
        """The value that belongs to the block from which control came."""
        lanes = incoming[0][0].lanes
        arms = ", ".join(f"[ {v.text}, %{label} ]" for v, label in incoming)
        return self.assign(f"phi {type_name(dtype, lanes)} {arms}", dtype, lanes)

    @property
    def amount(self) -> tuple[int, int]:
        """How much has been written: lines, and names that are numbered."""
        return len(self.lines), self._serial

    def definition(self, head: str, title: str) -> str:
        """The finished function, under a comment."""
        comment, lines = " ".join(title.split()), self.lines
        if self.places is not None:
            head, lines = self.places.located(head, lines)
        return "\n".join([f"; {comment}", f"define {head} {{", *lines, "}"])

    # arithmetic -------------------------------------------------------------------------------
    def like(self, value: Value, number: Number) -> Value:
        """A constant of the type of `value`."""
        return constant(number, value.dtype, value.lanes)

    def unary(self, opcode: str, a: Value) -> Value:
        return self.assign(f"{opcode} {a.typed}", a.dtype, a.lanes)

    def binary(self, opcode: str, a: Value, b: Value) -> Value:
        if a.lanes == 1 and opcode in _OF_INTEGERS:
            known = _folded(opcode, a, b)
            if known is not None:
                return known
        return self.assign(f"{opcode} {a.typed}, {b.text}", a.dtype, a.lanes)

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        """`icmp` or `fcmp`, by the type of the operands."""
        opcode = "fcmp" if a.dtype.is_float else "icmp"
        return self.assign(f"{opcode} {predicate} {a.typed}, {b.text}", bool_, a.lanes)

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        code = f"select {condition.typed}, {yes.typed}, {no.typed}"
        return self.assign(code, yes.dtype, yes.lanes)

    def any(self, condition: Value) -> Value:
        """Whether a condition holds in at least one lane."""
        if condition.lanes == 1:
            return condition
        name = f"@llvm.vector.reduce.or.v{condition.lanes}i1"
        return self.assign(f"call i1 {name}({condition.typed})", bool_)

    def seldom(self, condition: Value) -> Value:
        """The same condition, which LLVM takes to hold hardly ever."""
        return self.assign(f"call i1 @llvm.expect.i1({condition.typed}, i1 false)", bool_)

    def convert(self, opcode: str, a: Value, to: DType) -> Value:
        """One of LLVM's conversions: `zext`, `fptrunc`, `bitcast`, ..."""
        return self.assign(f"{opcode} {a.typed} to {type_name(to, a.lanes)}", to, a.lanes)

    def intrinsic(self, name: str, *args: Value) -> Value:
        """An intrinsic overloaded on the one type that its operands and its result have."""
        a = args[0]
        operands = ", ".join(x.typed for x in args)
        code = f"call {a.type} @llvm.{name}.{suffix(a.dtype, a.lanes)}({operands})"
        return self.assign(code, a.dtype, a.lanes)

    # memory -----------------------------------------------------------------------------------
    def element(
        self, pointer: str, offset: Value, dtype: DType | None, is_there: bool = True
    ) -> str:
        """The address `offset` elements of `dtype`, or bytes for None, past `pointer`.

        Args:
            is_there: whether that is inside of what `pointer` points to.
        """
        if offset.number == 0 and offset.lanes == 1:
            return pointer
        unit = "i8" if dtype is None else memory_type_name(dtype)
        promise = " inbounds" if is_there else ""
        address = self.name()
        self.emit(f"{address} = getelementptr{promise} {unit}, ptr {pointer}, {offset.typed}")
        return address

    def load(self, address: str, dtype: DType, lanes: int = 1) -> Value:
        """A value from memory, aligned as its element type."""
        where = f"ptr {address}, align {dtype.itemsize}"
        if dtype.is_bool:
            memory = memory_type_name(dtype, lanes)
            byte = self.name()
            self.emit(f"{byte} = load {memory}, {where}")
            zero = "0" if lanes == 1 else "zeroinitializer"
            return self.assign(f"icmp ne {memory} {byte}, {zero}", bool_, lanes)
        return self.assign(f"load {type_name(dtype, lanes)}, {where}", dtype, lanes)

    def prefetch(self, address: str) -> None:
        """A hint: what is there will be read."""
        self.emit(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 3, i32 1)")

    def store(self, value: Value, address: str) -> None:
        """A value to memory, aligned as its element type."""
        self._store(value, address, value.dtype.itemsize, False)

    def stream(self, stores: Sequence[tuple[Value, str]]) -> None:
        """Values to memory past the caches, each at its address. Vectors take that way where all of
        them are aligned as a whole, since machines have no such stores for others."""
        if not all(map(_is_streamed_vector, (value for value, _ in stores))):
            for value, address in stores:
                if _is_streamed_vector(value):
                    self.stream([(value, address)])
                else:
                    self._store(value, address, value.dtype.itemsize, value.lanes == 1)
            return
        rest = constant(0, int64)
        for value, address in stores:
            number = self.assign(f"ptrtoint ptr {address} to i64", int64)
            whole = constant(value.lanes * value.dtype.itemsize - 1, int64)
            rest = self.binary("or", rest, self.binary("and", number, whole))
        fits, not_, after = self.label("aligned"), self.label("unaligned"), self.label("stored")
        self.branch(self.compare("eq", rest, constant(0, int64)), fits, not_)
        for label, streams in ((fits, True), (not_, False)):
            self.start(label)
            for value, address in stores:
                align = value.dtype.itemsize * (value.lanes if streams else 1)
                self._store(value, address, align, streams)
            self.jump(after)
        self.start(after)

    def _store(self, value: Value, address: str, align: int, stream: bool) -> None:
        where = f"ptr {address}, align {align}"
        memory = memory_type_name(value.dtype, value.lanes)
        text = value.text
        if value.dtype.is_bool:
            text = self.name()
            self.emit(f"{text} = zext {value.typed} to {memory}")
        hint = ", !nontemporal !0" if stream else ""
        self.emit(f"store {memory} {text}, {where}{hint}")


_OF_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
}  # fmt: skip


def _folded(opcode: str, a: Value, b: Value) -> Value | None:
    """What arithmetic of constants gives, or a sum with 0 and a product with 1: indices at a lane
    are full of it, and each instruction that is left out is one less for each of LLVM's passes."""
    x, y = a.number, b.number
    if x is not None and y is not None:
        return constant(_OF_INTEGERS[opcode](int(x), int(y)), a.dtype)
    if y == (1 if opcode == "mul" else 0):
        return a
    return b if opcode == "add" and x == 0 else None


def _is_streamed_vector(value: Value) -> bool:
    size = value.lanes * value.dtype.itemsize
    return value.lanes > 1 and not value.dtype.is_bool and size & (size - 1) == 0
