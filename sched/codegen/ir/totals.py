"""Totals over loops: integers that depend on sizes, as sums of products that are exact.

    for io in [0, (n - 1) // 8 + 1): for ii in [0, min(n - io * 8, 8)): for k in [0, m)   ->   n * m

A total is a polynomial. Its factors are numbers of iterations, conditions (1 where they hold) and
sums over a loop of what depends on the loop; a sum over a loop is taken of those factors alone that
depend on it. So a total has a closed form wherever loops are independent, and is evaluated quickly
where they are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...cached import cached_property
from ...lang.arithmetic.evaluate import compile_over_loops
from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Const, Node, Op, Param, Size, Var, integer, postorder
from ...lang.nodes.printer import expr_text
from ...poly.sets.linear import expanded
from ...records import dataclass

MOST_STEPS = 2_000_000
"""Iterations that an evaluation looks at; beyond them a total is not known."""

Values = Mapping[Node, int]


class Uncounted(Exception):
    """There is no number: data decide, or there is too much to add up."""


@dataclass(frozen=True)
class Over:
    """The sum of a product over a loop: of for var in range(lo, hi, step)."""

    var: Var
    lo: Node
    hi: Node
    step: int
    product: tuple[Factor, ...]

    @cached_property
    def free(self) -> frozenset[Node]:
        """The loops around it that it depends on."""
        inside = frozenset().union(*map(free, self.product)) - {self.var}
        return inside | loops_in(self.lo, self.hi)

    def __str__(self) -> str:
        by = "" if self.step == 1 else f" by {self.step}"
        where = f"{self.var.name} in [{expr_text(self.lo)}, {expr_text(self.hi)}){by}"
        return f"sum({product_text(1, self.product)} for {where})"


Factor = Node | Over


def loops_in(*nodes: Node) -> frozenset[Node]:
    """The loop variables in expressions."""
    return frozenset(n for n in postorder(*nodes) if isinstance(n, Var))


def free(factor: Factor) -> frozenset[Node]:
    """The loops that a factor depends on."""
    return factor.free if isinstance(factor, Over) else loops_in(factor)


def product_text(times: int, factors: Iterable[Factor]) -> str:
    """A product as text."""
    parts = [] if times == 1 else [str(times)]
    for x in factors:
        text = str(x) if isinstance(x, Over) else expr_text(x)
        if isinstance(x, Op):
            text = f"[{text}]" if x.op in _CONDITIONS else _bracketed(x, text)
        parts.append(text)
    return " * ".join(parts) or "1"


_CONDITIONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"})


def _bracketed(node: Op, text: str) -> str:
    return text if node.op in ("min", "max", "mul") else f"({text})"


class Total:
    """An integer that depends on sizes; None of it is known where `known` is False.

    Attributes:
        terms: products by their factors, each with how often it is added.
    """

    def __init__(self, terms: Mapping[tuple[Factor, ...], int], known: bool = True) -> None:
        self.terms = {key: times for key, times in terms.items() if times}
        self.known = known

    @classmethod
    def of(cls, number: int) -> Total:
        """A number that depends on nothing."""
        return cls({(): number})

    def __add__(self, other: Total) -> Total:
        terms = dict(self.terms)
        for key, times in other.terms.items():
            terms[key] = terms.get(key, 0) + times
        return Total(terms, self.known and other.known)

    def merged(self) -> Total:
        """It, with what differs in one condition alone, as unrolled iterations do, as one."""
        return Total(_merged(dict(self.terms)), self.known)

    def times(self, number: int) -> Total:
        """So many of it."""
        return Total({key: number * k for key, k in self.terms.items()}, self.known)

    def where(self, condition: Node) -> Total:
        """It, where a condition holds; else nothing."""
        if isinstance(condition, Const):
            return self if condition.value else Total({})
        made = {_ordered((*key, condition)): times for key, times in self.terms.items()}
        return Total(made, self.known)

    def over(self, var: Var, lo: Node, hi: Node, step: int = 1) -> Total:
        """The sum over the iterations of a loop."""
        found = Total({}, self.known)
        for key, times in self.terms.items():
            inside = tuple(x for x in key if var in free(x))
            outside = tuple(x for x in key if var not in free(x))
            number, new = _summed(var, lo, hi, step, inside)
            found += Total({_ordered((*outside, *new)): times * number})
        return Total(found.terms, self.known)

    def at(self, sizes: Mapping[str, int]) -> int | None:
        """The number at sizes and integer Params, by name; None where data decide it, or where it
        takes too long to add up."""
        return self.at_all([self], sizes)[0]

    @staticmethod
    def at_all(totals: Iterable[Total], sizes: Mapping[str, int]) -> list[int | None]:
        """Several totals at sizes: what they have in common is evaluated once."""
        found: list[int | None] = []
        evaluator = _Evaluator(sizes)
        for total in totals:
            try:
                found.append(evaluator.total(total) if total.known else None)
            except (Uncounted, KeyError):
                found.append(None)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Total):
            return NotImplemented
        return (self.terms, self.known) == (other.terms, other.known)

    __hash__ = None  # type: ignore[assignment]  # it is looked at, not looked for

    def __str__(self) -> str:
        if not self.known:
            return "data decide"
        parts = [product_text(times, key) for key, times in self.terms.items()]
        return " + ".join(parts) or "0"

    def __repr__(self) -> str:
        return f"Total({self})"


UNKNOWN = Total({}, known=False)


def _ordered(factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
    """Factors in an order that does not depend on how they were multiplied. Conditions count
    once."""
    distinct: list[Factor] = []
    for x in factors:
        if not (isinstance(x, Op) and x.op in _CONDITIONS and x in distinct):
            distinct.append(x)
    return tuple(sorted(distinct, key=_place))


def _place(factor: Factor) -> tuple[int, str]:
    if isinstance(factor, Over):
        return 2, str(factor)
    return int(isinstance(factor, Op)), expr_text(factor)


def _summed(
    var: Var, lo: Node, hi: Node, step: int, inside: tuple[Factor, ...]
) -> tuple[int, tuple[Factor, ...]]:
    """The sum of a product over a loop, as a number times factors."""
    if inside:
        whole = _whole(var, lo, hi, step, inside)
        return 1, (Over(var, lo, hi, step, inside),) if whole is None else (whole,)
    first, last = ix.constant(lo), ix.constant(hi)
    if first is not None and last is not None:
        return len(range(first, last, step)), ()
    extent = ix.add(ix.sub(hi, lo), integer(step - 1))
    count = ix.floordiv(extent, step)
    return 1, (count if _is_natural(count) else ix.maximum((count, ix.ZERO)),)


def _is_size(node: Node) -> bool:
    return not isinstance(node, Op | Const | Var)


def _is_natural(node: Node) -> bool:
    """Whether an extent is never negative, as sizes are not: n, or (n - 1) // 8 + 1."""
    rest, one = ix.parted(node)
    if one == 1 and isinstance(rest, Op) and rest.op == "floordiv":
        size, less = ix.parted(rest.operands[0])
        return less >= -1 and isinstance(size, Size)
    return isinstance(node, Size)


