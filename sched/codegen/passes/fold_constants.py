"""Arithmetic of constants is folded, and so are conditions that constants decide.

A[0 * 16 + v]   ->   A[v]          1 < 2 and v < n   ->   v < n
"""

from __future__ import annotations

from ..ir.ir import Module
from ..ir.rewrite import map_expressions
from ..ir.simplify import folded


def fold_constants(module: Module) -> Module:
    """Every index and condition without what says nothing; sizes that are known are constants."""
    known = module.constants
    return map_expressions(module, lambda n: folded(known.get(n, n)))
