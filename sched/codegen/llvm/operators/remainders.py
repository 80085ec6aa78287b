"""The exact remainder of two floats, as C's `fmod` has it, in vectors of any width.

Where x / y lies below 2^m, with m the stored bits of a significand, an integer q next to it is
known, and x - q * y, which one multiply-add gives, is a float: a multiple of the last place of y
that is not larger than y. Where x is farther away, that is done first by y * 2^k, so large that x
lies near it: what is left is smaller by m - 1 bits. Each further round takes as many, so there are
at most 42 of them in float64. Lanes wait for each other, and most have nothing to wait for.
"""

from __future__ import annotations

from math import inf, nan

from ....lang.nodes.dtypes import DType, bool_, concrete
from ..text.function_builder import FunctionBuilder
from ..text.values import Value


def remainder(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """What is left of x after as many y as fit into it: exact, with the sign of x.

    It is NaN where x is infinite or y is zero, and x where y alone is infinite.
    """
    size, by = b.intrinsic("fabs", x), b.intrinsic("fabs", y)
    zero, one, infinite = b.like(x, 0.0), b.like(x, 1.0), b.like(x, inf)
    is_finite = b.compare("olt", size, infinite)
    divides = b.binary("and", b.compare("ogt", by, zero), b.compare("olt", by, infinite))
    is_usual = b.binary("and", is_finite, divides)
    # Rounds end by these numbers, so they must be numbers, also in lanes that nobody needs.
    size = b.unary("freeze", b.select(is_usual, size, zero))
    by = b.unary("freeze", b.select(is_usual, by, one))
    left = _near(b, _brought_near(b, size, by), by)
    whole = b.binary("and", is_finite, b.compare("oeq", b.intrinsic("fabs", y), infinite))
    unusual = b.select(whole, x, b.like(x, nan))
    return b.select(is_usual, b.intrinsic("copysign", left, x), unusual)


def _near(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """The remainder of numbers that are not negative, and whose ratio is below 2^m."""
    ratio = b.intrinsic("trunc", b.binary("fdiv", x, y))
    left = b.intrinsic("fma", b.unary("fneg", ratio), y, x)
    # The ratio may have been rounded up to an integer.
    is_below = b.compare("olt", left, b.like(x, 0.0))
    return b.select(is_below, b.binary("fadd", left, y), left)


def _brought_near(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """A number with the same remainder, and with a ratio below 2^m: mostly x itself."""
    before, around, after = b.block, b.label("far"), b.label("near")
    b.branch(_is_far(b, x, y), around, after)
    b.start(around)
    start = b.name("left")
    rest = Value(start, x.dtype, x.lanes)
    place = len(b.lines)
    shorter = _near(b, rest, _scaled(b, y, rest))
    end = b.block
    b.branch(_is_far(b, shorter, y), around, after)
    arms = f"[ {x.text}, %{before} ], [ {shorter.text}, %{end} ]"
    b.lines.insert(place, f"  {start} = phi {x.type} {arms}")
    b.start(after)
    return b.phi(x.dtype, [(x, before), (shorter, end)])


def _is_far(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """Whether the ratio is too large in any lane."""
    limit = b.like(x, float(1 << x.dtype.format.mantissa))
    is_far = b.compare("oge", b.binary("fdiv", x, y), limit)
    if is_far.lanes == 1:
        return is_far
    vector = f"v{is_far.lanes}i1"
    return b.assign(f"call i1 @llvm.vector.reduce.or.{vector}({is_far.typed})", bool_)


def _scaled(b: FunctionBuilder, y: Value, x: Value) -> Value:
    """y * 2^k with the smallest k >= 0 for which x / y * 2^-k is below 2^m for certain."""
    distance = b.binary("sub", _exponent(b, x), _exponent(b, y))
    k = b.binary("sub", distance, b.like(distance, x.dtype.format.mantissa - 1))
    k = b.intrinsic("smax", k, b.like(k, 0))
    half = b.binary("lshr", k, b.like(k, 1))  # 2^k itself may be too large for the type
    other = b.binary("sub", k, half)
    return b.binary(
        "fmul", b.binary("fmul", y, _power(b, half, y.dtype)), _power(b, other, y.dtype)
    )


def _exponent(b: FunctionBuilder, x: Value) -> Value:
    """The exponent of a positive number, plus a constant; denormal numbers have theirs, too."""
    form = x.dtype.format
    smallest = b.like(x, 2.0 ** (1 - form.bias))
    is_denormal = b.compare("olt", x, smallest)
    x = b.select(is_denormal, b.binary("fmul", x, b.like(x, float(1 << form.mantissa))), x)
    word = b.convert("bitcast", x, concrete(x.dtype.unsigned))
    biased = b.binary("lshr", word, b.like(word, form.mantissa))
    less = b.select(is_denormal, b.like(word, form.mantissa), b.like(word, 0))
    return b.binary("sub", biased, less)


def _power(b: FunctionBuilder, k: Value, dtype: DType) -> Value:
    """2^k for an integer from 0 to the largest exponent."""
    biased = b.binary("add", k, b.like(k, dtype.format.bias))
    return b.convert("bitcast", b.binary("shl", biased, b.like(k, dtype.format.mantissa)), dtype)
