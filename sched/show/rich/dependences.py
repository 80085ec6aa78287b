"""Dependences: which instance must run after which."""

from __future__ import annotations

from collections.abc import Sequence

from ...poly.proof.dependences import Dependence, Dependences
from ..parts.markup import Content, Markup, tag
from ..parts.theme import display

_WORDS = {
    "flow": "reads what was written",
    "anti": "overwrites what was read",
    "output": "overwrites what was written",
}

MOST = 12
"""Dependences that are shown unfolded."""


def dependence(shown: Dependence) -> dict[str, str]:
    """A dependence: the stages, the tensor, and the pairs of instances."""
    head = tag("div", _said(shown), class_="head")
    html = display(head, tag("div", _pairs(shown)))
    return {"text/html": str(html)}


def dependences(shown: Dependences) -> dict[str, str]:
    """A row for each dependence."""
    words = "1 dependence" if len(shown) == 1 else f"{len(shown)} dependences"
    first: Content = _table(shown[:MOST]) if shown else None
    rest = shown[MOST:]
    more = tag("details", tag("summary", f"{len(rest)} more"), _table(rest)) if rest else None
    return {"text/html": str(display(tag("div", words, class_="head"), first, more))}


def _table(shown: Sequence[Dependence]) -> Markup:
    return tag("table", [tag("tr", tag("td", _said(d)), tag("td", _pairs(d))) for d in shown])


def _said(d: Dependence) -> Content:
    return [
        tag("b", d.sink.name), " must run after ", tag("b", d.source.name), ": it ",
        _WORDS[d.kind], " of ", tag("code", d.tensor.name),
    ]  # fmt: skip


def _pairs(d: Dependence) -> Content:
    return [tag("code", str(d.map)), "" if d.exact else " (it may: data decide)"]
