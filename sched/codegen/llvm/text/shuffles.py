"""Vectors from elements and from other vectors."""

from __future__ import annotations

from collections.abc import Sequence

from ....lang.nodes.dtypes import DType
from .function_builder import FunctionBuilder
from .values import Value, constant, literal, type_name


def splat(b: FunctionBuilder, x: Value, lanes: int) -> Value:
    """A vector of equal elements."""
    whole = type_name(x.dtype, lanes)
    first = b.assign(f"insertelement {whole} poison, {x.typed}, i64 0", x.dtype, lanes)
    code = f"shufflevector {whole} {first.text}, {whole} poison, <{lanes} x i32> zeroinitializer"
    return b.assign(code, x.dtype, lanes)


def shuffled(b: FunctionBuilder, x: Value, y: Value, order: Sequence[int]) -> Value:
    """Elements of two vectors, counted through both."""
    mask = ", ".join(f"i32 {k}" for k in order)
    code = f"shufflevector {x.typed}, {y.typed}, <{len(order)} x i32> <{mask}>"
    return b.assign(code, x.dtype, len(order))


def joined(b: FunctionBuilder, parts: Sequence[Value]) -> Value:
    """One vector of several that are equally long; their number is a power of two."""
    while len(parts) > 1:
        parts = [
            shuffled(b, low, high, range(2 * low.lanes))
            for low, high in zip(parts[::2], parts[1::2], strict=True)
        ]
    return parts[0]


def extracted(b: FunctionBuilder, x: Value, lane: int) -> Value:
    """One element."""
    return b.assign(f"extractelement {x.typed}, i64 {lane}", x.dtype)


def inserted(b: FunctionBuilder, x: Value, element: Value, lane: int) -> Value:
    """The vector with one element replaced."""
    return b.assign(f"insertelement {x.typed}, {element.typed}, i64 {lane}", x.dtype, x.lanes)


def listed(numbers: Sequence[int], dtype: DType) -> Value:
    """A vector of constants."""
    if len(numbers) == 1:
        return constant(numbers[0], dtype)
    inside = ", ".join(f"{type_name(dtype)} {literal(n, dtype)}" for n in numbers)
    return Value(f"<{inside}>", dtype, len(numbers))


def backwards(lanes: int) -> list[int]:
    """The order of lanes from the last to the first."""
    return list(reversed(range(lanes)))
