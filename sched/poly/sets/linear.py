"""How an index moves along a loop: by a constant, by a stride known at run time, or irregularly."""

from __future__ import annotations

from collections.abc import Mapping

from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import DType, int64
from ...lang.nodes.nodes import (
    Const,
    Node,
    Op,
    Param,
    RVar,
    Size,
    Var,
    dtype_of,
    integer,
    leaves_below,
    postorder,
)
from ...remembered import remembered


@remembered
def coefficient(node: Node, var: Var | RVar) -> Node | None:
    """c where node = c * var + (what does not depend on var), modulo 2**64; None where it is not
    so."""
    if var not in leaves_below(node):
        return ix.ZERO
    found: dict[Node, Node | None] = {}
    for n in postorder(node):
        found[n] = _one(n, var, found)
    if found[node] is None:
        whole = cancelled(node)
        return None if whole is node else coefficient(whole, var)
    return found[node]


@remembered
def direction(node: Node, var: Var) -> int | None:
    """1 where an index never falls as var rises, -1 where it never rises, 0 where it does not
    depend on it, None where that is not known."""
    if var not in leaves_below(node):
        return 0
    found: dict[Node, int | None] = {}
    for n in postorder(node):
        found[n] = _direction(n, var, found)
    return found[node]


def expanded(node: Node) -> tuple[dict[Node, int], int]:
    """An index as a sum of multiples of terms, which are no sums themselves, and a constant."""
    terms: dict[Node, int] = {}
    constant = add_expanded(node, 1, terms)
    return {x: times for x, times in terms.items() if times}, constant


@remembered
def cancelled(node: Node) -> Node:
    """An index with (x // c) * c + x % c replaced by x, which fused loops leave behind, and without
    terms that cancel."""
    every: dict[Node, int] = {}
    constant = add_expanded(node, 1, every)
    terms = {part: times for part, times in every.items() if times}
    changed = len(terms) < len(every)
    for part in list(terms):
        match part:
            case Op(op="mod", operands=(x, Const(value=c))) if part in terms:
                times = terms[part]
                tiles = next((t for t in terms if _is_quotient(t, x, int(c))), None)
                if tiles is not None and terms[tiles] == times * c:
                    del terms[part], terms[tiles]
                    constant += add_expanded(x, times, terms)
                    changed = True
    if not changed:
        return node
    total: Node = integer(constant)
    for part, times in terms.items():
        total = ix.add(total, ix.mul(part, integer(times)))
    return total


def lengths(hi: Node, lo: Node) -> tuple[Node, ...]:
    """What `hi - lo` does not exceed: from each part of a largest lower end to each of a smallest
    upper one, the least of which is `hi - lo` itself."""
    return tuple(
        cancelled(ix.sub(end, start)) for end in _parts("min", hi) for start in _parts("max", lo)
    )


def _parts(op: str, node: Node) -> list[Node]:
    if isinstance(node, Op) and node.op == op:
        return [part for x in node.operands for part in _parts(op, x)]
    return [node]


@remembered
def magnitude(node: Node) -> int | None:
    """A bound of the magnitude of an index, by the ranges of loops, sizes and Params; None where
    there is none: an element may be any number, and arithmetic on it may wrap around."""
    found: dict[Node, int | None] = {}
    for n in postorder(node):
        found[n] = _most(n, found)
    return found[node]


def is_small(value: Node) -> bool:
    """Whether its parts can be moved from one side of a comparison to the other."""
    most = magnitude(value)
    return most is not None and most < _NO_OVERFLOW


#: Sums below this do not overflow.
_NO_OVERFLOW = 2**62

#: Sizes are below 2**40; loops are over sizes, or over sums of them with small factors.
_MOST = 2**48


def _is_narrow(dtype: DType) -> bool:
    """Whether it is of integers so small that sums of them do not overflow as indices."""
    return dtype.is_int and dtype.itemsize < int64.itemsize


