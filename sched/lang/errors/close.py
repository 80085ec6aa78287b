"""Which name among others one may have been a misspelling of."""

from __future__ import annotations

from collections.abc import Iterable


def close(name: str, names: Iterable[str]) -> str | None:
    """The name among others that one may have been a misspelling of, whatever its case."""
    known = {x.lower(): x for x in sorted(names, reverse=True)}
    from difflib import get_close_matches  # `import polysched` does without it

    found = get_close_matches(name.lower(), known, 1, 0.65)
    return known[found[0]] if found else None
