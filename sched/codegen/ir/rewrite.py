"""Rewriting the loop IR: the traversals that passes use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...lang.nodes.nodes import Node, Replacement, transform_all
from ...records import replace
from .ir import (
    Alloc,
    Buffer,
    Call,
    Count,
    For,
    If,
    Load,
    Module,
    Origin,
    Prefetch,
    Stmt,
    Store,
    Stores,
    map_children,
)

Rule = Callable[[Node], Node]
Change = Callable[[tuple[Node, ...]], tuple[Node, ...]]


def map_statements(stmt: Stmt, rule: Callable[[Stmt], Stmt]) -> Stmt:
    """The statement with `rule` applied to every one in it, inner ones first."""
    if isinstance(stmt, Stores):
        return rule(stmt)
    return rule(map_children(stmt, lambda child: map_statements(child, rule)))


def map_module(module: Module, rule: Callable[[Stmt], Stmt]) -> Module:
    """`map_statements` over every function."""
    bodies = [map_statements(f.body, rule) for f in module.functions]
    if all(body is f.body for body, f in zip(bodies, module.functions, strict=True)):
        return module
    pairs = zip(module.functions, bodies, strict=True)
    return replace(module, functions=tuple(replace(f, body=body) for f, body in pairs))


def map_expressions(module: Module, rule: Rule, only: type[Node] | None = None) -> Module:
    """Every expression with `rule` applied to each node, operands first, and once to each.

    Args:
        only: the one class of nodes that the rule changes, if there is one.
    """
    return map_module(module, on_expressions(rule, only))


def on_expressions(rule: Rule, only: type[Node] | None = None) -> Callable[[Stmt], Stmt]:
    """What `map_expressions` does with each statement, for those who do more in one traversal."""
    change = _changing(rule, only)
    return lambda stmt: on_expressions_of(stmt, change)


def map_tree_expressions(
    stmt: Stmt, rule: Rule, stays: Callable[[Node], bool] | None = None
) -> Stmt:
    """`map_expressions` of one statement and all below it.

    Args:
        stays: whether a node is known to stay as it is, with all below it.
    """
    change = _changing(rule, None, stays)
    return map_statements(stmt, lambda s: on_expressions_of(s, change))


def map_tree_replaced(stmt: Stmt, replacement: Mapping[Node, Node]) -> Stmt:
    """One statement and all below it with some nodes replaced in its expressions."""
    change = Replacement(replacement).of
    return map_statements(stmt, lambda s: on_expressions_of(s, change))


def _changing(
    rule: Rule, only: type[Node] | None, stays: Callable[[Node], bool] | None = None
) -> Change:
    """A rule for nodes, which remembers what it has made of them."""
    done: dict[Node, Node] = {}
    return lambda roots: transform_all(roots, rule, done, only, stays)


def on_expressions_of(stmt: Stmt, change: Change) -> Stmt:
    """The expressions directly in a statement; the statement itself where none changes."""
    match stmt:
        case Stores(stores=stores, lanes=lanes):
            if lanes is not None:
                (lo,) = change((lanes.lo,))
                lanes = lanes if lo is lanes.lo else replace(lanes, lo=lo)
            changed = _stores(stores, change)
            same = changed is stores and lanes is stmt.lanes
            return stmt if same else Stores(changed, lanes)
        case For(lo=lo, hi=hi):
            made = change((lo, hi))
            return stmt if made == (lo, hi) else replace(stmt, lo=made[0], hi=made[1])
        case Alloc(origin=origin):
            values = tuple(value for _, value in origin)
            made = change(values)
            named = zip((var for var, _ in origin), made, strict=True)
            return stmt if made == values else replace(stmt, origin=tuple(named))
        case If(condition=c) | Count(condition=c):
            (found,) = change((c,))
            return stmt if found is c else replace(stmt, condition=found)
        case Call(words=words, condition=condition):
            given = (*words, *(() if condition is None else (condition,)))
            made = change(given)
            kept = None if condition is None else made[-1]
            same = made == given
            return stmt if same else replace(stmt, words=made[: len(words)], condition=kept)
        case Prefetch(index=index):
            made = change(index)
            return stmt if made == index else replace(stmt, index=made)
        case _:
            return stmt


def _stores(stores: tuple[Store, ...], change: Change) -> tuple[Store, ...]:
    """All stores of one statement in one traversal, so that shared subexpressions stay shared."""
    roots: list[Node] = []
    for s in stores:
        point = () if s.origin is None else s.origin.point
        roots += [*s.index, s.value, *(() if s.guard is None else (s.guard,)), *point]
    changed = change(tuple(roots))
    if changed == tuple(roots):
        return stores
    made = iter(changed)
    return tuple([_store(s, made) for s in stores])


def _store(s: Store, made: Iterator[Node]) -> Store:
    """A store with other expressions."""
    index = tuple([next(made) for _ in s.index])
    value = next(made)
    guard = None if s.guard is None else next(made)
    origin = s.origin
    if origin is not None and origin.point:
        origin = Origin(origin.serial, tuple([next(made) for _ in origin.point]))
    return Store(s.buffer, index, value, guard, origin, s.stream, s.atomic)


def map_buffers(stmt: Stmt, renamed: Mapping[Buffer, Buffer]) -> Stmt:
    """A statement with other buffers in the place of some."""

    def load(node: Node) -> Node:
        if isinstance(node, Load) and node.buffer in renamed:
            return Load(renamed[node.buffer], node.index, node.guard, node.type)
        return node

    def one(buffer: Buffer) -> Buffer:
        return renamed.get(buffer, buffer)

    loads = on_expressions(load, only=Load)

    def statement(stmt: Stmt) -> Stmt:
        stmt = loads(stmt)
        match stmt:
            case Alloc(buffers=buffers):
                return replace(stmt, buffers=tuple(map(one, buffers)))
            case Stores(stores=stores):
                if all(s.buffer not in renamed for s in stores):
                    return stmt
                return replace(stmt, stores=tuple(replace(s, buffer=one(s.buffer)) for s in stores))
            case Prefetch(buffer=buffer):
                return replace(stmt, buffer=one(buffer))
            case Call(buffers=buffers):
                return replace(stmt, buffers=tuple(map(one, buffers)))
            case _:
                return stmt

    return map_statements(stmt, statement) if renamed else stmt


def map_stores(module: Module, rule: Callable[[Store], Store]) -> Module:
    """The module with `rule` applied to every store."""

    def statement(stmt: Stmt) -> Stmt:
        if not isinstance(stmt, Stores):
            return stmt
        made = tuple(rule(s) for s in stmt.stores)
        return stmt if made == stmt.stores else replace(stmt, stores=made)

    return map_module(module, statement)
