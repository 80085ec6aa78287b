"""Versions of a tile: whether one has something that another one has not."""

from __future__ import annotations

from collections.abc import Iterator

from ...lang.nodes.nodes import Node, Op, leaves_below, postorder
from ...remembered import remembered
from .ir import Alloc, For, If, Stmt, Stores, children, expressions
from .simplify import load_guards

Places = frozenset[Node]


def is_as_free(some: Stmt, every: Stmt) -> bool:
    """Whether a version of a tile that has conditions, but none in its loops, gains nothing on one
    for more tiles: that has none in its loops either, and limits no index there in each iteration.
    """
    if not (isinstance(some, Alloc) and isinstance(every, Alloc)):
        return False
    if any(_conditions(every.body, frozenset())):
        return False
    found = list(_conditions(some.body, frozenset()))
    return bool(found) and not any(found) and _limits(some) == _limits(every)


def _conditions(stmt: Stmt, inside: Places) -> Iterator[bool]:
    """Of each condition in a statement, whether a loop is around it there."""
    match stmt:
        case If():
            yield bool(inside)
        case For(var=var):
            inside |= {var}
        case Stores(stores=stores):
            for s in stores:
                if s.guard is not None:
                    yield bool(inside)
                yield from [bool(inside)] * len(load_guards(s.value))
    for child in children(stmt):
        yield from _conditions(child, inside)


def _limits(stmt: Stmt, inside: Places = frozenset()) -> int:
    """How many minima and maxima a statement has that change with the loops in it."""
    if isinstance(stmt, For):
        inside |= {stmt.var}
    found = 0
    for e in expressions(stmt):
        for leaves in _leaves_of_limits(e):
            found += not inside.isdisjoint(leaves)
    for child in children(stmt):
        found += _limits(child, inside)
    return found


@remembered
def _leaves_of_limits(root: Node) -> tuple[Places, ...]:
    """What each minimum and maximum in an expression depends on."""
    limits = (n for n in postorder(root) if isinstance(n, Op) and n.op in ("min", "max"))
    return tuple([leaves_below(n) for n in limits])
