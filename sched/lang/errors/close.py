"""Guesses of misspelt names."""

from __future__ import annotations

from collections.abc import Iterable


def close(name: str, names: Iterable[str]) -> str | None:
    """The most similar one of `names`, of which `name` may be a misspelling; case is ignored."""
    known = {x.lower(): x for x in sorted(names, reverse=True)}
    from difflib import get_close_matches  # loaded on demand: `import polysched` does not need it

    found = get_close_matches(name.lower(), known, 1, 0.65)
    return known[found[0]] if found else None
