"""Float operators that take more than one instruction: `//` and `%`.

Source: NumPy's `npy_divmod` and its callers (numpy/_core/src/npymath/npy_math_internal.h.src),
step by step and bit for bit; only NaNs may differ among themselves. LLVM's own remainder, `frem`,
would become a call of C's `fmod` for each lane.
"""

from __future__ import annotations

from ..text.function_builder import FunctionBuilder
from ..text.values import Value
from . import remainders


def floordiv(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """The floor of x / y, by the exact remainder; x / y for y = 0."""
    zero, one = b.like(x, 0.0), b.like(x, 1.0)
    remainder = remainders.remainder(b, x, y)
    ratio = b.binary("fdiv", x, y)
    quotient = b.binary("fdiv", b.binary("fsub", x, remainder), y)
    fix = _other_sign(b, remainder, y)
    quotient = b.select(fix, b.binary("fsub", quotient, one), quotient)
    floor = b.intrinsic("floor", quotient)
    # The quotient is an integer but for its rounding, which may lie just below it.
    short = b.compare("ogt", b.binary("fsub", quotient, floor), b.like(x, 0.5))
    snapped = b.select(short, b.binary("fadd", floor, one), floor)
    is_zero = b.compare("oeq", quotient, zero)
    result = b.select(is_zero, b.intrinsic("copysign", zero, ratio), snapped)
    return b.select(b.compare("oeq", y, zero), ratio, result)


def modulo(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """The remainder with the sign of y; NaN for y = 0."""
    zero = b.like(x, 0.0)
    remainder = remainders.remainder(b, x, y)  # already NaN where y is 0
    fix = _other_sign(b, remainder, y)
    moved = b.select(fix, b.binary("fadd", remainder, y), remainder)
    exact = b.compare("oeq", remainder, zero)
    return b.select(exact, b.intrinsic("copysign", zero, y), moved)


def _other_sign(b: FunctionBuilder, remainder: Value, y: Value) -> Value:
    """Whether there is a remainder, and its sign is not that of y."""
    zero = b.like(y, 0.0)
    below = b.compare("olt", y, zero)
    differ = b.binary("xor", below, b.compare("olt", remainder, zero))
    return b.binary("and", b.compare("une", remainder, zero), differ)
