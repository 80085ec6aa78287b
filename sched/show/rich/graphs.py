"""The graph of a program's stages: who reads whom, drawn from the Inputs down to the outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...lang.nodes.nodes import Read, postorder
from ...lang.nodes.tensor import Tensor
from ...lang.program.program import Program
from ...lang.tensors.tensors import Func
from ...records import dataclass
from ..parts.drawing import Drawing
from ..parts.theme import colour
from .equations import shape_text, types_text

MOST = 60
"""Nodes that are drawn; larger graphs are listed."""

_HIGH, _GAP, _DOWN, _LETTER = 40, 18, 34, 7.0

_WIDEST, _FARTHEST = 1000.0, 150.0
"""Pixels: of a row of nodes, and how far to the right an arrow goes at most."""


@dataclass(frozen=True)
class Graph:
    """Tensors and who reads whom.

    Attributes:
        nodes: Inputs and Funcs, producers before consumers.
        edges: pairs of a tensor and the Func that reads it.
        outputs: the Funcs that a call returns.
        notes: a line about some Funcs, such as where they are computed.
    """

    nodes: tuple[Tensor, ...]
    edges: tuple[tuple[Tensor, Tensor], ...]
    outputs: tuple[Tensor, ...]
    notes: Mapping[Tensor, str]

    @property
    def layers(self) -> list[list[Tensor]]:
        """The nodes by how many are on the longest way to them; Funcs that need each other are in
        the order in which they are computed."""
        order = {t: k for k, t in enumerate(self.nodes)}
        depth: dict[Tensor, int] = {}
        for t in self.nodes:
            before = [depth[a] for a, b in self.edges if b is t and order[a] < order[t]]
            depth[t] = max(before, default=-1) + 1
        # An Input stands just above what reads it first.
        for t in self.nodes:
            readers = [depth[b] for a, b in self.edges if a is t and depth[b] > depth[t]]
            if not isinstance(t, Func) and readers:
                depth[t] = min(readers) - 1
        found: list[list[Tensor]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
        for t in self.nodes:
            found[depth[t]].append(t)
        return found


def graph_of(program: Program, notes: Mapping[Tensor, str] | None = None) -> Graph:
    """The graph of a program, with reductions as stages of their own."""
    nodes: dict[Tensor, None] = dict.fromkeys(program.inputs)
    edges: dict[tuple[Tensor, Tensor], None] = {}
    for func in program.funcs:
        for d in program.definitions_of(func):
            for n in postorder(*d.lhs, *d.values, *d.where):
                if isinstance(n, Read):
                    nodes.setdefault(n.tensor, None)
                    if n.tensor is not func:
                        edges[n.tensor, func] = None
        nodes.setdefault(func, None)
    ordered = [t for t in nodes if not isinstance(t, Func)]
    ordered += [f for f in program.funcs if f in nodes]
    ordered += [t for t in nodes if t not in ordered]
    return Graph(tuple(ordered), tuple(edges), tuple(program.outputs), notes or {})


def draw(graph: Graph, label: str) -> Drawing:
    """The graph as a drawing, layer below layer."""
    widths = {t: _width(t, graph.notes.get(t, "")) for t in graph.nodes}
    layers = [row for x in _untangled(graph.layers, graph) for row in _rows(x, widths)]
    across = [sum(widths[t] for t in layer) + _GAP * (len(layer) - 1) for layer in layers]
    width = max(across, default=0) + 24
    d = Drawing(width, len(layers) * (_HIGH + _DOWN) - _DOWN + 24, label)
    places: dict[Tensor, tuple[float, float]] = {}
    for k, layer in enumerate(layers):
        x = (width - across[k]) / 2
        for t in layer:
            places[t] = x, 12 + k * (_HIGH + _DOWN)
            x += widths[t] + _GAP
    depth = {t: k for k, layer in enumerate(layers) for t in layer}
    for a, b in graph.edges:
        (ax, ay), (bx, by) = places[a], places[b]
        ends = ax + widths[a] / 2, bx + widths[b] / 2
        between = layers[depth[a] + 1 : depth[b]]
        boxes = [[(places[t][0], places[t][0] + widths[t]) for t in layer] for layer in between]
        bend = _bend(*ends, boxes) if boxes else 26.0 if depth[b] < depth[a] else 0.0
        d.arrow(ends[0], ay + _HIGH, ends[1], by, stroke=colour("faint"), bend=bend, width=1.2)
        d.width = max(d.width, sum(ends) / 2 + bend + 12)
    for t, (x, y) in places.items():
        _box(d, t, graph, x, y, widths[t])
    return d


def _rows(layer: Sequence[Tensor], widths: Mapping[Tensor, float]) -> list[list[Tensor]]:
    """A layer in as many rows as it needs."""
    found: list[list[Tensor]] = [[]]
    x = 0.0
    for t in layer:
        if found[-1] and x + widths[t] > _WIDEST:
            found.append([])
            x = 0.0
        found[-1].append(t)
        x += widths[t] + _GAP
    return found


def _bend(x1: float, x2: float, boxes: Sequence[Sequence[tuple[float, float]]]) -> float:
    """How far an arrow goes to the right, to pass the boxes of the layers that it crosses."""
    found = 26.0
    for k, layer in enumerate(boxes, 1):
        at = k / (len(boxes) + 1)
        x = x1 + (x2 - x1) * at
        hit = [right for left, right in layer if left - 6 < x < right + 6]
        found = max([found, *((right + 10 - x) / (4 * at * (1 - at)) for right in hit)])
    return min(found, _FARTHEST)


def _box(d: Drawing, t: Tensor, graph: Graph, x: float, y: float, width: float) -> None:
    is_func, is_output = isinstance(t, Func), t in graph.outputs
    edge = colour("accent") if is_output else colour("ink" if is_func else "line")
    about = f"{type(t).__name__} {t.name}: {types_text(t)}{shape_text(t)}"
    d.rect(
        x, y, width, _HIGH, fill=colour("panel"), stroke=edge, radius=5 if is_func else 14,
        hint=f"{about}{'; an output' if is_output else ''}",
    )  # fmt: skip
    middle, note = x + width / 2, graph.notes.get(t)
    d.text(middle, y + 16, t.name, anchor="middle", bold=is_func)
    below = f"{types_text(t)}{shape_text(t)}" if note is None else note
    d.text(middle, y + 31, _cut(below), anchor="middle", fill=colour("faint"), size=10)


def _width(t: Tensor, note: str) -> float:
    below = note or f"{types_text(t)}{shape_text(t)}"
    return max(len(t.name) * _LETTER, len(_cut(below)) * 6.2) + 22


def _cut(text: str) -> str:
    return text if len(text) <= 34 else f"{text[:33]}…"


def _untangled(layers: Sequence[Sequence[Tensor]], graph: Graph) -> list[list[Tensor]]:
    """Each layer in the order of the middles of what it reads, so that fewer arrows cross."""
    at: dict[Tensor, float] = {}
    found: list[list[Tensor]] = []
    for layer in layers:

        def middle(t: Tensor) -> float:
            above = [at[a] for a, b in graph.edges if b is t and a in at]
            return sum(above) / len(above) if above else 0.5

        ordered = sorted(layer, key=middle)
        for k, t in enumerate(ordered):
            at[t] = (k + 0.5) / len(ordered)
        found.append(ordered)
    return found
