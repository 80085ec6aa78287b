"""The public functions on integers."""

from __future__ import annotations

from ..nodes.dtypes import DTypeLike
from ..nodes.nodes import Op
from .expr import Expr, ExprLike, as_node, binary, unary
from .functions import first_dtype


# sums, differences and products -----------------------------------------------------------------
def saturating_add(a: ExprLike, b: ExprLike) -> Expr:
    """`a + b`, or the limit of their common integer type that is nearest to it."""
    return binary("saturating_add", a, b)


def saturating_sub(a: ExprLike, b: ExprLike) -> Expr:
    """`a - b`, or the limit of their common integer type that is nearest to it."""
    return binary("saturating_sub", a, b)


def saturating_mul(a: ExprLike, b: ExprLike) -> Expr:
    """`a * b`, or the limit of their common integer type that is nearest to it."""
    return binary("saturating_mul", a, b)


def saturating_cast(dtype: DTypeLike, value: ExprLike) -> Expr:
    """The value of an integer type that is nearest to `value`; floats truncate, NaN becomes 0."""
    to = first_dtype(dtype, "ps.saturating_cast(ps.uint8, x)")
    return Expr(Op("saturating_cast", (as_node(value),), to))


def widening_add(a: ExprLike, b: ExprLike) -> Expr:
    """`a + b` in the integer type of twice the width of their common one, which holds each sum."""
    return binary("widening_add", a, b)


def widening_mul(a: ExprLike, b: ExprLike) -> Expr:
    """`a * b` in the integer type of twice the width of their common one, which holds each
    product."""
    return binary("widening_mul", a, b)


# means and shifts -------------------------------------------------------------------------------
def halving_add(a: ExprLike, b: ExprLike) -> Expr:
    """`(a + b) / 2` rounded down; the sum does not wrap."""
    return binary("halving_add", a, b)


def rounding_halving_add(a: ExprLike, b: ExprLike) -> Expr:
    """`(a + b) / 2` rounded to the nearest integer, ties upwards; the sum does not wrap."""
    return binary("rounding_halving_add", a, b)


def rounding_shift_right(value: ExprLike, count: ExprLike) -> Expr:
    """`value / 2**count` rounded to the nearest integer, ties upwards; 0 for a count below 0."""
    return binary("rounding_shift_right", value, count)


def mul_shift_right(a: ExprLike, b: ExprLike, count: ExprLike) -> Expr:
    """`a * b / 2**count` rounded down, and limited to the common integer type of `a` and `b`; the
    product does not wrap."""
    return Expr(Op("mul_shift_right", (as_node(a), as_node(b), as_node(count)), None))


def rounding_mul_shift_right(a: ExprLike, b: ExprLike, count: ExprLike) -> Expr:
    """`a * b / 2**count` rounded to the nearest integer, ties upwards, and limited to the common
    integer type of `a` and `b`; the product does not wrap."""
    return Expr(Op("rounding_mul_shift_right", (as_node(a), as_node(b), as_node(count)), None))


# bits -------------------------------------------------------------------------------------------
def popcount(value: ExprLike) -> Expr:
    """How many bits are 1, in the type of the value."""
    return unary("popcount", value)


def clz(value: ExprLike) -> Expr:
    """How many bits above the first 1 are 0, in the type of the value; its width for 0."""
    return unary("clz", value)


def ctz(value: ExprLike) -> Expr:
    """How many bits below the last 1 are 0, in the type of the value; its width for 0."""
    return unary("ctz", value)


def rotate_left(value: ExprLike, count: ExprLike) -> Expr:
    """The bits moved to the left by `count` modulo the width; those that leave come in again."""
    return binary("rotate_left", value, count)


def rotate_right(value: ExprLike, count: ExprLike) -> Expr:
    """The bits moved to the right by `count` modulo the width; those that leave come in again."""
    return binary("rotate_right", value, count)


def bit_reverse(value: ExprLike) -> Expr:
    """The bits in the opposite order."""
    return unary("bit_reverse", value)


def byte_swap(value: ExprLike) -> Expr:
    """The bytes in the opposite order."""
    return unary("byte_swap", value)


__all__ = [
    "bit_reverse", "byte_swap", "clz", "ctz", "halving_add", "mul_shift_right", "popcount",
    "rotate_left", "rotate_right", "rounding_halving_add", "rounding_mul_shift_right",
    "rounding_shift_right", "saturating_add", "saturating_cast", "saturating_mul",
    "saturating_sub", "widening_add", "widening_mul",
]  # fmt: skip
