"""Which of the dependences of a space are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from ...poly.report.executed import Arrow
from .layout import Layout, Site
from .space import Space
from .words import named

ARROWS = 60
"""So many dependences are drawn; of more, those of one instance."""

ACROSS = 24
"""So many that lead from grid to grid are, over what stands between."""


def few(space: Space, where: Layout, notes: list[str]) -> list[Arrow]:
    """The dependences that are drawn: between instances that are, and not too many."""
    every = {(a.source, a.sink): a for a in reversed(space.arrows) if a.source != a.sink}
    direct = _direct(every)
    if len(direct) < len(every):
        notes.append("Dependences that follow from others are not drawn.")
    found = [every[x, y] for x, y in direct if where.place(x) and where.place(y)]
    across = sum(1 for a in found if where.grid(a.source) is not where.grid(a.sink))
    if len(found) <= ARROWS and across <= ACROSS:
        return found
    used = Counter(site for a in found for site in (a.source, a.sink))
    middle = sorted(used)[len(used) // 2]
    most = max(used.values())
    one = min((s for s in used if used[s] == most), key=lambda s: _distance(s, middle))
    kept = [a for a in found if one in (a.source, a.sink)]
    notes.append(
        f"{len(kept)} of {len(found)} dependences are drawn: those of {named(space, one)}."
    )
    return kept


def _direct(pairs: Collection[tuple[Site, Site]]) -> list[tuple[Site, Site]]:
    """The pairs that do not follow from two others."""
    behind: dict[Site, set[Site]] = {}
    for a, b in pairs:
        behind.setdefault(a, set()).add(b)
    none: set[Site] = set()
    return sorted(
        (a, b) for a, b in pairs if not any(b in behind.get(c, none) for c in behind[a] if c != b)
    )


def _distance(a: Site, b: Site) -> tuple[bool, int]:
    return a[0] != b[0], sum(abs(x - y) for x, y in zip(a[1], b[1], strict=False))
