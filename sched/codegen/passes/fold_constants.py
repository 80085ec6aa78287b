"""Arithmetic of constants is folded, and so are conditions that constants decide.

A[0 * 16 + v]   ->   A[v]          1 < 2 and v < n   ->   v < n

What never runs is left out: where a window slides in an unrolled loop, the first copies only fill
it. A condition that never holds would be one that no tile is full under.
"""

from __future__ import annotations

from ...records import replace
from ..ir.ir import Module
from ..ir.rewrite import map_expressions
from ..ir.simplify import folded, pruned


def fold_constants(module: Module) -> Module:
    """Every index and condition without what says nothing; sizes that are known are constants."""
    known = module.constants
    made = map_expressions(module, lambda n: folded(known.get(n, n)))
    functions = tuple(replace(f, body=pruned(f.body)) for f in made.functions)
    return made if functions == made.functions else replace(made, functions=functions)
