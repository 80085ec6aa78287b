"""Vector loops whose lanes go to memory one by one, where another loop would not do that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...lang.nodes.nodes import Read
from .cost import GATHERS, SCALAR, Cost, Leaf, leaves, most
from .lane_notes import IN_TURN, OneByOne, lanes_one_by_one
from .movement import Access, is_along, loops_along, steps

if TYPE_CHECKING:
    from ..nests.loop_nest import NestLoop
    from .analysis import Analysis

SHORT = 64
"""A loop of so many iterations is one in a tile: what it touches stays in a cache."""


def lane_costs(a: Analysis) -> Iterator[Cost]:
    """What lanes gather and scatter by a stride, and what they do one after the other.

    An element whose place depends on data is gathered whatever is a vector, and so nothing is said
    of it.
    """
    for leaf in leaves(a):
        vector = next((x for x in leaf.loops if x.loop.kind == "vector"), None)
        if vector is None:
            continue
        seen = [y for stage, y in lanes_one_by_one(a, vector) if stage is leaf.stage]
        if any(y.verb == IN_TURN for y in seen):
            yield from _in_turn(a, leaf, vector)
        else:
            yield from _strided(a, leaf, vector, seen)


def _in_turn(a: Analysis, leaf: Leaf, vector: NestLoop) -> Iterator[Cost]:
    if steps(a, leaf, (leaf.definition.func, leaf.definition.lhs), vector) is None:
        return
    others = loops_along(a, leaf)
    fix = _instead(leaf, others[-1]) if others else f's["{leaf.name}"].reassociate()'
    what = f"the lanes of {vector.loop.name} run {leaf.name} one after the other"
    yield Cost(SCALAR, leaf.name, what, fix, ("vectorize", "tile"))


def _strided(a: Analysis, leaf: Leaf, vector: NestLoop, seen: list[OneByOne]) -> Iterator[Cost]:
    found: dict[str, list[Access]] = {}
    for y in seen:
        if y.access is not None and steps(a, leaf, y.access, vector) is not None:
            found.setdefault(y.verb, []).append(y.access)
    bad = [x for accesses in found.values() for x in accesses]
    others = loops_along(a, leaf)
    if not bad or (not others and (_is_layout(a, leaf) or any(_is_tiled(a, leaf, x) for x in bad))):
        return
    names = a.program.names
    said = " and ".join(
        f"{verb} {', '.join(dict.fromkeys(names.get(t, t.name) for t, _ in accesses))}"
        for verb, accesses in found.items()
    )
    what = f"the vector loop {vector.loop.name} of {leaf.name} {said}, element by element"
    if others:
        fix = _instead(leaf, others[-1])
    else:
        fix = f"a tile of the loops of {leaf.name}, in which a line of a cache is used as a whole"
    yield Cost(GATHERS, leaf.name, what, fix, ("vectorize", "tile"))


def _is_layout(a: Analysis, leaf: Leaf) -> bool:
    """Whether a stage copies something to have it in another layout."""
    d = leaf.definition
    return d.func not in a.program.outputs and all(isinstance(x, Read) for x in d.values)


def _is_tiled(a: Analysis, leaf: Leaf, access: Access) -> bool:
    """Whether a short loop moves along the lines in which elements lie."""
    return any(is_along(a, leaf, access, x) and (most(x) or SHORT + 1) <= SHORT for x in leaf.own)


def _instead(leaf: Leaf, other: NestLoop) -> str:
    name = other.loop.name
    return f's["{leaf.name}"].vectorize("{name}", ps.native), with {name} innermost, in its place'
