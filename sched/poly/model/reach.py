"""From which elements of each Input the elements of an output follow, through all Funcs between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from ...lang.errors.errors import Span
from ...lang.tensors.inout import InOut
from ...lang.tensors.tensors import Func, Input
from ...records import dataclass
from ..sets.isl import Map, UnionMap, coalesced, isl, transitive_closure
from ..sets.movement import coordinate
from ..sets.simplify import reads_memory
from .model import Model
from .statements import Access

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True)
class Leaf:
    """What an output needs of an Input through one access.

    Attributes:
        elements: { element of the output -> element of the Input }
        text: the access as it is written. span: the definition that it is part of.
        data: an access on the way at an index that depends on data, as it is written.
        around: a Func on the way whose values follow from others of itself.
    """

    elements: Map
    text: str
    span: Span
    data: str | None
    around: str | None


@dataclass(frozen=True, slots=True)
class Reached:
    """What an output needs, by Input.

    Attributes:
        funcs: { element of the output -> element }, by Func on the way to Inputs.
        inputs: by Func, the Inputs that it follows from.
    """

    leaves: Mapping[Input, Sequence[Leaf]]
    funcs: Mapping[Func, Map]
    inputs: Mapping[Func, frozenset[Input]]

    def elements(self, x: Input) -> Map:
        """{ element of the output -> element of the Input }"""
        return coalesced(reduce(Map.union, (leaf.elements for leaf in self.leaves[x])))

    def between(self, x: Input) -> Mapping[Func, Map]:
        """The Funcs on the way to an Input."""
        return {f: elements for f, elements in self.funcs.items() if x in self.inputs[f]}


@dataclass(frozen=True, slots=True)
class _Edge:
    """{ element of a Func -> element that its definition reads }"""

    elements: Map
    access: Access

    @property
    def data(self) -> str | None:
        """What of it depends on data."""
        both = self.access, self.access.statement.write
        return next((short(a) for a in both if any(map(reads_memory, a.index))), None)


def short(access: Access) -> str:
    """An access as it is written, if that is not long."""
    text = access.text
    return text if len(text) <= LONGEST else f"{access.tensor.name}[...]"


LONGEST = 40
"""Characters of an access in a message."""

PIECES = 8
"""Pieces that a relation may have before it is replaced by its hull: each step of a chain of
stencils multiplies them by those of what is read at the edges."""


def _simple(elements: Map) -> Map:
    """The relation, or a larger one with fewer pieces: its hull, within those of single axes, since
    the hull of all has constraints between axes that are wider."""
    elements = coalesced(elements)
    if int(elements.n_basic_map()) <= PIECES:
        return elements
    hull, axes = Map.from_basic_map(elements.simple_hull()), int(elements.dim(_OUT))
    for q in range(axes):
        one = Map.from_basic_map(coordinate(elements, q).simple_hull())
        hull = hull.intersect(one.insert_dims(_OUT, 0, q).add_dims(_OUT, axes - q - 1))
    return coalesced(hull)


@dataclass(slots=True)
class _At:
    """What is needed of a Func: { element of the output -> element }, and how it was come by."""

    elements: Map
    data: str | None = None
    around: str | None = None

    def add(self, elements: Map, data: str | None, around: str | None) -> None:
        self.elements = _simple(self.elements.union(elements))
        self.data, self.around = self.data or data, self.around or around


def reached(model: Model, output: Func) -> Reached:
    """What an output needs of each Input."""
    edges = {f: list(_edges(model, f)) for f in model.definitions}
    start = Map.identity(model.box(output).get_space().map_from_set())
    needed = {output: _At(start.intersect_domain(model.box(output)))}
    leaves: dict[Input, list[Leaf]] = {}
    for group in _groups(output, edges):
        if _inner(group, edges):
            _close(group, edges, needed)
        for f in group:
            at = needed[f]
            if isinstance(f, InOut) and f.initial in model.program.inputs:
                span = f.history.recorded[0].span
                own = Leaf(at.elements, f.initial.array.name, span, at.data, at.around)
                leaves.setdefault(f.initial, []).append(own)
            for e in edges[f]:
                tensor, elements = e.access.tensor, _simple(at.elements.apply_range(e.elements))
                data = at.data or e.data
                if isinstance(tensor, Input):
                    span = e.access.statement.definition.span
                    leaf = Leaf(elements, short(e.access), span, data, at.around)
                    leaves.setdefault(tensor, []).append(leaf)
                elif isinstance(tensor, Func) and tensor not in group:
                    empty = Map.empty(elements.get_space())
                    needed.setdefault(tensor, _At(empty)).add(elements, data, at.around)
    return Reached(
        {x: [y for y in ys if not y.elements.is_empty()] for x, ys in leaves.items()},
        {f: at.elements for f, at in needed.items() if f is not output},
        {f: _inputs_of(f, edges) for f in needed},
    )


def _inputs_of(func: Func, edges: Mapping[Func, Sequence[_Edge]]) -> frozenset[Input]:
    """The Inputs that a Func follows from."""
    below = _below(func, edges)
    read = {e.access.tensor for f in below for e in edges[f]}
    own = {f.initial for f in below if isinstance(f, InOut)}
    return frozenset(x for x in read | own if isinstance(x, Input))


def _edges(model: Model, func: Func) -> Iterator[_Edge]:
    """What the definitions of a Func read, but for the element itself that they update."""
    for s in model.statements:
        if s.func is not func:
            continue
        written = s.write.map.reverse()
        for a in s.reads:
            if a.tensor is func and a.index == s.write.index:
                continue
            elements = coalesced(written.apply_range(a.map).intersect_params(model.context))
            if not (a.tensor is func and elements.is_subset(_same(elements))):
                yield _Edge(elements, a)


def _same(elements: Map) -> Map:
    return Map.identity(elements.get_space())


# recurrences ----------------------------------------------------------------------------------
def _groups(output: Func, edges: Mapping[Func, Sequence[_Edge]]) -> list[list[Func]]:
    """The Funcs that an output needs, each behind those that need it; those that need each other
    are one group."""
    below = {f: _below(f, edges) for f in _below(output, edges)}
    groups: dict[frozenset[Func], list[Func]] = {}
    for f in sorted(below, key=lambda f: -len(below[f])):  # who needs another one, needs more
        groups.setdefault(below[f], []).append(f)
    return list(groups.values())


def _below(func: Func, edges: Mapping[Func, Sequence[_Edge]]) -> frozenset[Func]:
    """A Func and all that it needs, directly or not."""
    found, waiting = {func}, [func]
    while waiting:
        for e in edges[waiting.pop()]:
            if isinstance(e.access.tensor, Func) and e.access.tensor not in found:
                found.add(e.access.tensor)
                waiting.append(e.access.tensor)
    return frozenset(found)


def _inner(
    group: Sequence[Func], edges: Mapping[Func, Sequence[_Edge]]
) -> list[tuple[Func, Func, _Edge]]:
    """What the Funcs of a group read of each other and of themselves."""
    return [(f, g, e) for f in group for e in edges[f] for g in group if e.access.tensor is g]


def _close(
    group: Sequence[Func], edges: Mapping[Func, Sequence[_Edge]], needed: dict[Func, _At]
) -> None:
    """Adds what Funcs need that need themselves or each other, however many steps away."""
    inner = _inner(group, edges)
    names = {f: f"F{k}" for k, f in enumerate(group)}
    start = [needed[f].elements.set_tuple_name(_OUT, names[f]) for f in group if f in needed]
    steps = [
        e.elements.set_tuple_name(_IN, names[f]).set_tuple_name(_OUT, names[g]) for f, g, e in inner
    ]
    first, closure = _union(start), transitive_closure(_union(steps))[0]
    found = first.union(first.apply_range(closure))
    sides = [x.data for f in group if (x := needed.get(f))] + [e.data for _, _, e in inner]
    data = next((x for x in sides if x is not None), None)
    to = {g: e.elements.range().get_space() for _, g, e in inner}
    source = start[0].domain().get_space()
    for f, space in to.items():
        named = source.map_from_domain_and_range(space).set_tuple_name(_OUT, names[f])
        elements = found.extract_map(named).set_tuple_name(_OUT, "").reset_tuple_id(_OUT)
        needed[f] = _At(coalesced(elements), data, group[0].name)


def _union(maps: Sequence[Map]) -> UnionMap:
    return reduce(UnionMap.union, map(UnionMap.from_map, maps))
