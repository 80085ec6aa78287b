"""Typed formulas: the notation in which `math` and its helpers write polynomials.

A `Term` is a typed node with Python's operators. Nothing is promoted or contracted: both operands
have one type (Python numbers take it), and a product is fused into a sum only by `fma`.

    t = fma(x, 2.0, 1.0)                  # one rounding
    y = select(t < 0.0, 0.0 - t, t)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from ...records import dataclass
from ..errors.errors import InternalError
from ..nodes.dtypes import DType, bool_, float32, float64
from ..nodes.nodes import Const, Node, Op
from ..nodes.ops import COMPARISONS

Number = int | float
T = TypeVar("T")
_BY_BITS = {t.unsigned: t for t in (float32, float64)}
"""The float type whose bits are in an unsigned integer."""


def for_type(table: Mapping[DType, T], dtype: DType) -> T:
    """The entry of a table for a type.

    Raises:
        InternalError: the table has no entry for the type.
    """
    if dtype not in table:
        raise InternalError(f"no formula is for {dtype.name}")
    return table[dtype]


@dataclass(frozen=True, slots=True)
class Term:
    """A typed node with Python's operators, which build further Terms."""

    node: Node
    dtype: DType

    def __add__(self, other: Term | Number) -> Term:
        return apply("add", self, other)

    def __radd__(self, other: Number) -> Term:
        return apply("add", constant(other, self.dtype), self)

    def __sub__(self, other: Term | Number) -> Term:
        return apply("sub", self, other)

    def __rsub__(self, other: Number) -> Term:
        return apply("sub", constant(other, self.dtype), self)

    def __mul__(self, other: Term | Number) -> Term:
        return apply("mul", self, other)

    def __rmul__(self, other: Number) -> Term:
        return apply("mul", constant(other, self.dtype), self)

    def __truediv__(self, other: Term) -> Term:
        return apply("div", self, other)

    def __rtruediv__(self, other: Number) -> Term:
        return apply("div", constant(other, self.dtype), self)

    def __xor__(self, other: Term | int) -> Term:
        return apply("xor", self, other)

    def __and__(self, other: Term | int) -> Term:
        return apply("and", self, other)

    def __or__(self, other: Term | int) -> Term:
        return apply("or", self, other)

    def __lshift__(self, other: int) -> Term:
        return apply("shl", self, other)

    def __rshift__(self, other: int) -> Term:
        return apply("shr", self, other)

    def __lt__(self, other: Term | Number) -> Term:
        return apply("lt", self, other)

    def __gt__(self, other: Term | Number) -> Term:
        return apply("gt", self, other)

    def equals(self, other: Number) -> Term:
        """Whether the values are equal; `==` stays Python's."""
        return apply("eq", self, other)


def constant(value: Number, dtype: DType) -> Term:
    """A literal; a float is rounded to `dtype`."""
    exact = float(dtype.scalar(value)) if dtype.is_float else value
    return Term(Const(exact, dtype), dtype)


def apply(op: str, first: Term, *rest: Term | Number) -> Term:
    """An operator on values of `first`'s type; a comparison gives a bool."""
    dtype = first.dtype
    operands = (first, *(r if isinstance(r, Term) else constant(r, dtype) for r in rest))
    assert all(x.dtype == dtype for x in operands), op
    result = bool_ if op in COMPARISONS else dtype
    return Term(Op(op, tuple(x.node for x in operands), result), result)


def fma(a: Term, b: Term | Number, c: Term | Number) -> Term:
    """`a * b + c`, rounded once."""
    return apply("fma", a, b, c)


def select(condition: Term, a: Term | Number, b: Term | Number) -> Term:
    """`a` where the condition holds, else `b`; at least one of them is a Term."""
    dtype = next(v.dtype for v in (a, b) if isinstance(v, Term))
    values = [v if isinstance(v, Term) else constant(v, dtype) for v in (a, b)]
    return Term(Op("select", (condition.node, *(v.node for v in values)), dtype), dtype)


