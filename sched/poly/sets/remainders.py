"""Remainders of Params that may be far from 0: of sums with these, which may wrap, they never are.

p - p // 4 * 4                   p % 4
p // 4 - p // 16 * 4             p % 16 // 4
(p - 2**60) // 2**60             p // 2**60 - 1
-((2**60 - 1 - p) // 2**60)      p // 2**60
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import lcm

from ...lang.arguments.admission import LOOP_LIMIT
from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import int64
from ...lang.nodes.nodes import Const, Node, Op, Param, integer, postorder
from ...lang.program.intervals import Interval, declared_range, interval
from .linear import add_expanded


def are_far(nodes: Iterable[Node]) -> bool:
    """Whether expressions are about Params that may be far from 0."""
    return any(map(_is_far, postorder(*nodes)))


def _is_far(node: Node) -> bool:
    return isinstance(node, Param) and max(map(abs, declared_range(node))) > LOOP_LIMIT


def with_remainders(terms: Mapping[Node, int], constant: int) -> tuple[dict[Node, int], int]:
    """A sum with the remainders of far Params of which it is a periodic function."""
    made, constant = flat(terms, constant)
    for p in [x for x in postorder(*made) if isinstance(x, Param) and _is_far(x)]:
        period = _period(made, p)
        if period is not None:
            remainder: dict[Node, Node] = {p: ix.mod(p, period)}
            made, constant = flat({_put(x, remainder): n for x, n in made.items()}, constant)
    return made, constant


def with_remainder(node: Node) -> Node:
    """The same for one expression."""
    return total(*with_remainders({node: 1}, 0)) if are_far((node,)) else node


def _period(terms: Mapping[Node, int], p: Param) -> int | None:
    """A number by which p can rise and change nothing: the least divisor that is one, or a multiple
    of all; None where neither is."""
    divisors = sorted({c for x in postorder(*terms) if (c := _divisor(x)) is not None})
    for period in [*divisors, lcm(*divisors)]:
        shifts = [(_shift(x, p, period), n) for x, n in terms.items()]
        known = [(d, n) for d, n in shifts if d is not None]
        if len(known) == len(shifts) and not sum(d * n for d, n in known):
            return period
    return None


def _divisor(node: Node) -> int | None:
    match node:
        case Op(op="floordiv" | "mod", operands=(_, Const(value=int(c)))) if c > 0:
            return c
    return None


def _divides(divisor: int | None, number: int) -> bool:
    return divisor is not None and number % divisor == 0


def _shift(root: Node, p: Param, by: int) -> int | None:
    """How much an expression rises as p does; None where that depends on p."""
    found: dict[Node, int | None] = {}
    for node in postorder(root):
        inside = [found[x] for x in node.args]
        match node, inside:
            case _, [*_] if not any(x is None or x for x in inside):
                found[node] = by if node is p else 0
            case Op(op="add" | "sub" as op), [int(a), int(b)]:
                found[node] = a + b if op == "add" else a - b
            case Op(op="neg"), [int(a)]:
                found[node] = -a
            case Op(op="mul", operands=(_, Const(value=int(c)))), [int(a), _]:
                found[node] = a * c
            case Op(op=op), [int(a), 0] if _divides(_divisor(node), a):
                found[node] = a // (_divisor(node) or 1) if op == "floordiv" else 0
            case _:
                found[node] = None
    return found[root]


def _put(root: Node, new: Mapping[Node, Node]) -> Node:
    """An expression with others in the place of some. What is one number then is that."""
    made: dict[Node, Node] = {}
    ranges: dict[Node, Interval] = {}
    for node in postorder(root):
        now = new.get(node) or _folded(node.with_args(tuple(made[x] for x in node.args)))
        for x in postorder(now):
            ranges[x] = ranges[x] if x in ranges else interval(x, ranges)[0]
        lo, hi = ranges[now]
        made[node] = integer(lo) if lo == hi else now
    return made[root]


def _folded(node: Node) -> Node:
    match node:
        case Op(op="add" | "sub" | "mul" as op, operands=(a, b)):
            return {"add": ix.add, "sub": ix.sub, "mul": ix.mul}[op](a, b)
        case _:
            return node


def quotient(terms: Mapping[Node, int], constant: int, divisor: int) -> Node | None:
    """The floor of a sum by a divisor with nothing added to it first; None where there is something
    left that must be."""
    whole, rest = divmod(constant, divisor)
    if rest == 0:
        return ix.add(ix.floordiv(total(terms), divisor), integer(whole))
    if rest == divisor - 1:  # the ceiling
        negated = total({x: -n for x, n in terms.items()})
        return ix.sub(integer(whole), ix.floordiv(negated, divisor))
    return None


def flat(terms: Mapping[Node, int], constant: int = 0) -> tuple[dict[Node, int], int]:
    """A sum whose terms are no sums, and its constant."""
    found: dict[Node, int] = {}
    for node, times in terms.items():
        constant += add_expanded(node, times, found)
    return found, constant


def negative(node: Node) -> Node:
    """The negative of an index."""
    return total(*flat({node: -1}))


def total(terms: Mapping[Node, int], constant: int = 0) -> Node:
    """A sum as an expression."""
    return ix.sub(*sides([(n, x) for x, n in terms.items() if n], constant))


def sides(terms: Sequence[tuple[int, Node]], constant: int) -> tuple[Node, Node]:
    """Two sums without negative terms whose difference is that of all."""
    found = []
    for sign in (1, -1):
        total: Node = ix.ZERO
        for coefficient, node in terms:
            if coefficient * sign > 0:
                total = ix.add(total, ix.mul(node, _number(abs(coefficient))))
        if constant * sign > 0:
            total = ix.add(total, _number(abs(constant)))
        found.append(total)
    return found[0], found[1]


def _number(value: int) -> Node:
    """A constant >= 0. One beyond 64 bits is written as a product, which is not folded: the check
    of loop bounds finds that it does not fit (see `wraps`)."""
    if value <= int64.max:
        return integer(value)
    quotient, rest = divmod(value, _LARGE)
    product = Op("mul", (integer(_LARGE), _number(quotient)), int64)
    return Op("add", (product, integer(rest)), int64)


_LARGE = 1 << 62
