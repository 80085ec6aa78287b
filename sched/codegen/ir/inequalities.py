"""Comparisons of indices in a normal form, sums that are >= 0, so that equal ones are recognised.

15 < min(n - 16 * j, 16)   ->   n - 16 * j - 16 >= 0      15 < 16 says nothing
2 * k < (n - 1) // 16 + 1  ->   n - 32 * k - 1 >= 0
0 < max(j, -3)             ->   j - 1 >= 0                0 < -3 never holds
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import gcd

from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import bool_
from ...lang.nodes.nodes import Const, Node, Op, Param, Size, Var, dtype_of, integer, postorder
from ...poly.sets.linear import expanded, is_small
from ...poly.sets.simplify import FALSE, TRUE
from ...remembered import remembered

#: Terms and a constant whose sum is >= 0.
Sum = tuple[frozenset[tuple[Node, int]], int]


def strongest(conditions: Iterable[Node]) -> tuple[Node, ...]:
    """Conditions that hold together exactly where the given ones do, none of which is implied by
    another one that differs from it in a constant, or by this and the least or the largest value of
    something."""
    return _strongest(tuple(conditions))


@remembered
def _strongest(conditions: tuple[Node, ...]) -> tuple[Node, ...]:
    sums: dict[frozenset[tuple[Node, int]], int] = {}
    others: dict[Node, None] = {}
    for condition in conditions:
        found = as_sums(condition)
        if found is None:
            others[condition] = None
            continue
        for terms, constant in found:
            sums[terms] = min(constant, sums.get(terms, constant))
    _drop_implied(sums)
    return (*(comparison(terms, constant) for terms, constant in sums.items()), *others)


def _drop_implied(sums: dict[frozenset[tuple[Node, int]], int]) -> None:
    """Leaves out what follows from two others, one after the other: what is left implies that."""
    for bound in [terms for terms in sums if len(terms) == 1]:
        for terms in list(sums):
            if terms not in sums or bound not in sums:
                continue
            found = _without(bound, sums[bound], terms, sums[terms])
            if found is None:
                continue
            implied, least = found
            if implied not in (terms, bound) and sums.get(implied, least - 1) >= least:
                del sums[implied]


def follows(condition: Node, conditions: Sequence[Node]) -> bool:
    """Whether some conditions imply another one: by one of them that differs from it in a constant,
    or by this and the least or the largest value of something."""
    sums, known = as_sums(condition), Known(conditions).least
    bounds = [terms for terms in known if len(terms) == 1]

    def holds(wanted: frozenset[tuple[Node, int]], constant: int) -> bool:
        if known.get(wanted, constant + 1) <= constant:
            return True
        pairs = ((_without(b, known[b], t, c)) for b in bounds for t, c in known.items())
        return any(x is not None and x[0] == wanted and x[1] <= constant for x in pairs)

    return sums is not None and all(holds(*s) for s in sums)


def _without(
    bound: frozenset[tuple[Node, int]], at: int, terms: frozenset[tuple[Node, int]], constant: int
) -> Sum | None:
    """What a sum says where a term of it is as large as a bound lets it be.

    n - 16 * j - 16 >= 0 and j >= 0 imply n >= 16.
    """
    ((x, sign),) = bound
    times = next((k for y, k in terms if y is x), 0)
    if times * sign >= 0:
        return None
    rest = [(y, k) for y, k in terms if y is not x]
    common = gcd(*(k for _, k in rest)) or 1
    least = constant + abs(times) * at
    return frozenset((y, k // common) for y, k in rest), least // common


def compatible(conditions: Sequence[Node]) -> list[Node]:
    """Conditions without those that never hold together with another one of them: the first
    iteration of a loop and the others, say."""
    sums = {c: _equal_sums(c) for c in conditions}
    least: dict[frozenset[tuple[Node, int]], int] = {}
    for found in sums.values():
        for terms, constant in found:
            least[terms] = min(constant, least.get(terms, constant))

    def excluded(terms: frozenset[tuple[Node, int]], constant: int) -> bool:
        opposite = least.get(frozenset((x, -k) for x, k in terms))
        return opposite is not None and opposite + constant < 0

    left = [c for c in conditions if not any(excluded(*s) for s in sums[c])]
    return [c for c in left if not (isinstance(c, Op) and _opposite(c) in left)]


def _opposite(condition: Op) -> Node | None:
    """What never holds together with an equality, or with what is said not to hold."""
    match condition:
        case Op(op="eq"):
            return negated(condition)
        case Op(op="not", operands=(operand,)):
            return operand
    return None


def is_at_one_index(condition: Node) -> bool:
    """Whether a condition holds at one value, at most, of each loop that it is about."""
    match condition:
        case Op(op="eq", operands=(a, b)) if dtype_of(a).is_int:
            value = ix.sub(a, b)
            terms, _ = expanded(value)
            return is_small(value) and all(isinstance(x, (Var, Size, Param)) for x in terms)
    return False


def negated(equality: Op) -> Node:
    """The condition that an equality does not hold."""
    return Op("ne", equality.operands, bool_)


def as_known(conditions: Iterable[Node]) -> dict[Node, Node]:
    """The values of conditions that hold, and of the equalities that do not because of these."""
    known: dict[Node, Node] = {}
    for condition in conditions:
        known[condition] = TRUE
        if isinstance(condition, Op) and condition.op == "ne":
            known[Op("eq", condition.operands, bool_)] = FALSE
    return known


class Known:
    """Conditions that hold, and what they imply of others that differ from them in a constant."""

    def __init__(self, conditions: Iterable[Node] = ()) -> None:
        self.least: dict[frozenset[tuple[Node, int]], int] = {}
        for condition in conditions:
            for terms, constant in as_sums(condition) or ():
                self.least[terms] = min(constant, self.least.get(terms, constant))

    def implies(self, condition: Node) -> bool:
        """Whether a condition is known to hold."""
        sums = as_sums(condition)
        return sums is not None and all(self.least.get(t, c + 1) <= c for t, c in sums)

    def is_about(self, condition: Node) -> bool:
        """Whether conditions are known that differ from each part of another one in a constant."""
        sums = as_sums(condition)
        return sums is not None and all(terms in self.least for terms, _ in sums)


def weakest(conjunctions: Iterable[Sequence[Node]]) -> list[Sequence[Node]]:
    """Conjunctions of which one holds exactly where one of the given ones does, none of which is
    implied by another one condition by condition."""
    left: list[Sequence[Node]] = []
    for parts in conjunctions:
        if not any(_implies(parts, other) for other in left):
            left = [x for x in left if not _implies(x, parts)]
            left.append(parts)
    return left


def _implies(first: Sequence[Node], second: Sequence[Node]) -> bool:
    known = Known(first)
    return all(x in first or known.implies(x) for x in second)


def _equal_sums(condition: Node) -> list[Sum]:
    match condition:
        case Op(op="eq", operands=(a, b)):
            parts = (ix.compare("le", a, b), ix.compare("ge", a, b))
            return [s for part in parts for s in as_sums(part) or ()]
        case _:
            return as_sums(condition) or []


@lru_cache(4096)
def as_sums(condition: Node) -> list[Sum] | None:
    """A condition as sums that are all >= 0; None where it is no such comparison."""
    match condition:
        case Op(operands=(a, *_)) if not dtype_of(a).is_int:
            return None  # floats are no indices
        case Op(op="lt", operands=(a, b)):
            value = ix.sub(ix.sub(b, a), ix.ONE)
        case Op(op="le", operands=(a, b)):
            value = ix.sub(b, a)
        case Op(op="gt", operands=(a, b)):
            value = ix.sub(ix.sub(a, b), ix.ONE)
        case Op(op="ge", operands=(a, b)):
            value = ix.sub(a, b)
        case _:
            return None
    if not is_small(value):
        return None
    found = [s for s in _sums(value) if s[0] or s[1] < 0]
    return found if all(is_small(total(dict(terms), c)) for terms, c in found) else None


def _sums(value: Node) -> Iterator[Sum]:
    """Sums that are all >= 0 exactly where a value is."""
    terms, constant = expanded(value)
    for x, times in terms.items():
        rest = {y: k for y, k in terms.items() if y is not x}
        match x:
            case Op(op="min" | "max" as op, operands=(a, b)) if (op == "min") == (times > 0):
                for part in (a, b):
                    yield from _sums(ix.add(total(rest, constant), ix.mul(part, integer(times))))
                return
            case Op(op="min" | "max", operands=(a, b)):
                parts = [
                    ix.add(total(rest, constant), ix.mul(part, integer(times))) for part in (a, b)
                ]
                known = [_constant(part) for part in parts]
                if any(c is not None and c >= 0 for c in known):
                    return  # one of the two is enough
                if None in known and known != [None, None]:
                    yield from _sums(parts[known.index(None)])
                    return
            case Op(op="floordiv", operands=(a, Const(value=d))) if times == 1 and d > 0:
                # a // d >= -rest   iff   a >= d * -rest
                scaled = {y: k * int(d) for y, k in rest.items()}
                yield from _sums(ix.add(a, total(scaled, constant * int(d))))
                return
            case Op(op="floordiv", operands=(a, Const(value=d))) if times == -1 and d > 0:
                # rest >= a // d   iff   d * rest + d > a
                scaled = {y: k * int(d) for y, k in rest.items()}
                yield from _sums(ix.sub(total(scaled, constant * int(d) + int(d) - 1), a))
                return
    common = gcd(*terms.values()) or 1
    yield frozenset((x, k // common) for x, k in terms.items()), constant // common


def _constant(value: Node) -> int | None:
    """What a sum is whatever its terms are; None where it depends on them."""
    terms, constant = expanded(value)
    return None if terms else constant


def total(terms: Mapping[Node, int], constant: int) -> Node:
    """A sum of multiples of terms and a constant."""
    found: Node = integer(constant)
    for x, times in terms.items():
        found = ix.add(found, ix.mul(x, integer(times)))
    return found


@remembered
def comparison(terms: frozenset[tuple[Node, int]], constant: int) -> Node:
    """less < more, without negative numbers: terms in the order of their names."""
    ordered = in_order(dict(terms))
    more = total({x: k for x, k in ordered.items() if k > 0}, max(constant + 1, 0))
    less = total({x: -k for x, k in ordered.items() if k < 0}, max(-constant - 1, 0))
    return ix.compare("lt", less, more)


def in_order(terms: Mapping[Node, int]) -> dict[Node, int]:
    """Terms in the order of their names, which is the same in every process."""
    return dict(sorted(terms.items(), key=lambda t: _name(t[0])))


def _name(node: Node) -> str:
    return " ".join(sorted(str(getattr(n, "name", "")) for n in postorder(node)))
