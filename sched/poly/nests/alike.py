"""Nests that differ in nothing but the names of Funcs and in what they compute: their bounds are
found once. Programs of many layers have hundreds of nests, of a few kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..sets.isl import Set, isl
from ..tree.looptree import Loop, Tree
from ..tree.stage import Stage
from .loop_nest import LoopNest, NestIf, NestLoop, NestSeq, NestStage
from .points import rounded

Key = tuple[object, ...]


class AlikeNests:
    """The nests of one tree with their bounds, at the same sizes."""

    def __init__(self) -> None:
        self._found: dict[Key, tuple[Tree, LoopNest]] = {}
        self._sets: dict[object, list[Set]] = {}

    def of(self, tree: Tree, make: Callable[[], LoopNest]) -> LoopNest:
        """The loops of a nest with their bounds.

        Args:
            make: finds them.
        """
        key = self._key(tree)
        if key is None:
            return make()
        if key not in self._found:
            self._found[key] = tree, make()
        known, nest = self._found[key]
        if known is tree:
            return nest
        own, theirs = list(_parts(known)), list(_parts(tree))
        others = dict(zip(map(id, own), theirs, strict=True))
        return _with_parts(nest, others) if len(others) == len(own) else make()

    def _key(self, tree: Tree) -> Key | None:
        """All of a nest that its bounds depend on; None where that is more than is looked at here:
        storage, and bounds that are read from data."""
        if isinstance(tree, Stage):
            return self._key_of_stage(tree)
        if not isinstance(tree, Loop):
            return None
        inside: list[Key] = []
        for x in tree.body:
            key = self._key(x)
            if key is None:
                return None
            inside.append(key)
        return ("loop", tree.name, tree.kind, tree.full_tile, *inside)

    def _key_of_stage(self, stage: Stage) -> Key | None:
        """Which of its instances run where, and what of its indices may be loops."""
        s = stage.statement
        if s.data_bounds:
            return None
        where = stage.coordinates, stage.padding, self._number(stage)
        return ("stage", s.frame, s.loops, *where, tuple(rounded(s)))

    def _number(self, stage: Stage) -> int:
        """The number of its instances among sets over the same dimensions: equal ones have the
        same. isl makes simpler, in place, what it compares, and finds other bounds of it then: so
        copies are compared."""
        s = stage.statement
        known = self._sets.setdefault((s.frame, s.loops), [])
        copy = stage.instances.add_dims(isl.dim_type.set, 1)  # shares nothing with the instances
        for k, other in enumerate(known):
            if copy.plain_is_equal(other):
                return k
        known.append(copy)
        return len(known) - 1


def _parts(tree: Tree) -> Iterator[Loop | Stage]:
    """The loops and stages of a nest without storage, each before what is inside of it."""
    waiting: list[Tree] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Loop):
            waiting += reversed(node.body)
            yield node
        elif isinstance(node, Stage):
            yield node


def _with_parts(nest: LoopNest, others: Mapping[int, Any]) -> LoopNest:
    """A nest of other loops and stages.

    Args:
        others: by the ids of those that it has, each of which is there once.
    """
    match nest:
        case NestLoop(loop=loop, body=body):
            return replace(nest, loop=others[id(loop)], body=_with_parts(body, others))
        case NestIf(condition=condition, body=body):
            return NestIf(condition, _with_parts(body, others))
        case NestSeq(parts=parts):
            return NestSeq(tuple([_with_parts(x, others) for x in parts]))
        case NestStage(stage=stage):
            return replace(nest, stage=others[id(stage)])
    raise TypeError(f"storage in {nest}")
