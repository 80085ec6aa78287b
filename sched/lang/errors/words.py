"""Plurals and articles for messages."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 axis`, `2 axes`; without `many`, an s is put behind `one`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def axes_text(number: int) -> str:
    """`1 axis`, `2 axes`."""
    return counted(number, "axis", "axes")


def with_article(name: str) -> str:
    """`a list`, `an int`; types that begin with u are spoken as `a uint8`."""
    return f"{'an' if name[:1].lower() in 'aeio' else 'a'} {name}"


def numeral(number: object) -> str:
    """A number as messages show it: of a long integer its length, as Python writes none of more
    than 4,300 digits."""
    if isinstance(number, int) and number.bit_length() > 100:
        return f"(an integer of {number.bit_length()} bits)"
    return str(number)
