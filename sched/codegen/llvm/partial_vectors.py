"""Vectors of which only the first lanes lie in memory, or all but these, where machines have no
instruction for it.

AVX2 masks loads and stores of 32 and 64 bits, nothing narrower; NEON masks none. LLVM takes such a
vector lane by lane, each under a branch: a partial vector of bytes costs as much as thirty whole
ones. Lanes that follow each other are copied to or from a vector on the stack instead, in a
function of their own.
"""

from __future__ import annotations

from dataclasses import field

from ...lang.nodes.dtypes import DType, int32, int64
from ...records import dataclass
from ...targets.target import Target
from .function_builder import FunctionBuilder
from .values import Value, constant, memory_suffix, memory_type_name

FEW = 4
"""So many lanes are taken one by one."""


@dataclass(frozen=True, slots=True)
class Part:
    """The lanes from `first` to `end`, in the order of memory; both are numbers from 0 to that of
    all lanes."""

    first: Value
    end: Value

    def turned(self, b: FunctionBuilder, count: int) -> Part:
        """The same lanes where they lie in memory the other way round."""
        last = constant(count, int64)
        return Part(b.binary("sub", last, self.end), b.binary("sub", last, self.first))


@dataclass(slots=True)
class PartialVectors:
    """Loads and stores of parts of vectors in one module, and the functions that do it."""

    target: Target
    _functions: dict[str, str] = field(default_factory=dict)

    def are_copied(self, dtype: DType, count: int) -> bool:
        """Whether a part is not loaded or stored by one instruction."""
        is_masked = self.target.has("avx512bw") or (
            self.target.has("avx") and dtype.itemsize >= int32.itemsize
        )
        return not is_masked and count > FEW

    def load(self, dtype: DType, count: int, where: str, part: Part) -> str:
        """The instruction that loads a part, with zeros in the other lanes."""
        vector = memory_type_name(dtype, count)
        name = f"@load.part.{memory_suffix(dtype, count)}"
        size = dtype.itemsize
        self._functions[name] = f"""\
define internal {vector} {name}(ptr %from, i64 %first, i64 %end) #1 {{
  %vector = alloca {vector}, align 64
  store {vector} zeroinitializer, ptr %vector, align 64
{_copied("%vector", "%from", size)}
  %found = load {vector}, ptr %vector, align 64
  ret {vector} %found
}}"""
        return f"call {vector} {name}(ptr {where}, {part.first.typed}, {part.end.typed})"

    def store(self, value: str, dtype: DType, count: int, where: str, part: Part) -> str:
        """The instruction that stores a part of a vector."""
        vector = memory_type_name(dtype, count)
        name = f"@store.part.{memory_suffix(dtype, count)}"
        size = dtype.itemsize
        self._functions[name] = f"""\
define internal void {name}({vector} %value, ptr %to, i64 %first, i64 %end) #1 {{
  %vector = alloca {vector}, align 64
  store {vector} %value, ptr %vector, align 64
{_copied("%to", "%vector", size)}
  ret void
}}"""
        lanes = f"{part.first.typed}, {part.end.typed}"
        return f"call void {name}({vector} {value}, ptr {where}, {lanes})"

    @property
    def texts(self) -> list[str]:
        """The functions that are called."""
        return list(self._functions.values())


def _copied(target: str, source: str, size: int) -> str:
    """Instructions that copy the elements from %first to %end."""
    return f"""\
  %at = mul i64 %first, {size}
  %last = mul i64 %end, {size}
  %bytes = sub i64 %last, %at
  %source = getelementptr i8, ptr {source}, i64 %at
  %target = getelementptr i8, ptr {target}, i64 %at
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %bytes, i1 false)"""
