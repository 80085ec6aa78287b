"""float16 and bfloat16: integers of 16 bits in LLVM, computed with in float32.

An operator rounds once. Its value in float32 rounded to 16 bits is that for sums, products,
quotients and square roots, as float32 has at least two bits more than twice as many. Whatever has
more bits than float32, a multiply-add, a float64 or an integer, is rounded to *odd* before: a
number that float32 does not hold becomes the neighbour whose last bit is 1, which is no tie.

Conversions of float16 are instructions (F16C on x86, part of AArch64); LLVM has none from float64
that calls no routine. bfloat16 is the upper half of a float32 (`bfloat_rounding.py`).
"""

from __future__ import annotations

from ....lang.nodes.dtypes import DType, float16, float32, float64, int32, uint16, uint32, uint64
from ..text.function_builder import FunctionBuilder
from ..text.shuffles import splat
from ..text.values import Value, constant, type_name
from . import bfloat_rounding

_DIGITS = 52  # of an integer that float64 holds with room to spare


def widened(b: FunctionBuilder, x: Value) -> Value:
    """A 16-bit float as a float32, which is exact."""
    if x.number is not None:
        return constant(x.number, float32, x.lanes)
    if x.dtype == float16:
        half = _half(x.lanes)
        number = b.name()
        b.emit(f"{number} = bitcast {x.typed} to {half}")
        code = f"fpext {half} {number} to {type_name(float32, x.lanes)}"
        return b.assign(code, float32, x.lanes)
    if b.in_pairs and x.lanes > 1:
        return bfloat_rounding.widened_pairs(b, x)
    word = b.convert("zext", Value(x.text, uint16, x.lanes), uint32)
    return b.convert("bitcast", b.binary("shl", word, b.like(word, 16)), float32)


def splat_widened(b: FunctionBuilder, x: Value, lanes: int) -> Value:
    """A 16-bit float as a float32 in so many lanes. Both halves of a lane get the bits of a
    bfloat16, and the lower one is cleared."""
    if x.number is not None:
        return constant(x.number, float32, lanes)
    if x.dtype == float16:
        return widened(b, splat(b, x, lanes))
    halves = splat(b, x, 2 * lanes)
    word = b.assign(f"bitcast {halves.typed} to {type_name(uint32, lanes)}", uint32, lanes)
    return b.convert("bitcast", b.binary("and", word, b.like(word, 0xFFFF0000)), float32)


def narrowed(b: FunctionBuilder, x: Value, to: DType, is_exact: bool = False) -> Value:
    """A float32 as a 16-bit float, rounded to nearest, ties to even.

    Args:
        is_exact: whether the type holds the number.
    """
    if to == float16:
        half = _half(x.lanes)
        number = b.name()
        b.emit(f"{number} = fptrunc {x.typed} to {half}")
        return b.assign(f"bitcast {half} {number} to {type_name(to, x.lanes)}", to, x.lanes)
    return (bfloat_rounding.upper_half if is_exact else bfloat_rounding.rounded)(b, x)


def rounded(b: FunctionBuilder, x: Value, to: DType) -> Value:
    """A number of any wider type as a 16-bit float, rounded once."""
    if x.dtype.is_float:
        return narrowed(b, x if x.dtype == float32 else _to_odd_single(b, x), to)
    if x.dtype.bits <= 16:  # float32 holds it
        return narrowed(b, _from_integer(b, x, float32), to)
    if x.dtype.bits <= 32:
        return narrowed(b, _to_odd_single(b, _from_integer(b, x, float64)), to)
    return narrowed(b, _to_odd_single(b, _wide_integer(b, x)), to)


def fma(b: FunctionBuilder, x: Value, y: Value, z: Value) -> Value:
    """`x * y + z` of 16-bit floats, rounded once: float64 holds the product."""
    to = x.dtype
    x, y, z = (b.convert("fpext", widened(b, v), float64) for v in (x, y, z))
    product = b.binary("fmul", x, y)
    total = b.binary("fadd", product, z)
    # What the sum has lost, exactly: Knuth's two-sum.
    second = b.binary("fsub", total, product)
    first = b.binary("fsub", total, second)
    lost = b.binary("fadd", b.binary("fsub", product, first), b.binary("fsub", z, second))
    zero = b.like(lost, 0.0)
    is_above = b.compare("ogt", lost, zero)
    is_inexact = b.compare("one", lost, zero)
    is_positive = b.compare("ogt", total, zero)
    grows = b.binary("xor", b.binary("xor", is_above, is_positive), b.like(is_above, True))
    total = _odd(b, total, is_inexact, grows, uint64)
    return narrowed(b, _to_odd_single(b, total), to)


def _half(lanes: int) -> str:
    return "half" if lanes == 1 else f"<{lanes} x half>"


def _to_odd_single(b: FunctionBuilder, x: Value) -> Value:
    """A float64 as a float32, rounded to odd."""
    single = b.convert("fptrunc", x, float32)
    back = b.convert("fpext", single, float64)
    is_inexact = b.compare("one", back, x)  # a NaN is none
    grows = b.compare("olt", b.intrinsic("fabs", back), b.intrinsic("fabs", x))
    return _odd(b, single, is_inexact, grows, uint32)


def _odd(b: FunctionBuilder, x: Value, inexact: Value, grows: Value, word: DType) -> Value:
    """A rounded number, moved to its neighbour if its last bit is 0 and it is inexact.

    Args:
        grows: whether the exact number is farther from zero.
    """
    bits = b.convert("bitcast", x, word)
    last = b.binary("and", bits, b.like(bits, 1))
    even = b.compare("eq", last, b.like(bits, 0))
    step = b.select(grows, b.like(bits, 1), b.like(bits, -1))
    moved = b.binary("add", bits, step)
    found = b.select(b.binary("and", inexact, even), moved, bits)
    return b.convert("bitcast", found, x.dtype)


def _from_integer(b: FunctionBuilder, x: Value, to: DType) -> Value:
    if x.dtype.is_bool:
        x = b.convert("zext", x, int32)
    return b.convert("sitofp" if x.dtype.kind == "i" else "uitofp", x, to)


def _wide_integer(b: FunctionBuilder, x: Value) -> Value:
    """An integer of 64 bits as a float64, rounded to odd."""
    is_signed = x.dtype.kind == "i"
    count = 64 - _DIGITS
    high = b.binary("ashr" if is_signed else "lshr", x, b.like(x, count))
    rest = b.binary("and", x, b.like(x, (1 << count) - 1))
    is_inexact = b.compare("ne", rest, b.like(x, 0))
    odd = b.binary("or", high, b.select(is_inexact, b.like(x, 1), b.like(x, 0)))
    limit = 1 << _DIGITS
    is_small = b.compare("slt" if is_signed else "ult", x, b.like(x, limit))
    if is_signed:
        is_small = b.binary("and", is_small, b.compare("sgt", x, b.like(x, -limit)))
    wide = _from_integer(b, odd, float64)
    scaled = b.binary("fmul", wide, b.like(wide, float(1 << count)))
    return b.select(is_small, _from_integer(b, x, float64), scaled)
