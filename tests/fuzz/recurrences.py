"""Random Funcs that are defined through themselves, step by step or by a reduction over what comes
before, or two of them through each other."""

from __future__ import annotations

from dataclasses import replace

from polysched.testing.choices import Choices

from .expressions import Expressions
from .vocabulary import Scope, Symbol, Tensor, kind_of
from .world import DTYPES, World

_COMBINED = {
    "int": ("({a} + {b})", "({a} - {b})", "({a} ^ {b})", "ps.maximum({a}, {b})"),
    "float": ("({a} + {b})", "({a} * 0.5 + {b})", "ps.minimum({a}, {b})", "({b} - {a})"),
    "bool": ("({a} | {b})", "({a} ^ {b})", "({a} & {b})"),
}


class Recurrences:
    """Writes one recurrence, over the first axis of its Funcs."""

    def __init__(self, choices: Choices, world: World) -> None:
        self.choices = choices
        self.world = world
        self.vars = ("i", "j")[: choices.weighted((2, 1), (5, 2))]
        self.extents = tuple(world.extent() for _ in self.vars)
        self.type = choices.pick(DTYPES)
        self.is_typed = True

    def write(self) -> list[Tensor]:
        """The Funcs, if the language takes them."""
        form = self.choices.weighted((5, "steps"), (3, "before"), (2, "pair"))
        self.is_typed = form != "before" or len(self.vars) > 1 or self.choices.chance(50)
        funcs = [self._declared() for _ in range(2 if form == "pair" else 1)]
        first = funcs[0]
        if form == "before" and len(self.vars) == 1:
            lines = [self._summed(first)]
        elif form == "pair":
            second = funcs[1]
            lines = [self._begun(first), self._step(first, second, "i - 1")]
            lines.append(self._step(second, first, "i"))
        else:
            lines = [self._begun(first), self._step(first, first, "i - 1")]
        for written in lines:
            if not self.world.run(written):
                return []
        return [replace(f, types=self.world.types_of(f.name)) for f in funcs]

    def _declared(self) -> Tensor:
        name = self.world.fresh("f")
        shape = f"({', '.join(self.extents)},)"
        given = f", dtype=ps.{self.type.name}" if self.is_typed else ""
        self.world.run([f"{name} = ps.Func({name!r}, {shape}{given})"])
        return Tensor(name, (self.type,), len(self.vars), self.extents, is_func=True)

    def _scope(self, vars: tuple[str, ...]) -> Scope:
        within = dict(zip(self.vars, self.extents, strict=True))
        own = [Symbol(x, frozenset({within[x]})) for x in vars]
        return Scope(symbols=[*self.world.loops, *own])

    def _begun(self, func: Tensor) -> list[str]:
        """The piece that the recurrence begins with."""
        scope = self._scope(self.vars[1:])
        expressions = Expressions(self.choices, self.world, scope)
        value = expressions.store(expressions.value(1, kind_of(self.type)), self.type)
        return [*scope.lines, f"{func.name}[{', '.join(('0', *self.vars[1:]))}] = {value.text}"]

    def _step(self, func: Tensor, other: Tensor, before: str) -> list[str]:
        """A piece that reads a Func along the row `before`, perhaps in a reduction."""
        scope = self._scope(self.vars)
        scope.recurrent = (other, (before, *[None] * (len(self.vars) - 1)))
        scope.reduces_itself = True
        expressions, kind = Expressions(self.choices, self.world, scope), kind_of(self.type)
        own = expressions.reads.recurrent()
        if self.choices.chance(35):
            own = expressions.as_kind(expressions.reductions.value(2, kind), kind)
        return self._equation(func, expressions, expressions.store(own, self.type).text)

    def _summed(self, func: Tensor) -> list[str]:
        """An equation with a reduction of all elements before."""
        scope, r = self._scope(self.vars), self.world.fresh("r")
        scope.lines.append(f"{r} = ps.RVar({r!r}, 0, i)")
        expressions, kind = Expressions(self.choices, self.world, scope), kind_of(self.type)
        with scope.reducing():
            scope.symbols.append(Symbol(r, frozenset(self.extents), frozenset(self.extents)))
            value = expressions.store(expressions.value(1, kind), self.type)
        body = self._combined(f"{func.name}[{r}]", value.text)
        op = "any" if kind == "bool" else self.choices.pick(("sum", "max", "min", "prod"))
        start = ", initial=1" if op in ("max", "min") else ""
        own = self._cast(f"ps.{op}({body}, {r}{start})")
        return self._equation(func, expressions, own)

    def _equation(self, func: Tensor, expressions: Expressions, own: str) -> list[str]:
        value = expressions.store(expressions.value(2, kind_of(self.type)), self.type)
        text = self._cast(self._combined(own, value.text))
        return [*expressions.scope.lines, f"{func.name}[{', '.join(self.vars)}] = {text}"]

    def _cast(self, text: str) -> str:
        """A value of the declared type; where there is none, the type follows from the value."""
        return f"ps.cast(ps.{self.type.name}, {text})" if self.is_typed else text

    def _combined(self, a: str, b: str) -> str:
        return self.choices.pick(_COMBINED[kind_of(self.type)]).format(a=a, b=b)