def _most_of_leaf(node: Node) -> int | None:
    match node:
        case Const(value=value) if dtype_of(node).is_int:
            return abs(int(value))
        case Var() | Size():
            return _MOST
        case Param(info=info) if info.dtype.is_int:  # a call checks its type and its range
            least = info.dtype.min if info.min is None else info.min
            most = info.dtype.max if info.max is None else info.max
            return int(max(abs(least), abs(most)))
    return None


def _most(node: Node, known: Mapping[Node, int | None]) -> int | None:
    match node:
        case Op(op="cast", operands=(x,)) if dtype_of(node) is int64 and _is_narrow(dtype_of(x)):
            return 1 << 8 * dtype_of(x).itemsize  # whatever an element is
        case Op(op=op, operands=operands):
            parts = [known[a] for a in (operands[1:] if op == "select" else operands)]
            most = [p for p in parts if p is not None]
            if len(most) < len(parts) or dtype_of(node) is not int64:
                return None
            match op, most:
                case "add" | "sub", [a, b]:
                    return a + b
                case "mul", [a, b]:
                    return a * b
                case "min" | "max" | "select", [a, b]:
                    return max(a, b)
                case "neg", [a]:
                    return a
                case "floordiv", [a, _] if isinstance(operands[1], Const):
                    return a
                case "mod", [_, b] if isinstance(operands[1], Const):
                    return b
            return None
    return _most_of_leaf(node)


def _one(node: Node, var: Var | RVar, known: dict[Node, Node | None]) -> Node | None:
    if node is var:
        return ix.ONE
    zero = ix.ZERO
    if not isinstance(node, Op):
        return zero if all(known[a] is zero for a in node.args) else None
    parts = [known[a] for a in node.operands]
    if all(p is zero for p in parts):
        return zero
    if None in parts:
        return None
    match node.op, parts, node.operands:
        case "add", [Node() as a, Node() as b], _:
            return ix.add(a, b)
        case "sub", [Node() as a, Node() as b], _:
            return ix.sub(a, b)
        case "neg", [Node() as a], _:
            return ix.sub(ix.ZERO, a)
        case "strict", [Node() as a], _:
            return a
        case "mul", [Node() as a, Node() as b], [x, y]:
            if b is ix.ZERO:
                return ix.mul(a, y)
            return ix.mul(b, x) if a is ix.ZERO else None
        case _:
            return None


def _direction(node: Node, var: Var, known: dict[Node, int | None]) -> int | None:
    if node is var:
        return 1
    parts = [known[a] for a in node.args]
    if all(p == 0 for p in parts):
        return 0
    if not isinstance(node, Op) or any(p is None for p in parts):
        return None
    match node.op, parts, node.operands:
        case "add" | "min" | "max", [int() as a, int() as b], _:
            return _together(a, b)
        case "sub", [int() as a, int() as b], _:
            return _together(a, -b)
        case "mul", [int() as a, _], [_, Const(value=factor)]:
            return a if factor > 0 else -a
        case "mul", [_, int() as b], [Const(value=factor), _]:
            return b if factor > 0 else -b
        case "floordiv", [int() as a, _], [_, Const(value=divisor)] if divisor > 0:
            return a
        case _:
            return None


def _together(a: int, b: int) -> int | None:
    return a + b if 0 in (a, b) else a if a == b else None


def _is_quotient(node: Node, x: Node, c: int) -> bool:
    match node:
        case Op(op="floordiv", operands=(y, Const(value=d))):
            return y is x and d == c
        case _:
            return False


def add_expanded(node: Node, times: int, terms: dict[Node, int]) -> int:
    """Adds a multiple of an index to a sum of terms; gives the constant among them."""
    if isinstance(node, Const):
        return int(node.value) * times
    if isinstance(node, Op):
        match node.op, node.operands:
            case "add", (a, b):
                return add_expanded(a, times, terms) + add_expanded(b, times, terms)
            case "sub", (a, b):
                return add_expanded(a, times, terms) + add_expanded(b, -times, terms)
            case "neg", (a,):
                return add_expanded(a, -times, terms)
            case "mul", (a, Const(value=c)):
                return add_expanded(a, times * int(c), terms)
            case "mul", (Const(value=c), b):
                return add_expanded(b, times * int(c), terms)
    terms[node] = terms.get(node, 0) + times
    return 0
