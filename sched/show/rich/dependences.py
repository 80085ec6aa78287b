"""Dependences: which instance must run after which."""

from __future__ import annotations

from ...poly.proof.dependences import Dependence
from ..parts.markup import tag
from ..parts.theme import display

_WORDS = {
    "flow": "reads what was written",
    "anti": "overwrites what was read",
    "output": "overwrites what was written",
}


def dependence(shown: Dependence) -> dict[str, str]:
    """A dependence: the stages, the tensor, and the pairs of instances."""
    head = tag(
        "div", tag("b", shown.sink.name), " must run after ", tag("b", shown.source.name), ": it ",
        _WORDS[shown.kind], " of ", tag("code", shown.tensor.name), class_="head",
    )  # fmt: skip
    about = "" if shown.exact else " (it may: data decide)"
    html = display(head, tag("div", tag("code", str(shown.map)), about), style="")
    return {"text/html": str(html)}
