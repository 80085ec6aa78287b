"""Random updates: every operator; over Vars, RVars, shifted and scattered places."""

from __future__ import annotations

from polysched.lang.nodes.dtypes import DType
from polysched.testing.choices import Choices

from .expressions import Expressions
from .loops import Loops
from .vocabulary import Scope, Symbol, Tensor, Value, kind_of
from .world import World

_OPERATORS = {
    "bool": ("|", "&", "^", "min", "max", "="),
    "int": ("+", "-", "*", "min", "max", "=", "&", "|", "^", "//", "%", "<<", ">>"),
    "float": ("+", "-", "*", "min", "max", "=", "/", "//", "%"),
}


class Updates:
    """Writes one update of the Func `name`. `depth` counts its loops."""

    def __init__(
        self, choices: Choices, world: World, name: str, vars: tuple[str, ...],
        extents: tuple[str, ...] | None,
    ) -> None:  # fmt: skip
        self.choices = choices
        self.world = world
        self.name = name
        self.vars = vars
        self.extents = extents
        self.scope = Scope(symbols=list(world.loops))
        self.expressions = Expressions(choices, world, self.scope)
        self.loops = Loops(choices, world, self.scope, self.expressions)
        self.types = world.types_of(name)
        self.fixed: list[str | None] = []

    @property
    def depth(self) -> int:
        return len(self.scope.symbols)

    def update(self) -> None:
        """Adds it to the program, if the language takes it."""
        choices = self.choices
        forms = [
            choices.weighted((8, "var"), (5, "rvar"), (1, "constant"), (2, "affine"),
                             (3, "scattered"), (2, "moved var"))
            for _ in self.vars
        ]  # fmt: skip
        # Vars first: the bounds and conditions of RVars may mention them.
        for axis, form in enumerate(forms):
            if form in ("var", "moved var"):
                within = frozenset({self.extents[axis]} if self.extents and form == "var" else ())
                self.scope.symbols.append(Symbol(self.vars[axis], within))
        left = [self._coordinate(axis, form) for axis, form in enumerate(forms)]
        if self.depth < 4 and choices.chance(50):
            self.loops.rvar(None)
        elif self.depth < 3 and choices.chance(15):
            self.loops.domain()
        func = Tensor(self.name, self.types, len(left), self.extents)
        self.scope.recurrent = (func, tuple(self.fixed))
        kept = {*self.vars, *(s.name for s in self.world.loops)}
        alone = all(s.name in kept for s in self.scope.symbols)
        self.scope.reduces_itself = self.world.in_block and alone
        target = f"{self.name}[{', '.join(left) or '()'}]"
        right = self._right(target)
        self.world.run([*self.scope.lines, f"{target} {right}"])

    def _coordinate(self, axis: int, form: str) -> str:
        """One index of the left side; `fixed` remembers what other reads of it must keep."""
        extent = self.extents[axis] if self.extents else None
        bound = extent or self.world.extent()
        x = self.vars[axis]
        match form:
            case "var":
                text, fixed = x, True
            case "moved var":
                last = f"{bound} - 1 - {x}"
                c = self.choices.below(3)
                text = self.choices.pick(
                    (last, f"{x} + {c}", f"2 * {x} + {c}", f"-{x}", f"3 * {x}")
                )
                fixed = True
            case "constant":
                text, fixed = self.choices.pick(("0", "1", f"{bound} - 1", f"{bound} // 2")), False
            case "affine":
                r = self.loops.rvar(bound)
                forms = [f"{bound} - 1 - {r.name}", f"{r.name} // 2", f"{r.name} - {r.name} % 2"]
                forms += [f"{r.name} + 1"] if bound in r.below else []
                text, fixed = self.choices.pick(forms), False
            case "scattered":
                if not any("R" in s.name or "r" in s.name for s in self.scope.symbols):
                    self.loops.rvar(None)
                text, fixed = self._scattered(bound), False
            case _:
                text, fixed = self.loops.rvar(bound).name, False
        self.fixed.append(text if fixed else None)
        return text

    def _scattered(self, extent: str) -> str:
        """An index that depends on data; Vars in it would be refused, so there are none."""
        kept = self.scope.symbols[:]
        self.scope.symbols[:] = [s for s in kept if s.name not in self.vars]
        form = self.choices.pick(("clipped data", "index input", "modulo"))
        with self.scope.bounding():
            text = self.expressions.indices.any_inside(form, extent)
        made = [s for s in self.scope.symbols if s not in kept]
        self.scope.symbols[:] = [*kept, *made]
        return text

    def _right(self, target: str) -> str:
        """The operator and the value."""
        depth = self.choices.weighted((4, 1), (4, 2), (2, 3))
        if len(self.types) > 1:
            values = [self._value(t, depth) for t in self.types]
            return f"= ({', '.join(v.text for v in values)})"
        t = self.types[0]
        op = self.choices.pick(_OPERATORS[kind_of(t)])
        value = self._value(t, depth)
        if op in ("min", "max"):
            operands = [target, value.text]
            if self.choices.chance(30):
                operands.reverse()
            return f"= ps.{op}imum({', '.join(operands)})"
        return f"= {value.text}" if op == "=" else f"{op}= {value.text}"

    def _value(self, t: DType, depth: int) -> Value:
        kind = kind_of(t) if self.choices.chance(85) else None
        value = self.expressions.traced(self.expressions.value(depth, kind), 3)
        return self.expressions.store(value, t) if self.choices.chance(85) else value
