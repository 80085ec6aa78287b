"""Fused multiply-add with one rounding: libm's, or exact rational arithmetic where libm fails.

Computing `a * b + c` in a wider type and rounding the sum afterwards rounds twice. That differs
from one rounding only where the wide sum lies on a tie of the narrow type, so random tests pass
and adversarial ones do not; libm is therefore asked a few adversarial questions before it is used.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..nodes.dtypes import DType, float32, float64

if TYPE_CHECKING:
    from fractions import Fraction


def round_fraction(x: Fraction, t: DType) -> Any:
    """The float of type `t` nearest to `x`, ties to even. Zero is +0."""
    from fractions import Fraction  # on demand: loading it would make `import polysched` slower

    form = t.format
    size = abs(x)
    if size == 0:
        return t.scalar(0.0)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = max(exponent - form.mantissa, form.least)
    quotient = size / Fraction(2) ** unit
    digits = round(quotient)  # Fraction rounds half to even
    is_finite = digits * Fraction(2) ** unit < form.limit
    magnitude = math.ldexp(digits, unit) if is_finite else math.inf
    return t.scalar(-magnitude if x < 0 else magnitude)


def exact_fma(a: Any, b: Any, c: Any, t: DType) -> Any:
    """`a * b + c` of three floats of type `t` by rational arithmetic."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        # No finite product of the type overflows float64's range when c is infinite or NaN.
        finite_product = math.isfinite(a) and math.isfinite(b)
        return c if finite_product else a * b + c
    from fractions import Fraction

    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        # Zeros of one sign add up to it; of two signs, or x + -x, to +0. The product's zero has
        # the sign of its factors even where a * b underflows.
        product_negative = math.copysign(1.0, a) * math.copysign(1.0, b) < 0
        product_zero = a == 0 or b == 0
        both_negative = product_zero and product_negative and math.copysign(1.0, c) < 0
        return t.scalar(-0.0 if both_negative else 0.0)
    rounded = round_fraction(exact, t)
    return t.scalar(-0.0) if rounded == 0 and exact < 0 else rounded


def _products() -> tuple[tuple[float, float, float], ...]:
    """Products of 2**-24 +- 2**-60: in float64 the sums fall on ties of float32."""
    unit, ulp = 2.0**-30, 2.0**-float32.format.mantissa
    return (
        (658529 * unit, 104353 * unit, 1.0),
        (294409 * unit, 233415 * unit, 1 + ulp),
        (-658529 * unit, 104353 * unit, -1.0),
    )


def _near_one() -> tuple[tuple[float, float, float], ...]:
    ulp = 2.0**-float64.format.mantissa
    return ((1 + ulp, 1 + ulp, -(1 + 2 * ulp)), (1 + ulp, 1 - ulp, -1.0), (ulp, ulp / 2, 1.0))


#: By type: libm's function, the type that it takes, and arguments on which computing with two
#: roundings gives another result than with one.
LIBM: dict[DType, tuple[str, Any, tuple[tuple[float, float, float], ...]]] = {
    float32: ("fmaf", ctypes.c_float, _products()),
    float64: ("fma", ctypes.c_double, _near_one()),
}


def _libm_function(t: DType) -> Callable[[Any, Any, Any], Any] | None:
    """libm's `fma` or `fmaf`, if it is there and rounds once."""
    if t not in LIBM:
        return None
    name, scalar, adversarial = LIBM[t]
    library = "ucrtbase" if sys.platform == "win32" else None
    try:
        function = getattr(ctypes.CDLL(library), name)
    except (OSError, AttributeError):
        return None
    function.argtypes = [scalar] * 3
    function.restype = scalar
    make = t.numpy.type

    def fma(a: Any, b: Any, c: Any) -> Any:
        return make(function(a, b, c))

    for a, b, c in adversarial:
        if fma(make(a), make(b), make(c)) != exact_fma(make(a), make(b), make(c), t):
            return None
    return fma


def fma_function(t: DType) -> Callable[[Any, Any, Any], Any]:
    """`a * b + c` with one rounding, for floats of type `t`."""
    found = _FUNCTIONS.get(t)
    if found is None:
        found = _libm_function(t) or (lambda a, b, c: exact_fma(a, b, c, t))
        _FUNCTIONS[t] = found
    return found


_FUNCTIONS: dict[DType, Callable[[Any, Any, Any], Any]] = {}
