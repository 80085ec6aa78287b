"""Random Funcs that the language makes by one call: contractions, functions of indices, and stages
that it does not look into."""

from __future__ import annotations

from polysched.testing.choices import Choices

from .expressions import Expressions
from .vocabulary import Scope, Symbol, Tensor
from .world import World

_OPAQUE = (
    "lambda a: a[::-1]",
    "lambda a: np.roll(a, 1)",
    "np.copy",
    "lambda a, out: np.copyto(out, a)",
)


class Shorthands:
    """Writes one of them, if there is something to make it of."""

    def __init__(self, choices: Choices, world: World) -> None:
        self.choices = choices
        self.world = world

    def write(self) -> Tensor | None:
        """The Func, if the language takes it."""
        form = self.choices.weighted((3, "extern"), (2, "einsum"), (2, "compute"))
        made: Tensor | None = {
            "extern": self._extern, "einsum": self._einsum, "compute": self._compute,
        }[form]()  # fmt: skip
        return made

    def _shaped(self) -> list[Tensor]:
        return [t for t in self.world.tensors if t.extents and len(t.types) == 1]

    def _made(self, name: str, lines: list[str], extents: tuple[str, ...]) -> Tensor | None:
        if not self.world.run(lines):
            return None
        types = self.world.types_of(name)
        return Tensor(name, types, len(extents), extents, is_func=True)

    def _extern(self) -> Tensor | None:
        """A stage that the language does not look into."""
        if not self._shaped():
            return None
        tensor, name = self.choices.pick(self._shaped()), self.world.fresh("e")
        assert tensor.extents is not None
        extents = f"({', '.join(tensor.extents)},)"
        function, dtype = self.choices.pick(_OPAQUE), tensor.types[0].name
        call = f"ps.extern({name!r}, {function}, [{tensor.name}], {extents}, ps.{dtype})"
        return self._made(name, [f"{name} = {call}"], tensor.extents)

    def _einsum(self) -> Tensor | None:
        """Over two operands, or one; axes of one letter have one length, or the call is refused."""
        shaped = [t for t in self._shaped() if t.rank < 3 and not t.types[0].is_bool]
        if not shaped:
            return None
        operands = [self.choices.pick(shaped) for _ in range(self.choices.weighted((2, 1), (3, 2)))]
        known: dict[str, str] = {}
        terms = ["".join(self._letter(e, known) for e in t.extents or ()) for t in operands]
        kept = [x for x in dict.fromkeys("".join(terms)) if self.choices.chance(60)]
        result, name = "".join(self.choices.shuffled(kept)), self.world.fresh("f")
        names = ", ".join(t.name for t in operands)
        call = f"ps.einsum({','.join(terms) + '->' + result!r}, {names}, name={name!r})"
        return self._made(name, [f"{name} = {call}"], tuple(known[x] for x in result))

    def _letter(self, extent: str, known: dict[str, str]) -> str:
        """For an axis: mostly one that stands for its extent already."""
        same = [x for x, e in known.items() if e == extent]
        if same and self.choices.chance(75):
            return self.choices.pick(same)
        letter = "abcdef"[len(known)]
        known[letter] = extent
        return letter

    def _compute(self) -> Tensor | None:
        """A function of the indices."""
        vars, name = ("i", "j")[: self.choices.between(1, 2)], self.world.fresh("f")
        extents = tuple(self.world.extent() for _ in vars)
        own = [Symbol(x, frozenset({e})) for x, e in zip(vars, extents, strict=True)]
        scope = Scope(symbols=[*self.world.loops, *own])
        value = Expressions(self.choices, self.world, scope).value(2)
        shape, function = f"({', '.join(extents)},)", f"lambda {', '.join(vars)}: {value.text}"
        line = f"{name} = ps.compute({name!r}, {shape}, {function})"
        return self._made(name, [*scope.lines, line], extents)
