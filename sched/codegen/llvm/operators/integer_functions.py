"""The code of functions of integers: LLVM's intrinsics, and patterns for which machines have an
instruction.

Nothing here is undefined for any operand. Products are computed in twice the width: of 64-bit
integers in 128, which LLVM makes of multiplications that give both halves.
"""

from __future__ import annotations

from collections.abc import Callable

from ....lang.nodes.dtypes import DType, bool_
from ..text.function_builder import FunctionBuilder
from ..text.values import Value, constant
from . import integers
from .rounded_products import DIGITS, rounded_product

_WIDEST = {kind: DType(f"{'u' * (kind == 'u')}int128", kind, 128) for kind in "iu"}
"""Types that values have here alone."""


def _of_kind(name: str) -> Callable[[FunctionBuilder, Value, Value], Value]:
    """An intrinsic with one name for signed integers and one for unsigned ones."""
    return lambda b, x, y: b.intrinsic(f"{'u' if x.dtype.kind == 'u' else 's'}{name}", x, y)


# products ---------------------------------------------------------------------------------------
def _product(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """The product in twice the width."""
    wide = x.dtype.wider or _WIDEST[x.dtype.kind]
    opcode = "zext" if x.dtype.kind == "u" else "sext"
    return b.binary("mul", b.convert(opcode, x, wide), b.convert(opcode, y, wide))


def _narrowed(b: FunctionBuilder, wide: Value, to: DType) -> Value:
    """A value within the limits of a narrower type."""
    if to.kind == "i":
        wide = b.intrinsic("smax", wide, b.like(wide, to.min))
    inside = b.intrinsic("smin" if to.kind == "i" else "umin", wide, b.like(wide, to.max))
    return b.convert("trunc", inside, to)


def saturating_multiply(b: FunctionBuilder, x: Value, y: Value) -> Value:
    return _narrowed(b, _product(b, x, y), x.dtype)


def multiply_shift(
    rounds: bool,
) -> Callable[[FunctionBuilder, Value, Value, Value], Value]:
    """A product shifted to the right, within the limits of the type of its factors."""

    def emit(b: FunctionBuilder, x: Value, y: Value, count: Value) -> Value:
        t, by = x.dtype, count.number
        if rounds and by == DIGITS and (found := rounded_product(b, x, y)):
            return found
        product = _product(b, x, y)
        wide = constant(by, product.dtype, x.lanes) if by is not None else None
        if wide is None:
            # A count below 0 becomes one beyond all bits.
            wide = b.convert("sext" if t.kind == "i" else "zext", count, product.dtype)
        shifted = _shift(b, product, wide, rounds)
        if by is None or not t.bits - 1 <= by <= 2 * t.bits or (by < t.bits and t.kind == "u"):
            return _narrowed(b, shifted, t)
        narrow = b.convert("trunc", shifted, t)
        if by >= t.bits:
            return narrow
        # Only the square of the smallest number is beyond the limits, and becomes that number.
        least = b.compare("eq", narrow, b.like(narrow, t.min))
        return b.select(least, b.like(narrow, t.max), narrow)

    return emit


def _shift(b: FunctionBuilder, x: Value, count: Value, rounds: bool) -> Value:
    """A product shifted; it has room for a carry."""
    if not rounds:
        return integers.shift_right(b, x, count)
    by, opcode = count.number, "lshr" if x.dtype.kind == "u" else "ashr"
    if by is not None and 1 <= by <= x.dtype.bits:
        half = b.binary(opcode, x, b.like(x, by - 1))
        return b.binary(opcode, b.binary("add", half, b.like(x, 1)), b.like(x, 1))
    return rounding_shift(b, x, count)


# means and shifts -------------------------------------------------------------------------------
def _half_difference(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """Half of the bits in which two values differ."""
    opcode = "lshr" if x.dtype.kind == "u" else "ashr"
    return b.binary(opcode, b.binary("xor", x, y), b.like(x, 1))


def halving_add(b: FunctionBuilder, x: Value, y: Value) -> Value:
    return b.binary("add", b.binary("and", x, y), _half_difference(b, x, y))


def rounding_halving_add(b: FunctionBuilder, x: Value, y: Value) -> Value:
    return b.binary("sub", b.binary("or", x, y), _half_difference(b, x, y))


def rounding_shift(b: FunctionBuilder, x: Value, count: Value) -> Value:
    """All but the last of the shifts round down; half of what is left is rounded upwards."""
    by, width = count.number, x.dtype.bits
    if by is not None:
        if not 1 <= by <= width:
            return x if by == 0 else b.like(x, 0)
        return _half_upwards(b, x, b.like(x, by - 1))
    before = b.binary("sub", count, b.like(count, 1))
    inside = b.compare("ult", before, b.like(count, width))
    shifted = _half_upwards(b, x, b.select(inside, before, b.like(count, 0)))
    none = b.compare("eq", count, b.like(count, 0))
    return b.select(inside, shifted, b.select(none, x, b.like(x, 0)))


def _half_upwards(b: FunctionBuilder, x: Value, before: Value) -> Value:
    opcode = "lshr" if x.dtype.kind == "u" else "ashr"
    shifted = b.binary(opcode, x, before)
    return b.binary("sub", shifted, b.binary(opcode, shifted, b.like(x, 1)))


# bits -------------------------------------------------------------------------------------------
def zeros(name: str) -> Callable[[FunctionBuilder, Value], Value]:
    """A count of zeros, which is the width for 0."""
    return lambda b, x: b.intrinsic(name, x, constant(False, bool_))


def byte_swap(b: FunctionBuilder, x: Value) -> Value:
    return x if x.dtype.bits == 8 else b.intrinsic("bswap", x)


UNARY: dict[str, Callable[[FunctionBuilder, Value], Value]] = {
    "popcount": lambda b, x: b.intrinsic("ctpop", x),
    "clz": zeros("ctlz"),
    "ctz": zeros("cttz"),
    "bit_reverse": lambda b, x: b.intrinsic("bitreverse", x),
    "byte_swap": byte_swap,
}

BINARY: dict[str, Callable[[FunctionBuilder, Value, Value], Value]] = {
    "saturating_add": _of_kind("add.sat"),
    "saturating_sub": _of_kind("sub.sat"),
    "saturating_mul": saturating_multiply,
    "halving_add": halving_add,
    "rounding_halving_add": rounding_halving_add,
    "rounding_shift_right": rounding_shift,
    "rotate_left": lambda b, x, count: b.intrinsic("fshl", x, x, count),
    "rotate_right": lambda b, x, count: b.intrinsic("fshr", x, x, count),
}

TERNARY: dict[str, Callable[[FunctionBuilder, Value, Value, Value], Value]] = {
    "mul_shift_right": multiply_shift(rounds=False),
    "rounding_mul_shift_right": multiply_shift(rounds=True),
}
