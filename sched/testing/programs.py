"""Random programs to be scheduled, as Python text: small ones with many dependences.

    n, m = ps.sizes("n m")
    A = ps.InOut("A", ps.int32, (n, m))
    r0 = ps.RVar("r0", 1, n - 1)
    A[r0, j] = A[r0 - 1, j] + A[r0, j]

Every index is in bounds by construction: loops keep a margin, and offsets are within it.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from ..lang.errors.errors import LanguageError
from ..lang.tensors.tensors import Func
from ..poly.schedule.schedule import Schedule
from ..records import dataclass
from .choices import Choices

MARGIN = 2
"""The largest distance between an index and the loop from which it is computed."""
_TYPES = ("int32", "int32", "int64", "float32", "float64", "uint8")


@dataclass(frozen=True)
class Sample:
    """A program as text that needs `ps` and `np`; `outputs` are names defined in it."""

    source: str
    outputs: tuple[str, ...]

    def build(self) -> tuple[Func, ...]:
        """Runs the text.

        Raises:
            LanguageError: the text is no valid program.
        """
        namespace = self.namespace()
        return tuple(namespace[name] for name in self.outputs)

    def namespace(self) -> dict[str, Any]:
        """All names that the text defines."""
        # No layer may import the package itself, which imports all of them; it is loaded by now.
        import sys

        found: dict[str, Any] = {"ps": sys.modules[__name__.partition(".")[0]], "np": np}
        exec(self.source, found)
        return found


def random_program(choices: Choices) -> Sample:
    """A program that can be scheduled."""
    for _ in range(50):
        sample = _Writer(choices).program()
        try:
            Schedule(sample.build())
        except LanguageError:
            continue
        return sample
    raise AssertionError("no program in fifty attempts")


@dataclass
class _Array:
    """A tensor that can be read: its name and rank, and whether its indices are shifted by a
    margin."""

    name: str
    rank: int


@dataclass
class _Index:
    """An index that runs over one axis, with the range of offsets that may be added to it."""

    text: str
    low: int = 0
    high: int = 0
    axis: int | None = None


@dataclass
class _Writer:
    choices: Choices
    lines: list[str] = field(default_factory=list)
    readable: list[_Array] = field(default_factory=list)
    count: int = 0
    dtype: str = "int32"

    def program(self) -> Sample:
        """The complete program."""
        choices = self.choices
        self.dtype = choices.pick(_TYPES)
        self.lines = ['n, m = ps.sizes("n m")', 'i, j = ps.vars("i j")']
        for _ in range(choices.between(1, 2)):
            self._input()
        kind = choices.weighted((5, "stages"), (4, "updates"), (3, "recurrence"), (4, "block"))
        made: list[str] = getattr(self, f"_{kind}")()
        if choices.chance(25):
            made += self._stages()
        return Sample("\n".join(self.lines), tuple(dict.fromkeys(made[-2:])))

    # names and places -------------------------------------------------------------------------
    def _fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def _shape(self, rank: int) -> str:
        return "(n,)" if rank == 1 else "(n, m)"

    def _input(self) -> None:
        name, rank = self._fresh("A"), self.choices.between(1, 2)
        self.lines.append(f'{name} = ps.Input("{name}", ps.{self.dtype}, {self._shape(rank)})')
        self.readable.append(_Array(name, rank))

    def _func(self, rank: int) -> str:
        name = self._fresh("f")
        self.lines.append(f'{name} = ps.Func("{name}", {self._shape(rank)}, ps.{self.dtype})')
        return name

    def _rvar(self, indent: str, axis: int, outer: list[_Index]) -> _Index:
        """An RVar along an axis, with a margin on one side or the other, or none."""
        name, extent = self._fresh("r"), "nm"[axis]
        low, high = self.choices.pick(((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 2)))
        first, last = str(low), extent if not high else f"{extent} - {high}"
        inside = [x for x in outer if x.axis == axis]
        if inside and self.choices.chance(40):
            x = self.choices.pick(inside)
            bound = self.choices.weighted((3, "below"), (2, "above"))
            if bound == "below":
                first, last, low, high = "0", x.text, 0, max(x.high, 0)
            else:
                first, low, high = f"{x.text} + 1", x.low + 1, 0
                last = extent
        where = ""
        if self.choices.chance(8):
            where = f", where=lambda {name}: {name} % 2 == 0"
        self.lines.append(f'{indent}{name} = ps.RVar("{name}", {first}, {last}{where})')
        return _Index(name, low, high, axis)

    def _place(self, rank: int, loops: list[_Index], clipped: bool) -> str:
        """The text of random indices for a read."""
        found = []
        for axis in range(rank):
            options = [x for x in loops if x.axis in (axis, None)]
            extent = "nm"[axis]
            if options and not self.choices.chance(8):
                x = self.choices.pick(options)
                off = self.choices.between(-x.low, x.high) if not clipped else \
                    self.choices.between(-MARGIN, MARGIN)  # fmt: skip
                text = _plus(x.text, off)
                if clipped and off:
                    text = f"ps.clip({text}, 0, {extent} - 1)"
                elif self.choices.chance(8):
                    text = f"{extent} - 1 - {x.text}"
                found.append(text)
            elif loops and self.choices.chance(40):
                x = self.choices.pick(loops)
                found.append(f"ps.clip({x.text}, 0, {extent} - 1)")
            else:
                found.append(f"{extent} // 2" if self.choices.chance(50) else "0")
        return ", ".join(found)

    def _read(self, array: _Array, loops: list[_Index], clipped: bool) -> str:
        if self.choices.chance(7) and array.rank == 1:
            table = self.choices.pick(self.readable)
            if table.rank == 1:
                at = self._place(1, loops, clipped)
                index = f"ps.cast(ps.int64, {table.name}[{at}])"
                return f"{array.name}[ps.clip({index}, 0, n - 1)]"
        return f"{array.name}[{self._place(array.rank, loops, clipped)}]"

    def _value(self, loops: list[_Index], clipped: bool, must: _Array | None = None) -> str:
        """The text of a sum of a few reads."""
        choices = self.choices
        arrays = [choices.pick(self.readable) for _ in range(choices.between(1, 2))]
        if must is not None and choices.chance(70):
            arrays[0] = must
        parts = []
        for array in arrays:
            text = self._read(array, loops, clipped)
            parts.append(f"{choices.between(2, 3)} * {text}" if choices.chance(30) else text)
        total = " + ".join(parts)
        if choices.chance(12) and loops:
            x = choices.pick(loops)
            total = f"ps.select({x.text} % 2 == 0, {total}, {choices.between(0, 3)})"
        return total

    # kinds of programs ------------------------------------------------------------------------
    def _stages(self) -> list[str]:
        """Pure Funcs that read earlier ones at clamped indices; some with an update or an inline
        sum."""
        made = []
        for _ in range(self.choices.between(1, 3)):
            rank = self.choices.between(1, 2)
            vars = [_Index("ij"[axis], axis=axis) for axis in range(rank)]
            name = self._func(rank)
            left = ", ".join(x.text for x in vars)
            value = self._value(vars, clipped=True)
            if self.choices.chance(20):
                k = self._rvar("", self.choices.below(2), [])
                inner = self._read(self.choices.pick(self.readable), [*vars, k], clipped=True)
                value = f"{value} + ps.sum({inner}, {k.text})"
            self.lines.append(f"{name}[{left}] = {value}")
            self.readable.append(_Array(name, rank))
            made.append(name)
        return made

    def _updates(self) -> list[str]:
        """A Func with a few random updates."""
        rank = self.choices.between(1, 2)
        name = self._func(rank)
        vars = ", ".join("ij"[:rank])
        start = self._value([_Index("ij"[a], axis=a) for a in range(rank)], clipped=True)
        self.lines.append(f"{name}[{vars}] = {start if self.choices.chance(50) else 0}")
        array = _Array(name, rank)
        self.readable.append(array)
        for _ in range(self.choices.between(1, 3)):
            self._update("", array)
        return [name]

    def _update(self, indent: str, array: _Array, around: tuple[_Index, ...] = ()) -> None:
        """One update, over Vars and RVars."""
        choices = self.choices
        loops: list[_Index] = list(around)
        left = []
        for axis in range(array.rank):
            form = choices.weighted((4, "var"), (6, "rvar"), (1, "constant"), (1, "scattered"))
            if form == "var":
                x = _Index("ij"[axis], axis=axis)
            elif form == "rvar":
                x = self._rvar(indent, axis, loops)
            else:
                left.append(self._scattered(indent, axis, loops, form))
                continue
            loops.append(x)
            off = choices.between(-x.low, x.high) if choices.chance(25) else 0
            left.append(_plus(x.text, off))
        if choices.chance(40):
            loops.append(self._rvar(indent, choices.below(2), loops))
        target = f"{array.name}[{', '.join(left)}]"
        value = self._value(loops, choices.chance(30), array)
        op = choices.weighted((4, "="), (4, "+="), (1, "-="), (1, "max"))
        if op == "max":
            self.lines.append(f"{indent}{target} = ps.maximum({target}, {value})")
        else:
            self.lines.append(f"{indent}{target} {op} {value}")

    def _scattered(self, indent: str, axis: int, loops: list[_Index], form: str) -> str:
        if form == "constant":
            return "0"
        table = next((a for a in self.readable if a.rank == 1), None)
        if table is None:
            return "0"
        k = self._rvar(indent, 0, [])
        loops.append(k)
        index = f"ps.cast(ps.int64, {table.name}[{k.text}])"
        return f"ps.clip({index}, 0, {'nm'[axis]} - 1)"

    def _recurrence(self) -> list[str]:
        """A Func over time and place, or two that read each other."""
        choices = self.choices
        names = [self._func(2) for _ in range(choices.weighted((3, 1), (1, 2)))]
        down = choices.chance(15)
        now, last = ("n - 1 - i", -1) if down else ("i", 1)
        base = choices.pick(self.readable)
        for name in names:
            parts = []
            for _ in range(choices.between(1, 2)):
                back = choices.weighted((6, 1), (2, 2), (2, 0))
                source = choices.pick(names)
                if back == 0:
                    at = f"i, ps.maximum(j - {choices.between(1, 2)}, 0)"
                    parts.append(f"ps.select(j > 0, {source}[{at}], 0)")
                    continue
                off = choices.between(-MARGIN, MARGIN)
                place = f"ps.clip({_plus('j', off)}, 0, m - 1)" if off else "j"
                parts.append(f"{source}[i - {last * back}, {place}]".replace("- -", "+ "))
            begin = self._read(base, [_Index("i", axis=0), _Index("j", axis=1)], clipped=True)
            value = " + ".join(parts)
            self.lines.append(f"{name}[i, j] = ps.select({now} > 1, {value}, {begin})")
        if choices.chance(50):
            final = self._func(1)
            self.lines.append(f"{final}[i] = {names[-1]}[i, m - 1] + {names[-1]}[n - 1, 0]")
            return [final]
        return names

    def _block(self) -> list[str]:
        """A `sequential` with updates of InOuts, and with Funcs computed anew in each iteration."""
        choices = self.choices
        made: list[_Array] = []
        updated: dict[str, None] = {}
        for _ in range(choices.between(1, 2)):
            name, rank = self._fresh("I"), choices.between(1, 2)
            self.lines.append(f'{name} = ps.InOut("{name}", ps.{self.dtype}, {self._shape(rank)})')
            self.readable.append(_Array(name, rank))
            made.append(self.readable[-1])
        extent = choices.pick(("n", "m", "3"))
        step = choices.weighted((6, ""), (1, ", step=2"), (1, None))
        bounds = f'"t", {extent} - 1, -1, step=-1' if step is None else f'"t", 0, {extent}{step}'
        loop = choices.chance(80)
        self.lines.append(f"with ps.sequential({bounds if loop else ''}){' as t' * loop}:")
        around = (_Index("t", axis=None),) if loop else ()
        kept = len(self.readable)
        for _ in range(choices.between(1, 3)):
            if choices.chance(25):
                rank = choices.between(1, 2)
                name = self._fresh("f")
                vars = [_Index("ij"[a], axis=a) for a in range(rank)]
                left = ", ".join(x.text for x in vars)
                self.lines.append(
                    f'    {name} = ps.Func("{name}", {self._shape(rank)}, ps.{self.dtype})'
                )
                self.lines.append(f"    {name}[{left}] = {self._value(vars, clipped=True)}")
                self.readable.append(_Array(name, rank))
            else:
                array = choices.pick(made)
                updated[array.name] = None
                self._update("    ", array, around if choices.chance(30) else ())
        if not updated:
            updated[made[0].name] = None
            self._update("    ", made[0], around)
        del self.readable[kept:]
        return list(updated)


def _plus(text: str, off: int) -> str:
    return text if not off else f"{text} {'+' if off > 0 else '-'} {abs(off)}"
