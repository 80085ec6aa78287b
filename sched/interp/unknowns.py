"""What an index may be where parts of it depend on data, value by value of what it depends on.

An interval of `select(a[i] < 1, n - 1, a[i] - 1)` does not know that both `a[i]` are one number. So
where an interval is too wide, all numbers that are read are tried in turn, if they are few: those
of parts that vary independently of each other (`separate`) one part after the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from math import prod
from typing import Any

from ..lang.nodes.dtypes import concrete
from ..lang.nodes.nodes import Node, Op, Read, RVar, Var
from .evaluate import Env, Function, together
from .separate import Plan, plan

MOST = 1 << 20
"""So many combinations of values are tried, no more."""

LINEAR = ("add", "sub", "mul", "neg", "cast")
"""Operators of which intervals know all, if nothing stands in an expression twice."""

Boxes = frozenset[tuple[tuple[int, int], ...]]


class Unknowns:
    """The boxes in which an index lies, for each combination of what is read in it.

    Args:
        functions: give the interval of each node for an environment, in which reads and operators
            may have intervals.
        intervals: give the interval of each integer that is read.
    """

    def __init__(
        self,
        index: tuple[Node, ...],
        functions: Mapping[Node, Function],
        intervals: Mapping[Node, Function],
    ) -> None:
        self._index = index
        self._functions = functions
        self._box = together([functions[x] for x in index])
        leaves = _leaves(index)
        self._places = [x for x in leaves if isinstance(x, (Var, RVar))]
        self._reads = {x: intervals[x] for x in leaves if x in intervals}
        self._found: dict[tuple[object, ...], Boxes | None] = {}
        self._plans: dict[tuple[Node, ...], Plan] = {}
        self._leaves: dict[Node, list[Node]] = {}
        self._kept: dict[tuple[object, ...], frozenset[Any]] = {}

    def boxes(self, env: Env) -> Boxes | None:
        """All of them, None if they are too many, or if nothing can be read at these sizes."""
        around: Env = {x: env[x] for x in self._places}
        key = tuple(around.values())
        if key not in self._found:
            self._found[key] = self._boxes(around)
        return self._found[key]

    def _boxes(self, around: Env) -> Boxes | None:
        varying = {x: found for x, found in around.items() if isinstance(found, tuple)}
        varying.update((x, interval(around)) for x, interval in self._reads.items())
        if not 1 <= prod(max(hi - lo + 1, 0) for lo, hi in varying.values()) <= MOST:
            return None
        leaves = tuple(varying)
        if leaves not in self._plans:
            self._plans[leaves] = plan(self._index, leaves)
        values: dict[Node, Collection[Any]] = {
            x: [(v, v) for v in range(lo, hi + 1)] for x, (lo, hi) in varying.items()
        }
        known, how = {**around, **varying}, self._plans[leaves]
        for node, parts in how.parts:
            key = (node, *[known[x] for x in self._below(node) if x in known])
            if key not in self._kept:
                self._kept[key] = self._tried(self._functions[node], parts, around, values)
            values[node] = self._kept[key]
        return self._tried(self._box, how.whole, around, values)

    def _tried(
        self,
        function: Function,
        parts: list[Node],
        around: Env,
        values: Mapping[Node, Collection[Any]],
    ) -> frozenset[Any]:
        """What a function gives for all values of some parts."""
        each = itertools.product(*(values[x] for x in parts))
        return frozenset(function({**around, **dict(zip(parts, x, strict=True))}) for x in each)

    def _below(self, node: Node) -> list[Node]:
        """The leaves below a part."""
        if node not in self._leaves:
            self._leaves[node] = _leaves((node,))
        return self._leaves[node]


def narrows(index: tuple[Node, ...]) -> bool:
    """Whether single values may say more of an index than intervals do."""
    return any(isinstance(n, Op) and n.op not in LINEAR for n in _nodes(index))


def _leaves(index: tuple[Node, ...]) -> list[Node]:
    return [n for n in _nodes(index) if isinstance(n, Read) or not n.args]


def _nodes(index: tuple[Node, ...]) -> Iterator[Node]:
    """Each node once, none of those that say where something is read."""
    seen, stack = set(index), list(index)
    while stack:
        node = stack.pop()
        yield node
        for a in () if isinstance(node, Read) else node.args:
            if a not in seen:
                seen.add(a)
                stack.append(a)


def is_integer_read(node: Node) -> bool:
    """Whether it is an integer or a bool that is read."""
    if not isinstance(node, Read) or node.type is None:
        return False
    return not concrete(node.type).is_float
