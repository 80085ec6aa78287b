"""Whether the integers of directives may make loops leave 64 bits, so that they are looked at."""

from __future__ import annotations

from collections.abc import Iterable

from .fields import NUMBER_LIMIT
from .record import Directive

SMALL = 1 << 16
"""Not above it are the factors, distances and extents of nearly all schedules."""


def may_leave_64_bits(directives: Iterable[Directive]) -> bool:
    """Whether numbers of some directives, multiplied by each other and by sizes, may be so large
    that the loops have to be looked at. A stage of which this is not said keeps within a product
    of 2**40, and no loop of it counts in larger steps than 2**16."""
    products: dict[str, int] = {}
    for d in directives:
        if d.largest > 1:
            products[d.stage] = products.get(d.stage, 1) * d.largest
            if d.largest > SMALL or products[d.stage] > NUMBER_LIMIT:
                return True
    return False
