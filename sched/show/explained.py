"""What `python -m polysched explain` prints: the kinds of mistakes, by their codes."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ..lang.errors.errors import PolyschedError
from ..lang.errors.kinds import CODES, FAMILIES, RETIRED


def explained(code: str) -> str:
    """The kind of mistake that a code names, and the family that it is of.

    Raises:
        PolyschedError: there is no such code; it says which ones are near.
    """
    asked = code.strip().upper()
    if asked in RETIRED:
        return f"{asked}: {RETIRED[asked]} (no error has this code any more)"
    if asked not in CODES:
        near = get_close_matches(asked, CODES, 3, 0.6)
        hint = f"near are {', '.join(near)}" if near else "explain without a code lists all"
        raise PolyschedError(f"there is no code {code}", hint=hint)
    return f"{asked}: {CODES[asked].title}\n  among errors of {FAMILIES[asked[:4]]}"


def listed() -> str:
    """All codes with their titles, by families."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    for family, name in FAMILIES.items():
        yield f"{name}:"
        for code, kind in CODES.items():
            if code.startswith(family):
                yield f"  {code}  {kind.title}"
