"""The code of each operator in `lang.ops.OPS`, functions excepted: those are expanded before.

Exactly as section "types and arithmetic" of the language says: nothing here is undefined for any
operand, nothing is fast-math, and a product is fused into a sum only where the program says `fma`.
All of it works lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....lang.errors.errors import InternalError
from ....lang.nodes.dtypes import DType, bfloat16, concrete, unsigned
from ..text.function_builder import FunctionBuilder
from ..text.values import Value
from . import bfloat_rounding, casts, extrema, floats, integer_functions, integers, narrow
from .short_payloads import PASS_ON

Binary = Callable[[FunctionBuilder, Value, Value], Value]
Unary = Callable[[FunctionBuilder, Value], Value]


def apply(b: FunctionBuilder, op: str, operands: Sequence[Value], dtype: DType) -> Value:
    """The code of operator `op`; `dtype` is the type of its result."""
    if op in ("cast", "bitcast"):
        return (casts.cast if op == "cast" else casts.bitcast)(b, operands[0], dtype)
    if op == "select":
        return b.select(*operands)
    if op != "strict" and operands[0].dtype.is_narrow:
        return _narrow(b, op, operands, dtype)
    if op == "fma":
        return b.intrinsic("fma", *operands)
    if op in COMPARISONS:
        return _compare(b, op, *operands)
    if op in BINARY and len(operands) == 2:
        return BINARY[op](b, *operands)
    if op in UNARY and len(operands) == 1:
        return UNARY[op](b, *operands)
    if op in TERNARY and len(operands) == 3:
        return TERNARY[op](b, *operands)
    raise InternalError(f"no code for operator {op!r} of {len(operands)} operands")


_EXACT = ("min", "max", "floor", "ceil", "round", "trunc")
"""Operators whose value is held by the type of their operands."""


def _narrow(b: FunctionBuilder, op: str, operands: Sequence[Value], dtype: DType) -> Value:
    """An operator of 16-bit floats: one of bits, or one of float32."""
    if op in ("neg", "abs"):
        word = casts.bitcast(b, operands[0], dtype.unsigned)
        sign = dtype.format.sign
        changed = (
            b.binary("xor", word, b.like(word, sign))
            if op == "neg"
            else b.binary("and", word, b.like(word, sign - 1))
        )
        return casts.bitcast(b, changed, dtype)
    if op == "fma":
        return narrow.fma(b, *operands)
    found = apply(b, op, [narrow.widened(b, x) for x in operands], dtype.computed)
    if dtype == bfloat16 and op in PASS_ON:
        return bfloat_rounding.rounded(b, found, is_short=True)
    return narrow.narrowed(b, found, dtype, op in _EXACT) if dtype.is_narrow else found


# compares: LLVM's predicate for floats, signed and unsigned integers. Only `ne` holds for a NaN.
COMPARISONS = {
    "lt": ("olt", "slt", "ult"),
    "le": ("ole", "sle", "ule"),
    "gt": ("ogt", "sgt", "ugt"),
    "ge": ("oge", "sge", "uge"),
    "eq": ("oeq", "eq", "eq"),
    "ne": ("une", "ne", "ne"),
}


def _compare(b: FunctionBuilder, op: str, x: Value, y: Value) -> Value:
    for_float, for_signed, for_unsigned = COMPARISONS[op]
    kind = x.dtype.kind
    predicate = for_float if kind == "f" else for_signed if kind == "i" else for_unsigned
    return b.compare(predicate, x, y)


def _arith(if_float: str, if_int: str, if_bool: str | None = None) -> Binary:
    """One instruction, by the kind of the operands."""

    def emit(b: FunctionBuilder, x: Value, y: Value) -> Value:
        kind = x.dtype.kind
        opcode = if_float if kind == "f" else if_bool if kind == "b" else if_int
        if opcode is None:
            raise InternalError(f"{if_int} of bools")
        return b.binary(opcode, x, y)

    return emit


def _lattice(name: str, if_bool: str) -> Binary:
    """minimum and maximum; for floats IEEE 754-2019's: NaN wins, and -0 < +0."""
    long = {"min": "minimum", "max": "maximum"}[name]

    def emit(b: FunctionBuilder, x: Value, y: Value) -> Value:
        if x.dtype.is_bool:
            return b.binary(if_bool, x, y)
        kind = x.dtype.kind
        # Of a constant LLVM knows the sign, and whether it is NaN.
        if extrema.serves(b, x.dtype) and x.number is None and y.number is None:
            return extrema.extremum(b, name, x, y)
        return b.intrinsic(long if kind == "f" else ("s" if kind == "i" else "u") + name, x, y)

    return emit


def _by_kind(if_float: Binary, if_int: Binary) -> Binary:
    return lambda b, x, y: (if_float if x.dtype.is_float else if_int)(b, x, y)


def _negate(b: FunctionBuilder, x: Value) -> Value:
    # 0 - x would make +0 of +0; fneg flips the sign of NaNs and zeros as well.
    return b.unary("fneg", x) if x.dtype.is_float else b.binary("sub", b.like(x, 0), x)


def _absolute(b: FunctionBuilder, x: Value) -> Value:
    if x.dtype.is_float:
        return b.intrinsic("fabs", x)
    if x.dtype.kind != "i":
        return x
    negative = b.compare("slt", x, b.like(x, 0))
    return b.select(negative, b.binary("sub", b.like(x, 0), x), x)  # abs(MIN) wraps to MIN


def _distance(b: FunctionBuilder, x: Value, y: Value) -> Value:
    """The larger one minus the smaller one: it wraps, and is right as an unsigned number."""
    above = b.compare("sgt" if x.dtype.kind == "i" else "ugt", x, y)
    distance = b.select(above, b.binary("sub", x, y), b.binary("sub", y, x))
    return casts.cast(b, distance, concrete(unsigned(x.dtype)))


def _rounding(name: str) -> Unary:
    return lambda b, x: b.intrinsic(name, x) if x.dtype.is_float else x


BINARY: dict[str, Binary] = {
    "add": _arith("fadd", "add", "or"),
    "sub": _arith("fsub", "sub"),
    "mul": _arith("fmul", "mul", "and"),
    "div": lambda b, x, y: b.binary("fdiv", x, y),
    "floordiv": _by_kind(floats.floordiv, integers.floordiv),
    "mod": _by_kind(floats.modulo, integers.modulo),
    "absd": _distance,
    "min": _lattice("min", "and"),
    "max": _lattice("max", "or"),
    "and": lambda b, x, y: b.binary("and", x, y),
    "or": lambda b, x, y: b.binary("or", x, y),
    "xor": lambda b, x, y: b.binary("xor", x, y),
    "shl": integers.shift_left,
    "shr": integers.shift_right,
    **integer_functions.BINARY,
}

UNARY: dict[str, Unary] = {
    "neg": _negate,
    "abs": _absolute,
    "not": lambda b, x: b.binary("xor", x, b.like(x, True if x.dtype.is_bool else -1)),
    "sqrt": lambda b, x: b.intrinsic("sqrt", x),
    "floor": _rounding("floor"),
    "ceil": _rounding("ceil"),
    "round": _rounding("roundeven"),
    "trunc": _rounding("trunc"),
    "strict": lambda b, x: x,
    **integer_functions.UNARY,
}

TERNARY = integer_functions.TERNARY
