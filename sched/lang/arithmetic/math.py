"""Functions made of the core operators: exp, log, tanh, sigmoid, rsqrt, ldexp, and those of the
files beside this one.

Each is one straight line of arithmetic, bit operations and selects: no table and no loop, and no
branch but around what few arguments need, as denormal numbers, infinities, and the large arguments
of sin, cos and tan (`math_reduction`). So the interpreter, scalar code and vector code of any width
give the same bits, and every width is fast.
The values at zeros, infinities and NaN are NumPy's; denormals are computed, not flushed.

The largest errors found are in `docs/functions.md`, which `benchmarks/functions/errors.py` makes:
over all float32, and 100 million float64.

The coefficients are our own: minimax polynomials for the relative error by Remez' exchange, rounded
one after the other, lowest first, the rest fitted again each time by linear programming.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ..nodes.dtypes import DType, concrete, float64
from ..nodes.nodes import Node, Op, Param, ParamInfo, substitute
from ..nodes.ops import FUNCTIONS as FUNCTION_NAMES, OPS
from .math_angles import FUNCTIONS as ANGLES
from .math_cbrt import cbrt
from .math_erf import FUNCTIONS as ERF
from .math_exp import exp, sigmoid, tanh
from .math_fast import FUNCTIONS as FAST
from .math_gamma import FUNCTIONS as GAMMA
from .math_inverse import FUNCTIONS as INVERSE
from .math_log import log
from .math_pow import power
from .math_scale import ldexp
from .math_simple import (
    copysign,
    fmod,
    heaviside,
    isfinite,
    isinf,
    isnan,
    nextafter,
    sign,
    signbit,
)
from .math_terms import Term, apply, fma, select
from .math_trig import FUNCTIONS as TRIGONOMETRIC
from .math_wide import FUNCTIONS as WIDE

_OF_BITS = frozenset({"nextafter"})
"""Functions that are of the bits of a type, so not computed in a wider one."""


@cache
def expansion(op: str, dtype: DType) -> tuple[tuple[Param, ...], Node]:
    """The function `op` in `dtype`, a float type, or for `pow` an integer one: placeholders, one
    an operand, and a body.

    The body needs no elaboration: it is built of core operators, every node has its concrete
    type, and multiply-adds are explicit. Replace the placeholders by typed operands:

        params, body = expansion(node.op, node.type)
        value = substitute(body, dict(zip(params, node.operands)))
    """
    if dtype.is_narrow and op not in _OF_BITS:
        return _widened(op, dtype)
    params = _placeholders(op, dtype)
    return params, _FUNCTIONS[op](*(Term(p, dtype) for p in params)).node


def _placeholders(op: str, dtype: DType) -> tuple[Param, ...]:
    return tuple(
        Param(ParamInfo(f"argument {k} of {op}", dtype, None, None, None))
        for k in range(OPS[op].arity)
    )


def _widened(op: str, dtype: DType) -> tuple[tuple[Param, ...], Node]:
    """The function in the wider type that its own is computed in, rounded to that; what tests a
    float is a bool, and has nothing to round."""
    wide, body = expansion(op, dtype.computed)
    params = _placeholders(op, dtype)
    given: dict[Node, Node] = {
        w: Op("cast", (p,), dtype.computed) for w, p in zip(wide, params, strict=True)
    }
    found = substitute(body, given)
    return params, found if OPS[op].rule == "test" else Op("cast", (found,), dtype)


def expansion_of(node: Op) -> tuple[tuple[Param, ...], Node]:
    """The expansion of a function in the type that its operands have."""
    first = node.operands[0].type
    return expansion(node.op, float64 if first is None else concrete(first))


def formula(node: Node) -> Node:
    """What a function's node is computed by, of core operators; any other node is itself."""
    if not isinstance(node, Op) or node.op not in FUNCTION_NAMES:
        return node
    placeholders, body = expansion_of(node)
    return substitute(body, dict(zip(placeholders, node.operands, strict=True)))


def rsqrt(x: Term) -> Term:
    """1 / sqrt(x): a square root, a division, and a step of Newton's with the exact x y**2."""
    y = 1.0 / apply("sqrt", x)
    product = x * y
    low = fma(x, y, -1.0 * product)
    missing = fma(-1.0 * low, y, fma(-1.0 * product, y, 1.0))
    better = fma(0.5 * y, missing, y)
    return select(isnan(better), y, better)  # at 0 and inf there are products of the two


_FUNCTIONS: dict[str, Callable[..., Term]] = {
    "exp": exp,
    "log": log,
    "tanh": tanh,
    "sigmoid": sigmoid,
    "rsqrt": rsqrt,
    "ldexp": ldexp,
    "isnan": isnan,
    "isinf": isinf,
    "isfinite": isfinite,
    "signbit": signbit,
    "copysign": copysign,
    "sign": sign,
    "heaviside": heaviside,
    "nextafter": nextafter,
    "fmod": fmod,
    "pow": power,
    **WIDE,
    **FAST,
    **ERF,
    **GAMMA,
    **TRIGONOMETRIC,
    **ANGLES,
    **INVERSE,
    "cbrt": cbrt,
}
