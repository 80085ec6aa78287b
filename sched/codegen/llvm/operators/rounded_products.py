"""Products of 16-bit numbers with 15 digits behind the point, rounded: one instruction, for which
LLVM has no pattern but a name on each machine."""

from __future__ import annotations

from ....lang.nodes.dtypes import int16
from ....targets.target import Target
from ..text.function_builder import FunctionBuilder
from ..text.shuffles import joined, shuffled
from ..text.values import Value, type_name

DIGITS = 15
"""By so many bits the product is shifted."""

_X86 = {8: "x86.ssse3.pmul.hr.sw.128", 16: "x86.avx2.pmul.hr.sw", 32: "x86.avx512.pmul.hr.sw.512"}
_AARCH64 = {8: "aarch64.neon.sqrdmulh.v8i16"}


def rounded_product(b: FunctionBuilder, x: Value, y: Value) -> Value | None:
    """The product of two vectors, shifted and rounded, within the limits of int16; None where no
    instruction makes it."""
    names = _instructions(b.target)
    lanes = max((n for n in names if x.lanes % n == 0), default=0)
    if x.dtype != int16 or not lanes or x.lanes & (x.lanes - 1):
        return None
    parts = []
    for k in range(0, x.lanes, lanes):
        part = range(k, k + lanes)
        parts.append(_call(b, names[lanes], shuffled(b, x, x, part), shuffled(b, y, y, part)))
    product = joined(b, parts)
    if b.target is not None and b.target.arch == "aarch64":
        return product  # it saturates
    # Only the square of the smallest number is beyond the limits. It becomes that number, whose
    # bits are those of the largest one inverted.
    least = b.compare("eq", product, b.like(product, int16.min))
    return b.binary("xor", product, b.convert("sext", least, int16))


def _instructions(target: Target | None) -> dict[int, str]:
    """The intrinsic for each number of lanes."""
    if target is None:
        return {}
    if target.arch == "aarch64":
        return _AARCH64
    return {n: name for n, name in _X86.items() if n <= 16 or target.has("avx512bw")}


def _call(b: FunctionBuilder, name: str, x: Value, y: Value) -> Value:
    vector = type_name(int16, x.lanes)
    return b.assign(f"call {vector} @llvm.{name}({x.typed}, {y.typed})", int16, x.lanes)
