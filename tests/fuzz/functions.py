"""Random Funcs: pure definitions, whole or in pieces, and updates of them."""

from __future__ import annotations

from polysched.lang.nodes.dtypes import DType
from polysched.testing.choices import Choices

from .expressions import Expressions
from .recurrences import Recurrences
from .shorthands import Shorthands
from .updates import Updates
from .vocabulary import Scope, Symbol, Tensor, kind_of
from .world import DTYPES, World


class Functions:
    """Writes the Funcs of one program.

    Attributes:
        made: those that there are.
        boundaries: the names of those made by `ps.boundary`.
        depth: the most loops around a definition.
    """

    def __init__(self, choices: Choices, world: World) -> None:
        self.choices = choices
        self.world = world
        self.made: list[Tensor] = []
        self.boundaries: set[str] = set()
        self.depth = 0

    def func(self) -> None:
        """A Func, if the language takes it."""
        choices, world = self.choices, self.world
        if choices.chance(8) and self._boundary():
            return
        if choices.chance(10) and self._shorthand():
            return
        if choices.chance(8) and self._recurrence():
            return
        if choices.chance(4):
            size = choices.pick(world.sizes)
            world.run([f'ps.require({size} >= {choices.below(3)}, "too small")'])
        name = world.fresh("f")
        rank = choices.weighted((5, 1), (8, 2), (2, 0), (2, 3))
        extents = tuple(world.extent() for _ in range(rank)) if choices.chance(60) else None
        if not world.run([f"{name} = ps.Func({self._arguments(name, extents)})"]):
            return
        given = world.namespace[name].declared_dtypes or ()
        vars = self._vars(rank)
        if not self._pure(name, vars, extents, given):
            zeros = ", ".join("0" for _ in given) if len(given) > 1 else "0"
            world.run([f"{name}[{', '.join(vars) or '()'}] = {zeros}"])
        if choices.chance(45):
            for _ in range(choices.weighted((5, 1), (3, 2), (1, 3))):
                updates = Updates(choices, world, name, vars, extents)
                updates.update()
                self.depth = max(self.depth, updates.depth)
        self.depth = max(self.depth, rank)
        made = Tensor(name, world.types_of(name), rank, extents, is_func=True)
        self.made.append(made)
        world.tensors.append(made)

    def updates(self, tensor: Tensor) -> None:
        """Updates of something that there is."""
        for _ in range(self.choices.weighted((5, 1), (3, 2))):
            vars = self._vars(tensor.rank)
            updates = Updates(self.choices, self.world, tensor.name, vars, tensor.extents)
            updates.update()
            self.depth = max(self.depth, updates.depth)

    def block(self, level: int = 0) -> None:
        """An ordered block over updates of arrays in place and of Funcs with a shape, perhaps
        with blocks and Funcs inside."""
        choices, world = self.choices, self.world
        targets = [*world.inouts, *(f for f in self.made if f.extents is not None)]
        if not targets:
            return
        targets = [choices.pick(targets) for _ in range(1 + choices.below(2))]
        with world.block(world.fresh("t"), self._bounds()):
            world.tensors += [t for t in targets if t not in world.tensors]
            for _ in range(1 + choices.below(3)):
                form = choices.weighted((6, "update"), (3, "func"), (2 - level, "block"))
                if form == "update":
                    self.updates(choices.pick(targets))
                elif form == "func":
                    self._inside()
                else:
                    self.block(level + 1)

    def updated(self) -> tuple[str, ...]:
        """The arrays in place that the program changes so far."""
        inouts = [t.name for t in self.world.inouts]
        return tuple(name for name in inouts if self.world.namespace[name].is_updated)

    def _inside(self) -> None:
        """A Func that is fresh in each iteration: of no use elsewhere."""
        self.func()
        self.made = [f for f in self.made if self.world.namespace[f.name].history.home is None]

    def _bounds(self) -> str:
        """Of a block; none for one without a loop."""
        size = self.choices.pick(self.world.sizes)
        around = [s.name for s in self.world.loops]
        if around and self.choices.chance(40):
            return f"0, {around[-1]} + 1"
        return self.choices.pick(("0, 2", f"0, {size}", f"{size}, -1, -2", "", "-1, 2", "3, 0, -1"))

    def _arguments(self, name: str, extents: tuple[str, ...] | None) -> str:
        parts = [repr(name)]
        if extents is not None:
            parts.append(f"({', '.join(extents)}{',' * (len(extents) == 1)})")
        form = self.choices.weighted((6, "none"), (4, "one"), (1, "tuple"))
        if form != "none":
            count = 1 if form == "one" else 2 + self.choices.below(2)
            types = [f"ps.{self.choices.pick(DTYPES).name}" for _ in range(count)]
            parts.append("dtype=" + (types[0] if form == "one" else f"({', '.join(types)})"))
        return ", ".join(parts)

    def _vars(self, rank: int) -> tuple[str, ...]:
        names = ["i", "j", "k"]
        if self.choices.chance(25):
            names = [names[(n + 1 + self.choices.below(2)) % 3] for n in range(3)]
            names = names if len(set(names)) == 3 else ["j", "i", "k"]
        return tuple(names[:rank])

    # definitions ------------------------------------------------------------------------------
    def _pure(
        self, name: str, vars: tuple[str, ...], extents: tuple[str, ...] | None,
        given: tuple[DType, ...],
    ) -> bool:  # fmt: skip
        if vars and self.choices.chance(15):
            for left in self._pieces(vars, extents):
                self._define(name, left, vars, extents, given)
        return self._define(name, vars, vars, extents, given)

    def _pieces(
        self, vars: tuple[str, ...], extents: tuple[str, ...] | None
    ) -> list[tuple[str, ...]]:
        """Left sides with constants."""
        axis = self.choices.below(len(vars))
        extent = extents[axis] if extents else self.choices.pick(self.world.sizes)
        last = str(int(extent) - 1) if extent.isdigit() else f"{extent} - 1"
        chosen = self.choices.pick((["0"], [last], ["1", "0"], ["0", "1", "2"], ["2"]))
        found = [(*vars[:axis], c, *vars[axis + 1 :]) for c in dict.fromkeys(chosen)]
        if len(vars) == 2 and self.choices.chance(40):
            found += [(found[0][0] if axis == 0 else "1", found[0][1] if axis == 1 else "1")]
        return found

    def _define(
        self, name: str, left: tuple[str, ...], vars: tuple[str, ...],
        extents: tuple[str, ...] | None, given: tuple[DType, ...],
    ) -> bool:  # fmt: skip
        scope = Scope(symbols=list(self.world.loops))
        for axis, x in enumerate(left):
            if x in vars:
                within = frozenset({extents[axis]} if extents else ())
                scope.symbols.append(Symbol(x, within))
        expressions = Expressions(self.choices, self.world, scope)
        depth = self.choices.weighted((3, 2), (3, 3), (2, 1), (1, 4))
        values = []
        for k in range(max(len(given), 1)):
            kind = kind_of(given[k]) if given and self.choices.chance(80) else None
            value = expressions.traced(expressions.value(depth, kind), 3)
            values.append(expressions.store(value, given[k]) if given else value)
        right = ", ".join(v.text for v in values)
        target = f"{name}[{', '.join(left) or '()'}]"
        right = right if len(values) == 1 else f"({right})"
        return self.world.run([*scope.lines, f"{target} = {right}"])

    def _recurrence(self) -> bool:
        """Funcs that are defined through themselves or each other."""
        found = Recurrences(self.choices, self.world).write()
        self.made += found
        self.world.tensors += found
        self.depth = max([self.depth, *(f.rank + 1 for f in found)])
        return bool(found)

    def _shorthand(self) -> bool:
        """A Func that is made by one call."""
        made = Shorthands(self.choices, self.world).write()
        if made is None:
            return False
        self.world.tensors.append(made)
        self.depth = max(self.depth, made.rank + 1)
        return True

    def _boundary(self) -> bool:
        shaped = [t for t in self.world.tensors if t.extents and len(t.types) == 1]
        if not shaped:
            return False
        tensor, name = self.choices.pick(shaped), self.world.fresh("b")
        kind = self.choices.pick(("repeat_edge", "constant", "reflect", "mirror", "wrap"))
        value = ", 1" if kind == "constant" else ""
        axes = ", axes=(0,)" if self.choices.chance(25) else ""
        if not self.world.run([f"{name} = ps.boundary.{kind}({tensor.name}{value}{axes})"]):
            return False
        made = Tensor(name, self.world.types_of(name), tensor.rank, None, is_func=True)
        self.made.append(made)
        self.boundaries.add(name)
        self.world.tensors.append(made)
        return not axes or tensor.rank == 1
