"""Which parallel loops run on threads, and which scratch buffers each thread has a copy of."""

from __future__ import annotations

from collections.abc import Iterator

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Var, integer, postorder
from .ir import (
    ALIGNMENT,
    Alloc,
    Buffer,
    Call,
    For,
    Lanes,
    Load,
    Module,
    Stmt,
    Store,
    Stores,
    children,
    expressions as expressions_of,
    walk,
)

APART = 4096
"""Bytes between the copies of two threads. A core fetches lines ahead of those that it uses: behind
the end of its own copy it would take those that the next thread is writing."""


def threaded(stmt: Stmt) -> Iterator[For]:
    """The loops that are handed to threads: the outermost parallel ones that may be. What is
    parallel inside of them runs in order, as all threads have work then."""
    if isinstance(stmt, For) and is_threaded(stmt):
        yield stmt
        return
    for child in children(stmt):
        yield from threaded(child)


def is_threaded(loop: For) -> bool:
    """Whether a loop is handed to threads, if it is not inside of another one that is."""
    return loop.kind == "parallel" and why_serial(loop) is None


def why_serial(loop: For) -> str | None:
    """What keeps a parallel loop from running on several threads."""
    for stmt in walk(loop.body):
        if isinstance(stmt, Call):
            # Python runs one thread at a time: several would wait for each other at every call.
            # And what is printed, or done by a stage in Python, comes in order this way.
            return "it calls back into Python"
        if is_atomic(stmt) and accumulation(stmt) is None:
            return "what it accumulates is not one number at a time"
    return None


def is_atomic(stmt: Stmt) -> bool:
    """Whether a statement accumulates what other threads accumulate too."""
    return isinstance(stmt, Stores) and any(s.atomic for s in stmt.stores)


def accumulation(stmt: Stmt) -> tuple[Store, tuple[Load, ...]] | None:
    """The store of one number that depends on what was there, and the loads of that: one
    compare-and-swap makes it atomic. None for anything else."""
    if not isinstance(stmt, Stores) or len(stmt.stores) != 1:
        return None
    (s,) = stmt.stores
    same = [n for n in postorder(s.value) if isinstance(n, Load) and n.buffer is s.buffer]
    outside = postorder(*s.index, *(() if s.guard is None else (s.guard,)))
    if any(isinstance(n, Load) and n.buffer is s.buffer for n in outside):
        return None
    if any(n.index != s.index for n in same):
        return None
    return s, tuple(same)


def private(module: Module) -> tuple[Buffer, ...]:
    """The scratch buffers of which each thread has a copy: they live inside of its loop."""
    found: dict[Buffer, None] = {}
    for function in module.functions:
        for loop in threaded(function.body):
            found.update(dict.fromkeys(x for x in local(loop) if x.kind == "scratch"))
    return tuple(found)


def local(stmt: Stmt) -> tuple[Buffer, ...]:
    """What is allocated inside of a statement."""
    allocs = [x for x in walk(stmt) if isinstance(x, Alloc)]
    return tuple(dict.fromkeys(b for x in allocs for b in x.buffers))


def bytes_of(buffer: Buffer) -> Node:
    """The size of a buffer; an extent below zero is an empty region. It may wrap, but not where
    there is so much memory."""
    total: Node = integer(buffer.dtype.itemsize)
    for extent in buffer.pitches:
        total = ix.mul(total, ix.maximum((extent, ix.ZERO)))
    return total


def pitch_of(buffer: Buffer) -> Node:
    """The distance of two threads' copies, in bytes: no two share a cache line, nor does one begin
    where lines are fetched ahead of the other one's end."""
    lines = ix.floordiv(ix.add(bytes_of(buffer), integer(ALIGNMENT - 1)), ALIGNMENT)
    return ix.add(ix.mul(lines, integer(ALIGNMENT)), integer(APART))


def bytes_of_copies(size: int, threads: int) -> int:
    """What the copies of some threads take, each of so many bytes, as far apart as `pitch_of`
    says."""
    own = -(-size // ALIGNMENT) * ALIGNMENT
    return own * threads + APART * (threads - 1)


def free_variables(loop: For) -> tuple[Var, ...]:
    """The loop variables from outside that the body of a loop uses."""
    bound: set[Node] = {loop.var}
    roots: list[Node] = []
    for stmt in walk(loop.body):
        roots += expressions_of(stmt)
        match stmt:
            case For(var=var):
                bound.add(var)
            case Alloc(origin=origin):
                bound |= {var for var, _ in origin}
            case Stores(lanes=Lanes(var=var)):
                bound.add(var)
            case _:
                pass
    return tuple(n for n in postorder(*roots) if isinstance(n, Var) and n not in bound)
