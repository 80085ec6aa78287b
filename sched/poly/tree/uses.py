"""The part of a tree that uses some tensors, as a key of proofs about these tensors."""

from __future__ import annotations

from collections.abc import Collection

from ...lang.nodes.tensor import Tensor
from .edits import with_body, without_storage
from .looptree import Accumulator, Alloc, Loop, Produce, Seq, Tree, leaves
from .relocation import without
from .stage import Stage


class Uses:
    """The stages of a tree that use some tensors, with the loops and the storage around them.

    Two are equal if the same runs there in the same places, whatever stages and loops are called
    and whatever other stages there are. A proof about uses is given `tree`, which has nothing else,
    so that its result holds for all equal ones.
    """

    __slots__ = ("_hash", "_key", "tree")

    def __init__(self, tree: Seq, tensors: Collection[Tensor]) -> None:
        others = [s for _, s in leaves(tree) if not s.statement.touches(*tensors)]
        self.tree = Seq(_without_storage(without(tree, others).body, tensors))
        self._key = (shape(self.tree), tuple(tensors))
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Uses) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash


def _without_storage(body: tuple[Tree, ...], but: Collection[Tensor]) -> tuple[Tree, ...]:
    """Without that of other Funcs."""
    made: list[Tree] = []
    for node in body:
        inside = () if isinstance(node, Stage) else _without_storage(node.body, but)
        if isinstance(node, Alloc):
            made += without_storage(node, inside, [f for f in node.funcs if f not in but])
        else:
            made.append(node if isinstance(node, Stage) else with_body(node, inside))
    return tuple(made)


def shape(node: Tree, kinds: bool = True) -> tuple[object, ...]:
    """A tree as a value: without names, and without the lines that made it.

    Args:
        kinds: tell loops of different kinds apart; else only what runs in which iterations.
    """
    if isinstance(node, Stage):
        return (node.run,)
    body = tuple([shape(x, kinds) for x in node.body])
    match node:
        case Loop() if not kinds:
            return ("loop", body)
        case Loop(kind=kind, full_tile=tile):
            return ("loop", kind, tile, body)
        case Alloc(funcs=funcs):
            return ("storage", funcs, body)
        case Produce(funcs=funcs, around=around, times=times, fresh_depth=fresh_depth):
            return ("produce", funcs, around, times, fresh_depth, body)
        case Accumulator(func=func, serial=serial):
            return ("accumulator", func, serial, body)
        case Seq():
            return ("seq", body)
