"""Stages over threads and time, as a drawing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..parts.drawing import Drawing
from ..parts.markup import Markup
from ..parts.theme import SERIES, colour
from .table import duration

if TYPE_CHECKING:
    from .profile import Profile, Span

WIDTH, LEFT, ROW, GAP = 720, 80.0, 20.0, 6.0
"""Pixels: of the time, of the names of threads, of a thread, between two."""

LEGEND, LONGEST = 18.0, 90
"""Pixels of a line of the legend, and characters of a name in it."""


def colours(p: Profile) -> dict[str, str]:
    """A colour for what threads are at; the longest have colours of their own."""
    total: dict[str, float] = {}
    for s in p.spans:
        total[s.what] = total.get(s.what, 0.0) + s.end - s.start
    total.pop("waiting", None)
    ranked = sorted(total, key=lambda x: -total[x])
    found = dict(zip(ranked, SERIES, strict=False))
    found |= dict.fromkeys(ranked[len(SERIES) :], colour("faint"))
    return {**found, "waiting": colour("line")}


def legend(of: Mapping[str, str], spans: Iterable[Span]) -> list[tuple[str, str]]:
    """What colours mean: those of their own, one line for all others, and waiting."""
    happened = {s.what for s in spans}
    ranked = [x for x in of if x != "waiting" and x in happened]
    found = [(x, of[x]) for x in ranked[: len(SERIES)]]
    others = len(ranked) - len(found)
    if others:
        found.append((f"{others} others", colour("faint")))
    return [*found, *([("waiting", of["waiting"])] if "waiting" in happened else [])]


def picture(p: Profile) -> Markup:
    """One row a thread; in each pixel what it was at most of the time."""
    of = colours(p)
    end = max((s.end for s in p.spans), default=0.0) or 1.0
    shown = legend(of, p.spans)
    top = LEGEND * len(shown) + 10
    height = top + p.threads * (ROW + GAP) + 24
    d = Drawing(LEFT + WIDTH + 10, height, "what each thread does over time")
    for k, (what, fill) in enumerate(shown):
        d.rect(LEFT, k * LEGEND + 3, 11, 11, fill=fill)
        short = what if len(what) <= LONGEST else f"{what[: LONGEST - 3]}..."
        d.text(LEFT + 17, k * LEGEND + 13, short, hint=what)
    for thread in range(p.threads):
        y = top + thread * (ROW + GAP)
        d.text(LEFT - 8, y + 14, "caller" if thread == 0 else f"worker {thread}", anchor="end")
        d.rect(LEFT, y, WIDTH, ROW, stroke=colour("line"))
        _row(d, [s for s in p.spans if s.thread == thread], y, end, of)
    y = top + p.threads * (ROW + GAP) + 12
    d.text(LEFT, y, "0")
    d.text(LEFT + WIDTH, y, duration(end), anchor="end")
    return d.svg()


def _row(d: Drawing, spans: list[Span], y: float, end: float, of: Mapping[str, str]) -> None:
    """What a thread did. Pixels of the same are one rectangle, so there are few of them."""
    columns: list[dict[str, float]] = [{} for _ in range(WIDTH)]
    for s in spans:
        a, b = s.start / end * WIDTH, s.end / end * WIDTH
        for x in range(max(int(a), 0), min(int(b) + 1, WIDTH)):
            covered = min(b, x + 1) - max(a, x)
            columns[x][s.what] = columns[x].get(s.what, 0.0) + covered
    most = [max(c, key=lambda w: c[w]) if sum(c.values()) > 0.5 else None for c in columns]
    first = 0
    for x in range(1, WIDTH + 1):
        if x == WIDTH or most[x] != most[first]:
            what = most[first]
            if what is not None:
                hint = f"{what}: {duration(first / WIDTH * end)} to {duration(x / WIDTH * end)}"
                d.rect(LEFT + first, y, x - first, ROW, fill=of[what], hint=hint)
            first = x
