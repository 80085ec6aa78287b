"""Random indices: inside of an extent by construction, or anywhere together with a guard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.testing.choices import Choices

from .vocabulary import Scope, Symbol
from .world import INTEGERS, World

if TYPE_CHECKING:
    from .expressions import Expressions


class Indices:
    """Writes indices and conditions on them."""

    def __init__(self, choices: Choices, world: World, scope: Scope, owner: Expressions) -> None:
        self.choices = choices
        self.world = world
        self.scope = scope
        self.owner = owner

    # inside -----------------------------------------------------------------------------------
    def inside(self, extent: str, depth: int = 1, data: bool = True) -> str:
        """An index in [0, extent), where that is not empty.

        Args:
            data: whether it may depend on data.
        """
        choices = self.choices
        fitting = [s for s in self.scope.symbols if extent in s.within]
        if fitting and choices.chance(75):
            return self._of_symbol(choices.pick(fitting), extent)
        form = choices.weighted(
            (4, "clamped"), (1, "first"), (1, "last"), (2, "clipped data"), (2, "index input"),
            (1, "modulo"), (1, "chosen"), (1, "product"), (1, "extreme"),
        )  # fmt: skip
        return self.any_inside(form if data else "clamped", extent, depth)

    def _of_symbol(self, s: Symbol, extent: str) -> str:
        x = s.name
        forms = [
            x, x, x, x, x, f"{extent} - 1 - {x}", f"{x} // 2", f"{x} - {x} % 2", f"{x} % 3",
            f"ps.maximum({x} - 1, 0)", f"ps.minimum({x} + 1, {extent} - 1)", f"{x} // 3 * 2",
            f"({extent} - 1 - {x}) // 2", f"{x} & 3", f"{x} >> 1",
            f"ps.select({x} % 2 == 0, {x}, {x} - 1)", f"ps.abs({x})",
        ]  # fmt: skip
        if self.choices.chance(30):
            forms = self._around(x, extent)
        if extent in s.below:
            forms += [f"{x} + 1"] * 4
        if s.positive:
            forms += [f"{x} - 1"] * 4
        return self.choices.pick(forms)

    def _around(self, x: str, extent: str) -> list[str]:
        """Neighbours of a place in [0, extent), around an axis of this extent or through it."""
        c = self.choices.below(4)
        return [
            f"({x} - 1) % ({extent})", f"({x} + 1) % ({extent})", f"({x} + {c}) % ({extent})",
            f"(-{x}) % ({extent})", f"({extent} - {c} - {x}) % ({extent})",
            f"({x} - 1) // ({extent}) + 1", f"ps.select({x} + 1 < {extent}, {x} + 1, 0)",
            f"ps.select({x} - 1 < 0, {extent} - 1, {x} - 1)",
            f"ps.select({x} < 1, {x} - 1 + {extent}, {x} - 1)",
            f"ps.select({self.condition()}, {x}, {x} + 1) % ({extent})",
        ]  # fmt: skip

    def any_inside(self, form: str, extent: str, depth: int = 1) -> str:
        """An index of the given form in [0, extent)."""
        if form == "extreme" and self.scope.reductions < 1:
            form = "clamped"
        with self.scope.indexing():
            return self._in_form(form, extent, depth)

    def _in_form(self, form: str, extent: str, depth: int) -> str:
        last = str(int(extent) - 1) if extent.isdigit() else f"{extent} - 1"
        match form:
            case "clamped":
                free = self._narrow() if self.choices.chance(15) else self.free(depth)
                return f"ps.clip({free}, 0, {last})"
            case "first":
                return "0"
            case "last":
                return last
            case "clipped data":
                # The common type of uint64 and the extent is a float, which is no index.
                types = INTEGERS if self.choices.chance(10) else INTEGERS[:-1]
                x = self.owner.cast(self.owner.value(depth, "int"), self.choices.pick(types))
                wide = self.owner.cast(x, INTEGERS[3]) if self.choices.chance(50) else x
                return f"ps.clip({wide.text}, 0, {last})"
            case "index input":
                name, extents = self.world.index_input(extent)
                return f"{name}[{', '.join(self.inside(e, depth - 1) for e in extents)}]"
            case "modulo":
                x = self.owner.value(depth, "int")
                return f"({self.owner.cast(x, INTEGERS[3]).text}) % ({extent})"
            case "extreme":
                op = self.choices.pick(("argmax", "argmin"))
                return self.owner.reductions.place(op, extent, depth).text
            case "chosen":
                condition = self.condition()
                return f"ps.select({condition}, {self._simple(extent)}, {self._simple(extent)})"
            case _:
                a, b = self._symbol(), self._symbol()
                return f"ps.clip({a} * {b}, 0, {last})"

    def _simple(self, extent: str) -> str:
        fitting = [s.name for s in self.scope.symbols if extent in s.within]
        return (
            self.choices.pick(fitting) if fitting else f"ps.clip({self.free(0)}, 0, {extent} - 1)"
        )

    # anywhere ---------------------------------------------------------------------------------
    def _symbol(self) -> str:
        if not self.scope.symbols:
            return self.choices.pick(("0", "1", *self.world.sizes))
        return self.choices.pick(self.scope.symbols).name

    def free(self, depth: int = 1) -> str:
        """A quasi-affine expression in the symbols; any integer."""
        choices = self.choices
        a, b = self._symbol(), self._symbol()
        c, n = choices.below(4), choices.pick(self.world.sizes)
        forms = [
            a, f"{a} + {c}", f"{a} - {c}", f"{n} - 1 - {a}", f"2 * {a} - {c}", f"{a} // 2",
            f"({a} + {c}) // 2", f"{a} + {b}", f"{a} - {b}", f"{a} % 3 - {c}", f"-{a}",
            f"({a} + {b} * 2) // 3", f"ps.maximum({a}, {b} - {c})", f"{n} // 2 - {a}",
            f"ps.abs({a} - {c})", f"3 * {a} + {b}", f"({a} - {c}) % 4", f"{a} - {b} // 2",
            f"({a} + {c}) % {n}", f"({a} - {c}) // {n}", f"({a} - {b}) % ({n} + 1)",
        ]  # fmt: skip
        if depth > 0:
            forms.append(f"ps.select({self.condition()}, {a}, {b} - {c})")
        whole = [p.name for p in self.world.params if p.lo is not None]
        if whole:
            forms += [f"{a} - {whole[0]}", f"{a} + {whole[-1]}"]
        return choices.pick(forms)

    def _narrow(self) -> str:
        """An index computed in a type in which it may wrap: affine for small sizes only."""
        a, c = self._symbol(), self.choices.below(4)
        t = self.choices.pick(("int8", "int32", "uint8", "uint64", "int16"))
        return self.choices.pick((
            f"ps.cast(ps.{t}, {a}) * 3", f"ps.cast(ps.{t}, {a}) - {c}", f"{a} * {a}",
            f"ps.cast(ps.{t}, {a} * 40) + 100", f"-ps.cast(ps.{t}, {a})",
        ))  # fmt: skip

    def in_32_bits(self, extent: str) -> str:
        """An index computed in 32 bits: one that is read, perhaps moved, or one that might wrap."""
        t, x = self.choices.pick(("int32", "uint32")), self._symbol()
        read = self.any_inside("index input", extent)
        c = self.choices.below(3)
        return self.choices.pick((
            read, f"ps.cast(ps.{t}, {read})", f"ps.cast(ps.{t}, {read}) + {c}",
            f"ps.cast(ps.{t}, {x})", f"ps.clip(ps.cast(ps.{t}, {read}) - {c}, 0, {extent} - 1)",
            f"ps.minimum(ps.cast(ps.{t}, {x}), {extent} - 1)",
        ))  # fmt: skip

    def expression(self) -> str:
        """As `free`, and never a plain number."""
        free = self.free()
        return free if self.scope.symbols else f"{free} + 0 * {self.world.sizes[0]}"

    def guard(self, index: str, extent: str) -> str:
        """That the index is in [0, extent)."""
        return self.choices.pick((
            f"({index} >= 0) & ({index} < {extent})",
            f"(0 <= {index}) & ({index} <= {extent} - 1)",
            f"~(({index} < 0) | ({index} >= {extent}))",
            f"ps.select({index} >= 0, {index} < {extent}, False)",
            f"({index} > -1) & ({extent} > {index}) & ({self.condition()})",
            f"({index} == ps.clip({index}, 0, {extent} - 1)) & ({extent} > 0)",
        ))  # fmt: skip

    # conditions -------------------------------------------------------------------------------
    def condition(self) -> str:
        """A condition on symbols, sizes and Params, mostly affine."""
        choices = self.choices
        a, b = self._symbol(), self._symbol()
        if a.isdigit() and b.isdigit():
            a = choices.pick(self.world.sizes)
        if a.isdigit():
            a, b = b, a
        c, n = choices.below(4), choices.pick(self.world.sizes)
        forms = [
            f"{a} > {c}", f"{a} < {n} - {c}", f"{a} % 2 == {c % 2}", f"{a} <= {b}",
            f"({a} + {b}) % 3 == {c % 3}", f"{a} != {c}", f"2 * {a} > {n}", f"{a} * {b} > {c}",
            f"({a} >= {c}) & ({a} < {n})", f"({a} < {c}) | ({b} > {c})", f"{n} > {c}",
            f"({a} // 2) % 2 == 0", f"~({a} == {n} - 1)", f"(({a} > 1) ^ ({b} > 1))",
            f"(({a} > 1) == ({b} % 2 == 0))", f"({a} + 1) * 4 <= 3 * {n}",
            f"({a} + {c}) % {n} == 0", f"({a} - {c}) // {n} < 0", f"({a} + 1) % {n} > {b}",
        ]  # fmt: skip
        if self.world.params:
            p = choices.pick(self.world.params)
            forms.append(p.name if p.dtype == "bool" else f"{p.name} > {c}")
        return choices.pick(forms)


def joined(conditions: list[str]) -> str:
    """All of them."""
    return " & ".join(f"({c})" for c in conditions)
