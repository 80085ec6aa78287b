"""The rest of large arguments modulo pi/2, with all its digits.

Method (Payne and Hanek's): a 2/pi modulo 4 needs few of the digits of 2/pi: those before make
multiples of 4, those after only make what is below the digits of the result. 2/pi is cut into
pieces, and a window of pieces is chosen by the exponent of a. The products with them are exact, of
float64 as sums of two numbers; so are their sums, as far as digits can cancel. No float32 is nearer
to a multiple of pi/2 than 2**-30, no float64 nearer than 2**-62.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import ldexp

from ..nodes.dtypes import DType, float32, float64
from .math_sums import fast_two_sum, two_product, two_sum
from .math_terms import Term, apply, bits, cast, constant, fma, for_type, select

TWO_OVER_PI = 0.6366197723675814
#: The first 1280 bits of 2/pi, behind the point.
_DIGITS = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e0"
    "06492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f4"
    "9c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d"
    "7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d",
    16,
)
_COUNT = 1280
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17)
_SHIFTER = 1.5 * 2.0**52

#: The bits of a piece, and how many pieces a window has.
_PIECE = {float32: (29, 4), float64: (53, 5)}
#: float64 is divided by it and its pieces are multiplied, so that none of them is denormal.
_SCALE = 2.0**160


def reduced_large(a: Term) -> tuple[Term, Term, Term]:
    """n in the lowest bits of an integer, and the two parts of r, where a = n pi/2 + r.

    Args:
        a: at least 2**17 in float32, 2**20 in float64.
    """
    return (_of_float32 if a.dtype == float32 else _of_float64)(a)


@cache
def pieces(dtype: DType) -> tuple[float, ...]:
    """A zero, then what 2/pi is the sum of: each piece a whole number of units of its last bit."""
    width, window = for_type(_PIECE, dtype)
    scale = 1.0 if dtype == float32 else _SCALE
    last = 4 if dtype == float32 else 19
    found = [0.0]
    for k in range(last + window - 1):
        digits = _DIGITS >> (_COUNT - width * (k + 1)) & ((1 << width) - 1)
        found.append(ldexp(digits * scale, -width * (k + 1)))
    return tuple(found)


def _of_float32(a: Term) -> tuple[Term, Term, Term]:
    """Pieces of 29 bits: the products with them are exact in float64."""
    x = cast(a, float64)
    table = pieces(float32)
    first, second, third, fourth = (
        x * _by_size(x, table[k : k + 5], (2.0**25, 2.0**54, 2.0**83, 2.0**112)) for k in range(4)
    )
    total, off = two_sum(_modulo_4(first), _modulo_4(second))
    total, more = two_sum(total, third)
    n = apply("round", total)
    r = ((total - n) + (off + more + fourth)) * _HALF_PI[0]
    high = cast(r, float32)
    shifted = cast(n, float32) + 1.5 * 2.0**23
    return bits(shifted), high, cast(r - cast(high, float64), float32)


def _by_size(x: Term, values: Sequence[float], limits: Sequence[float]) -> Term:
    """The value after as many others as there are limits that x reaches."""
    found = constant(values[0], x.dtype)
    for value, limit in zip(values[1:], limits, strict=True):
        found = select(x < limit, found, value)
    return found


def _of_float64(a: Term) -> tuple[Term, Term, Term]:
    """Pieces of 53 bits. Products with the first two of a window may be multiples of 4 and more."""
    x = a * (1.0 / _SCALE)
    window = _window(a)
    (p0, e0), (p1, e1), (p2, e2), (p3, e3) = (two_product(x, piece) for piece in window[:4])
    total = _modulo_4(p0)
    offs = []
    for term in (_modulo_4(e0), _modulo_4(p1), e1, p2):
        total, off = two_sum(total, term)
        offs.append(off)
    n = apply("round", total)
    middle, least = offs[0], e3 + x * window[4]
    for term in (*offs[1:], e2, p3):
        middle, off = two_sum(middle, term)
        least = least + off
    high, low = two_sum(total - n, middle)
    high, low = fast_two_sum(high, low + least)
    r, rest = two_product(high, constant(_HALF_PI[0], float64))
    rest = fma(high, _HALF_PI[1], fma(low, _HALF_PI[0], rest))
    return bits(n + _SHIFTER), r, rest


def _window(a: Term) -> list[Term]:
    """Five pieces in a row, the first one chosen by the exponent e of a: number (e - 1) // 53.

    Bit by bit of that number half of those that are still possible are left out.
    """
    exponent = (bits(a) >> 52) - 1024
    number = (exponent * 1237) >> 16  # exponent // 53, as far as exponents go
    found = [constant(piece, float64) for piece in pieces(float64)]
    for bit in (16, 8, 4, 2, 1):
        is_set = apply("ne", number & bit, 0)
        left = 5 + bit - 1
        found = [
            select(is_set, found[k + bit], found[k]) if k + bit < len(found) else found[k]
            for k in range(min(left, len(found)))
        ]
    return found


def _modulo_4(x: Term) -> Term:
    """x without a multiple of 4, exact."""
    return fma(apply("round", x * 0.25), -4.0, x)
