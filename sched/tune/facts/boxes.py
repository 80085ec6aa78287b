"""Ranges of indices and of elements at given sizes, as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping

from ...lang.nodes.nodes import Node, Op, RVar, Var, postorder
from ...lang.program.intervals import Interval, interval
from ...poly.sets.isl import Set, dim_count, isl, val

_PARAM, _SET = isl.dim_type.param, isl.dim_type.set

Box = tuple[Interval, ...]
"""The first and the last value along each dimension."""


def at_sizes(where: Set, sizes: Mapping[str, int]) -> Set:
    """The part of a set at given sizes."""
    for name, number in sizes.items():
        k = where.find_dim_by_name(_PARAM, name)
        if k >= 0:
            where = where.fix_val(_PARAM, k, val(number))
    return where


def box_of(where: Set) -> Box | None:
    """The least box around a set at given sizes; None if it is empty or has no end."""
    if where.is_empty():
        return None
    found: list[Interval] = []
    for k in range(dim_count(where)):
        lo, hi = where.dim_min_val(k), where.dim_max_val(k)
        if not (lo.is_int() and hi.is_int()):
            return None
        found.append((int(lo.to_python()), int(hi.to_python())))
    return tuple(found)


def extents_in_the_middle(where: Set, box: Box) -> tuple[int, ...]:
    """How many values each dimension of a set has where those before it are in the middle of
    theirs: half of all in a triangle.

    Args:
        box: the least one around the set.
    """
    found: list[int] = []
    if where.is_box():
        return tuple(hi - lo + 1 for lo, hi in box)
    for k in range(len(box)):
        lo, hi = where.dim_min_val(k), where.dim_max_val(k)
        if not (lo.is_int() and hi.is_int()):  # the first value is not there, either
            return (*found, *(last - first + 1 for first, last in box[k:]))
        first, last = int(lo.to_python()), int(hi.to_python())
        found.append(last - first + 1)
        inside = where.fix_val(_SET, k, val((first + last) // 2))
        # What has gaps may have none in the middle.
        where = where.fix_val(_SET, k, val(first)) if inside.is_empty() else inside
    return tuple(found)


class Ranges:
    """Ranges of integer expressions where sizes, Params and the dimensions of a statement have
    known ranges. Each is found once for the same ranges of what it depends on.

    Args:
        known: the ranges of sizes and Params.
    """

    def __init__(self, known: Mapping[Node, Interval]) -> None:
        self.known = known
        self._dims: dict[Node, tuple[Node, ...]] = {}
        self._found: dict[tuple[Node, tuple[Interval | None, ...]], Interval] = {}

    def of(self, root: Node, dims: Mapping[Node, Interval]) -> Interval:
        """The range of an expression, given those of dimensions."""
        used = self._dims.get(root)
        if used is None:
            inside = (n for n in postorder(root) if isinstance(n, Var | RVar))
            used = self._dims[root] = tuple(inside)
        key = root, tuple(map(dims.get, used))
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._range(root, dims)
        return found

    def _range(self, root: Node, dims: Mapping[Node, Interval]) -> Interval:
        ranges: dict[Node, Interval] = {}
        for node in postorder(root):
            given = dims.get(node) or self.known.get(node) or _of_choice(node, ranges)
            ranges[node] = interval(node, ranges)[0] if given is None else given
        return ranges[root]


def _of_choice(node: Node, ranges: Mapping[Node, Interval]) -> Interval | None:
    """The range of a select where its condition is decided by the ranges of what it compares."""
    match node:
        case Op(op="select", operands=(condition, a, b)):
            holds = _holds(condition, ranges)
            return None if holds is None else ranges[a if holds else b]
    return None


def _holds(condition: Node, ranges: Mapping[Node, Interval]) -> bool | None:
    """Whether a condition holds; None where that is not decided."""
    match condition:
        case Op(op="and" | "or" as op, operands=(a, b)):
            decides = op == "or"
            found = _holds(a, ranges), _holds(b, ranges)
            return decides if decides in found else None if None in found else not decides
        case Op(op="not", operands=(a,)):
            inner = _holds(a, ranges)
            return None if inner is None else not inner
        case Op(op="lt" | "le" | "gt" | "ge" as op, operands=(a, b)):
            if op in ("gt", "ge"):
                a, b = b, a
            (low, high), (first, last) = ranges[a], ranges[b]
            if op in ("le", "ge"):
                first, last = first + 1, last + 1
            return True if high < first else False if low >= last else None
    return None
