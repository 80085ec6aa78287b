"""Evaluation of typed expressions at an instance.

`Evaluator` turns each node into a Python function of the *environment*: a dict from Var and RVar
nodes to their values at one instance. A node that several others use keeps its value in the same
dict, so that a shared subexpression is computed once an instance; a new instance starts with a
new dict. Of a select, only the chosen arm is evaluated.
"""

from __future__ import annotations

import operator
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..lang.arithmetic.math import expansion_of
from ..lang.arithmetic.scalar import Value, as_value, meaning, wrapping
from ..lang.nodes.dtypes import concrete
from ..lang.nodes.nodes import Const, Node, Op, Param, Read, RVar, Size, Var, postorder
from ..lang.nodes.ops import FUNCTIONS
from ..lang.nodes.tensor import Tensor
from ..lang.tensors.opaque import Opaque
from ..lang.tensors.trace import Trace
from .storage import Values

Env = dict[Node, Any]
Function = Callable[[Env], Any]


Tracer = Callable[["Trace", Any, Env], None]
"""Prints a traced value."""


class Symbols:
    """The values of sizes and Params, which are the same at every instance."""

    def __init__(self, sizes: Mapping[str, int], params: Mapping[str, bool | int | float]) -> None:
        self.sizes = sizes
        self.params = params

    def __getitem__(self, node: Size | Param) -> Value:
        if isinstance(node, Size):
            return self.sizes[node.name]
        t, value = concrete(node.type), self.params[node.name]
        # A uint64 Param is int64 in expressions, as all integer Params are.
        return as_value(wrapping(t)(int(value)) if t.is_int else value, t)


class Faults:
    """Counters of operations that are defined but rarely intended: divisions by zero, and negative
    powers of integers."""

    def __init__(self) -> None:
        self.zero_divisions = 0
        self.negative_powers = 0


class Evaluator:
    """The functions of the nodes below `roots`."""

    def __init__(
        self,
        roots: tuple[Node, ...],
        symbols: Symbols,
        values: Mapping[Tensor, Values],
        faults: Faults,
        tracer: Tracer | None = None,
    ) -> None:
        self._tracer = tracer
        self._symbols = symbols
        self._values = values
        self._faults = faults
        self._functions: dict[Node, Function] = {}
        order = list(postorder(*roots))
        uses = Counter(a for node in order for a in node.args)
        for node in order:
            function = self._function(node)
            shared = uses[node] > 1 and isinstance(node, (Op, Read, Trace))
            self._functions[node] = remembering(node, function) if shared else function

    def __getitem__(self, node: Node) -> Function:
        return self._functions[node]

    def point(self, index: tuple[Node, ...]) -> Callable[[Env], tuple[int, ...]]:
        """The function that gives a whole index."""
        if len(index) > 1 and all(isinstance(x, (Var, RVar)) for x in index):
            return operator.itemgetter(*index)
        return together([self._functions[x] for x in index])

    def _function(self, node: Node) -> Function:
        match node:
            case Const(value=value, type=t):
                return constant(as_value(value, concrete(t)))
            case Size() | Param():
                symbols = self._symbols
                # A placeholder of an expansion is a Param too; it is found in the environment.
                known = isinstance(node, Size) or node.name in symbols.params
                return constant(symbols[node]) if known else lambda env: env[node]
            case Var() | RVar():
                return operator.itemgetter(node)
            case Read():
                return self._read(node)
            case Op():
                return self._operator(node)
            case Trace():
                return self._trace(node)
            case Opaque():
                return constant(None)  # an extern stage is computed as a whole
            case _:
                raise TypeError(type(node).__name__)

    def _read(self, node: Read) -> Function:
        point, c = self.point(node.index), node.component
        values = self._values.get(node.tensor, _NOWHERE)
        if len(node.tensor.dtypes) > 1:
            return lambda env: values[point(env)][c]
        return lambda env: values[point(env)]

    def _operator(self, node: Op) -> Function:
        args = [self._functions[a] for a in node.operands]
        if node.op in ("select", "rarely"):
            condition, yes, no = args
            return lambda env: yes(env) if condition(env) else no(env)
        result, operand = concrete(node.type or _fail(node)), _operand_type(node)
        if node.op == "pow" and result.is_int:
            args[1] = self._counting_negative(args[1])
        if node.op in FUNCTIONS:
            return self._expanded(node, args)
        if node.op in ("floordiv", "mod") and result.is_int:
            args[1] = self._counting_zeros(args[1])
        return _apply(meaning(node.op, result, operand), args)

    def _trace(self, node: Trace) -> Function:
        value, tracer = self._functions[node.value], self._tracer
        if tracer is None:
            return value

        def traced(env: Env) -> Any:
            found = value(env)
            tracer(node, found, env)
            return found

        return traced

    def _counting_zeros(self, divisor: Function) -> Function:
        faults = self._faults

        def counted(env: Env) -> Any:
            value = divisor(env)
            if value == 0:
                faults.zero_divisions += 1
            return value

        return counted

    def _counting_negative(self, exponent: Function) -> Function:
        faults = self._faults

        def counted(env: Env) -> Any:
            value = exponent(env)
            if value < 0:
                faults.negative_powers += 1
            return value

        return counted

    def _expanded(self, node: Op, arguments: list[Function]) -> Function:
        """A function of `lang.math`: its expansion, evaluated at the values of the arguments."""
        placeholders, body = expansion_of(node)
        function = Evaluator((body,), self._symbols, self._values, self._faults)[body]
        given = list(zip(placeholders, arguments, strict=True))
        return lambda env: function({p: a(env) for p, a in given})


_NOWHERE = Values("a tensor without values")


def symbol_value(node: Node, symbols: Symbols) -> Value:
    """The value of an expression over sizes and Params."""
    return Evaluator((node,), symbols, {}, Faults())[node]({})


def _operand_type(node: Op) -> Any:
    last = node.operands[-1]
    return concrete(last.type or _fail(last))


def _fail(node: Node) -> Any:
    raise TypeError(f"{type(node).__name__} without a type")


def constant(value: Any) -> Function:
    """The function that returns `value` in every environment."""
    return lambda env: value


def remembering(node: Node, function: Function) -> Function:
    """`function`, evaluated once in each environment."""

    def remembered(env: Env) -> Any:
        if node in env:
            return env[node]
        value = env[node] = function(env)
        return value

    return remembered


def _apply(f: Callable[..., Any], args: list[Function]) -> Function:
    match args:
        case [a]:
            return lambda env: f(a(env))
        case [a, b]:
            return lambda env: f(a(env), b(env))
        case [a, b, c]:
            return lambda env: f(a(env), b(env), c(env))
        case _:
            return lambda env: f(*[a(env) for a in args])


def together(parts: list[Function]) -> Callable[[Env], tuple[Any, ...]]:
    """The function that returns the tuple of the values of `parts`."""
    match parts:
        case [a]:
            return lambda env: (a(env),)
        case [a, b]:
            return lambda env: (a(env), b(env))
        case [a, b, c]:
            return lambda env: (a(env), b(env), c(env))
        case [a, b, c, d]:
            return lambda env: (a(env), b(env), c(env), d(env))
        case _:
            return lambda env: tuple([part(env) for part in parts])


@contextmanager
def deep_recursion(roots: tuple[Node, ...], room: int = 1000) -> Iterator[None]:
    """Raises Python's recursion limit, so that `roots` of any depth can be evaluated."""
    depth: dict[Node, int] = {}
    for node in postorder(*roots):
        depth[node] = 1 + max((depth[a] for a in node.args), default=0)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + 4 * max(depth.values(), default=0) + room)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
