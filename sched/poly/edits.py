"""Small edits of a LoopTree: finding loops by name, replacing a part, changing coordinates.

A place is the tuple of child positions from the root. Trees are never changed; an edit makes a
new one that shares what it leaves alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ..lang.nodes import Node
from .looptree import Alloc, Loop, Seq, Stage, Tree, leaves

Place = tuple[int, ...]
Coordinates = tuple[Node, ...]


@dataclass(frozen=True)
class At:
    """A loop of a tree: where it is, and how many loops are around it."""

    place: Place
    loop: Loop
    depth: int


def stages(tree: Tree) -> Iterator[Stage]:
    """Every stage below, in order."""
    for _, stage in leaves(tree):
        yield stage


def loops_around(tree: Seq, name: str) -> tuple[At, ...]:
    """The loops around the stage of that name, outermost first."""
    for path, stage in leaves(tree):
        if stage.name == name:
            found: list[At] = []
            place: Place = ()
            for position, node in path[:-1] if isinstance(path[-1][1], Stage) else path:
                place = (*place, position)
                if isinstance(node, Loop):
                    found.append(At(place, node, len(found)))
            return tuple(found)
    raise KeyError(name)


def place_of(tree: Seq, name: str) -> Place:
    """Where the stage of that name is."""
    for path, stage in leaves(tree):
        if stage.name == name:
            return tuple(position for position, _ in path)
    raise KeyError(name)


def node_at(tree: Tree, place: Place) -> Tree:
    """The node at a place."""
    for position in place:
        assert not isinstance(tree, Stage)
        tree = tree.body[position]
    return tree


def put(tree: Seq, place: Place, *nodes: Tree) -> Seq:
    """The tree with other nodes, or none, in the place of one; loops left empty are dropped."""
    found = _put(tree, place, nodes)
    assert found is None or isinstance(found, Seq)
    return found or Seq(())


def _put(tree: Tree, place: Place, nodes: tuple[Tree, ...]) -> Tree | None:
    assert not isinstance(tree, Stage)
    first, rest = place[0], place[1:]
    old = tree.body[first]
    made = nodes
    if rest:
        below = _put(old, rest, nodes)
        made = () if below is None else (below,)
    body = (*tree.body[:first], *made, *tree.body[first + 1 :])
    return with_body(tree, body) if body else None


def with_body(tree: Tree, body: tuple[Tree, ...]) -> Tree:
    """A node with another body."""
    match tree:
        case Loop():
            return replace(tree, body=body)
        case Alloc(func=func):
            return Alloc(func, body)
        case Seq():
            return Seq(body)
    raise TypeError("a stage has no body")


def map_stages(tree: Tree, change: Callable[[Stage], Stage]) -> Tree:
    """The tree with every stage changed."""
    if isinstance(tree, Stage):
        return change(tree)
    return with_body(tree, tuple(map_stages(child, change) for child in tree.body))


def recoordinate(tree: Tree, change: Callable[[Coordinates], Coordinates]) -> Tree:
    """The tree with the coordinates of every stage changed."""
    return map_stages(tree, lambda s: replace(s, coordinates=change(s.coordinates)))
