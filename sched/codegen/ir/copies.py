"""Statements that are copies of each other: one statement in terms of the number of the copy.

A[i]; A[i + 1]; A[i + 2]   are three copies of   A[i + r]

They differ in how far indices are from one another, and in nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import int64
from ...lang.nodes.nodes import Node, Replacement, Var, dtype_of
from ...records import replace
from .ir import If, Seq, Stmt, Store, Stores, walk


def first_copies(parts: Sequence[Stmt], var: Var) -> tuple[Stmt, int] | None:
    """The first of some statements in terms of the number of the copy, and how many statements from
    the first one on are copies of it; None where not even the second one is."""
    if len(parts) < 2 or _shape(parts[1]) != (shape := _shape(parts[0])):
        return None
    same: dict[Var, Replacement] = {}  # what copies have in common is made once
    found = _General(var, _roots(parts[0], same), _roots(parts[1], same))
    if found.nodes is None:
        return None
    count = 2
    while count < len(parts) and _shape(parts[count]) == shape:
        if not found.is_copy(_roots(parts[count], same), count):
            break
        count += 1
    return _with_roots(parts[0], iter(found.nodes)), count


class _General:
    """Expressions of which two lists are the first and the second copy, in terms of the number of
    the copy.

    Attributes:
        nodes: the expressions; None where there are none.
    """

    def __init__(self, var: Var, first: Sequence[Node], second: Sequence[Node]) -> None:
        self.var = var
        #: What moves from copy to copy: by its expression, the rest and how far.
        self._moving: dict[Node, tuple[Node | None, int, int]] = {}
        self._done: dict[tuple[Node, Node], Node] = {}
        pairs = list(zip(first, second, strict=True))
        self.nodes = [self._done[p] for p in pairs] if self._merge(pairs) else None

    def _merge(self, pairs: Sequence[tuple[Node, Node]]) -> bool:
        """Whether there is an expression for each pair; they are noted."""
        stack = list(pairs)
        while stack:
            a, b = pair = stack[-1]
            if pair in self._done:
                stack.pop()
            elif a is b:
                self._done[pair] = a
            elif (moving := self._moved(a, b)) is not None:
                self._done[pair] = moving
            elif not _is_alike(a, b):
                return False
            else:
                below = list(zip(a.args, b.args, strict=True))
                missing = [x for x in below if x not in self._done]
                stack += missing
                if not missing:
                    self._done[pair] = a.with_args(tuple(self._done[x] for x in below))
        return True

    def _moved(self, a: Node, b: Node) -> Node | None:
        """What is at `a` in the first copy and a constant further on in each other one."""
        if not (_is_index(a) and _is_index(b)):
            return None
        (base, start), (other, end) = _parted(a), _parted(b)
        if base is not other:
            return None
        by = ix.mul(self.var, ix.wrapped(end - start))
        node = ix.add(by if base is None else ix.add(base, by), ix.wrapped(start))
        self._moving[node] = base, start, end - start
        return node

    def is_copy(self, roots: Sequence[Node], number: int) -> bool:
        """Whether some expressions are the copy of a number."""
        assert self.nodes is not None
        stack = list(zip(self.nodes, roots, strict=True))
        seen = set(stack)
        while stack:
            general, node = stack.pop()
            if general is node:
                continue
            if general in self._moving:
                base, start, step = self._moving[general]
                if not _is_index(node) or _parted(node) != (base, start + number * step):
                    return False
            elif not _is_alike(general, node):
                return False
            else:
                for pair in zip(general.args, node.args, strict=True):
                    if pair not in seen:
                        seen.add(pair)
                        stack.append(pair)
        return True


def _is_index(node: Node) -> bool:
    return dtype_of(node) == int64


def _parted(node: Node) -> tuple[Node | None, int]:
    """A sum as its varying part, None where it has none, and its constant summand."""
    value = ix.constant(node)
    return (None, value) if value is not None else ix.parted(node)


def _is_alike(a: Node, b: Node) -> bool:
    """Whether two nodes differ in their operands at most."""
    return type(a) is type(b) and len(a.args) == len(b.args) > 0 and b.with_args(a.args) is a


# statements as expressions in a shape ------------------------------------------------------------
def _shape(stmt: Stmt) -> tuple[object, ...]:
    """All that a statement is but for its expressions."""
    return tuple(part for s in walk(stmt) for part in _own_shape(s))


def _own_shape(stmt: Stmt) -> tuple[object, ...]:
    match stmt:
        case If(otherwise=otherwise, choice=choice):
            return If, otherwise is None, choice
        case Seq(parts=parts):
            return Seq, len(parts)
        case Stores(stores=stores, lanes=lanes):
            each = tuple(
                (
                    s.buffer, s.guard is None, s.origin and (s.origin.serial, len(s.origin.point)),
                    s.stream, s.atomic,
                )
                for s in stores
            )  # fmt: skip
            return Stores, each, lanes and (lanes.count, lanes.step, lanes.folds, lanes.in_order)
        case _:
            return (id(stmt),)


def _roots(stmt: Stmt, same: dict[Var, Replacement]) -> list[Node]:
    """The expressions of a statement and of those inside, in terms of one variable of lanes: `same`
    has what puts it in the place of others, and new ones are added."""
    found: list[Node] = []
    for s in walk(stmt):
        match s:
            case If(condition=condition):
                found.append(condition)
            case Stores(stores=stores, lanes=lanes):
                own: list[Node] = []
                for x in stores:
                    own += _of_store(x)
                if lanes is not None:
                    moved = same.get(lanes.var)
                    if moved is None:
                        moved = same[lanes.var] = Replacement({lanes.var: _LANES})
                    own = [lanes.lo, *moved.of(tuple(own))]
                found += own
    return found


_LANES = Var("#lanes")


def _of_store(s: Store) -> list[Node]:
    guard = () if s.guard is None else (s.guard,)
    return [*s.index, s.value, *guard, *(() if s.origin is None else s.origin.point)]


def _with_roots(stmt: Stmt, roots: Iterator[Node]) -> Stmt:
    """A statement with other expressions, those of `_roots` in their order."""
    match stmt:
        case If(body=body, otherwise=otherwise):
            condition, inside = next(roots), _with_roots(body, roots)
            other = None if otherwise is None else _with_roots(otherwise, roots)
            return replace(stmt, condition=condition, body=inside, otherwise=other)
        case Seq(parts=parts):
            return Seq(tuple([_with_roots(p, roots) for p in parts]))
        case Stores(stores=stores, lanes=lanes):
            lo = None if lanes is None else next(roots)
            made = tuple([_with_nodes(s, roots) for s in stores])
            if lanes is None or lo is None:
                return Stores(made)
            return Stores(made, replace(lanes, lo=lo, var=_LANES))
        case _:
            raise AssertionError(stmt)


def _with_nodes(s: Store, roots: Iterator[Node]) -> Store:
    index = tuple([next(roots) for _ in s.index])
    value = next(roots)
    guard = None if s.guard is None else next(roots)
    origin = s.origin
    if origin is not None:
        origin = replace(origin, point=tuple([next(roots) for _ in origin.point]))
    return replace(s, index=index, value=value, guard=guard, origin=origin)
