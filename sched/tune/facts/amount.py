"""How much a program does at given sizes, which needs no dependence: a first call asks for this
before anything else, and mostly finds that it is little."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from ...garbage import uncollected
from ...poly.state.rewritten import RewrittenProgram
from ...poly.tree.times import scheduled_stages
from .accesses import distinct_accesses
from .operations import operations
from .sizes import chosen_sizes
from .written_nest import written_nest


def amount_of(rewritten: RewrittenProgram, usual: Mapping[str, int]) -> int:
    """About how many operators and accesses a program executes as it is written.

    Args:
        usual: what sizes count as, or the nearest numbers that the program accepts.
    """
    with uncollected():
        sizes = chosen_sizes(rewritten.model, None, usual)
        nests = {p.stage.statement: p for p in scheduled_stages(rewritten.written)}
        total = 0
        for statement, placed in nests.items():
            loops = written_nest(placed, (), 0, sizes).loops
            each = sum(operations(statement.definition).values()) + len(
                distinct_accesses(statement)
            )
            total += prod(loop.middle for loop in loops) * each
        return total
