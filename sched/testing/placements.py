"""Random places for Funcs, drawn among those that there are: loops that are around all consumers,
and stages that have as many loops.

with s.batch(): s["f"].compute_at(s["g"], "j"); s["f"].store_at(s["g"], "i")
"""

from __future__ import annotations

import re

from ..lang.tensors.tensors import Func
from ..poly.schedule.schedule import Schedule
from ..poly.tree.edits import loops_around, stages
from ..poly.tree.stage import Stage
from .choices import Choices
from .rewriting import known_by_name

WEIGHTS = (
    (8, "compute_at"), (5, "store_at"), (2, "store_root"), (3, "clone_in"), (2, "fold_storage"),
    (1, "compute_inline"), (6, "compute_with"),
)  # fmt: skip
_NAMES = frozenset(name for _, name in WEIGHTS)


def is_placement(text: str) -> bool:
    """Whether a step says where something is computed or stored."""
    return any(name in _NAMES for name in re.findall(r"\]\.(\w+)\(", text))


def random_placement(choices: Choices, schedule: Schedule) -> str | None:
    """A placement that is likely to be accepted; None if no Func of the schedule can have one."""
    places = Placements(choices, schedule)
    for _ in range(6):
        found: str | None = getattr(places, choices.weighted(*WEIGHTS))()
        if found is not None:
            return found
    return None


class Placements:
    """Makes a call of each directive, or None where no stage is fit for it."""

    def __init__(self, choices: Choices, schedule: Schedule) -> None:
        self.choices = choices
        self.schedule = schedule
        self.all = list(stages(schedule.tree))
        known = known_by_name(schedule)
        self.known = [s for s in known if loops_around(schedule.tree, s.name)]
        self.inner = [s for s in known if self._is_free(s.statement.func)]

    def _is_free(self, func: Func) -> bool:
        """Whether it may be computed elsewhere: it is no output, and neither a block nor a
        function of Python says when."""
        history = func.history
        bound = history.home is not None or any(r.block is not None for r in history.recorded)
        opaque = any(d.opaque is not None for d in history.typed())
        return not (bound or opaque or func in self.schedule.program.outputs)

    def _readers(self, func: Func) -> list[Stage]:
        """The stages of other Funcs that read it."""
        others = [s for s in self.all if s.statement.func is not func]
        return [s for s in others if s.statement.reads_from(func)]

    def _shared(self, func: Func) -> list[tuple[str, str]]:
        """The loops that are around everything that reads a Func, each as a stage and a name."""
        readers = self._readers(func)
        if not readers or any(r not in self.known for r in readers):
            return []
        around = [[at.loop for at in loops_around(self.schedule.tree, r.name)] for r in readers]
        found = []
        for loops in zip(*around, strict=False):
            if any(x is not loops[0] for x in loops):
                break
            found.append((readers[0].name, loops[0].name))
        return found

    def _one(self, fitting: list[Stage]) -> Stage | None:
        return self.choices.pick(fitting) if fitting else None

    def compute_at(self) -> str | None:
        stage = self._one([s for s in self.inner if self._shared(s.statement.func)])
        if stage is None:
            return None
        return f's["{stage.name}"].compute_at({self._at(stage)[-1]})'

    def _at(self, stage: Stage) -> list[str]:
        """Some shared loop, and those around it."""
        shared = self._shared(stage.statement.func)
        count = 1 + self.choices.below(len(shared))
        return [f's["{other}"], "{loop}"' for other, loop in shared[:count]]

    def store_at(self) -> str | None:
        """Together with where it is computed: storage lives at least as long."""
        stage = self._one([s for s in self.inner if self._shared(s.statement.func)])
        if stage is None:
            return None
        at = self._at(stage)
        where = self.choices.pick(at)
        handle = f's["{stage.name}"]'
        return f"with s.batch(): {handle}.compute_at({at[-1]}); {handle}.store_at({where})"

    def store_root(self) -> str | None:
        stage = self._one(self.inner)
        return None if stage is None else f's["{stage.name}"].store_root()'

    def clone_in(self) -> str | None:
        read = [s for s in self.inner if len(self._readers(s.statement.func)) > 1]
        stage = self._one(read)
        if stage is None:
            return None
        reader = self.choices.pick(self._readers(stage.statement.func))
        return f's["{stage.name}"].clone_in(s["{reader.name}"])'

    def fold_storage(self) -> str | None:
        stage = self._one([s for s in self.inner if s.statement.func.ndim])
        if stage is None:
            return None
        axis = self.choices.below(stage.statement.func.ndim)
        return f's["{stage.name}"].fold_storage({axis}, {self.choices.between(1, 8)})'

    def compute_inline(self) -> str | None:
        """Of a Func that is one equation."""
        single = [s for s in self.inner if len(s.statement.func.history.typed()) == 1]
        stage = self._one(single)
        return None if stage is None else f's["{stage.name}"].compute_inline()'

    def compute_with(self) -> str | None:
        """Beside a stage with as many loops, mostly one past nothing that has to stay between."""
        stage = self._one(self.known)
        if stage is None:
            return None
        func, count = stage.statement.func, self._count(stage)
        others = [s for s in self.known if s.statement.func is not func]
        others = [s for s in others if self._count(s) == count]
        if self.choices.chance(85):
            others = [s for s in others if self._may_meet(stage, s)]
        other = self._one(others)
        if other is None:
            return None
        loop = self.choices.pick(loops_around(self.schedule.tree, other.name)).loop
        return f's["{stage.name}"].compute_with(s["{other.name}"], "{loop.name}")'

    def _count(self, stage: Stage) -> int:
        return len(loops_around(self.schedule.tree, stage.name))

    def _may_meet(self, a: Stage, b: Stage) -> bool:
        """Whether one of two stages neither needs nor is needed by any from it to the other."""
        first, last = sorted((self.all.index(a), self.all.index(b)))
        passed = [s for s in self.all[first : last + 1] if s is not a]
        return not any(_are_ordered(a, s) for s in passed)


def _are_ordered(a: Stage, b: Stage) -> bool:
    """Whether one of two stages reads what the other one writes, or both write one Func."""
    x, y = a.statement, b.statement
    return x.func is y.func or x.reads_from(y.func) or y.reads_from(x.func)
