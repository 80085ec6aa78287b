"""The instances of a definition that may happen, before any data is known, and their accesses.

An RVar whose bounds depend on data has an interval at first. That may be too little to know: of
`select(r > 0, x[r - 1], 0)` it says that x[-1] may be read. Then each of its values is tried, which
takes as long as to compute what is refused otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from ..lang.errors.errors import CallValueError, LanguageError
from ..lang.nodes.nodes import Node, Op, Read, RVar, leaves_below, postorder
from ..lang.nodes.tensor import Tensor
from ..lang.tensors.definitions import Definition
from .bounds import LARGEST_BOX, Bounds, data_rvars
from .domain import Loop, may_loop, nest
from .evaluate import Env, Evaluator, Faults, Symbols
from .footprint import Access, Footprint

InstanceAccesses = tuple[Definition, Env, list[Access]]
"""An instance and its accesses."""

Visit = Callable[[Access, Env], None]

_LINEAR = ("add", "sub", "mul", "neg")
"""Of operators on intervals, those that know as much as single values would say."""


class PreparedDefinition:
    """A definition prepared for enumeration."""

    def __init__(self, definition: Definition, symbols: Symbols) -> None:
        d = self.definition = definition
        self.symbols = symbols
        bounds = tuple(b for r in d.rvars for b in (r.lo, r.hi))
        roots = (*d.lhs, *d.values, *d.where, *bounds)
        self.exact = Evaluator(roots, symbols, {}, Faults())
        self.varying = data_rvars(d.rvars)
        self.bounds = Bounds(roots, symbols, self.exact, self.varying)
        self.footprint = Footprint(d, self.bounds)
        self.conditions = [self.bounds[c] for c in d.where]
        self.narrows = any(map(self._narrows, postorder(*d.lhs, *d.values, *d.where)))

    def _narrows(self, node: Node) -> bool:
        """Whether more is known of an expression where RVars have values."""
        linear = not isinstance(node, Op) or node.op in _LINEAR
        return not linear and not self.varying.isdisjoint(leaves_below(node))

    def instances(
        self, around: Iterable[Env], visit: Visit, is_open: Callable[[Tensor], bool]
    ) -> Iterator[InstanceAccesses]:
        """The instances at some values of Vars; each access is visited, which may raise.

        Args:
            is_open: whether a tensor has no shape, so that all that may be read is computed.
        """
        read = {n.tensor for n in postorder(*self.definition.values) if isinstance(n, Read)}
        by_value = self.narrows and any(map(is_open, read))
        for env in around:
            if self.varying:
                yield from self._unknown(env, visit, by_value)
            else:
                yield from self._run(env, visit, self._loops(visit, False))

    def _unknown(self, env: Env, visit: Visit, by_value: bool) -> list[InstanceAccesses]:
        """The instances where RVars have intervals; or values, if that is better, or is needed."""
        ways = (True, False) if by_value else (False, True)
        try:
            return self._tried(env, visit, ways[0])
        except (CallValueError, LanguageError, _TooMany) as refusal:
            try:
                return self._tried(env, visit, ways[1])
            except (CallValueError, LanguageError, _TooMany) as other:
                raise (other if isinstance(refusal, _TooMany) else refusal) from None

    def _tried(self, env: Env, visit: Visit, by_value: bool) -> list[InstanceAccesses]:
        return list(self._run(env, visit, self._loops(visit, by_value)))

    def _loops(self, visit: Visit, by_value: bool) -> tuple[Loop, ...]:
        left = LARGEST_BOX

        def visit_bounds(rvar: RVar, env: Env) -> None:
            for access in self.footprint.bound_reads(rvar, env):
                visit(access, env)

        def single(loop: Loop, env: Env) -> Iterator[object]:
            nonlocal left
            for value in loop.values(env):
                if not isinstance(value, tuple):
                    yield value
                    continue
                left -= value[1] - value[0] + 1
                if left < 0:
                    raise _TooMany
                yield from ((x, x) for x in range(value[0], value[1] + 1))

        loops = [
            may_loop(r, self.bounds, self.exact, partial(visit_bounds, r))
            for r in self.definition.rvars
        ]
        if not by_value:
            return tuple(loops)
        return tuple(Loop(x.rvar, partial(single, x), x.touch) for x in loops)

    def _run(self, vars: Env, visit: Visit, loops: tuple[Loop, ...]) -> Iterator[InstanceAccesses]:
        for env in nest(vars, loops):
            accesses = [*self.footprint.condition_reads(env)]
            happens = all(condition(env)[1] for condition in self.conditions)
            if happens:
                accesses += self.footprint.reads(env)
                accesses.append(self.footprint.write)
            for access in accesses:
                visit(access, env)
            if happens:
                yield self.definition, env, accesses


class _TooMany(Exception):
    """RVars may have more values than are worth trying."""
