"""Ranges of expressions at an instance, before any value is known.

An expression of sizes, integer Params, Vars and RVars alone is *static*: its exact value at each
instance is known. Any other expression, which reads data or computes with floats, has an interval.
"""

from __future__ import annotations

import operator
from collections.abc import Collection

from ..lang.arguments.value_bounds import Range
from ..lang.nodes.dtypes import concrete
from ..lang.nodes.nodes import Node, Op, Read, RVar, Var, postorder
from ..lang.program.ranges import value_range
from ..lang.tensors.tensors import Const, Func, Input
from ..lang.tensors.trace import Trace
from .evaluate import (
    Env,
    Evaluator,
    Function,
    Symbols,
    constant,
    remembering,
    symbol_value,
    together,
)
from .intervals import (
    UNKNOWN,
    Interval,
    cast_interval,
    full,
    operator_interval,
    select_interval,
)
from .unknowns import Unknowns, is_integer_read, narrows

Box = tuple[Interval, ...]

#: The most points for which a box of may-accesses is expanded into its points.
LARGEST_BOX = 1 << 24


class Bounds:
    """Functions from the environment to the interval of each node below `roots`.

    `varying` are the Vars and RVars that have an interval in the environment, not a value.
    """

    def __init__(
        self,
        roots: tuple[Node, ...],
        symbols: Symbols,
        exact: Evaluator,
        varying: Collection[Node] = (),
    ) -> None:
        self._symbols = symbols
        self._exact = exact
        self._functions: dict[Node, Function] = {}
        self._reads: dict[Node, Function] = {}
        self.static: set[Node] = set()
        for node in postorder(*roots):
            if self._is_static(node, varying):
                self.static.add(node)
                self._functions[node] = _pair(exact[node])
            elif isinstance(node, (Var, RVar)):
                self._functions[node] = operator.itemgetter(node)
            elif is_integer_read(node):
                self._reads[node] = self._interval(node)
                self._functions[node] = _given(node, self._reads[node])
            else:
                function = self._interval(node)
                shared = isinstance(node, Op)
                self._functions[node] = remembering(node, function) if shared else function

    def __getitem__(self, node: Node) -> Function:
        return self._functions[node]

    def is_point(self, index: tuple[Node, ...]) -> bool:
        """Whether an index has one value at each instance."""
        return all(x in self.static for x in index)

    def point(self, index: tuple[Node, ...]) -> Function:
        """The function that gives the exact value of a static index."""
        return self._exact.point(index)

    def box(self, index: tuple[Node, ...]) -> Function:
        """The function that gives the box in which an index lies."""
        return together([self._functions[x] for x in index])

    def unknowns(self, index: tuple[Node, ...]) -> Unknowns | None:
        """What may say more of an index than its box; None where nothing does."""
        if self.is_point(index) or not narrows(index):
            return None
        return Unknowns(index, self._functions, self._reads)

    def _is_static(self, node: Node, varying: Collection[Node]) -> bool:
        if node in varying or isinstance(node, Read) or _is_float(node):
            return False
        return all(a in self.static for a in node.args)

    def _interval(self, node: Node) -> Function:
        if _is_float(node):
            return constant(None)
        t = concrete(node.type)  # type: ignore[arg-type]
        match node:
            case Read(tensor=Input(range=(lo, hi))):
                return self._declared(lo, hi, full(t))
            case Read(tensor=Func() as func, component=component):
                return self._held(value_range(func, component), full(t))
            case Read(tensor=Const(data=data)) if data.size:
                return constant((int(data.min()), int(data.max())))
            case Trace(value=value):
                return self._functions[value]
            case Op(op="select", operands=(c, a, b)):
                condition, yes, no = (self._functions[x] for x in (c, a, b))
                return lambda env: select_interval(condition(env), yes(env), no(env))
            case Op(operands=operands) if any(_is_float(a) for a in operands):
                return constant(UNKNOWN if t.is_bool else full(t))
            case Op(op="cast", operands=(a,)):
                source = self._functions[a]
                return lambda env: cast_interval(source(env), t)
            case Op(op=op, operands=operands):
                args = together([self._functions[a] for a in operands])
                return lambda env: operator_interval(op, t, args(env))
            case _:
                return constant(full(t))

    def _declared(self, lo: Node, hi: Node, whole: Interval) -> Function:
        low, high = (symbol_value(x, self._symbols) for x in (lo, hi))
        return constant((max(low, whole[0]), min(high - 1, whole[1])))

    def _held(self, found: Range, whole: Interval) -> Function:
        lo, hi = (
            end if node is None else symbol_value(node, self._symbols)
            for node, end in zip((found.lo, found.hi), whole, strict=True)
        )
        return constant((max(lo, whole[0]), min(hi, whole[1])))


def _is_float(node: Node) -> bool:
    return node.type is not None and concrete(node.type).is_float


def _pair(exact: Function) -> Function:
    def pair(env: Env) -> Interval:
        value = int(exact(env))
        return (value, value)

    return pair


def _given(node: Node, interval: Function) -> Function:
    return lambda env: env[node] if node in env else interval(env)


def data_rvars(rvars: tuple[RVar, ...]) -> set[RVar]:
    """The RVars whose bounds depend on data, directly or through other RVars."""
    found: set[RVar] = set()
    for r in rvars:
        below = list(postorder(r.lo, r.hi))
        if any(isinstance(n, Read) or _is_float(n) or n in found for n in below):
            found.add(r)
    return found


__all__ = ["LARGEST_BOX", "Bounds", "Box", "data_rvars"]
