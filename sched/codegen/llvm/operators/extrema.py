"""Minima and maxima of floats by x86's own, which give the second operand where one is NaN or both
are zeros. Ours are IEEE 754-2019's: NaN wins, and -0 < +0."""

from __future__ import annotations

from ....lang.nodes.dtypes import DType, uint32
from ..text.function_builder import FunctionBuilder
from ..text.shuffles import extracted, inserted, joined, shuffled
from ..text.values import Value, type_name

#: By the name of an operator: which operand stays.
_STAYS = {"min": "olt", "max": "ogt"}
#: Bits of the shortest registers of vectors, and of the longest.
_LEAST, _REGISTER = 128, 512
#: Of three bits the one that two have: which of the eight cases give 1.
_MAJORITY = 0xE8


def serves(b: FunctionBuilder, dtype: DType) -> bool:
    """Whether the target has them, for such numbers."""
    is_x86 = b.target is not None and b.target.has("avx")
    return is_x86 and dtype.is_float and not dtype.is_narrow


def extremum(b: FunctionBuilder, name: str, x: Value, y: Value) -> Value:
    """Of two zeros one of each order is what it should be, and so is one NaN: a minimum has all
    bits of both, which of NaN and a number are a NaN. A maximum has those, too, but the sign only
    where both have it."""
    before, bits = _STAYS[name], x.dtype.unsigned
    both = [b.select(b.compare(before, p, q), p, q) for p, q in ((x, y), (y, x))]
    if name == "max" and x.lanes == 1 and _has_majority(b):
        # Of a scalar in a register of its own: a mask of NaNs would be waited for several cycles,
        # and what comes next may wait for the maximum.
        lanes = _LEAST // x.dtype.bits
        both = [inserted(b, Value("poison", x.dtype, lanes), one, 0) for one in both]
    first, second = (b.convert("bitcast", one, bits) for one in both)
    if name == "min":
        found = b.binary("or", first, second)
    elif _fills_registers(b, first):
        found = _majority(b, first, second, b.like(first, bits.max >> 1))
    else:
        # The bits that both have are no NaN where only one is.
        unordered = b.convert("sext", b.compare("uno", x, y), bits)
        found = b.binary("or", b.binary("and", first, second), unordered)
    made = b.convert("bitcast", found, x.dtype)
    return made if made.lanes == x.lanes else extracted(b, made, 0)


def of_all_lanes(b: FunctionBuilder, name: str, x: Value) -> Value:
    """The extremum of all lanes: of halves, and halves of these. A lane that is left is in both."""
    while x.lanes > 2:
        half = (x.lanes + 1) // 2
        low, high = (shuffled(b, x, x, range(k, k + half)) for k in (0, x.lanes - half))
        x = extremum(b, name, low, high)
    # Of two lanes it stays a vector: there are no masks of scalars.
    return extracted(b, extremum(b, name, x, shuffled(b, x, x, (1, 0))), 0)


def _fills_registers(b: FunctionBuilder, x: Value) -> bool:
    size = x.dtype.bits * x.lanes
    is_whole = size >= _LEAST and not size & (size - 1)
    return is_whole and _has_majority(b)


def _has_majority(b: FunctionBuilder) -> bool:
    return b.target is not None and b.target.has("avx512vl")


def _majority(b: FunctionBuilder, *given: Value) -> Value:
    """The bits that two of three have, by one instruction a register: LLVM would take two."""
    dtype, lanes = given[0].dtype, given[0].lanes
    count = min(_REGISTER // dtype.bits, lanes)
    parts = []
    for first in range(0, lanes, count):
        some = [shuffled(b, x, x, range(first, first + count)) for x in given]
        words = [_as(b, x, uint32, count * dtype.bits // 32) for x in some]
        kind, size = words[0].type, words[0].lanes * 32
        called = f"call {kind} @llvm.x86.avx512.pternlog.d.{size}"
        operands = ", ".join(x.typed for x in words)
        found = b.assign(f"{called}({operands}, i32 {_MAJORITY})", uint32, words[0].lanes)
        parts.append(_as(b, found, dtype, count))
    return joined(b, parts)


def _as(b: FunctionBuilder, x: Value, dtype: DType, lanes: int) -> Value:
    """The same bits."""
    return b.assign(f"bitcast {x.typed} to {type_name(dtype, lanes)}", dtype, lanes)
