"""What is likely to make the code of a schedule slow, told from its loops.

Listings have notes beside loops, whatever they cost. Here are those of them that a directive is to
blame for, and that another directive could avoid. isl counts only instances of Funcs that are
computed at loops; all else is looked up in loops that compiling needs anyway.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ..sets.budget import BudgetExceeded, attempt
from .again_costs import again_costs
from .cost import Cost
from .lane_costs import lane_costs
from .scalar_costs import scalar_costs
from .task_costs import task_costs

if TYPE_CHECKING:
    from .analysis import Analysis

RULES = (lane_costs, again_costs, scalar_costs, task_costs)
"""What is looked for."""

OPERATIONS = 250_000
"""So much work may isl put into a rule."""


def costs(a: Analysis) -> tuple[Cost, ...]:
    """All that is likely to cost time; nothing where that takes long to find."""
    with suppress(BudgetExceeded):
        _ = a.loop_program  # what code is made of has much that is looked for
    found: dict[Cost, None] = {}
    for rule in RULES:
        with suppress(BudgetExceeded), attempt(OPERATIONS):
            found |= dict.fromkeys(rule(a))
    return tuple(found)
