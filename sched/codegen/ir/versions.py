"""Versions of a tile: whether one has something that another one has not."""

from __future__ import annotations

from collections.abc import Iterator

from ...lang.nodes.nodes import Node, Op, leaves_below, postorder
from .ir import Alloc, For, If, Load, Stmt, Stores, children, expressions

Places = frozenset[Node]


def is_as_free(some: Stmt, every: Stmt) -> bool:
    """Whether a version of a tile that has conditions, but none in its loops, gains nothing on one
    for more tiles: that has none in its loops either, and limits no index there in each iteration.
    """
    if not (isinstance(some, Alloc) and isinstance(every, Alloc)):
        return False
    found = [[*_conditions(x.body, frozenset())] for x in (some, every)]
    if any(inside for conditions in found for inside in conditions):
        return False
    return bool(found[0]) and _limits(some) == _limits(every)


def _conditions(stmt: Stmt, inside: Places) -> Iterator[bool]:
    """Of each condition in a statement, whether a loop is around it there."""
    match stmt:
        case If():
            yield bool(inside)
        case For(var=var):
            inside |= {var}
        case Stores(stores=stores):
            for s in stores:
                guards = [n.guard for n in postorder(s.value) if isinstance(n, Load)]
                yield from (bool(inside) for g in (s.guard, *guards) if g is not None)
    for child in children(stmt):
        yield from _conditions(child, inside)


def _limits(stmt: Stmt, inside: Places = frozenset()) -> int:
    """How many minima and maxima a statement has that change with the loops in it."""
    if isinstance(stmt, For):
        inside |= {stmt.var}
    return sum(
        isinstance(n, Op) and n.op in ("min", "max") and not inside.isdisjoint(leaves_below(n))
        for e in expressions(stmt)
        for n in postorder(e)
    ) + sum(_limits(child, inside) for child in children(stmt))
