"""Which part of a schedule a call runs with: itself, or a variant."""

from __future__ import annotations

from ...codegen.runtime.kernel import Kernel
from ...lang.nodes.printer import expr_text
from ...poly.schedule.schedule import Schedule
from ...records import dataclass
from ..reporting.subject import schedule_of


@dataclass(frozen=True)
class Part:
    """A schedule, or a variant of it, that a call runs with.

    Attributes:
        whole: the schedule.
        path: of the variant in it: which one of its variants, and so on inside of that.
    """

    whole: Schedule
    path: tuple[int, ...] = ()

    @property
    def schedule(self) -> Schedule:
        """What runs."""
        found = self.whole
        for at in self.path:
            found = found.variants[at][1]
        return found

    def replaced(self, made: Schedule) -> Schedule:
        """The whole schedule with something else in the place of what runs."""
        if not self.path:
            return made
        first, *rest = self.path
        copy = self.whole.copy()
        condition, variant = copy.variants[first]
        inside = Part(variant, tuple(rest)).replaced(made)
        copy.variants = (
            *copy.variants[:first],
            (condition, inside),
            *copy.variants[first + 1 :],
        )
        return copy

    def text(self) -> str:
        """For which calls it runs, in front of a directive; empty for the schedule itself."""
        found, said = self.whole, []
        for at in self.path:
            condition, found = found.variants[at]
            said.append(expr_text(condition))
        return f"where {' and '.join(said)}: " if said else ""


def part_of(kernel: Kernel, chosen: Kernel) -> Part:
    """What runs of a kernel: its schedule, a variant, or what was found for calls of a Func."""
    path = _path(kernel, chosen)
    return Part(schedule_of(chosen)) if path is None else Part(schedule_of(kernel), path)


def _path(kernel: Kernel, chosen: Kernel) -> tuple[int, ...] | None:
    if kernel is chosen:
        return ()
    for at, (_, special) in enumerate(kernel._special):
        inside = _path(special, chosen)
        if inside is not None:
            return (at, *inside)
    return None
