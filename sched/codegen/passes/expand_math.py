"""Functions become the operators that they are made of.

    exp(x)   ->   select(x > 88.7, inf, fma(...))

so that scalar code, vector code and the interpreter give the same bits. Floats that become integers
in a range are kept in it before (see `ir.bounded_casts`).
"""

from __future__ import annotations

from ...lang.arithmetic.math import formula
from ..ir.bounded_casts import bounded_before
from ..ir.ir import Module
from ..ir.rewrite import map_expressions


def expand_math(module: Module) -> Module:
    """No operator of `ops.FUNCTIONS` remains."""
    return map_expressions(module, lambda n: bounded_before(formula(n)))
