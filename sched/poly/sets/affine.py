"""From typed expressions to isl: quasi-affine values, conditions, and access relations.

What is not affine (a value read from memory, a product of two indices, arithmetic that may wrap)
becomes an *unknown*: an extra dimension with the bounds that its type, its declared range or its
operator give it, projected out at the end. So a clamped or reduced unknown is bounded as tightly
as its clamp, and two uses of one unknown agree. A relation with unknowns is a *may*-access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from ...cached import cached_property
from ...lang.errors.errors import InternalError
from ...lang.nodes.dtypes import INDEX, concrete
from ...lang.nodes.nodes import Const, Node, Op, Param, Read, RVar, Size, Var, postorder
from ...lang.nodes.printer import expr_text
from ...lang.nodes.quotients import Quotient, quotient
from ...lang.program.intervals import Interval, interval, whole
from ...lang.program.ranges import value_range
from ...lang.tensors.tensors import Func, Input
from ...lang.tensors.trace import Trace
from ...records import dataclass
from . import periods, unknowns
from .affine_operators import COMPARE, LOGIC, OPERATORS, choose, compare_bools, is_affine_operator
from .isl import Frame, Map, PwAff, Set, coalesced, complement, isl, relation

_WIDE = 32
"""From this width on, an index that only its type bounds counts as unbounded."""

_FAR = 1 << (_WIDE - 1)
"""A bound so far from zero is that of such a type, through a cast and an operator or two, or one of
what is computed from the largest size that is allowed."""


@dataclass(frozen=True)
class Relation:
    """An access relation. `may`: the element depends on data, the map gives all candidates.

    `unbounded` is the relation in which unknowns are not even bounded by their type; where it
    differs in what matters, it is the type alone that bounds an index. `known` is where the element
    is known all the same, as it is all of quotients and remainders by sizes that are near.
    """

    map: Map
    may: bool
    unbounded: Map
    known: Set | None = None

    def within(self, domain: Set) -> Relation:
        """What it is where only points of `domain` matter. The map stays as it is: padding
        iterations are not in the domain, and what they may read must lie in the array, too."""
        if self.known is None or not domain.is_subset(self.known):
            return self
        return replace(self, may=False, unbounded=self.map)


@lru_cache(2048)
def access_relation(frame: Frame, index: tuple[Node, ...]) -> Relation:
    """{ point of the frame -> index }

    The result is cached: a directive that changes some definitions has the relations of all others
    looked up again.
    """
    builder = AffineBuilder(frame, index)
    values = [builder.value[x] for x in index]
    exact = relation(values, builder.frame)
    if not builder.unknowns:
        exact = coalesced(exact)
        return Relation(exact, False, exact)
    count = len(frame.dims), len(builder.unknowns)
    bounds, loose = builder.bounds(typed=True), builder.bounds(typed=False)
    found = unbounded = _without(exact.intersect_domain(bounds), *count)
    if not bounds.plain_is_equal(loose):
        unbounded = _without(exact.intersect_domain(loose), *count)
    return Relation(found, True, unbounded, builder.known())


def affine_value(frame: Frame, node: Node) -> PwAff | None:
    """An integer expression over the frame, or None where it is not quasi-affine."""
    builder = AffineBuilder(frame, (node,))
    return None if builder.unknowns else builder.value[node]


def affine_values(frame: Frame, nodes: Sequence[Node]) -> list[PwAff] | None:
    """Integer expressions over the frame, or None where one of them is not quasi-affine."""
    builder = AffineBuilder(frame, nodes)
    return None if builder.unknowns else [builder.value[node] for node in nodes]


def why_not_affine(nodes: Iterable[Node], over: str) -> str:
    """Why expressions are not affine, as the rest of a sentence of an error."""
    known: dict[Node, Interval] = {}
    for node in postorder(*nodes):
        known[node], exact = interval(node, known)
        if exact or not isinstance(node, Op) or not are_integers((node, *node.operands)):
            continue
        if not is_affine_operator(node.op, node.operands):
            break
        return (
            f"may not fit in 64 bits: {expr_text(node)}, where sizes are below 2**40 and loops "
            "within 2**44 of 0"
        )
    return f"is not affine in {over}"


def are_integers(operands: Sequence[Node]) -> bool:
    """Whether all operands are integers."""
    return all(a.type is not None and concrete(a.type).is_int for a in operands)


def _without(access: Map, keep: int, count: int) -> Map:
    """The map with the unknowns, which stand behind the frame's dimensions, projected out."""
    if count:
        access = access.project_out(isl.dim_type.in_, keep, count)
    return coalesced(access)


