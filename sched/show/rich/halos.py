"""Halos: how far the outputs of a program reach into its Inputs."""

from __future__ import annotations

from ...poly.schedule.halo import Halo
from ..parts.markup import Markup, tag
from ..parts.theme import display


def halo(shown: Halo) -> dict[str, str]:
    """A row for each axis of each Input."""
    heads = ("Input", "axis", "of the outputs", "before", "behind", "")
    rows = [row for name in shown for row in _rows(shown, name)]
    table = tag("table", tag("tr", [tag("th", x) for x in heads]), rows)
    head = tag("div", "How far the outputs reach into each Input", class_="head")
    return {"text/html": str(display(head, table if rows else "There are no Inputs with axes."))}


def _rows(shown: Halo, name: str) -> list[Markup]:
    found = []
    axes, reasons = shown.axes[name], shown.reasons[name]
    for axis, (reach, along, why) in enumerate(zip(shown[name], axes, reasons, strict=True)):
        ends = ("all of it", "all of it") if reach is None else (str(reach[0]), str(reach[1]))
        cells = [name, str(axis), "none" if along is None else str(along), *ends, why or ""]
        found.append(tag("tr", [tag("td", x) for x in cells]))
    return found
