"""About how long parts of a kernel take, by stage, at the sizes of one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...codegen.ir.cost import Costs
from ...codegen.ir.counts import stage_of
from ...codegen.ir.ir import Alloc, Call, For, If, Load, Seq, Stmt, Stores
from ...lang.arithmetic.evaluate import size_value
from ...lang.nodes.nodes import Node, has_below, integer, replaced_all

UNKNOWN = 16
"""Iterations that a loop is taken to have whose bounds are data."""

Parts = dict[str, float]
"""Nanoseconds by stage; those that no stage is known for are of ""."""


class Times:
    """About how long statements take at the sizes of a call, in the middle of the loops around."""

    def __init__(
        self, names: Mapping[int, str], known: frozenset[str], values: Mapping[str, Any]
    ) -> None:
        self._names, self._known, self._values = names, known, values
        self._costs = Costs()
        # Entries hold the statements, so that their ids are not reused.
        self._found: dict[tuple[int, tuple[Node, ...]], tuple[Stmt, Parts]] = {}

    def of(self, stmt: Stmt, at: Mapping[Node, Node]) -> Parts:
        """Nanoseconds of one execution by stage. `at`: what stands for variables around."""
        key = id(stmt), (*at, *at.values())
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = stmt, self._of(stmt, at)
        return found[1]

    def _of(self, stmt: Stmt, at: Mapping[Node, Node]) -> Parts:
        match stmt:
            case Seq(parts=parts):
                return _added(self.of(part, at) for part in parts)
            case Alloc(body=body):
                return self.of(body, self.inside(stmt, at))
            case If(body=body, otherwise=otherwise, choice=choice):
                found = self.of(body, at)
                if otherwise is not None and not choice:
                    return _larger(found, self.of(otherwise, at))
                return found
            case For(body=body):
                count = self._count(stmt, at)
                inside = self.of(body, self.inside(stmt, at))
                return {stage: count * (x + 0.5 / len(inside)) for stage, x in inside.items()}
            case Stores(stores=stores):
                (first, *_) = (stage_of(s, self._names) for s in stores)
                lanes = 1 if stmt.lanes is None else max(stmt.lanes.count / 8, 1.0)
                stage = first if first in self._known else ""
                return {stage: self._costs.here(stmt) * lanes}
            case Call():
                return {"": 1000.0}
            case _:
                return {}

    def inside(self, stmt: Stmt, at: Mapping[Node, Node]) -> Mapping[Node, Node]:
        """What stands for variables inside of a statement, too."""
        match stmt:
            case For(var=var, lo=lo, hi=hi):
                a, b = self._value(lo, at), self._value(hi, at)
                middle = 0 if a is None or b is None else (a + b) // 2
                return {**at, var: integer(middle)}
            case Alloc(origin=origin):
                found = dict(at)
                for var, value in origin:
                    found[var] = integer(self._value(value, at) or 0)
                return found
            case _:
                return at

    def _count(self, loop: For, at: Mapping[Node, Node]) -> float:
        lo, hi = self._value(loop.lo, at), self._value(loop.hi, at)
        if lo is None or hi is None:
            return UNKNOWN
        return float(max(-(-(hi - lo) // loop.step), 0))

    def _value(self, node: Node, at: Mapping[Node, Node]) -> int | None:
        """The value of an expression; None where it reads data."""
        if has_below(Load, node):
            return None
        (found,) = replaced_all((node,), at)
        return int(size_value(found, self._values, self._values))


def _added(found: Iterable[Parts]) -> Parts:
    total: Parts = {}
    for parts in found:
        for stage, x in parts.items():
            total[stage] = total.get(stage, 0.0) + x
    return total


def _larger(a: Parts, b: Parts) -> Parts:
    return {x: max(a.get(x, 0.0), b.get(x, 0.0)) for x in (*a, *b)}


def only_known(parts: Parts) -> frozenset[str]:
    """The stages that are known."""
    return frozenset(parts) - {""}
