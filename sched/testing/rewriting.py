"""Random directives that rewrite the program or change storage, as Python text.

s["f"].stage("A", at="io", layout=("k", "ji"))
with s.batch(): s["f"].split("i", 4, tail="pad"); s["f"].accumulate_at("io")
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..poly.model.statements import Statement
from ..poly.program.accumulation import accumulates
from ..poly.schedule.schedule import Schedule
from ..poly.tree.edits import stages
from ..poly.tree.stage import Stage
from .choices import Choices

WEIGHTS: tuple[tuple[int, str], ...] = (
    (3, "compute_inline"), (2, "compute_root"), (3, "clone_in"), (6, "stage"), (5, "rfactor"),
    (4, "accumulate_at"), (4, "split"), (3, "compute_at"),
)  # fmt: skip


def random_rewriting(choices: Choices, schedule: Schedule) -> str | None:
    """One rewriting directive, or a batch of several; None where the schedule has no stage or loop
    for it."""
    stage = choices.pick([s.name for s in known_by_name(schedule)])
    maker = _Maker(choices, schedule, stage)
    calls: list[str] | None = getattr(maker, f"_{choices.weighted(*WEIGHTS)}")()
    if not calls:
        return None
    text = "; ".join(f's["{maker.name}"].{call}' for call in calls)
    return text if len(calls) == 1 else f"with s.batch(): {text}"


def known_by_name(schedule: Schedule) -> list[Stage]:
    """The stages with unique names, since several Funcs may have one name."""
    funcs, names = schedule.program.funcs, schedule.program.names
    given = Counter(name for f in funcs for name in {f.name, names[f]})
    return [s for s in stages(schedule.tree) if given[s.name] < 2]


class _Maker:
    """Makes random calls of each directive on a stage, or None. A method may choose another stage,
    by changing `name`."""

    def __init__(self, choices: Choices, schedule: Schedule, name: str) -> None:
        self.choices = choices
        self.schedule = schedule
        self.name = name
        self.loops = [x.name for x in schedule[name].loops]

    @property
    def statement(self) -> Statement:
        """The statement of the stage."""
        found: Statement = self.schedule._stage(self.name).statement
        return found

    def _compute_inline(self) -> list[str] | None:
        return ["compute_inline()"]

    def _compute_root(self) -> list[str] | None:
        """Stores a Func that is inlined."""
        s = self.schedule
        found = [s.program.names[f] for f in s.program.funcs if f not in s.funcs]
        if not found:
            return None
        self.name = self.choices.pick(found)
        return ["compute_root()"]

    def _clone_in(self) -> list[str] | None:
        """Makes a clone, mostly for a stage that reads the Func."""
        found = [s.statement for s in stages(self.schedule.tree)]
        readers = [s.name for s in found if s.reads_from(self.statement.func)]
        if not readers or self.choices.chance(10):
            readers = [s.name for s in known_by_name(self.schedule)]
        return [f'clone_in(s["{self.choices.pick(readers)}"])']

    def _stage(self) -> list[str] | None:
        return self._copied(self.loops, pad=self.choices.chance(20))

    def _copied(self, loops: Sequence[str], pad: bool) -> list[str] | None:
        """Copies an operand of the stage at any loop; loops inside may determine its layout."""
        names = self.schedule.program.names
        reads = [names[a.tensor] for a in self.statement.reads]
        if not reads or not loops:
            return None
        at = self.choices.below(len(loops))
        layout, below = "", loops[at + 1 :]
        if below and self.choices.chance(50):
            count = self.choices.between(max(1, len(below) - 1), len(below))
            chosen = self.choices.shuffled(below)[:count]
            layout = f", layout=({_names(chosen)},)"
        more = ", pad=True" if pad else ""
        return [f'stage("{self.choices.pick(reads)}", at="{loops[at]}"{layout}{more})']

    def _rfactor(self) -> list[str] | None:
        """Makes partial results, mostly over a loop of an RVar. For a sum, mostly with
        `reassociate()` before."""
        if not self.loops:
            return None
        over = [x.name for x in self.schedule[self.name].loops if x.is_reduction]
        loop = self.choices.pick(over if over and self.choices.chance(85) else self.loops)
        sums = accumulates(self.statement.definition) and self.choices.chance(70)
        return [*(["reassociate()"] if sums else []), f'rfactor("{loop}")']

    def _accumulate_at(self) -> list[str] | None:
        return [f'accumulate_at("{self.choices.pick(self.loops)}")'] if self.loops else None

    def _compute_at(self) -> list[str] | None:
        """Computes a Func at a loop of one of its own stages, such as its pure definition in an
        update."""
        func = self.statement.func
        own = [s.name for s in known_by_name(self.schedule) if s.statement.func is func]
        update = self.choices.pick(own)
        loops = [x.name for x in self.schedule[update].loops]
        return [f'compute_at(s["{update}"], "{self.choices.pick(loops)}")'] if loops else None

    def _split(self) -> list[str] | None:
        """Splits with `tail="pad"`, mostly with a private accumulator for the tile, and with padded
        copies of operands."""
        if not self.loops:
            return None
        chosen = self.choices.shuffled(self.loops)[: self.choices.between(1, 2)]
        calls = [f'split("{x}", {self.choices.between(2, 5)}, tail="pad")' for x in chosen]
        after = [y for x in self.loops for y in ((f"{x}o", f"{x}i") if x in chosen else (x,))]
        if self.choices.chance(60):
            after = self.choices.shuffled(after)
            calls.append(f"reorder({_names(after)})")
        if self.choices.chance(75):
            calls.append(f'accumulate_at("{self.choices.pick(after)}")')
        for _ in range(self.choices.between(0, 2)):
            calls += self._copied(after, pad=True) or ()
        return calls


def _names(loops: Sequence[str]) -> str:
    return ", ".join(f'"{x}"' for x in loops)