def _whole(var: Var, lo: Node, hi: Node, step: int, inside: tuple[Factor, ...]) -> Node | None:
    """What tiles add up to: min(n - io * 8, 8), for io in [0, (n - 1) // 8 + 1), is n. And how many
    lanes are there: [v < x] for v in [0, 8) is min(max(x, 0), 8)."""
    if len(inside) != 1 or step != 1 or ix.constant(lo) != 0:
        return None
    (factor,) = inside
    if isinstance(factor, Over):
        return None
    most = ix.constant(hi)
    if isinstance(factor, Op) and factor.op == "lt" and factor.operands[0] is var:
        limit = factor.operands[1]
        if most is not None and var not in postorder(limit):
            return _clamped(limit, most)
    found = _tile(factor, var)
    if found is None:
        return None
    total, width = found
    tiles = ix.add(ix.floordiv(ix.sub(total, ix.ONE), width), ix.ONE)
    return total if expanded(tiles) == expanded(hi) and _is_size(total) else None


def _clamped(limit: Node, most: int) -> Node:
    """min(max(limit, 0), most), for a limit that may be bounded already."""
    if isinstance(limit, Op) and limit.op == "min":
        known = [ix.constant(x) for x in limit.operands]
        if any(k is not None and 0 <= k <= most for k in known):
            return ix.maximum((limit, ix.ZERO))
    return ix.maximum((ix.minimum((limit, integer(most))), ix.ZERO))


