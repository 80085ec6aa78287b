"""Programs: the call, the graph of stages, and each stage's definitions."""

from __future__ import annotations

from ...lang.nodes.tensor import Tensor
from ...lang.program.program import Program
from ..parts.markup import Content, Markup, tag
from ..parts.theme import display
from .equations import STYLE, described
from .graphs import MOST, Graph, draw, graph_of


def program(shown: Program) -> dict[str, str]:
    """A program."""
    signature = shown.signature()
    graph = graph_of(shown)
    body: Content = picture(graph, signature)
    html = display(tag("div", tag("code", signature), class_="head"), body, style=STYLE)
    return {"text/html": str(html)}


def picture(graph: Graph, label: str) -> Markup:
    """The graph drawn; listed where it has many nodes."""
    if len(graph.nodes) <= MOST:
        return draw(graph, f"the stages of {label}").svg()
    readers: dict[Tensor, list[str]] = {}
    for a, b in graph.edges:
        readers.setdefault(a, []).append(b.name)
    rows = [
        tag("tr", tag("td", described(t)), tag("td", ", ".join(readers.get(t, [])) or "an output"))
        for t in graph.nodes
    ]
    table = tag("table", tag("tr", tag("th", "tensor"), tag("th", "is read by")), rows)
    return tag("details", tag("summary", f"{len(graph.nodes)} inputs and stages"), table)
