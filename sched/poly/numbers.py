"""The integers of directives: what they may be, whoever gives them, a call or JSON.

No loop that runs to its end has more iterations than sizes can say, and sizes are below
`SIZE_LIMIT`. A factor, an extent or a distance beyond that says nothing which a smaller one does
not, but sums and products of such numbers would leave 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lang.admission import SIZE_LIMIT
from ..lang.errors import LanguageTypeError, ScheduleError, Span
from ..lang.records import Directive

NUMBER_LIMIT = SIZE_LIMIT
"""No integer of a directive is larger, nor smaller than its negative."""

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
