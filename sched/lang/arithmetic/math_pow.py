"""Powers: of floats by 2**(y log2 |x|), of integers by squares and products.

The logarithm and its product with y are sums of two numbers, in the type of the arguments. All
that is special has a branch of its own, bases below zero too.
"""

from __future__ import annotations

from math import inf, nan

from ...records import dataclass
from ..nodes.dtypes import DType, float32, float64
from .math_log import log32_parts, quotient64
from .math_sums import two_product
from .math_terms import (
    Term,
    absolute,
    apply,
    at_least,
    at_most,
    bits,
    constant,
    fma,
    for_type,
    from_bits,
    polynomial,
    power_of_two,
    rarely,
    select,
    series_of,
)

#: Exponents beyond give what this one gives: 0, 1 or inf.
_LARGE = 2.0**100
#: Powers of integers that have no more bits are not taken for rare ones.
_USUAL_BITS = 5


@dataclass(frozen=True, slots=True)
class _Constants:
    """The constants of one float type, those of two parts as sums of two numbers.

    first, second, log: of log2(1 + f) = s (first + z (second + z (log[0] + log[1] z + ...))).
    exp2: c[k] of 2**r = 1 + r ln2 + r**2 (c[0] + c[1] r + ...), |r| <= 1/2.
    infinity: its bits.
    unit: what the exponent of an argument is counted in, as a float, before it is shifted down.
    """

    first: tuple[float, float]
    second: tuple[float, float]
    log: tuple[float, ...]
    ln2: float
    exp2: tuple[float, ...]
    infinity: int
    unit: float


_CONSTANTS: dict[DType, _Constants] = {
    float32: _Constants(
        first=(2.885390043258667, 3.851926067000022e-08),
        second=(0.9617967009544373, -7.028461812552678e-09),
        log=(0.5770801901817322, 0.41184988617897034, 0.3378220498561859),
        ln2=0.6931471824645996,
        exp2=(
            0.24022647738456726, 0.055503614246845245, 0.009618483483791351, 0.00133906037081033,
            0.00015337720105890185,
        ),
        infinity=0x7F800000,
        unit=2.0**-23,
    ),
    float64: _Constants(
        first=(2.8853900817779268, 4.0710547481862066e-17),
        second=(0.9617966939259756, 5.0577616648125907e-17),
        log=(
            0.577078016355618, 0.4121985830919399, 0.32059890227364457, 0.2623077011110968,
            0.2219839987709053, 0.19125512930110436, 0.19038579429050514,
        ),
        ln2=0.6931471805599453,
        exp2=(
            0.24022650695910122, 0.055504108664820744, 0.009618129107597026, 0.001333355814668419,
            0.00015403530454025205, 1.5252733548320465e-05, 1.3215436623166742e-06,
            1.0178184174536247e-07, 7.07357796385617e-09, 4.4363631013645837e-10,
        ),
        infinity=0x7FF0000000000000,
        unit=1.0,
    ),
}  # fmt: skip


def power(x: Term, y: Term) -> Term:
    """x**y; an integer that does not fit wraps, and negative powers of integers are 0."""
    return _of_integers(x, y) if x.dtype.is_int else _of_floats(x, y)


def _of_floats(x: Term, y: Term) -> Term:
    """What is not usual is every x that is not a normal number above zero, and every result that is
    not one, or next to one that is not."""
    c = for_type(_CONSTANTS, x.dtype)
    n, f = _parts(x, None)
    e, e_low = _exponent(y, n, f)
    n, p = _exp2(e, e_low)
    found = from_bits(bits(p) + (n << x.dtype.format.mantissa))
    # Less the exponent of the smallest normal number, and another one for all that e_low may add.
    size = float(x.dtype.format.bias - 2)
    least = 1 << x.dtype.format.mantissa
    is_usual = apply("and", bits(x) - least < c.infinity - least, absolute(e) < size)
    return rarely(apply("not", is_usual), _special(x, y), found)


