"""Small edits of a LoopTree: finding loops by name, replacing a part, changing coordinates.

A place is the tuple of child positions from the root. Trees are never changed; an edit makes a
new one that shares what it leaves alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, count, repeat
from operator import is_, is_not

from ...lang.errors.errors import ScheduleError, Span
from ...lang.nodes.nodes import Node
from ...lang.tensors.tensors import Func
from ...records import dataclass, replace
from .looptree import Accumulator, Alloc, Loop, Path, Produce, Seq, Tree, leaves
from .stage import Stage

Place = tuple[int, ...]
Body = tuple[Tree, ...]
Coordinates = tuple[Node, ...]


@dataclass(frozen=True)
class At:
    """A loop of a tree: where it is, and how many loops are around it."""

    place: Place
    loop: Loop
    depth: int


def nest_of(tree: Seq, stage: Stage, at: At) -> list[Loop]:
    """The loops around a stage that are of one nest with a loop of it: the loops of consumers at
    which it is computed are another nest."""
    path = next(tree.paths_to(stage))
    nests: list[list[Loop]] = [[]]
    for _, node in path:
        if isinstance(node, Produce):
            nests.append([])
        elif isinstance(node, Loop):
            nests[-1].append(node)
    return next(nest for nest in nests if any(loop is at.loop for loop in nest))


def stages(tree: Tree) -> Iterator[Stage]:
    """Every stage below, in order."""
    if isinstance(tree, Seq):
        for nest in tree.nests:
            yield from stages(nest)
        return
    if isinstance(tree, Loop):
        yield from [stage for _, stage in tree.leaves]
        return
    waiting: list[Tree] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Stage):
            yield node
        else:
            waiting += reversed(node.body)


def stages_called(tree: Seq, name: str) -> list[Stage]:
    """The stages of a name, in order."""
    nests = (x for x in tree.nests if not isinstance(x, Loop) or name in x.loop_names)
    return [s for nest in nests for s in stages(nest) if s.name == name]


def stages_of(tree: Seq, func: Func) -> list[Stage]:
    """The stages that compute a Func, in order."""
    nests = (x for x in tree.nests if not isinstance(x, Loop) or func in x.touched)
    return [s for nest in nests for s in stages(nest) if s.statement.func is func]


def own_stages(tree: Tree) -> Iterator[Stage]:
    """The stages below, but for what is computed inside for them: that runs as they need it."""
    if isinstance(tree, Stage):
        yield tree
    elif not isinstance(tree, Produce):
        for child in tree.body:
            yield from own_stages(child)


def nests_with(tree: Seq, names: Collection[str]) -> list[Tree]:
    """The nests at the root that have a stage of one of these names."""
    return [
        nest
        for nest in tree.nests
        if (
            not nest.loop_names.keys().isdisjoint(names)
            if isinstance(nest, Loop)
            else any(s.name in names for s in stages(nest))
        )
    ]


def changed(tree: Seq, before: Seq) -> list[tuple[Path, Stage]]:
    """The stages whose nests were not there before."""
    return [
        ((*path, *inside), stage)
        for path, nest in new_roots(tree, before)
        for inside, stage in leaves(nest)
    ]


def new_roots(tree: Seq, before: Seq) -> list[tuple[Path, Tree]]:
    """What stands at the root that was not there before, with the paths to it."""
    if tree is before:
        return []
    nests, known = tree.nests, before.numbers
    # Most stand where they stood.
    is_other = map(is_not, nests, chain(before.nests, repeat(None)))
    return [tree.roots[k] for k in compress(count(), is_other) if id(nests[k]) not in known]


def loops_around(tree: Seq, name: str) -> tuple[At, ...]:
    """The loops around the stage of that name, outermost first."""
    path, _ = tree.by_name[name]
    found: list[At] = []
    positions = tuple([position for position, _ in path])
    for k, (_, node) in enumerate(path):
        if isinstance(node, Loop):
            found.append(At(positions[: k + 1], node, len(found)))
    return tuple(found)


def place_of(tree: Seq, name: str) -> Place:
    """Where the stage of that name is."""
    path, _ = tree.by_name[name]
    return tuple(position for position, _ in path)


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
    """A node with another body; itself where that is the same."""
    old = () if isinstance(tree, Stage) else tree.body
    if len(body) == len(old) and all(map(is_, body, old)):
        return tree
    match tree:
        case Loop() | Alloc() | Produce() | Accumulator():
            return replace(tree, body=body)
        case Seq():
            return Seq(body)
    raise TypeError("a stage has no body")


def with_storage(
    funcs: Iterable[Func], body: Body, *, by_directive: bool = False, reason: str = ""
) -> Body:
    """The body with storage of some Funcs around it, of the first one outermost."""
    stored = tuple(funcs)
    if not stored:
        return body
    inside = body[0] if len(body) == 1 else None
    if (
        isinstance(inside, Alloc)
        and (inside.by_directive, inside.reason) == (by_directive, reason)
        and not set(stored) & set(inside.funcs)
    ):
        return (replace(inside, funcs=(*stored, *inside.funcs)),)
    return (Alloc(stored, body, by_directive, reason),)


def without_storage(node: Tree, body: Body, funcs: Collection[Func]) -> Body:
    """What becomes of a node with another body where it is no storage of some Funcs any more."""
    if isinstance(node, Alloc):
        left = tuple([f for f in node.funcs if f not in funcs])
        if not left:
            return body
        if len(left) < len(node.funcs):
            node = replace(node, funcs=left)
    return (with_body(node, body),)


def map_children(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """A node with what stands directly in it changed; itself where that is the same."""
    return tree if isinstance(tree, Stage) else with_body(tree, tuple(map(change, tree.body)))


def map_nodes(
    tree: Seq,
    change: Callable[[Tree, Body], Body],
    without: Sequence[Tree] = (),
    only: Sequence[Tree] | None = None,
) -> Seq:
    """The tree without some nodes and with each other one replaced, innermost ones first:
    `change` is given the node as it was and what its body has become.

    Args:
        only: the nests at the root that are looked into, where others stay as they are.
    """
    gone = set(map(id, without))
    kept = set(map(id, () if only is None else tree.nests)) - set(map(id, only or ()))
    return Seq(tuple([x for child in tree.body for x in _mapped(child, change, gone, kept)]))


def _mapped(
    node: Tree,
    change: Callable[[Tree, Body], Body],
    gone: Collection[int],
    kept: Collection[int],
) -> Body:
    if id(node) in gone:
        return ()
    if isinstance(node, Stage) or id(node) in kept:
        return (node,)
    body = tuple([x for child in node.body for x in _mapped(child, change, gone, kept)])
    if isinstance(node, Produce) and gone:
        left = {s.statement.func for child in body for s in own_stages(child)}
        node = replace(node, funcs=tuple(f for f in node.funcs if f in left))
    return change(node, body)


def with_nests(tree: Seq, made: Mapping[int, Tree]) -> Seq:
    """The tree with other nests at its root, by the ids of those whose places they take."""
    found = _with_nests(tree, made)
    assert isinstance(found, Seq)
    return found


def _with_nests(node: Tree, made: Mapping[int, Tree]) -> Tree:
    if isinstance(node, (Seq, Alloc)):
        return with_body(node, tuple([_with_nests(child, made) for child in node.body]))
    return made.get(id(node), node)


def map_stages(tree: Tree, change: Callable[[Stage], Stage]) -> Tree:
    """The tree with every stage changed."""
    if isinstance(tree, Stage):
        return change(tree)
    return map_children(tree, lambda child: map_stages(child, change))


def recoordinate(tree: Tree, change: Callable[[Coordinates], Coordinates]) -> Tree:
    """The tree with the coordinates of every stage changed."""
    return map_stages(tree, lambda s: replace(s, coordinates=change(s.coordinates)))


class Shared(ScheduleError):
    """A loop holds more than a directive can do with."""

    def __init__(self, what: str, loop: Loop, *, where: Span | None = None) -> None:
        super().__init__(what, where=where, hint="fission takes them apart, where that is legal")
        self.loop = loop