class AffineBuilder:
    """The values of some integer expressions as piecewise affine functions of a frame."""

    def __init__(self, base: Frame, roots: Sequence[Node]) -> None:
        self.base = base
        self._roots = tuple(roots)
        self.intervals: dict[Node, Interval] = {}
        self.exact: dict[Node, bool] = {}
        #: Expressions with a single value, though parts of them may wrap: `clip(int32(i), 0, 0)`.
        self.constants: dict[Node, int] = {}
        # What is read may have one value by its declared range, too, but only a call's check of
        # the range makes that so.
        by_type: dict[Node, Interval] = {}
        for node in postorder(*roots):
            self.intervals[node], self.exact[node] = interval(node, self.intervals)
            by_type[node] = whole(node) if isinstance(node, Read) else interval(node, by_type)[0]
            lo, hi = by_type[node]
            if lo == hi and isinstance(node, Op) and are_integers((node,)):
                self.constants[node] = lo
        order = self._needed(roots)
        self.unknowns = [n for n in order if not self._is_affine(n)]
        # No Var is called so: implicit ones are _1, _2, ...
        self.names = {n: f"?{k}" for k, n in enumerate(self.unknowns)}
        self.frame = base.extended(tuple(self.names.values()))
        self.value: dict[Node, PwAff] = {}
        self.truth: dict[Node, Set] = {}
        for node in order:
            self._build(node)

    def _needed(self, roots: Sequence[Node]) -> list[Node]:
        """What the roots are computed from, as far as it is affine; operands first."""
        needed = set(roots)
        order = list(postorder(*roots))
        for node in reversed(order):
            if node in needed and node not in self.constants:
                needed.update(node.args if self._is_affine(node) else self._bounding(node))
        return [n for n in order if n in needed]

    def _bounding(self, node: Node) -> tuple[Node, ...]:
        """The operands that bound an unknown, beside its interval."""
        match node:
            case Op() if (found := self._periodic(node)) is not None:
                return (found.dividend, found.divisor)
            case _:
                return unknowns.bounding(node, self.intervals)

    def _periodic(self, node: Node) -> Quotient | None:
        """What it is of a quotient of affine values."""
        found = quotient(node)
        if found is None or (found.op == "mul" and not self.exact[node]):
            return None
        parts = (found.dividend, found.divisor)
        if not are_integers((node, *parts)) or not all(map(self._is_affine, postorder(*parts))):
            return None
        return found

    @property
    def is_periodic(self) -> bool:
        """Whether all unknowns are quotients and remainders of affine values."""
        return all(self._periodic(node) is not None for node in self.unknowns)

    def known(self) -> Set | None:
        """The points at which all unknowns have one known value; None if there are none."""
        if not self.is_periodic:
            return None
        found = self.frame.universe
        for node in self.unknowns:
            found = found.intersect(periods.near(*(self.value[a] for a in self._bounding(node))))
        return self.projected(found)

    def projected(self, points: Set) -> Set:
        """The points for which the unknowns have some values."""
        count = len(self.unknowns)
        return coalesced(points.project_out(isl.dim_type.set, len(self.base.dims), count))

    def bounds(self, typed: bool) -> Set:
        """What is known of the unknowns; without `typed`, not what only their type says."""
        result = self.frame.universe
        for node in self.unknowns:
            t = concrete(node.type or INDEX)
            lo, hi = self.intervals[node]
            x = self.frame.dim(self.names[node])
            # No array has an element for each value of a wide type: as a bound it is none. One
            # that no array reaches would only clutter every set made from it.
            by_type = t.is_bool or (typed and t.bits < _WIDE)
            if lo > -_FAR and (by_type or lo > t.min or t.min == 0):
                result = result.intersect(x.ge_set(self.frame.constant(lo)))
            if hi < _FAR and (by_type or hi < t.max):
                result = result.intersect(x.le_set(self.frame.constant(hi)))
            result = result.intersect(self._symbolic_bounds(node, x))
        return result

    def _symbolic_bounds(self, node: Node, x: PwAff) -> Set:
        match node:
            case Op() if (found := self._periodic(node)) is not None:
                dividend, divisor = self.value[found.dividend], self.value[found.divisor]
                least, most = self.intervals[found.divisor]
                usual = divisor.le_set(self.frame.constant(most))
                return periods.bounds(found, self.frame, x, dividend, divisor, usual, least < 0)
            case Op():
                return unknowns.bounds(node, self.frame, x, self.value, self.intervals)
            case Read(tensor=Input(range=(lo, hi))):
                return self._within(node, x, lo, hi, PwAff.lt_set)
            case Read(tensor=Func() as func, component=component):
                held = value_range(func, component)
                return self._within(node, x, held.lo, held.hi, PwAff.le_set)
            case _:
                return self.frame.universe

    def _within(
        self,
        node: Node,
        x: PwAff,
        lo: Node | None,
        hi: Node | None,
        below: Callable[[PwAff, PwAff], Set],
    ) -> Set:
        """Where an unknown that is read lies in its range, as far as its ends are affine.

        Where the range is empty, there is nothing to be read: what is always read is not computed
        there, but what is read in the arm of a select may be left alone. Then any value will do.
        """
        ends = [None if end is None else affine_value(self.base, end) for end in (lo, hi)]
        least, most = (
            None if end is None else end.add_dims(isl.dim_type.in_, len(self.unknowns))
            for end in ends
        )
        result = self.frame.universe
        if least is not None:
            result = result.intersect(x.ge_set(least))
        if most is not None:
            result = result.intersect(below(x, most))
        if least is None or most is None or node in self._always:
            return result
        return result.union(complement(below(least, most)).intersect(x.eq_set(least)))

    @cached_property
    def _always(self) -> frozenset[Node]:
        return unknowns.always_computed(self._roots)

    def _is_affine(self, node: Node) -> bool:
        if node in self.constants:
            return True
        match node:
            case Const(value=value):
                return not isinstance(value, float)
            case Size() | Var() | RVar():
                return True
            case Trace():
                return not _is_float(node)
            case Param():
                return node.name in self.base.params
            case Op(operands=operands) if any(_is_float(a) for a in operands):
                return False
            case Op(op=op) if op in COMPARE or (op in LOGIC and _is_bool(node)):
                return True
            case Op(op=op, operands=operands):
                return self.exact[node] and is_affine_operator(op, operands)
            case _:
                return False

    def _build(self, node: Node) -> None:
        if _is_bool(node):
            self.truth[node] = self._truth(node)
        else:
            self.value[node] = coalesced(self._value(node))

    def _truth(self, node: Node) -> Set:
        if node in self.names:
            return self.frame.dim(self.names[node]).ge_set(self.frame.constant(1))
        match node:
            case Const(value=value):
                return self.frame.universe if value else self.frame.empty
            case Trace(value=value):
                return self.truth[value]
            case Op(op=op, operands=(a, b)) if op in COMPARE:
                if _is_bool(a):
                    x, y = self.truth[a], self.truth[b]
                    return compare_bools(op, x, y)
                return COMPARE[op](self.value[a], self.value[b])
            case Op(op=op, operands=operands):
                return coalesced(LOGIC[op](*(self.truth[a] for a in operands)))
        raise InternalError(f"no truth value for {type(node).__name__}")

    def _value(self, node: Node) -> PwAff:
        frame = self.frame
        if node in self.names:
            return frame.dim(self.names[node])
        if node in self.constants:
            return frame.constant(self.constants[node])
        match node:
            case Const(value=value):
                return frame.constant(int(value))
            case Size() | Param():
                return frame.param(node.name)
            case Var() | RVar():
                return frame.dim(node.name)
            case Trace(value=value):
                return self.value[value]
            case Op(op="select", operands=(c, a, b)):
                return choose(self.truth[c], self.value[a], self.value[b])
            case Op(op="cast", operands=(a,)) if _is_bool(a):
                return choose(self.truth[a], frame.constant(1), frame.constant(0))
            case Op(op=op, operands=operands):
                return OPERATORS[op](*(self.value[a] for a in operands))
        raise InternalError(f"no affine value for {type(node).__name__}")


def _is_float(node: Node) -> bool:
    return concrete(node.type or INDEX).is_float


def _is_bool(node: Node) -> bool:
    return concrete(node.type or INDEX).is_bool
