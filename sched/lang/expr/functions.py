"""The public functions on expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors.errors import LanguageError, LanguageTypeError
from ..nodes.dtypes import DType, DTypeLike, as_dtype, concrete
from ..nodes.nodes import Op
from .expr import Expr, ExprLike, as_node, binary, cast as _cast, unary
from .tuples import ExprTuple

Value = Expr | ExprTuple


def select(*args: Any) -> Any:
    """The first value whose condition holds: `select(c1, v1, c2, v2, default)`.

    Lazy: a read inside a value happens only where that value is chosen. Values may be tuples.
    """
    if len(args) < 3 or len(args) % 2 == 0:
        raise LanguageTypeError(
            f"select takes conditions and values in turn and a default, not {len(args)} arguments",
            hint="ps.select(c1, v1, c2, v2, default)",
        )
    if any(isinstance(v, tuple) for v in (*args[1::2], args[-1])):
        return _tuple_select(args)
    result = as_node(args[-1])
    for condition, value in zip(args[-3::-2], args[-2::-2], strict=True):
        result = Op("select", (as_node(condition), as_node(value), result), None)
    return Expr(result)


def _tuple_select(args: tuple[Any, ...]) -> ExprTuple:
    values = (*args[1::2], args[-1])
    lengths = {len(v) if isinstance(v, tuple) else 1 for v in values}
    if len(lengths) != 1:
        raise LanguageTypeError("the values of a select are tuples of different lengths")
    return ExprTuple(
        select(*(v[k] if isinstance(v, tuple) else v for v in args)) for k in range(lengths.pop())
    )


def mux(index: ExprLike, values: Sequence[Any]) -> Any:
    """`values[index]`, the last one where the index is none of 0, 1, 2, ..."""
    if not (hasattr(values, "__len__") and hasattr(values, "__getitem__")):
        raise LanguageTypeError(
            f"mux takes its values as a list, not as {values!r}", hint="ps.mux(i, [a, b, c])"
        )
    if len(values) == 0:
        raise LanguageError("mux needs at least one value", hint="ps.mux(i, [a, b, c])")
    if len(values) == 1:
        return values[0]
    chain = [x for k, v in enumerate(values[:-1]) for x in (binary("eq", index, k), v)]
    return select(*chain, values[-1])


def cast(dtype: DTypeLike, value: ExprLike) -> Expr:
    """`value` converted: integers wrap, floats truncate and saturate, NaN becomes 0."""
    return _cast(first_dtype(dtype, "ps.cast(ps.float32, x), or x.astype(ps.float32)"), value)


def first_dtype(given: object, hint: str) -> DType:
    """The element type before the value of a function that converts. `hint`: how it is written."""
    if isinstance(given, Expr):
        raise LanguageTypeError(
            f"{given!r} is not an element type: the dtype comes first", hint=hint
        )
    return as_dtype(given)


def bitcast(dtype: DTypeLike, value: ExprLike) -> Expr:
    """The bits of `value` read as another type of the same width."""
    return Expr(Op("bitcast", (as_node(value),), as_dtype(dtype)))


def strict(value: ExprLike) -> Expr:
    """`value` computed exactly as written: no multiply-add is fused in it or with it."""
    return unary("strict", value)


def fma(a: ExprLike, b: ExprLike, c: ExprLike) -> Expr:
    """`a * b + c` with one rounding, in every float type."""
    return Expr(Op("fma", (as_node(a), as_node(b), as_node(c)), None))


def ldexp(value: ExprLike, exponent: ExprLike) -> Expr:
    """`value * 2**exponent` with one rounding; the exponent is an integer of any type."""
    e = as_node(exponent)
    if e.type is not None and not concrete(e.type).is_int:
        raise LanguageTypeError(
            f"the exponent of ldexp is {e.type!r}, not an integer: {exponent!r}",
            hint="ps.cast(ps.int32, x) truncates",
        )
    return Expr(Op("ldexp", (as_node(value), e), None))


def absd(a: ExprLike, b: ExprLike) -> Expr:
    """The distance of two values. For integers it has the unsigned type of their common type's
    width, which holds every distance; for floats it is `abs(a - b)`."""
    return binary("absd", a, b)


def minimum(a: ExprLike, b: ExprLike) -> Expr:
    """The smaller value; NaN propagates and -0 < +0 (IEEE 754-2019 minimum)."""
    return binary("min", a, b)


def maximum(a: ExprLike, b: ExprLike) -> Expr:
    """The larger value; NaN propagates and -0 < +0 (IEEE 754-2019 maximum)."""
    return binary("max", a, b)


def clip(value: ExprLike, lo: ExprLike, hi: ExprLike) -> Expr:
    """`value` within `[lo, hi]`, as `minimum(maximum(value, lo), hi)`."""
    return minimum(maximum(value, lo), hi)


def where(condition: ExprLike, a: Any, b: Any) -> Any:
    """`select(condition, a, b)`, NumPy's name for it."""
    return select(condition, a, b)


