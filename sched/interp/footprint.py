"""The accesses of a definition at an instance: its reads, with their conditions, and its write.

A select is lazy. Where its condition is static, only the reads of the chosen arm happen; where it
depends on data, those of both arms may happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from ..lang.nodes.nodes import Node, Op, Read, RVar
from ..lang.nodes.tensor import Tensor
from ..lang.tensors.definitions import Definition
from ..records import dataclass
from .bounds import Bounds
from .evaluate import Env, Function
from .intervals import Interval
from .unknowns import Unknowns


@dataclass(frozen=True, slots=True)
class Access:
    """One read or write in a definition: `where(env)` is a point, or a box if it is not exact."""

    tensor: Tensor
    index: tuple[Node, ...]
    exact: bool
    where: Function
    is_write: bool = False
    #: What may say more of the index than its box.
    unknowns: Unknowns | None = None
    #: For a region that is read as a whole, its upper bounds; its lower bounds are in `index`.
    region_end: tuple[Node, ...] | None = None


def instance_point(definition: Definition, env: Env) -> dict[str, int | Interval]:
    """The values, by name, of the Vars and RVars of an instance; some may be intervals."""
    return {symbol.name: env[symbol] for symbol in definition.dims if symbol in env}


@dataclass(slots=True)
class Reads:
    """The reads of an expression: those that always happen, and those in arms of selects."""

    always: list[Access] = field(default_factory=list)
    selects: list[tuple[Function, Reads, Reads]] = field(default_factory=list)


class Footprint:
    """The accesses of one definition."""

    def __init__(self, definition: Definition, bounds: Bounds) -> None:
        self._bounds = bounds
        self._arms: dict[Node, Reads] = {}
        self._values = self._reads((*definition.lhs, *definition.values))
        self._conditions = self._reads(definition.where)
        self._bounds_of = {r: self._reads((r.lo, r.hi)) for r in definition.rvars}
        self.write = self._access(definition.func, definition.lhs, is_write=True)

    def reads(self, env: Env) -> Sequence[Access]:
        """The reads that may happen at an instance."""
        return _reached(self._values, env)

    def condition_reads(self, env: Env) -> Sequence[Access]:
        """The reads in the conditions on RVars."""
        return _reached(self._conditions, env)

    def bound_reads(self, rvar: RVar, env: Env) -> Sequence[Access]:
        """The reads in the bounds of an RVar, which happen once in each iteration of the loops
        around it."""
        return _reached(self._bounds_of[rvar], env)

    def _access(self, tensor: Tensor, index: tuple[Node, ...], is_write: bool = False) -> Access:
        exact = self._bounds.is_point(index)
        where = self._bounds.point(index) if exact else self._bounds.box(index)
        return Access(tensor, index, exact, where, is_write, self._bounds.unknowns(index))

    def _arm(self, root: Node) -> Reads:
        if root not in self._arms:
            self._arms[root] = Reads()  # one object for each arm: shared arms are visited once
            found = self._reads((root,))
            self._arms[root].always, self._arms[root].selects = found.always, found.selects
        return self._arms[root]

    def _reads(self, roots: Iterable[Node]) -> Reads:
        """The reads that happen when all of `roots` are evaluated."""
        found = Reads()
        places: dict[tuple[Tensor, tuple[Node, ...]], Access] = {}
        seen: set[Node] = set()
        stack = list(roots)
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            match node:
                case Op(op="select", operands=(condition, yes, no)):
                    stack.append(condition)
                    arms = (self._arm(yes), self._arm(no))
                    if any(arm.always or arm.selects for arm in arms):
                        found.selects.append((self._bounds[condition], *arms))
                case _:
                    stack.extend(node.args)
            if isinstance(node, Read) and (node.tensor, node.index) not in places:
                places[node.tensor, node.index] = self._access(node.tensor, node.index)
        found.always = list(places.values())
        return found


def _reached(root: Reads, env: Env) -> Sequence[Access]:
    if not root.selects:
        return root.always
    found: list[Access] = []
    seen: set[int] = set()
    stack = [root]
    while stack:
        reads = stack.pop()
        if id(reads) in seen:
            continue
        seen.add(id(reads))
        found += reads.always
        for condition, yes, no in reads.selects:
            lo, hi = condition(env)
            if hi:
                stack.append(yes)
            if not lo:
                stack.append(no)
    return found