def _special(x: Term, y: Term) -> Term:
    """C's special values, which are NumPy's, too."""
    dtype = x.dtype
    a, limited = absolute(x), at_least(at_most(y, _LARGE), -_LARGE)
    lift = -float(dtype.format.mantissa + 1)
    tiny = a < 2.0 ** (1 - dtype.format.bias)
    n, f = _parts(select(tiny, a * 2.0**-lift, a), select(tiny, constant(lift, dtype), 0.0))
    e, e_low = _exponent(limited, n, f)
    most = float(2 * dtype.format.bias)
    e_low = select(absolute(e) < most, e_low, 0.0)
    n, p = _exp2(at_least(at_most(e, most), -most), e_low, 2 * dtype.format.bias)
    half = n >> 1
    found = p * power_of_two(half) * power_of_two(n - half)
    # Of a base that is 0 or infinite: which of the two the power is.
    is_small = (a > 1.0) ^ (limited > 0.0)
    edge = select(is_small, constant(0.0, dtype), inf)
    found = select(apply("or", a.equals(0.0), a.equals(inf)), edge, found)
    half = y * 0.5
    is_whole = apply("eq", apply("trunc", y), y)
    is_odd = apply("and", is_whole, apply("ne", apply("trunc", half), half))
    signed = from_bits(bits(found) | select(is_odd, bits(x) & dtype.format.sign, 0))
    has_value = apply("or", is_whole, apply("or", x.equals(inf), apply("ge", x, 0.0)))
    has_value = apply("or", has_value, x.equals(-inf))
    defined = select(has_value, signed, constant(nan, dtype))
    is_nan = apply("or", apply("ne", x, x), apply("ne", y, y))
    defined = select(is_nan, x + y, defined)
    return select(apply("or", x.equals(1.0), y.equals(0.0)), constant(1.0, dtype), defined)


def _parts(x: Term, lift: Term | None) -> tuple[Term, Term]:
    """n / unit and f, where x = 2**(n - lift) (1 + f) is a normal number."""
    return log32_parts(x, lift) if x.dtype == float32 else quotient64(x, lift)[:2]


def _exponent(y: Term, n: Term, f: Term) -> tuple[Term, Term]:
    """y (n + log2(1 + f)) as a sum of two numbers, from n / unit.

    log2(1 + f) = s (c[0] + z (c[1] + z q(z))) for s = f / (2 + f) and z = s**2. What is known late
    is added last: one element keeps a machine waiting for itself.
    """
    c = for_type(_CONSTANTS, y.dtype)
    inverse = 1.0 / (2.0 + f)
    s = f * inverse
    s_low = fma(-1.0 * s, f, fma(s, -2.0, f)) * inverse  # f - 2 s is exact
    z, z_low = two_product(s, s)
    q = series_of(z, c.log)
    u = fma(z, q, c.second[0])
    u_low = fma(z, q, c.second[0] - u) + c.second[1]
    factor = fma(z, u, c.first[0])
    factor_low = fma(z, u, c.first[0] - factor) + fma(z_low, u, fma(z, u_low, c.first[1]))
    if c.unit != 1.0:
        n = n * c.unit
    total = fma(s, factor, n)
    rest = fma(s, factor, n - total)  # that difference is exact, |log2(1 + f)| being <= 1/2
    slope = polynomial(z, 3 * c.first[:1])  # of the logarithm in s: first / (1 - z)
    rest = fma(s, factor_low, fma(s_low, slope, rest))
    e, e_low = two_product(y, total)
    return e, fma(y, rest, e_low)


def _exp2(e: Term, e_low: Term, offset: int = 0) -> tuple[Term, Term]:
    """n + offset, as the lowest bits of an integer, and p, where 2**(e + e_low) = 2**n p."""
    c = for_type(_CONSTANTS, e.dtype)
    shifter = 1.5 * 2.0**e.dtype.format.mantissa + offset
    shifted = e + shifter
    r = (e - (shifted - shifter)) + e_low
    one = fma(r, c.ln2, 1.0)
    off = fma(r, c.ln2, 1.0 - one)
    return bits(shifted), one + fma(r * r, series_of(r, c.exp2), off)


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
