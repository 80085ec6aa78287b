"""Integer operators that LLVM leaves undefined for some operands: division and shifts.

Division floors, by zero gives 0, and INT_MIN // -1 wraps. A shift past the width (counts count as
unsigned, so a negative one is past it) gives 0, or the sign of a signed number moved right.
LLVM's `sdiv` and `shl` are undefined there and x86's `idiv` traps, so operands are made safe by
selects before, never by branches.
"""

from __future__ import annotations

from ..text.function_builder import FunctionBuilder
from ..text.values import Value


def floordiv(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """x // y, rounded down."""
    if _is_positive(y):
        return _floordiv_by_positive(b, x, y)
    signed = x.dtype.kind == "i"
    zero = b.like(x, 0)
    safe = _safe_divisor(b, x, y)
    quotient = b.binary("sdiv" if signed else "udiv", x, safe)
    if signed:
        inexact = _rounded_up(b, b.binary("srem", x, safe), safe)
        quotient = b.binary("add", quotient, b.convert("sext", inexact, x.dtype))
    return b.select(b.compare("eq", y, zero), zero, quotient)


def modulo(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """x - (x // y) * y, with the sign of y; 0 for y = 0."""
    if _is_positive(y):
        return _modulo_by_positive(b, x, y)
    safe = _safe_divisor(b, x, y)
    if x.dtype.kind == "u":
        return b.binary("urem", x, safe)  # the safe divisor for 0 is 1: remainder 0
    remainder = b.binary("srem", x, safe)
    fix = b.select(_rounded_up(b, remainder, safe), safe, b.like(x, 0))
    return b.binary("add", remainder, fix)


def _is_positive(y: Value) -> bool:
    return y.number is not None and y.number > 0


def _safe_divisor(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """y, or 1 where dividing by y is undefined: that is right for MIN // -1, and for x % 0."""
    bad = b.compare("eq", y, b.like(y, 0))
    if x.dtype.kind == "i":
        lowest = b.compare("eq", x, b.like(x, x.dtype.min))
        wraps = b.binary("and", lowest, b.compare("eq", y, b.like(y, -1)))
        bad = b.binary("or", bad, wraps)
    return b.select(bad, b.like(y, 1), y)


def _rounded_up(b: FunctionBuilder, remainder: Value, y: Value) -> Value:
    """Whether truncation rounded up: there is a remainder, and not of the divisor's sign."""
    zero = b.like(y, 0)
    opposite = b.compare("slt", b.binary("xor", remainder, y), zero)
    return b.binary("and", b.compare("ne", remainder, zero), opposite)


def _floordiv_by_positive(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """One multiplication: with s = -1 for x < 0, else 0, it is ((x ^ s) udiv y) ^ s."""
    assert isinstance(y.number, int)
    shift = y.number.bit_length() - 1
    if y.number == 1 << shift:
        return b.binary("ashr" if x.dtype.kind == "i" else "lshr", x, b.like(x, shift))
    if x.dtype.kind == "u":
        return b.binary("udiv", x, y)
    sign = b.binary("ashr", x, b.like(x, x.dtype.bits - 1))
    return b.binary("xor", b.binary("udiv", b.binary("xor", x, sign), y), sign)


def _modulo_by_positive(b: FunctionBuilder, x: Value, y: Value) -> Value:
    assert isinstance(y.number, int)
    if y.number & (y.number - 1) == 0:
        return b.binary("and", x, b.like(x, y.number - 1))
    if x.dtype.kind == "u":
        return b.binary("urem", x, y)
    return b.binary("sub", x, b.binary("mul", _floordiv_by_positive(b, x, y), y))


def shift_left(b: FunctionBuilder, x: Value, count: Value) -> Value:
    return _shift_to_zero(b, "shl", x, count)


def shift_right(b: FunctionBuilder, x: Value, count: Value) -> Value:
    """Moves the sign in for signed types, 0 for unsigned ones."""
    if x.dtype.kind == "u":
        return _shift_to_zero(b, "lshr", x, count)
    # Further than bits - 1 changes nothing: only the sign is left.
    return b.binary("ashr", x, b.intrinsic("umin", count, b.like(x, x.dtype.bits - 1)))


def _shift_to_zero(b: FunctionBuilder, opcode: str, x: Value, count: Value) -> Value:
    zero = b.like(x, 0)
    inside = b.compare("ult", count, b.like(x, x.dtype.bits))
    shifted = b.binary(opcode, x, b.select(inside, count, zero))
    return b.select(inside, shifted, zero)
