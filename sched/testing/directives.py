"""Random directives on a schedule, legal and illegal, as Python text.

s["C.update(0)"].split("k", 3)
"""

from __future__ import annotations

from ..lang.errors.errors import LanguageError, ScheduleError
from ..poly.directives import every as every  # which makes all directives known
from ..poly.schedule.schedule import Schedule
from ..poly.schedule.stages import StageHandle
from ..poly.state.record import KINDS
from . import rewriting
from .choices import Choices
from .directive_calls import DirectiveCalls
from .placements import random_placement

_ASKING = ("].bound(", "].align_bounds(", "round_up")
"""Text that marks directives with preconditions on sizes."""
_LOOKING = frozenset({"update", "piece", "reduction", "pipe", "loops"})
"""The methods of stages that are not directives."""


def random_directive(choices: Choices, schedule: Schedule) -> str:
    """One plausible directive, which may be illegal. Some places of Funcs are drawn among those
    where all that they need is known, and the others among all loops of consumers."""
    placement = random_placement(choices, schedule) if choices.chance(18) else None
    if placement is not None:
        return placement
    rewritten = rewriting.random_rewriting(choices, schedule) if choices.chance(20) else None
    if rewritten is not None:
        return rewritten
    names = [stage.name for stage in rewriting.known_by_name(schedule)]
    stage = schedule[choices.pick(names)]
    name = stage.name
    if ".piece(" in name and choices.chance(40):
        name = name.partition(".piece(")[0]  # said of all pieces of the definition
    loops = [x.name for x in stage.loops]
    for _ in range(20):
        made = DirectiveCalls(choices, schedule, stage, loops).make(choices.weighted(*WEIGHTS))
        if made is not None:
            return f's["{name}"].{made}'
    return f's["{name}"].reassociate()'


CHOSEN: tuple[tuple[int, str], ...] = (
    (6, "split"), (2, "fuse"), (1, "rename"), (7, "reorder"), (6, "tile"), (8, "parallel"),
    (9, "vectorize"), (3, "unroll"), (3, "unroll_and_jam"), (4, "skew"), (3, "shift"),
    (4, "transform"), (4, "wavefront"), (4, "fission"), (6, "compute_with"), (3, "partition"),
    (3, "peel"), (1, "reassociate"), (3, "fold_storage"), (1, "bound"), (1, "align_bounds"),
    (8, "compute_at"), (1, "compute_root"), (3, "store_at"), (4, "store_root"),
    (2, "atomic"), (2, "reorder_storage"), (2, "align_storage"), (3, "store_in"), (1, "stream"),
    (1, "prefetch"),
)  # fmt: skip
"""How often directives are drawn that have a method of `DirectiveCalls`."""


def _weights() -> tuple[tuple[int, str], ...]:
    """The weights of `CHOSEN`, and small ones for all other directives of stages."""
    known = {name for _, name in (*CHOSEN, *rewriting.WEIGHTS)}
    rest = (x for x, kind in KINDS.items() if kind.scope != "program" and x not in known)
    return (*CHOSEN, *((2, x) for x in sorted(rest)))


WEIGHTS = _weights()


def untried() -> list[str]:
    """The directives of stages that are never drawn: a test expects none."""
    known = {name for _, name in (*WEIGHTS, *rewriting.WEIGHTS)} | _LOOKING
    public = [n for n in dir(StageHandle) if n[0] != "_" and callable(getattr(StageHandle, n))]
    return sorted(set(public) - known)


def apply(schedule: Schedule, text: str, names: dict[str, object]) -> None:
    """Applies a directive to the schedule.

    Raises:
        ScheduleError: the directive is refused.
        LanguageError: an expression in it is ill-formed.
    """
    exec(text, {**names, "s": schedule})


def apply_random(
    choices: Choices, schedule: Schedule, count: int, names: dict[str, object]
) -> list[str]:
    """Applies `count` random directives to a schedule, without those that add preconditions, and
    returns the accepted ones."""
    accepted = []
    for _ in range(count):
        text = random_directive(choices, schedule)
        if any(asking in text for asking in _ASKING):
            continue
        try:
            apply(schedule, text, names)
        except (LanguageError, ScheduleError):
            continue
        accepted.append(text)
    return accepted
