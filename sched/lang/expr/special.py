"""Public functions beyond those of everyday: powers, special functions, and fast ones."""

from __future__ import annotations

from collections.abc import Callable

from .expr import Expr, ExprLike, binary, unary


def _unary(name: str, doc: str) -> Callable[[ExprLike], Expr]:
    def function(x: ExprLike) -> Expr:
        return unary(name, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _fast(of: str, doc: str) -> Callable[[ExprLike], Expr]:
    return _unary(f"fast_{of}", f"{doc} docs/functions.md has the errors.")


erf = _unary("erf", "The error function.")
erfc = _unary("erfc", "1 - erf(x), exact also where that is small.")
gamma = _unary("gamma", "The gamma function, (x - 1)! for integers x; NaN at those below 0.")
lgamma = _unary("lgamma", "The logarithm of abs(gamma(x)).")
fast_exp = _fast("exp", "e to the power of x in fewer instructions; 0 in place of denormals.")
fast_exp2 = _fast("exp2", "2 to the power of x, in still fewer; 0 in place of denormals.")
fast_log = _fast("log", "The natural logarithm in fewer instructions; denormals count as 0.")
fast_tanh = _fast("tanh", "The hyperbolic tangent in fewer instructions.")
fast_sigmoid = _fast("sigmoid", "1 / (1 + exp(-x)) in fewer instructions.")
fast_rsqrt = _fast("rsqrt", "1 / sqrt(x) without square root and division; denormals count as 0.")
fast_erf = _fast("erf", "The error function in fewer instructions.")


def pow(x: ExprLike, y: ExprLike) -> Expr:
    """x to the power of y. Of integers it is one of their type, which wraps; negative powers of
    integers are 0, and counted like divisions by zero."""
    return binary("pow", x, y)


__all__ = [
    "erf",
    "erfc",
    "fast_erf",
    "fast_exp",
    "fast_exp2",
    "fast_log",
    "fast_rsqrt",
    "fast_sigmoid",
    "fast_tanh",
    "gamma",
    "lgamma",
    "pow",
]