def rarely(condition: Term, rare: Term, usual: Term) -> Term:
    """`rare` where the condition holds, else `usual`. What is rare has a branch of its own in code,
    which all lanes take where one has to."""
    nodes = (condition.node, rare.node, usual.node)
    return Term(Op("rarely", nodes, usual.dtype), usual.dtype)


def absolute(x: Term) -> Term:
    return apply("abs", x)


def at_most(x: Term, limit: float) -> Term:
    """The smaller of the two; NaN stays NaN. (`min` would order -0 and +0, at a price.)"""
    return select(constant(limit, x.dtype) < x, limit, x)


def at_least(x: Term, limit: float) -> Term:
    """The larger of the two; NaN stays NaN."""
    return select(x < limit, limit, x)


def cast(x: Term, to: DType) -> Term:
    return Term(Op("cast", (x.node,), to), to)


def bits(x: Term) -> Term:
    """The bits of a float, as an unsigned integer."""
    integer = x.dtype.unsigned
    return Term(Op("bitcast", (x.node,), integer), integer)


def from_bits(x: Term, dtype: DType | None = None) -> Term:
    """The float that has these bits, of 16 bits of the given type."""
    dtype = dtype or for_type(_BY_BITS, x.dtype)
    return Term(Op("bitcast", (x.node,), dtype), dtype)


def power_of_two(biased: Term) -> Term:
    """2**n as a float, where the lowest bits of `biased` are those of n + bias.

    "Lowest bits" are as many as the exponent has. The next higher bit must be 0; those above it
    are ignored.
    """
    return from_bits(biased << for_type(_BY_BITS, biased.dtype).format.mantissa)


def polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """`c[0] + c[1] x + c[2] x**2 + ...` by Horner's rule, one `fma` a coefficient.

    Horner has the fewest operations and the smallest error. Its long chain of dependent
    operations does not matter where there are other elements to compute meanwhile.
    """
    *rest, last = coefficients
    result: Term = constant(last, x.dtype)
    for c in reversed(rest):
        result = fma(result, x, c)
    return result


def estrin(x: Term, coefficients: Sequence[float]) -> Term:
    """The polynomial by Estrin's scheme: neighbours are joined by x, pairs of them by x**2, and so
    on, so that a chain is as long as the logarithm of the number of coefficients.

    It has a few operations more than Horner's rule, but a machine whose queues are full of one
    element's operations waits for less of them.
    """
    terms: Sequence[Term | float] = coefficients
    power = x
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        last = terms[-1:] if len(terms) % 2 else ()
        terms = [*(_joined(low, high, power) for low, high in pairs), *last]
        power = power * power
    (found,) = terms
    return found if isinstance(found, Term) else constant(found, x.dtype)


def estrin_behind_first(x: Term, coefficients: Sequence[float]) -> Term:
    """c[0] and the rest by Estrin's scheme, where the first and largest sum must round but once."""
    first, *rest = coefficients
    return fma(estrin(x, rest), x, first)


def series_of(x: Term, coefficients: Sequence[float]) -> Term:
    """The polynomial by the scheme that is quicker for its type among many other operations: those
    of float32 are short, and have a register's twice as many lanes meanwhile."""
    return (estrin if x.dtype == float64 else polynomial)(x, coefficients)


def _joined(low: Term | float, high: Term | float, power: Term) -> Term:
    return fma(high if isinstance(high, Term) else constant(high, power.dtype), power, low)


#: A chain of that many multiply-adds is not cut in two, unless a function says otherwise.
_SHORT = 9


def interleaved(x: Term, coefficients: Sequence[float], short: int = _SHORT) -> Term:
    """The polynomial as one of even powers and one of odd powers, and so on until they are short.

    Each time the chains of operations are half as long, for one product more: for functions of so
    many operations that a machine does not look ahead to the next elements.

    Args:
        short: so many coefficients are a chain that is not cut in two.
    """
    if len(coefficients) <= short:
        return polynomial(x, coefficients)
    even, odd = (interleaved(x * x, coefficients[k::2], short) for k in range(2))
    return fma(odd, x, even)
