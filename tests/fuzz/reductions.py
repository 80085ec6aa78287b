"""Random reductions inside of expressions: over ranges of any kind, nested, and as indices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.lang.nodes.dtypes import WEAK_INT, DType, Type, bool_, concrete, int64, promote
from polysched.testing.choices import Choices

from .loops import Loops
from .vocabulary import Kind, Scope, Symbol, Value, kind_of
from .world import DTYPES, World

if TYPE_CHECKING:
    from .expressions import Expressions

_OPERATORS: dict[Kind, tuple[str, ...]] = {
    "int": ("sum", "prod", "max", "min", "argmax", "argmin"),
    "float": ("sum", "sum", "prod", "max", "min"),
    "bool": ("any", "all"),
}


class Reductions:
    """Writes reductions for one definition, as many as `scope.reductions` still allows."""

    def __init__(self, choices: Choices, world: World, scope: Scope, owner: Expressions) -> None:
        self.choices = choices
        self.world = world
        self.scope = scope
        self.owner = owner

    def value(self, depth: int, kind: Kind) -> Value:
        """A reduction whose value is of a kind."""
        op = self.choices.pick(_OPERATORS[kind])
        if op.startswith("arg"):
            return self.place(op, self.world.extent(), depth)
        with self.scope.reducing():
            loops = self._loops()
            body = self._body(depth, op, kind)
        return self._written(op, body, loops)

    def place(self, op: str, extent: str, depth: int) -> Value:
        """The index of an extreme value along an axis of this extent."""
        with self.scope.reducing():
            r = Symbol(self.world.fresh("r"), frozenset({extent}))
            first = self.choices.pick(("0", "0", "1"))
            self.scope.lines.append(f"{r.name} = ps.RVar({r.name!r}, {first}, {extent})")
            self.scope.symbols.append(r)
            body = self._body(depth, op, self.choices.pick(("int", "float")))
        return Value(f"ps.{op}({body.text}, {r.name})", int64)

    def _loops(self) -> list[str]:
        loops = Loops(self.choices, self.world, self.scope, self.owner)
        form = self.choices.weighted((8, "one"), (2, "two"), (1, "domain"))
        if form == "domain":
            return [s.name for s in loops.domain()]
        return [loops.rvar(None).name for _ in range(1 if form == "one" else 2)]

    def _body(self, depth: int, op: str, kind: Kind) -> Value:
        """What is reduced; of integers that are counted, conditions now and then."""
        if self.scope.recurrent is not None and self.choices.chance(40):
            return self.owner.as_kind(self.owner.reads.recurrent(), kind)
        if op == "sum" and kind == "int" and self.choices.chance(20):
            return self.owner.value(depth - 1, "bool")
        return self.owner.traced(self.owner.value(depth - 1, kind), 5)

    def _written(self, op: str, body: Value, loops: list[str]) -> Value:
        over = loops[0] if len(loops) == 1 else f"({', '.join(loops)})"
        start: Type = bool_ if op in ("any", "all") else WEAK_INT
        if op in ("max", "min"):
            start = concrete(body.type)
        more = ""
        if self.choices.chance(60 if op in ("max", "min") else 20):
            kind = "int" if body.kind == "bool" and op == "sum" else body.kind
            initial = self.owner.literal(kind)
            more, start = f", initial={initial.text}", initial.type
        t: Type = concrete(promote(start, body.type) or body.type)
        if op not in ("any", "all") and self.choices.chance(20):
            t = self._wider(concrete(t))
            more += f", dtype=ps.{t.name}"
        return Value(f"ps.{op}({body.text}, {over}{more})", t)

    def _wider(self, t: DType) -> DType:
        """A type of the same kind that holds at least as much."""
        fitting = [u for u in DTYPES if kind_of(u) == kind_of(t) and u.kind == t.kind]
        return self.choices.pick([u for u in fitting if u.bits >= t.bits] or [t])
