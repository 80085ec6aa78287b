"""Conversions between element types.

To bool: whether it is not 0 (NaN is not). Between integers: wraps, widened by the sign of the
*source*. Float to integer: truncates, saturates, NaN gives 0 (LLVM's `fptosi` alone would be
poison out of range). To a float: rounded once, to nearest.
"""

from __future__ import annotations

from ...lang.dtypes import DType, bool_
from .builder import Builder
from .values import Value, suffix, type_name


def cast(b: Builder, x: Value, to: DType) -> Value:
    """x as a `to`, by value."""
    source = x.dtype
    if source == to:
        return x
    if to.is_bool:
        return b.compare("une" if source.is_float else "ne", x, b.like(x, 0))
    if source.is_float:
        return _float_to_float(b, x, to) if to.is_float else _float_to_int(b, x, to)
    if to.is_float:
        return b.convert("sitofp" if source.kind == "i" else "uitofp", x, to)
    return _int_to_int(b, x, to)


def bitcast(b: Builder, x: Value, to: DType) -> Value:
    """The bits of x as a `to` of the same width."""
    assert x.dtype.bits == to.bits, "a bitcast between widths"
    if x.dtype.is_float == to.is_float:
        return _renamed(x, to)
    return b.convert("bitcast", x, to)


def _float_to_float(b: Builder, x: Value, to: DType) -> Value:
    return b.convert("fpext" if to.bits > x.dtype.bits else "fptrunc", x, to)


def _float_to_int(b: Builder, x: Value, to: DType) -> Value:
    name = "fptosi" if to.kind == "i" else "fptoui"
    types = f"{suffix(to, x.lanes)}.{suffix(x.dtype, x.lanes)}"
    code = f"call {type_name(to, x.lanes)} @llvm.{name}.sat.{types}({x.typed})"
    return b.assign(code, to, x.lanes)


def _int_to_int(b: Builder, x: Value, to: DType) -> Value:
    if to.bits < x.dtype.bits:
        return b.convert("trunc", x, to)
    if to.bits == x.dtype.bits:
        return _renamed(x, to)
    return b.convert("sext" if x.dtype.kind == "i" else "zext", x, to)


def _renamed(x: Value, to: DType) -> Value:
    """The same LLVM value under a type that LLVM does not tell apart, int32 and uint32."""
    assert to is not bool_
    return Value(x.text, to, x.lanes)
