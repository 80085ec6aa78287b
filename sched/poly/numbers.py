"""The integers of directives: what they may be, whoever gives them, a call or JSON.

No loop that runs to its end has more iterations than sizes can say, and sizes are below
`SIZE_LIMIT`. A factor, an extent or a distance beyond that says nothing which a smaller one does
not, but sums and products of such numbers would leave 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..lang.admission import SIZE_LIMIT
from ..lang.errors import LanguageTypeError, ScheduleError, Span
from ..lang.nodes import Const, Node, postorder
from ..lang.records import Directive, Plain

NUMBER_LIMIT = SIZE_LIMIT
"""No integer of a directive is larger, nor smaller than its negative."""

SMALL = 1 << 16
"""Not above it are the factors, distances and extents of nearly all schedules."""

_OPTIONS: dict[tuple[str, str], tuple[str, int | None]] = {
    ("split", "factor"): ("factor", 1),
    ("skew", "factor"): ("factor", None),
    ("shift", "by"): ("distance", None),
    ("compute_with", "shift"): ("shift", None),
    ("peel", "first"): ("number of first iterations", 0),
    ("peel", "last"): ("number of last iterations", 0),
    ("bound", "extent"): ("extent", 1),
    ("align_bounds", "factor"): ("factor", 1),
    ("fold_storage", "axis"): ("axis", None),
    ("fold_storage", "planes"): ("number of planes", 1),
    ("align_storage", "axis"): ("axis", None),
    ("align_storage", "multiple"): ("multiple", 1),
    ("reorder_storage", "axes"): ("axis", None),
    ("prefetch", "distance"): ("distance", 1),
}
"""What each integer is called, and the smallest that it may be."""


def check_numbers(directive: Directive) -> None:
    """Refuses a directive with a number that is none, or out of range."""
    for option, value in directive.options:
        what, least = _OPTIONS.get((directive.name, option), (None, None))
        if what is None:
            continue
        for number in value if option == "axes" and isinstance(value, tuple) else (value,):
            check_number(directive.name, number, what, least, directive)


def may_leave_64_bits(directives: Iterable[Directive]) -> bool:
    """Whether numbers of some directives, multiplied by each other and by sizes, may be so large
    that the loops have to be looked at. A stage of which this is not said keeps within a product
    of 2**40, and no loop of it counts in larger steps than 2**16."""
    products: dict[str, int] = {}
    for d in directives:
        largest = max((abs(n) for _, value in d.options for n in _integers(value)), default=0)
        products[d.stage] = products.get(d.stage, 1) * max(largest, 1)
        if largest > SMALL or products[d.stage] > NUMBER_LIMIT:
            return True
    return False


def _integers(value: Plain) -> Iterator[int]:
    match value:
        case tuple():
            for part in value:
                yield from _integers(part)
        case Node():
            for node in postorder(value):
                if isinstance(node, Const) and isinstance(node.value, int):
                    yield node.value
        case int():
            yield value


def check_number(
    name: str, number: Any, what: str, least: int | None, directive: Directive | None = None
) -> None:
    """Refuses what is no Python integer, and what is out of range.

    Args:
        name: the directive that the user called.
        what: the number is to it.
        least: the smallest that it may be; None for any sign.
        directive: what it is recorded as, for its place.
    """
    span, text = (None, None) if directive is None else (directive.span, directive.text())
    if isinstance(number, bool) or not isinstance(number, int):
        raise LanguageTypeError(
            f"the {what} of {name} is a Python integer, not {number!r}",
            where=span,
            hint=f"int({number})" if isinstance(number, np.integer) else None,
        )
    if least is not None and number < least:
        _refuse(f"the {what} of {name} is at least {least}, not {number}", span, text)
    if abs(number) > NUMBER_LIMIT:
        ends = "between -2**40 and 2**40" if least is None else "at most 2**40"
        why = "sizes are below 2**40: no loop or axis has use for more"
        _refuse(f"the {what} of {name} is {ends}, not {number}", span, text, why)


def _refuse(what: str, span: Span | None, directive: str | None, hint: str | None = None) -> None:
    raise ScheduleError(what, where=span, hint=hint, directive=directive)
