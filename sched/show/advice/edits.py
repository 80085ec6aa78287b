"""Changes of schedules that advice tries: directives more, and directives less."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ...lang.errors.errors import PolyschedError
from ...poly.schedule import serial
from ...poly.schedule.replay import replay
from ...poly.schedule.schedule import Schedule
from ...poly.state.record import Directive
from ...records import dataclass
from ..explore.moves import Move


@dataclass(frozen=True)
class Change:
    """Directives of a schedule that are left out, and directives that are given behind the rest.

    Attributes:
        without: records of the schedule.
        moves: what is given then.
        instead: splits that get other factors.
        is_optional: whether moves are left out that are refused.
    """

    moves: tuple[Move, ...] = ()
    without: tuple[Directive, ...] = ()
    instead: tuple[tuple[Directive, int], ...] = ()
    is_optional: bool = False

    def fits(self, s: Schedule) -> bool:
        """Whether it is about directives of a schedule's own: those that a variant has from the
        schedule that it was made of are not changed in the variant."""
        inherited = s.directives[: s.inherited]
        return not any(x in inherited for x in (*self.without, *(d for d, _ in self.instead)))

    def accepted(self, s: Schedule) -> Change:
        """The change with the moves that a schedule accepts, where they are optional."""
        if not self.is_optional:
            return self
        made, kept = replace(self, moves=(), is_optional=False).made(s), []
        for move in self.moves:
            with suppress(PolyschedError):
                move.apply(made)
                kept.append(move)
        return replace(self, moves=tuple(kept), is_optional=False)

    def made(self, s: Schedule) -> Schedule:
        """A copy of a schedule with the change, proven.

        Raises:
            PolyschedError: it is refused.
        """
        made = s.copy()
        if self.without or self.instead:
            made = s.of(s.base)
            changed: list[tuple[Any, int | None]] = [(x.to_json(), None) for x in self.without]
            changed += [(x.to_json(), factor) for x, factor in self.instead]
            replay(made, list(_changed(serial.read_json(s.to_json()).steps, changed)))
            made.inherited = s.inherited
        for move in self.moves:
            move.apply(made)
        return made

    def text(self) -> str:
        """As a user would write it."""
        said = [x.text() for x in self.moves]
        left = ", ".join(x.text() for x in self.without)
        others = [f"{factor} as the factor of {x.text()}" for x, factor in self.instead]
        parts = [f"leave out {left}" if left else "", *others, ", ".join(said)]
        return "; ".join(filter(None, parts))


def _changed(steps: Any, changed: list[tuple[Any, int | None]]) -> Iterator[Any]:
    """Steps without some directives, or with other factors of theirs."""
    known = [data for data, _ in changed]
    for step in steps:
        match step:
            case {"directive": data} if data in known:
                factor = changed[known.index(data)][1]
                if factor is not None:
                    options = {**data["options"], "factor": factor}
                    yield {**step, "directive": {**data, "options": options}}
            case {"batch": list(inside)}:
                yield {"batch": list(_changed(inside, changed))}
            case _:
                yield step
