"""Conversions between element types.

To bool: whether it is not 0 (NaN is not). Between integers: wraps, widened by the sign of the
*source*. Float to integer: truncates, saturates, NaN gives 0 (LLVM's `fptosi` alone would be
poison out of range). To a float: rounded once, to nearest.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ....lang.nodes.dtypes import DType, bool_
from ....lang.nodes.nodes import Op, dtype_of
from ...ir.bounded_casts import lower_end, upper_end
from ..text.function_builder import FunctionBuilder
from ..text.values import Value, constant, suffix, type_name
from . import narrow


def cast(b: FunctionBuilder, x: Value, to: DType) -> Value:
    """x as a `to`, by value."""
    source = x.dtype
    if source == to:
        return x
    if source.is_narrow:
        return cast(b, narrow.widened(b, x), to)
    if to.is_narrow:
        return narrow.rounded(b, x, to)
    if to.is_bool:
        return b.compare("une" if source.is_float else "ne", x, b.like(x, 0))
    if source.is_float:
        return _float_to_float(b, x, to) if to.is_float else _float_to_int(b, x, to)
    if to.is_float:
        return b.convert("sitofp" if source.kind == "i" else "uitofp", x, to)
    return _int_to_int(b, x, to)


def cast_of(b: FunctionBuilder, node: Op, x: Value) -> Value:
    """A conversion of x, by what is known of the range of its operand."""
    to, (source,) = dtype_of(node), node.operands
    low, high = lower_end(source), upper_end(source)
    if not (x.dtype.is_float and to.is_int) or low is None or low < to.min:
        return cast(b, x, to)
    name = "fptosi" if to.kind == "i" else "fptoui"
    largest = _largest(x.dtype, to)
    if high is not None and high <= largest:
        return b.convert(name, x, to)
    hi = b.like(x, largest)
    found = b.convert(name, b.select(b.compare("olt", x, hi), x, hi), to)
    return b.select(b.compare("ogt", x, hi), constant(to.max, to, x.lanes), found)


def bitcast(b: FunctionBuilder, x: Value, to: DType) -> Value:
    """The bits of x as a `to` of the same width."""
    assert x.dtype.bits == to.bits, "a bitcast between widths"
    if x.dtype.is_float == to.is_float:
        return _renamed(x, to)
    return b.convert("bitcast", x, to)


def _float_to_float(b: FunctionBuilder, x: Value, to: DType) -> Value:
    wider = to.format.precision > x.dtype.format.precision
    return b.convert("fpext" if wider else "fptrunc", x, to)


def _float_to_int(b: FunctionBuilder, x: Value, to: DType) -> Value:
    name = "fptosi" if to.kind == "i" else "fptoui"
    if x.lanes > 1:
        return _in_lanes(b, x, to, name)
    types = f"{suffix(to)}.{suffix(x.dtype)}"
    return b.assign(f"call {type_name(to)} @llvm.{name}.sat.{types}({x.typed})", to)


def _in_lanes(b: FunctionBuilder, x: Value, to: DType, name: str) -> Value:
    """What LLVM's saturating conversion gives, which it takes apart into lanes."""
    lo, hi = b.like(x, to.min), b.like(x, _largest(x.dtype, to))
    above = b.select(b.compare("ogt", x, lo), x, lo)
    inside = b.select(b.compare("olt", above, hi), above, hi)
    found = b.convert(name, inside, to)
    found = b.select(b.compare("ogt", x, hi), constant(to.max, to, x.lanes), found)
    return b.select(b.compare("ord", x, x), found, constant(0, to, x.lanes))


@cache
def _largest(source: DType, to: DType) -> float:
    """The largest float that is not beyond an integer type."""
    found = source.scalar(to.max)
    if int(found) > to.max:
        found = np.nextafter(found, source.scalar(0))
    return float(found)


def _int_to_int(b: FunctionBuilder, x: Value, to: DType) -> Value:
    if to.bits < x.dtype.bits:
        return b.convert("trunc", x, to)
    if to.bits == x.dtype.bits:
        return _renamed(x, to)
    return b.convert("sext" if x.dtype.kind == "i" else "zext", x, to)


def _renamed(x: Value, to: DType) -> Value:
    """The same LLVM value under a type that LLVM does not tell apart, int32 and uint32."""
    assert to is not bool_
    return Value(x.text, to, x.lanes)
