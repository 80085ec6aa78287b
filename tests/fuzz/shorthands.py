"""Random Funcs that the language makes by one call: contractions, functions of indices, and stages
that it does not look into."""

from __future__ import annotations

from polysched.testing.choices import Choices

from .expressions import Expressions
from .vocabulary import Scope, Symbol, Tensor, Value
from .world import World

_OPAQUE = (
    "lambda a, *b: a[::-1]",
    "lambda a, *b: np.roll(a, 1 + sum(x.size for x in b))",
    "lambda a, *b: np.roll(a, sum((x != 0).sum() for x in b))",
    "lambda a, *b: np.copy(a)",
    "lambda a, *b, out: np.copyto(out, a)",
)
_OPAQUE_PAIRS = (
    "lambda a, *b: (a[::-1], np.full(a.shape, a.size + len(b)))",
    "lambda a, *b, out: np.copyto(out[0], a) or np.copyto(out[1], -a.ndim)",
)
"""Functions of two values at each point, the second one an int64."""


class Shorthands:
    """Writes one of them, if there is something to make it of."""

    def __init__(self, choices: Choices, world: World) -> None:
        self.choices = choices
        self.world = world

    def write(self) -> Tensor | None:
        """The Func, if the language takes it."""
        form = self.choices.weighted((3, "extern"), (2, "einsum"), (2, "compute"), (2, "leading"))
        made: Tensor | None = {
            "extern": self._extern, "einsum": self._einsum, "compute": self._compute,
            "leading": self._leading,
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
        """A stage that the language does not look into, over parts of some tensors. What it
        computes is as large as the first part."""
        shaped = [t for t in self.world.tensors if t.extents]
        if not shaped:
            return None
        tensor, name = self.choices.pick(shaped), self.world.fresh("e")
        first, extents = self._part(tensor)
        count = self.choices.weighted((5, 0), (2, 1))
        parts = [first, *(self._part(self.choices.pick(shaped))[0] for _ in range(count))]
        dtype = f"ps.{tensor.types[0].name}"
        is_pair = self.choices.chance(25)
        function = self.choices.pick(_OPAQUE_PAIRS if is_pair else _OPAQUE)
        dtype = f"({dtype}, ps.int64)" if is_pair else dtype
        shape, reads = f"({', '.join(extents)},)", ", ".join(parts)
        call = f"ps.extern({name!r}, {function}, [{reads}], {shape}, {dtype})"
        return self._made(name, [f"{name} = {call}"], extents)

    def _part(self, tensor: Tensor) -> tuple[str, tuple[str, ...]]:
        """All of a tensor or a part of it, as an extern stage reads it, and the extents of that."""
        assert tensor.extents is not None
        if self.choices.chance(50):
            return tensor.name, tensor.extents
        ends = [self._ends(e) for e in tensor.extents]
        bounds = ", ".join(f"({lo}, {hi})" for lo, hi, _ in ends)
        return f"({tensor.name}, ({bounds},))", tuple(extent for *_, extent in ends)

    def _ends(self, extent: str) -> tuple[str, str, str]:
        """Of a part of an axis, and how long that is."""
        loops = [s.name for s in self.world.loops]
        own = (loops[-1], f"{loops[-1]} + 1", "1") if loops else ("0", "1", "1")
        return self.choices.weighted(
            (5, ("0", extent, extent)), (2, ("1", extent, f"({extent} - 1)")), (2, own),
            (1, ("0", f"({extent}) // 2", f"(({extent}) // 2)")),
            (1, (f"({extent}) // 2", extent, f"(({extent} + 1) // 2)")),
        )  # fmt: skip

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

    def _leading(self) -> Tensor | None:
        """A function of the elements of a tensor at the same leading indices, which stay unsaid."""
        if not self._shaped():
            return None
        tensor, name = self.choices.pick(self._shaped()), self.world.fresh("f")
        extents = tensor.extents or ()
        count = self.choices.below(min(tensor.rank, 2) + 1)
        said = ("i", "j")[:count]
        last = extents[tensor.rank - count :]
        own = [Symbol(x, frozenset({e})) for x, e in zip(said, last, strict=True)]
        scope = Scope(symbols=[*self.world.loops, *own])
        expressions = Expressions(self.choices, self.world, scope)
        index = [expressions.indices.inside(e, data=False) for e in last]
        read = Value(f"{tensor.name}[{', '.join(('...', *index))}]", tensor.types[0])
        scope.shared.append(read)
        value = expressions.as_kind(expressions.value(2), read.kind)
        shape = f"({', '.join(extents)},)"
        other = "ps.maximum" if read.kind != "float" else "ps.minimum"
        lines = [
            f"{name} = ps.Func({name!r}, {shape})",
            f"{name}[{', '.join(('...', *said))}] = {other}({read.text}, {value.text})",
        ]
        return self._made(name, [*scope.lines, *lines], extents)
