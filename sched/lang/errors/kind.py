"""What a kind of mistake is, and the codes that are said outside of the tables of kinds."""

from __future__ import annotations

from typing import NamedTuple

INTERNAL, NO_ATTRIBUTE, THREADS = "PS0901", "PS0128", "PS0603"


class Kind(NamedTuple):
    """A kind of mistake.

    Attributes:
        title: it in words.
        places: modules, and functions of modules behind a colon, separated by spaces.
    """

    title: str
    places: str
