"""Powers: of floats by e**(y log |x|), of integers by squares and products."""

from __future__ import annotations

from math import inf, nan

from ..nodes.dtypes import DType, float64
from .math_doubles import exp_of, log_double, whole, with_limits
from .math_terms import (
    Term,
    absolute,
    apply,
    at_least,
    at_most,
    bits,
    constant,
    from_bits,
    rarely,
    select,
)
from .math_wide import in_float64

#: Exponents beyond give what this one gives: 0, 1 or inf.
_LARGE = 2.0**100
#: Powers of integers that have no more bits are not taken for rare ones.
_USUAL_BITS = 5


def power(x: Term, y: Term) -> Term:
    """x**y; an integer that does not fit wraps, and negative powers of integers are 0."""
    return _of_integers(x, y) if x.dtype.is_int else _of_floats(x, y)


def _of_floats_in_float64(dtype: DType, x: Term, y: Term) -> Term:
    """C's special values, which are NumPy's, too."""
    a = absolute(x)
    log_a = with_limits(a, log_double(dtype, a))
    limited = at_least(at_most(y, _LARGE), -_LARGE)
    found = exp_of(dtype, whole(limited, dtype) * log_a)
    half = y * 0.5
    is_whole = apply("eq", apply("trunc", y), y)
    is_odd = apply("and", is_whole, apply("ne", apply("trunc", half), half))
    sign = select(is_odd, bits(x) & float64.format.sign, 0)
    signed = from_bits(bits(found) | sign)
    has_value = apply("or", is_whole, apply("or", x.equals(inf), apply("ge", x, 0.0)))
    has_value = apply("or", has_value, x.equals(-inf))
    defined = select(has_value, signed, constant(nan, float64))
    return select(apply("or", x.equals(1.0), y.equals(0.0)), constant(1.0, float64), defined)


_of_floats = in_float64(_of_floats_in_float64)


def _of_integers(x: Term, y: Term) -> Term:
    """The product of x**(2**k) for the bits of y that are set; of large powers behind a branch."""
    dtype, square = x.dtype, x
    result = constant(1, dtype)
    small: Term | None = None
    for k in range(dtype.bits - (1 if dtype.min < 0 else 0)):
        if k == _USUAL_BITS:
            small = result
        is_set = apply("ne", y & (1 << k), 0)
        result = select(is_set, result * square, result)
        square = square * square
    assert small is not None
    result = rarely(y > (1 << _USUAL_BITS) - 1, result, small)
    return result if dtype.min == 0 else select(y < 0, constant(0, dtype), result)
