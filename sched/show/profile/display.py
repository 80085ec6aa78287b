"""A profile in a notebook, and as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..parts.drawing import Drawing
from ..parts.markup import Content, Markup, tag
from ..parts.theme import SERIES, colour, display, page
from . import table
from .picture import picture

if TYPE_CHECKING:
    from .profile import Profile, StageTime

BAR = 120
"""Pixels of the longest bar, with its error."""


def whole(p: Profile, *content: Content) -> Markup:
    """A page about a profile."""
    return page(f"Profile of {p.signature}", tag("p", table.summary(p)), *content)


def display_of(p: Profile) -> Markup:
    """The table with bars, and what threads did over time."""
    heads = [tag("th", x, class_="number" if k else None) for k, x in enumerate(table.HEADS)]
    rows = [_row(p, s) for s in p.stages]
    rest = tag("tr", [_cell(k, x) for k, x in enumerate(table.rest(p))], tag("td"))
    return display(
        tag("div", table.summary(p), class_="head"),
        tag("table", tag("tr", heads, tag("th")), rows, rest),
        [tag("div", line) for line in table.loops(p)],
        picture(p) if p.spans else None,
        [tag("div", line, class_="faint") for line in table.notes(p)],
        _advice(p),
    )


def _advice(p: Profile) -> list[Markup]:
    """What is likely to cost time, with what to try."""
    every = [
        tag(
            "div",
            tag("div", tag("code", x.stage), f": {x.cause}: {x.evidence}"),
            tag("div", tag("code", x.directive)),
        )
        for x in p.hints
    ]
    return [tag("div", table.PREDICTED, class_="head"), *every] if every else []


def _row(p: Profile, s: StageTime) -> Markup:
    return tag("tr", [_cell(k, x) for k, x in enumerate(table.row(p, s))], tag("td", _bar(p, s)))


def _cell(number: int, words: str) -> Markup:
    return tag(
        "td", tag("code", words) if not number else words, class_="number" if number else None
    )


def _bar(p: Profile, s: StageTime) -> Markup:
    """The time of a stage as a bar; what was sampled has its standard error around the end."""
    longest = max((x.seconds + x.error for x in p.stages), default=0.0) or 1.0
    d = Drawing(BAR + 2, 14, f"{s.name}: {table.duration(s.seconds)}")
    end, error = (BAR * x / longest for x in (s.seconds, s.error))
    d.rect(0, 3, end, 9, fill=SERIES[0])
    if error:
        first, last = max(end - error, 0.0) + 1, end + error + 1
        d.line(first, 7.5, last, 7.5, stroke=colour("ink"))
        for x in (first, last):
            d.line(x, 4, x, 11, stroke=colour("ink"))
    return d.svg()
