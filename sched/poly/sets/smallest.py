"""The smallest point of a set: the one that a refusal shows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from itertools import islice

from .budget import is_spent
from .isl import Aff, Set, dim_count, isl, val


def _lexmin(where: Set) -> Set:
    """The lexicographic minimum. The set itself where isl fails on it, by a fault in its handling
    of sets: any point of it is a witness."""
    try:
        return where.lexmin()
    except isl.Error:
        if is_spent():
            raise
        return where


def _least(where: Set) -> list[int] | None:
    """The lexicographically smallest point; any one where some coordinate has no least value.

    Piece by piece: the minimum of a union takes isl minutes where there are hundreds of them. None
    where isl finds no point of any piece, although it takes none for empty.
    """
    bounded = all(where.dim_min_val(k).is_int() for k in range(dim_count(where)))
    pieces = map(Set.from_basic_set, where.get_basic_sets()) if bounded else [where]
    parts = (_lexmin(piece) if bounded else piece for piece in pieces if not piece.is_empty())
    found = (_coordinates(x.sample_point()) for x in parts)
    return min((point for point in found if point is not None), default=None)


def _coordinates(point: isl.Point) -> list[int] | None:
    if point.is_void():
        return None
    at = (point.get_coordinate_val(isl.dim_type.set, k) for k in range(dim_count(point)))
    return [int(value.to_python()) for value in at]


_MANY = 64
"""The minimum of more pieces can take isl minutes."""
_TRIALS = 64
"""Most witnesses are at one of so many smallest sizes."""


def _at_smallest_sizes(where: Set) -> Set:
    """The points at the sizes with the smallest sum, then lexicographically, if those are among
    the first ones that there are; else all: given sizes are soon seen not to be those of a piece.
    """
    count = int(where.dim(isl.dim_type.param))
    negative = (where.upper_bound_val(isl.dim_type.param, k, isl.Val(-1)) for k in range(count))
    if all(points.is_empty() for points in negative):
        for sizes in islice(_by_sum(count), _TRIALS):
            points = where
            for k, value in enumerate(sizes):
                points = points.fix_val(isl.dim_type.param, k, val(value))
            if not points.is_empty():
                return points
    return where


def _by_sum(count: int) -> Iterator[tuple[int, ...]]:
    """All vectors of integers >= 0, by their sum, then lexicographically."""
    return (v for total in (itertools.count() if count else (0,)) for v in _adding_up(total, count))


def _adding_up(total: int, count: int) -> Iterator[tuple[int, ...]]:
    if count < 2:
        yield (total,) * count
        return
    for first in range(total + 1):
        for rest in _adding_up(total - first, count - 1):
            yield first, *rest


def any_point(where: Set) -> tuple[dict[str, int], list[int]] | None:
    """Some point, of a set that is not too large to ask; None if there is none."""
    pieces = (Set.from_basic_set(piece) for piece in where.get_basic_sets())
    piece = next((piece for piece in pieces if not piece.is_empty()), None)
    if piece is None:
        return None
    names = _sizes(where)
    values = _coordinates(_with_sizes(piece).sample_point())
    if values is None:
        return None
    return dict(zip(names, values, strict=False)), values[len(names) :]


def _sizes(where: Set) -> list[str]:
    count = int(where.dim(isl.dim_type.param))
    return [str(where.get_dim_name(isl.dim_type.param, k)) for k in range(count)]


def _with_sizes(where: Set) -> Set:
    """The set with its parameters as first coordinates."""
    plain = where.reset_tuple_id() if where.has_tuple_id() else where
    count = int(where.dim(isl.dim_type.param))
    return plain.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, count)


def smallest_point(where: Set) -> tuple[dict[str, int], list[int]] | None:
    """The point with the smallest sum of sizes, then lexicographically; None if there is none.

    Gives the parameters by name and the coordinates in order.
    """
    count, dims = int(where.dim(isl.dim_type.param)), dim_count(where)
    names = _sizes(where)
    where = _at_smallest_sizes(where) if where.n_basic_set() > _MANY else where
    # The sum of the sizes becomes the first coordinate, the sizes follow, then the point.
    moved = _with_sizes(where).insert_dims(isl.dim_type.set, 0, 1)
    local = isl.LocalSpace.from_space(moved.get_space())
    total = Aff.zero_on_domain(local)
    for k in range(count):
        total = total.add(Aff.var_on_domain(local, isl.dim_type.set, 1 + k))
    first = Aff.var_on_domain(local, isl.dim_type.set, 0)
    moved = moved.intersect(Set.from_basic_set(first.eq_basic_set(total)))
    if moved.is_empty():
        return None
    # The sizes first: at given ones there are fewer coordinates without a least value.
    sizes = _least(moved.project_out(isl.dim_type.set, 1 + count, dims))
    for k, value in enumerate(sizes or ()):
        moved = moved.fix_val(isl.dim_type.set, k, val(value))
    found = None if sizes is None else _least(moved)
    if found is None:
        return None
    values = found[1:]
    return dict(zip(names, values[:count], strict=True)), values[count:]