def _tile(factor: Node, var: Var) -> tuple[Node, int] | None:
    """n and c, of max(min(n - var * c, c), 0)."""
    while isinstance(factor, Op) and factor.op == "max" and ix.constant(factor.operands[1]) == 0:
        factor = factor.operands[0]
    if not isinstance(factor, Op) or factor.op != "min":
        return None
    for rest, width in (factor.operands, factor.operands[::-1]):
        number = ix.constant(width)
        if number is not None:
            terms, constant = expanded(rest)
            if terms.pop(var, 0) == -number and constant == 0 and list(terms.values()) == [1]:
                return next(iter(terms)), number
    return None


def _merged(terms: dict[tuple[Factor, ...], int]) -> dict[tuple[Factor, ...], int]:
    """Terms that differ in one condition, as those of unrolled iterations do, as one: [0 < x] +
    [1 < x] + [2 < x] is min(max(x, 0), 3)."""
    groups: dict[tuple[tuple[Factor, ...], Node, int], dict[int, tuple[Factor, ...]]] = {}
    for key, times in terms.items():
        for k, x in enumerate(key):
            if isinstance(x, Op) and x.op == "lt":
                number = ix.constant(x.operands[0])
                if number is not None and number >= 0:
                    rest = (*key[:k], *key[k + 1 :])
                    groups.setdefault((rest, x.operands[1], times), {})[number] = key
    for (rest, limit, times), found in groups.items():
        keys = [found[k] for k in range(len(found)) if k in found]
        if len(keys) == len(found) > 1 and all(terms.get(key) == times for key in keys):
            for key in keys:
                del terms[key]
            made = _ordered((*rest, _clamped(limit, len(keys))))
            terms[made] = terms.get(made, 0) + times
    return terms


class _Evaluator:
    """Evaluates totals at some sizes."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes = sizes
        self.left = MOST_STEPS
        self._compiled: dict[Node, Callable[[Values], int]] = {}
        self._named: dict[Node, list[Size | Param]] = {}
        self._known: dict[tuple[Over, tuple[int, ...]], int] = {}

    def total(self, total: Total) -> int:
        return sum(times * self._product(key, {}) for key, times in total.terms.items())

    def _product(self, factors: tuple[Factor, ...], env: dict[Node, int]) -> int:
        value = 1
        for x in factors:
            value *= self._sum(x, env) if isinstance(x, Over) else int(self._node(x, env))
            if not value:
                break
        return value

    def _sum(self, over: Over, env: dict[Node, int]) -> int:
        key = over, tuple(env[x] for x in sorted(over.free, key=id))
        found = self._known.get(key)
        if found is None:
            steps = range(self._node(over.lo, env), self._node(over.hi, env), over.step)
            self.left -= len(steps)
            if self.left < 0:
                raise Uncounted
            found = sum(self._product(over.product, {**env, over.var: v}) for v in steps)
            self._known[key] = found
        return found

    def _node(self, node: Node, env: dict[Node, int]) -> int:
        function = self._compiled.get(node)
        if function is None:
            function = compile_over_loops(node)
            if function is None:
                raise Uncounted
            self._compiled[node] = function
        symbols: dict[Node, int] = {n: self.sizes[n.name] for n in self._symbols(node)}
        return function({**symbols, **env})

    def _symbols(self, node: Node) -> list[Size | Param]:
        found = self._named.get(node)
        if found is None:
            inside = postorder(node)
            found = [n for n in inside if isinstance(n, Size | Param)]
            self._named[node] = found
        return found
