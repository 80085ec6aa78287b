"""Random calls of each directive, drawn for a stage."""

from __future__ import annotations

from dataclasses import Field
from typing import Any

from ..poly.directives import every as every  # which makes all directives known
from ..poly.schedule.schedule import Schedule
from ..poly.schedule.stages import StageHandle
from ..poly.state.fields import key_of
from ..poly.state.record import KINDS, Directive, is_needed
from . import rewriting
from .choices import Choices

_SMALL = (1, 2, 2, 3, 4, 4, 5, 8)
_LANES = (*_SMALL, 6, 8, 12, 16, 20, 24)
"""Also more than fit a register of vectors, and numbers that fill none."""


class DirectiveCalls:
    """Makes a random call of each directive, or None where the stage has too few loops for it.

    A directive that has no method here is drawn from the fields of its record.
    """

    def __init__(
        self, choices: Choices, schedule: Schedule, stage: StageHandle, loops: list[str]
    ) -> None:
        self.choices = choices
        self.schedule = schedule
        self.stage = stage
        self.loops = loops

    def _loop(self) -> str:
        return self.choices.pick(self.loops)

    def _factor(self) -> int:
        return self.choices.pick(_SMALL)

    def _some(self, least: int, most: int) -> list[str] | None:
        """A random run of adjacent loops, outermost first."""
        if len(self.loops) < least:
            return None
        count = self.choices.between(least, min(most, len(self.loops)))
        first = self.choices.below(len(self.loops) - count + 1)
        return self.loops[first : first + count]

    def make(self, name: str) -> str | None:
        """A random call of the directive with this name."""
        own = getattr(self, name, None)
        return own() if own is not None else self._of_fields(KINDS[name])

    def _of_fields(self, kind: type[Directive]) -> str | None:
        """A random call of a directive from the fields of its record: loops of the stage, and
        samples of other kinds of values."""
        given = [(f, self._value(f)) for f in kind.declared()]
        if any(value is None and is_needed(f) for f, value in given):
            return None
        said = (f"{key_of(f)}={_text(value)}" for f, value in given if value is not None)
        return f"{kind.name}({', '.join(said)})"

    def _value(self, f: Field[Any]) -> Any:
        """A random value for a field; None if there is none, or none is known."""
        match f.metadata["means"]:
            case "loop":
                return self._loop() if self.loops else None
            case "loops":
                return tuple(self._some(1, 3) or ()) or None
            case "stage":
                return self.choices.pick([s.name for s in rewriting.known_by_name(self.schedule)])
            case "axis":
                rank = self.stage._stage.statement.func.ndim
                return self.choices.below(rank) if rank else None
        samples = f.metadata["samples"]
        return self.choices.pick(tuple(samples)) if samples else None

    def split(self) -> str | None:
        if not self.loops:
            return None
        tail = ""
        if self.choices.chance(40):
            tail = f', tail="{self.choices.pick(("guard", "mask", "peel", "shift", "round_up"))}"'
        return f'split("{self._loop()}", {self._factor()}{tail})'

    def fuse(self) -> str | None:
        two = self._some(2, 2)
        return None if two is None else f'fuse("{two[0]}", "{two[1]}")'

    def rename(self) -> str | None:
        if not self.loops:
            return None
        return f'rename("{self._loop()}", "x{self.choices.below(100)}")'

    def reorder(self) -> str | None:
        some = self._some(2, 4)
        return None if some is None else f"reorder({_names(self.choices.shuffled(some))})"

    def tile(self) -> str | None:
        some = self._some(1, 3)
        if some is None:
            return None
        factors = ", ".join(str(self._factor()) for _ in some)
        return f"tile({_names(some)}, {factors})"

    def parallel(self) -> str | None:
        return self._kind("parallel", 25)

    def vectorize(self) -> str | None:
        return self._kind("vectorize", 85)

    def unroll(self) -> str | None:
        return self._kind("unroll", 85)

    def _kind(self, name: str, percent: int) -> str | None:
        if not self.loops:
            return None
        # The innermost loop is drawn most often, as users vectorize it most.
        loop = self.loops[-1] if self.choices.chance(50) else self._loop()
        factors = _LANES if name == "vectorize" else _SMALL
        factor = f", {self.choices.pick(factors)}" if self.choices.chance(percent) else ""
        return f'{name}("{loop}"{factor})'

    def unroll_and_jam(self) -> str | None:
        return f'unroll_and_jam("{self._loop()}", {self._factor()})' if self.loops else None

    def skew(self) -> str | None:
        some = self._some(2, 3)
        if some is None:
            return None
        return f'skew("{some[0]}", "{some[-1]}", {self.choices.pick((1, 1, 2, -1))})'

    def shift(self) -> str | None:
        return f'shift("{self._loop()}", {self.choices.pick((1, -1, 2))})' if self.loops else None

    def transform(self) -> str | None:
        some = self._some(1, 2)
        if some is None:
            return None
        one = ("lambda a: -a", "lambda a: a + 3", "lambda a: 2 * a")
        two = ("lambda a, b: (b, a)", "lambda a, b: (a + b, a)", "lambda a, b: (a, -b)",
               "lambda a, b: (2 * a + b, b)", "lambda a, b: (a - b, b)")  # fmt: skip
        map = self.choices.pick(one if len(some) == 1 else two)
        return f"transform([{_names(some)}], {map})"

    def wavefront(self) -> str | None:
        some = self._some(2, 2)
        return None if some is None else f"wavefront({_names(some)})"

    def fission(self) -> str | None:
        if not self.loops:
            return None
        after = ""
        if self.choices.chance(30):
            others = [s.name for s in rewriting.known_by_name(self.schedule)]
            after = f', after="{self.choices.pick(others)}"'
        return f'fission("{self._loop()}"{after})'

    def compute_with(self) -> str | None:
        others = [
            s.name for s in rewriting.known_by_name(self.schedule) if s.name != self.stage.name
        ]
        if not others:
            return None
        other = self.choices.pick(others)
        loops = [x.name for x in self.schedule[other].loops]
        if not loops:
            return None
        shift = f", shift={self.choices.pick((1, 2, -1))}" if self.choices.chance(40) else ""
        return f'compute_with(s["{other}"], "{self.choices.pick(loops)}"{shift})'

    def compute_at(self) -> str | None:
        found = self._loop_of_a_consumer(90)
        return None if found is None else f"compute_at({found})"

    def compute_root(self) -> str | None:
        return "compute_root()"

    def store_at(self) -> str | None:
        found = self._loop_of_a_consumer(90)
        return None if found is None else f"store_at({found})"

    def store_root(self) -> str | None:
        return "store_root()"

    def _loop_of_a_consumer(self, percent: int) -> str | None:
        """A loop of a stage that reads this Func, or sometimes of any other stage."""
        func = self.stage._stage.statement.func
        others = [s for s in rewriting.known_by_name(self.schedule) if s.statement.func is not func]
        readers = [s for s in others if s.statement.reads_from(func)]
        chosen = readers if readers and self.choices.chance(percent) else others
        if not chosen:
            return None
        other = self.choices.pick(chosen).name
        loops = [x.name for x in self.schedule[other].loops]
        return f's["{other}"], "{self.choices.pick(loops)}"' if loops else None

    def partition(self) -> str | None:
        dims = [x.name for x in self.stage._stage.statement.loops]
        if not dims:
            return None
        a, b = self.choices.pick(dims), self.choices.pick(dims)
        test = self.choices.pick(
            (f"{_var(a)} < {self._factor()}", f"{_var(a)} > n - 3", f"{_var(a)} < {_var(b)}",
             f"{_var(a)} % 2 == 0", f"2 * {_var(a)} < m", f"{_var(a)} + {_var(b)} >= 4")
        )  # fmt: skip
        return f"partition({test})"

    def peel(self) -> str | None:
        if not self.loops:
            return None
        counts = self.choices.pick(("first=1", "last=1", "first=2", "first=1, last=1", "last=3"))
        return f'peel("{self._loop()}", {counts})'

    def fold_storage(self) -> str | None:
        rank = self.stage._stage.statement.func.ndim
        if not rank:
            return None
        return f"fold_storage({self.choices.below(rank)}, {self.choices.between(1, 4)})"

    def bound(self) -> str | None:
        return f'bound("{self._loop()}", {self.choices.between(1, 8)})' if self.loops else None

    def align_bounds(self) -> str | None:
        return f'align_bounds("{self._loop()}", {self._factor()})' if self.loops else None

    def reassociate(self) -> str | None:
        return "reassociate()"

    def atomic(self) -> str | None:
        return "atomic()"

    def reorder_storage(self) -> str | None:
        rank = self.stage._stage.statement.func.ndim
        axes = self.choices.shuffled(list(range(rank)))
        return f"reorder_storage({', '.join(map(str, axes))})" if rank else None

    def align_storage(self) -> str | None:
        rank = self.stage._stage.statement.func.ndim
        return f"align_storage({self.choices.below(rank)}, {self._factor()})" if rank else None

    def store_in(self) -> str | None:
        return f'store_in("{self.choices.pick(("heap", "stack", "register", "auto"))}")'

    def stream(self) -> str | None:
        return "stream()"

    def prefetch(self) -> str | None:
        reads = self.stage._stage.statement.reads
        if not reads or not self.loops:
            return None
        tensor = self.schedule.program.names[self.choices.pick(reads).tensor]
        return f'prefetch("{tensor}", "{self._loop()}", {self._factor()})'


def _text(value: Any) -> str:
    """The value of a field as Python text, with names in double quotes."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))},)"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _var(name: str) -> str:
    return f'ps.vars("{name}")'


def _names(loops: list[str]) -> str:
    return ", ".join(f'"{x}"' for x in loops)