def _unary(op: str, doc: str) -> Callable[[ExprLike], Expr]:
    def function(x: ExprLike) -> Expr:
        return unary(op, x)

    function.__name__ = function.__qualname__ = op
    function.__doc__ = doc
    return function


def _binary(op: str, doc: str) -> Callable[[ExprLike, ExprLike], Expr]:
    def function(x: ExprLike, y: ExprLike) -> Expr:
        return binary(op, x, y)

    function.__name__ = function.__qualname__ = op
    function.__doc__ = doc
    return function


exp = _unary("exp", "e to the power of x.")
exp2 = _unary("exp2", "2 to the power of x.")
expm1 = _unary("expm1", "exp(x) - 1, exact also for small x.")
sinh = _unary("sinh", "The hyperbolic sine.")
cosh = _unary("cosh", "The hyperbolic cosine.")
log2 = _unary("log2", "The logarithm to base 2; an integer of a power of two.")
log10 = _unary("log10", "The logarithm to base 10.")
log1p = _unary("log1p", "log(1 + x), exact also for small x; -inf at -1, NaN below.")
sin = _unary("sin", "The sine; exact reduction of large x.")
cos = _unary("cos", "The cosine; exact reduction of large x.")
tan = _unary("tan", "The tangent; exact reduction of large x.")
arcsin = asin = _unary("arcsin", "The angle from -pi/2 to pi/2 with the sine x, |x| <= 1.")
arccos = acos = _unary("arccos", "The angle from 0 to pi with the cosine x, |x| <= 1.")
arctan = atan = _unary("arctan", "The angle from -pi/2 to pi/2 with the tangent x.")
arctan2 = atan2 = _binary("arctan2", "The angle from -pi to pi of the point (y, x).")
arcsinh = asinh = _unary("arcsinh", "The number with the hyperbolic sine x.")
arccosh = acosh = _unary("arccosh", "The number >= 0 with the hyperbolic cosine x, x >= 1.")
arctanh = atanh = _unary("arctanh", "The number with the hyperbolic tangent x, |x| <= 1.")
cbrt = _unary("cbrt", "The cube root, also of x below 0.")
log = _unary("log", "The natural logarithm; -inf at 0, NaN below.")
tanh = _unary("tanh", "The hyperbolic tangent.")
sigmoid = _unary("sigmoid", "1 / (1 + exp(-x)), without overflow.")
sqrt = _unary("sqrt", "The square root, correctly rounded; NaN below 0.")
rsqrt = _unary("rsqrt", "1 / sqrt(x), as those two operations.")
absolute = _unary("abs", "The absolute value; the smallest integer wraps to itself.")
floor = _unary("floor", "Rounded down; integers pass unchanged.")
ceil = _unary("ceil", "Rounded up; integers pass unchanged.")
rint = _unary("round", "Rounded to nearest, ties to even, as NumPy; integers pass unchanged.")
trunc = _unary("trunc", "Rounded towards zero; integers pass unchanged.")
sign = _unary("sign", "-1, 0 or 1, and NaN of NaN.")
isnan = _unary("isnan", "Whether x is NaN; of integers False.")
isinf = _unary("isinf", "Whether x is an infinity; of integers False.")
isfinite = _unary("isfinite", "Whether x is neither NaN nor an infinity.")
signbit = _unary("signbit", "Whether x has a sign, as -0.0 has; a NaN has none.")
copysign = _binary("copysign", "The size of x with the sign of y; a NaN counts as positive.")
hypot = _binary("hypot", "sqrt(x**2 + y**2), without overflow; inf where one is infinite.")
heaviside = _binary("heaviside", "0 where x < 0, y where x == 0, 1 where x > 0; NaN of NaN.")
nextafter = _binary("nextafter", "The float next to x on the way to y.")
fmod = _binary("fmod", "The remainder of x / y rounded towards zero: exact, with x's sign.")
remainder = _binary("mod", "`x % y`: the remainder of x / y rounded down, with y's sign.")


