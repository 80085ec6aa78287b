"""Conditions that a loop does not change are tested in front of it, and many at once.

for k: if x < n: A        ->   if x < n: for k: A; B
       B                       else: for k: if x < n: A
                                            B
if x < n: A
if y < n: B               ->   if x < n and y < n: A; B
                               else: if x < n: A
                                     if y < n: B

so that whole tiles are full of work, and of no conditions. Only innermost loops are copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from ...lang import index as ix
from ...lang.nodes import Node, postorder
from ..ir import Alloc, For, If, Load, Module, Seq, Stmt, Stores, walk
from ..simplify import TRUE, assuming, chosen, conjuncts, general

MOST = 400
"""A loop with so many statements inside is not copied."""


def hoist_conditions(module: Module) -> Module:
    """Each loop twice, where it has such conditions: with all of them, and as it was."""
    functions = tuple(replace(f, body=_hoisted(f.body)) for f in module.functions)
    return module if functions == module.functions else replace(module, functions=functions)


def _hoisted(stmt: Stmt) -> Stmt:
    match stmt:
        case For(body=body):
            loop = replace(stmt, body=_hoisted(body))
            has_loops = any(isinstance(s, For) for s in chosen(loop.body))
            return loop if has_loops else _versions(loop)
        case Alloc(body=body):
            return replace(stmt, body=_hoisted(body))
        case If(body=body, otherwise=otherwise):
            other = None if otherwise is None else _hoisted(otherwise)
            return replace(stmt, body=_hoisted(body), otherwise=other)
        case Seq(parts=parts):
            runs = groupby(_flat(map(_hoisted, parts)), _is_short)
            return Seq(tuple(x for short, run in runs for x in (_joined(run) if short else run)))
        case _:
            return stmt


def _flat(parts: Iterable[Stmt]) -> Iterator[Stmt]:
    for part in parts:
        if isinstance(part, Seq):
            yield from _flat(part.parts)
        else:
            yield part


def _is_short(stmt: Stmt) -> bool:
    """Whether a statement is conditional, and has no loops."""
    return isinstance(stmt, If) and not any(isinstance(s, (For, Alloc)) for s in chosen(stmt))


def _joined(run: Iterable[Stmt]) -> tuple[Stmt, ...]:
    """Several conditions, one after the other, tested at once."""
    parts = tuple(run)
    return parts if len(parts) < 2 else (_versions(Seq(parts)),)


def _versions(stmt: Stmt) -> Stmt:
    """The statement, with all its conditions that do not depend on what is inside of it; else with
    none."""
    found = list(dict.fromkeys(_invariant(stmt, frozenset())))
    size = sum(isinstance(s, Stores) for s in walk(stmt))
    condition = ix.conjunction(found)
    if condition is None or size > MOST:
        return stmt
    fast = assuming(stmt, dict.fromkeys(found, TRUE))
    return If(condition, fast, general(stmt, set(found)), choice=True)


def _invariant(stmt: Stmt, inside: frozenset[Node]) -> Iterator[Node]:
    """Parts of conditions that depend on nothing inside of a loop, nor on what is in memory."""
    match stmt:
        case If(condition=condition, body=body, otherwise=otherwise):
            for part in conjuncts(condition):
                nodes = postorder(part)
                if not any(n in inside or isinstance(n, Load) for n in nodes):
                    yield part
            yield from _invariant(body, inside)
            if otherwise is not None:
                yield from _invariant(otherwise, inside)
        case For(var=var, body=body):
            yield from _invariant(body, inside | {var})
        case Alloc(origin=origin, body=body):
            named: frozenset[Node] = frozenset(x for x, _ in origin)
            yield from _invariant(body, inside | named)
        case Seq(parts=parts):
            for child in parts:
                yield from _invariant(child, inside)
