"""Random RVars: over affine and triangular ranges, restricted by conditions of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polysched.testing.choices import Choices

from .vocabulary import Scope, Symbol
from .world import World

if TYPE_CHECKING:
    from .expressions import Expressions


class Loops:
    """Declares the RVars of one definition, outermost first."""

    def __init__(
        self, choices: Choices, world: World, scope: Scope, expressions: Expressions
    ) -> None:
        self.choices = choices
        self.world = world
        self.scope = scope
        self.expressions = expressions

    def rvar(self, extent: str | None) -> Symbol:
        """An RVar within an extent, if one is given; it is added to the scope."""
        name = self.world.fresh("r")
        wanted = extent or self.world.extent()
        with self.scope.bounding():
            if self.choices.chance(12):
                lo, hi, symbol = self._range_of_data(name, wanted)
            else:
                lo, hi, symbol = self._range(name, wanted)
            where = self._where(symbol) if self.choices.chance(25) else ""
        self.scope.lines.append(f"{name} = ps.RVar({name!r}, {lo}, {hi}{where})")
        self.scope.symbols.append(symbol)
        return symbol

    def domain(self) -> list[Symbol]:
        """Two RVars made together."""
        names = [self.world.fresh("r"), self.world.fresh("r")]
        made = [self._range(n, self.world.extent(), plain=True) for n in names]
        where = ""
        if self.choices.chance(50):
            a, b = names
            test = self.choices.pick((f"{a} <= {b}", f"({a} + {b}) % 2 == 0", f"{a} + {b} < 3"))
            where = f", where=lambda {a}, {b}: {test}"
        bounds = ", ".join(f"({lo}, {hi})" for lo, hi, _ in made)
        spaced = " ".join(names)
        self.scope.lines.append(f"{', '.join(names)} = ps.rdom({spaced!r}, {bounds}{where})")
        symbols = [s for _, _, s in made]
        self.scope.symbols += symbols
        return symbols

    def _range(self, name: str, extent: str, plain: bool = False) -> tuple[str, str, Symbol]:
        choices = self.choices
        within = frozenset({extent})
        whole = ("0", extent, Symbol(name, within))
        forms = [
            whole, whole, whole,
            ("1", extent, Symbol(name, within, positive=True)),
            ("0", f"{extent} - 1", Symbol(name, within, below=within)),
            ("1", f"{extent} - 1", Symbol(name, within, below=within, positive=True)),
            (f"{extent} // 2", extent, Symbol(name, within)),
            ("0", f"({extent} + 1) // 2", Symbol(name, within)),
            ("-1", "3", Symbol(name)), ("0", "1", Symbol(name)),
            (extent, "0", Symbol(name, within)),
        ]  # fmt: skip
        outer = [s for s in self.scope.symbols if extent in s.within]
        if outer and not plain:
            s = choices.pick(outer)
            forms += [
                ("0", s.name, Symbol(name, within, below=within)),
                ("0", f"{s.name} + 1", Symbol(name, within)),
                (s.name, extent, Symbol(name, within)),
                (f"{s.name} + 1", extent, Symbol(name, within, positive=True)),
                (f"ps.maximum({s.name} - 1, 0)", f"ps.minimum({s.name} + 2, {extent})",
                 Symbol(name, within)),
                (f"{s.name} // 2", f"{s.name}", Symbol(name, within, below=within)),
                (f"{s.name} - 2", f"{s.name} + 2", Symbol(name)),
                ("0", f"({s.name} + 1) % ({extent})", Symbol(name, within, below=within)),
                (f"({s.name} - 1) % ({extent})", extent, Symbol(name, within)),
            ]  # fmt: skip
        return choices.pick(forms)

    def _range_of_data(self, name: str, extent: str) -> tuple[str, str, Symbol]:
        """Bounds that are read, one or both: as the rows of a sparse matrix, or clamped."""
        indices = self.expressions.indices
        within = frozenset({extent})
        end = f"ps.clip({indices.any_inside('clipped data', extent)} + 1, 0, {extent})"
        forms = {
            "end": lambda: ("0", indices.any_inside("index input", extent)),
            "start": lambda: (indices.any_inside("index input", extent), extent),
            "clamped": lambda: (str(self.choices.below(2)), end),
            "rows": lambda: self._row(extent),
        }
        form = self.choices.pick(tuple(forms))
        return *forms[form](), Symbol(name, within)

    def _row(self, extent: str) -> tuple[str, str]:
        """Neighbours in an Input, which need not be in order: then the range is empty."""
        source, extents = self.world.index_input(extent)
        last = f"ps.maximum({extents[-1]} - 2, 0)"
        at = f"ps.clip({indices_of(self.scope)[-1]}, 0, {last})"
        before = "0, " * (len(extents) - 1)
        return (
            f"{source}[{before}{at}]",
            f"{source}[{before}ps.minimum({at} + 1, {extents[-1]} - 1)]",
        )

    def _where(self, symbol: Symbol) -> str:
        """A condition on the RVar and on those that were made before it."""
        kept = len(self.scope.symbols)
        shared, self.scope.shared = self.scope.shared, []
        self.scope.symbols.append(symbol)
        lines, self.scope.lines = self.scope.lines, []
        x = symbol.name
        if self.choices.chance(70):
            n = self.choices.pick(self.world.sizes)
            c = self.choices.below(3)
            earlier = self.choices.pick([s.name for s in self.scope.symbols])
            test = self.choices.pick((
                f"{x} % 2 == {c % 2}", f"{x} != {c}", f"({x} + {earlier}) % 3 != {c}",
                f"{x} <= {earlier}", f"2 * {x} < {n} + {c}", f"({x} < 1) | ({x} > 2)",
                f"{earlier} != {x}", f"({x} // 2) % 2 == 0", f"{x} == {earlier}",
                f"2 * {x} == {earlier}", f"{x} // {c + 2} == {earlier}",
            ))  # fmt: skip
        else:
            test = self.expressions.value(1, "bool").text
        if self.scope.lines:  # named parts would stand outside of the lambda
            test = f"{x} >= 0"
        del self.scope.symbols[kept:]
        self.scope.shared, self.scope.lines = shared, lines
        return f", where=lambda {x}: {test}"


def indices_of(scope: Scope) -> list[str]:
    """What bounds may depend on."""
    return [s.name for s in scope.symbols] or ["0"]
