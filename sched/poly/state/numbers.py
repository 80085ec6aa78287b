"""Whether integers of directives are so large that loops over them might leave 64 bits."""

from __future__ import annotations

from collections.abc import Iterable

from .fields import NUMBER_LIMIT
from .record import Directive

SMALL = 1 << 16
"""The factors, distances and extents of nearly all schedules are at most this."""


def may_leave_64_bits(directives: Iterable[Directive]) -> bool:
    """Whether numbers of some directives, multiplied by each other and by sizes, may be so large
    that the bounds of loops must be checked. Otherwise the product of the numbers is at most 2**40
    for each stage, and no step of a loop is larger than 2**16."""
    products: dict[str, int] = {}
    for d in directives:
        if d.largest > 1:
            products[d.stage] = products.get(d.stage, 1) * d.largest
            if d.largest > SMALL or products[d.stage] > NUMBER_LIMIT:
                return True
    return False
