"""Projections that several rooms use: onto outer loops, onto an axis, from one to the other."""

from __future__ import annotations

from .isl import Map, Set, dim_count, isl

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def outermost(where: Set, count: int) -> Set:
    """{ the first `count` coordinates }"""
    return where.project_out(_SET, count, dim_count(where) - count)


def along(where: Set, axis: int, outer: int = 0) -> Set:
    """{ (outer coordinates, the coordinate along an axis) }, the axis counted behind them."""
    behind = outer + axis + 1
    return where.project_out(_SET, behind, dim_count(where) - behind).project_out(_SET, outer, axis)


def by_outer(where: Set, count: int) -> Map:
    """{ the first `count` coordinates -> the others }"""
    return Map.from_range(where).move_dims(_IN, 0, _OUT, 0, count)


def outer_part(space: isl.Space, count: int) -> Map:
    """{ point -> its first `count` coordinates }"""
    whole = Map.identity(space.map_from_set())
    return whole.project_out(_OUT, count, int(whole.dim(_OUT)) - count)
