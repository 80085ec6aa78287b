"""Index arithmetic on typed nodes, with constant folding."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from .dtypes import bool_, int64
from .nodes import Const, Node, Op, integer

ZERO, ONE = integer(0), integer(1)


def constant(node: Node) -> int | None:
    """The value of a node that is an integer constant; None for others."""
    return int(node.value) if isinstance(node, Const) else None


def wrapped(value: int) -> Const:
    """A constant of type int64, wrapped modulo 2**64."""
    return integer((value + (1 << 63)) % (1 << 64) - (1 << 63))


def add(a: Node, b: Node) -> Node:
    x, y = constant(a), constant(b)
    if x is None and y is None:
        return Op("add", (a, b), int64)
    if x is not None and y is not None:
        return wrapped(x + y)
    if x == 0 or y == 0:
        return b if x == 0 else a
    if y is not None:
        base, offset = parted(a)
        if base is not a:
            return add(base, wrapped(offset + y))
        return Op("sub", (a, wrapped(-y)), int64) if y < 0 else Op("add", (a, b), int64)
    return Op("add", (a, b), int64)


def parted(node: Node) -> tuple[Node, int]:
    """A sum as its varying part and its constant summand."""
    match node:
        case Op(op="add" | "sub" as op, operands=(base, Const(value=value))):
            return base, int(value) if op == "add" else -int(value)
        case _:
            return node, 0


def sub(a: Node, b: Node) -> Node:
    x, y = constant(a), constant(b)
    if x is not None and y is not None:
        return wrapped(x - y)
    if y == 0:
        return a
    if a is b:
        return ZERO
    if y is not None:
        return add(a, wrapped(-y))
    return Op("neg", (b,), int64) if x == 0 else Op("sub", (a, b), int64)


def mul(a: Node, b: Node) -> Node:
    x, y = constant(a), constant(b)
    if x is not None and y is not None:
        return wrapped(x * y)
    if x == 0 or y == 0:
        return ZERO
    if x == 1 or y == 1:
        return b if x == 1 else a
    return Op("mul", (a, b), int64)


def floordiv(a: Node, divisor: int) -> Node:
    x = constant(a)
    if x is not None:
        return integer(x // divisor)
    return a if divisor == 1 else Op("floordiv", (a, integer(divisor)), int64)


def mod(a: Node, divisor: int) -> Node:
    x = constant(a)
    if x is not None:
        return integer(x % divisor)
    return ZERO if divisor == 1 else Op("mod", (a, integer(divisor)), int64)


def _extremum(op: str, values: Iterable[Node]) -> Node:
    distinct = list(dict.fromkeys(values))
    constants = [c for c in (constant(v) for v in distinct) if c is not None]
    rest = [v for v in distinct if constant(v) is None]
    if constants:
        rest.append(integer((max if op == "max" else min)(constants)))
    return reduce(lambda a, b: Op(op, (a, b), int64), rest)


def maximum(values: Iterable[Node]) -> Node:
    return _extremum("max", values)


def minimum(values: Iterable[Node]) -> Node:
    return _extremum("min", values)


def compare(op: str, a: Node, b: Node) -> Op:
    return Op(op, (a, b), bool_)


def conjunction(conditions: Iterable[Node]) -> Node | None:
    """The conjunction of conditions; None where there are none."""
    distinct = list(dict.fromkeys(conditions))
    return reduce(lambda a, b: Op("and", (a, b), bool_), distinct) if distinct else None


def disjunction(conditions: Iterable[Node]) -> Node:
    """The disjunction of conditions."""
    distinct = list(dict.fromkeys(conditions))
    false: Node = Const(False, bool_)
    return reduce(lambda a, b: Op("or", (a, b), bool_), distinct) if distinct else false


def select(condition: Node | None, a: Node, b: Node) -> Node:
    return a if condition is None or a is b else Op("select", (condition, a, b), int64)