def _truth(x: ExprLike) -> Expr:
    return binary("ne", x, 0)


Expr._ufuncs.update(
    {
        **{f.__name__: f for f in (exp, log, tanh, sqrt, floor, ceil, ldexp)},
        **{f.__name__: f for f in (trunc, sign, isnan, isinf, isfinite, signbit)},
        **{f.__name__: f for f in (copysign, heaviside, hypot, nextafter, fmod)},
        **{f.__name__: f for f in (sin, cos, tan, arcsin, arccos, arctan, arctan2, cbrt)},
        **{f.__name__: f for f in (arcsinh, arccosh, arctanh)},
        **{f.__name__: f for f in (exp2, expm1, sinh, cosh, log2, log10, log1p)},
        "absolute": absolute, "fabs": absolute, "rint": rint, "minimum": minimum,
        "maximum": maximum, "negative": lambda a: unary("neg", a),
        "positive": lambda a: Expr(as_node(a)), "square": lambda a: binary("mul", a, a),
        "logical_not": lambda a: unary("not", _truth(a)),
        "logical_and": lambda a, b: _truth(a) & _truth(b),
        "logical_or": lambda a, b: _truth(a) | _truth(b),
        "logical_xor": lambda a, b: _truth(a) ^ _truth(b),
        "invert": lambda a: unary("not", a), "power": lambda a, b: Expr(as_node(a)) ** b,
        "divmod": lambda a, b: divmod(Expr(as_node(a)), b), "clip": clip,
    }
)  # fmt: skip
Expr._ufuncs.update(
    {
        ufunc: (lambda a, b, op=op: binary(op, a, b))
        for ufunc, op in {
            "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div",
            "floor_divide": "floordiv", "remainder": "mod", "bitwise_and": "and",
            "bitwise_or": "or", "bitwise_xor": "xor", "left_shift": "shl", "right_shift": "shr",
            "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
            "equal": "eq", "not_equal": "ne",
        }.items()
    }
)  # fmt: skip
Expr._functions.update(
    {"where": where, "clip": clip, "round": lambda a, decimals=0: round(Expr(as_node(a)), decimals)}
)
assert all(hasattr(np, name) for name in Expr._ufuncs)
__all__ = [
    "absd", "absolute", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "bitcast", "cast", "cbrt",
    "ceil", "clip", "copysign", "cos", "cosh", "exp", "exp2",
    "expm1", "floor", "fma", "fmod", "heaviside", "hypot", "isfinite", "isinf", "isnan", "ldexp",
    "log", "log10", "log1p", "log2", "maximum", "minimum", "mux",
    "nextafter", "remainder", "rint", "rsqrt", "select", "sigmoid", "sign", "signbit", "sin",
    "sinh",
    "sqrt",
    "strict", "tan", "tanh", "trunc", "where",
]  # fmt: skip
