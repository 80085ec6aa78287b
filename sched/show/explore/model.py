"""What an exploration is at a time: schedules that were reached, candidates, what is known of them.

Nothing here knows of a page or of another process. A page names a candidate by its number in the
list of a revision; a number of another revision, or anything else, changes nothing.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ...lang.errors.errors import PolyschedError
from ...poly.schedule.schedule import Schedule
from ...records import dataclass
from .moves import Move, moves, stage_names
from .nest import Row, rows
from .picture import Sketch


@dataclass(frozen=True)
class Verdict:
    """What is known of a candidate: "pending", "legal", "refused" or "unknown", and why."""

    kind: str = "pending"
    why: str = ""


PENDING = Verdict()


@dataclass
class Step:
    """A schedule that was reached.

    Attributes:
        text: the directive that led to it; empty for the first one.
        schedule: the schedule, which nothing changes any more.
        seconds: the time of a call, if it was measured.
        verdicts: what is known of the candidates, by stage; there are as many as candidates.
        pictures: by stage, those that have been drawn.
    """

    text: str
    schedule: Schedule
    seconds: float | None = None
    verdicts: dict[str, list[Verdict]] = field(default_factory=dict)
    pictures: dict[str, Sketch] = field(default_factory=dict)


class Exploration:
    """Schedules that were reached one after another, of which one is looked at.

    Attributes:
        revision: grows with each change of what is looked at.
        steps: the schedules, with those that `undo` left.
        at: which of them is looked at.
        stage: the stage whose candidates are listed; empty if there is none.
        moves: the candidates.
        verdicts: what is known of each.
        source: the schedule as Python.
        note: what the last request was answered with; empty if it was done.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.revision = 0
        self.steps = [Step("", schedule.copy())]
        self.at = 0
        self.note = ""
        names = stage_names(schedule)
        self.stage = names[-1] if names else ""
        self._look()

    @property
    def schedule(self) -> Schedule:
        """The schedule that is looked at; it is not to be changed."""
        return self.steps[self.at].schedule

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that can be chosen."""
        return self._stages

    @property
    def rows(self) -> tuple[Row, ...]:
        """The loop nest."""
        return self._rows

    @property
    def picture(self) -> Sketch | None:
        """The picture of the stage, if it has been drawn; or why it will not be."""
        return self.steps[self.at].pictures.get(self.stage, self._missing)

    @property
    def tried(self) -> int:
        """The number of the first candidate of which nothing is known; of all, if there is none."""
        return next((k for k, v in enumerate(self.verdicts) if v is PENDING), len(self.moves))

    def _look(self) -> None:
        self.revision += 1
        self._stages = stage_names(self.schedule)
        if self.stage not in self._stages:
            self.stage = self._stages[-1] if self._stages else ""
        self._rows = rows(self.schedule)
        self.moves: tuple[Move, ...] = moves(self.schedule, self.stage) if self.stage else ()
        known = self.steps[self.at].verdicts
        self.verdicts = known.setdefault(self.stage, [PENDING] * len(self.moves))
        self.source = self.schedule.source()
        self._missing: Sketch | None = None

    # what a user asks for ---------------------------------------------------------------------
    def choose(self, index: int) -> bool:
        """Gives a candidate to the schedule. Returns whether it was accepted."""
        move = self.moves[index]
        made = self.schedule.copy()
        try:
            move.apply(made)
        except PolyschedError as error:
            self.verdicts[index] = Verdict("refused", str(error))
            self.note = str(error)
            return False
        except Exception as error:  # a fault here, which the page shows
            self.verdicts[index] = Verdict("unknown", f"{type(error).__name__}: {error}")
            self.note = f"{move.text()} failed: {type(error).__name__}: {error}"
            return False
        self.steps[self.at + 1 :] = [Step(move.text(), made)]
        self.at += 1
        self.note = ""
        self._look()
        return True

    def go(self, at: int) -> bool:
        """Looks at another one of the schedules. Returns whether there is one."""
        if not 0 <= at < len(self.steps) or at == self.at:
            return False
        self.at, self.note = at, ""
        self._look()
        return True

    def look_at(self, stage: int) -> bool:
        """Lists the candidates of another stage, by its number. Returns whether there is one."""
        if not 0 <= stage < len(self._stages) or self._stages[stage] == self.stage:
            return False
        self.stage, self.note = self._stages[stage], ""
        self._look()
        return True

    def answer(self, message: Any) -> bool:
        """Does what a message of a page asks for. Returns whether anything has changed.

        A message is `{"revision": r, "do": what, "index": k}` with the revision that it was
        written for; everything else is left alone.
        """
        match message:
            case {"revision": revision, "do": str(what), "index": index, **rest} if not rest:
                if type(revision) is not int or type(index) is not int:
                    return False
                if revision != self.revision:
                    return False
                return self._do(what, index)
        return False

    def _do(self, what: str, index: int) -> bool:
        match what:
            case "choose" if 0 <= index < len(self.moves):
                return self.choose(index) or True
            case "stage":
                return self.look_at(index)
            case "go":
                return self.go(index)
        return False

    # what another process found ---------------------------------------------------------------
    def hear(self, revision: Any, index: Any, verdict: Verdict) -> bool:
        """Takes what was found of a candidate. Returns whether it is one of this revision."""
        if revision != self.revision or not 0 <= index < len(self.moves):
            return False
        self.verdicts[index] = verdict
        return True

    def drawn(self, revision: Any, picture: Sketch) -> bool:
        """Takes the picture of the stage that is looked at."""
        if revision != self.revision:
            return False
        self.steps[self.at].pictures[self.stage] = picture
        return True

    def give_up(self, why: str) -> None:
        """Nothing more will be known, unless the schedule is looked at once more."""
        unknown = Verdict("unknown", why)
        self.verdicts = [unknown if v is PENDING else v for v in self.verdicts]
        self._missing = Sketch("", (f"There is no picture: {why}.",))

    def measured(self, revision: Any, seconds: float) -> bool:
        """Takes the time of a call of the schedule that is looked at."""
        if revision != self.revision:
            return False
        self.steps[self.at].seconds = seconds
        return True

    # as plain data ----------------------------------------------------------------------------
    def view(self) -> dict[str, Any]:
        """All that a page shows, as plain data: it writes none of it as markup."""
        base = self.steps[0].seconds
        return {
            "revision": self.revision,
            "title": self.schedule.base.signature(),
            "rows": [[r.depth, r.text, r.kind, self.stage in r.stages] for r in self.rows],
            "stages": list(self.stages),
            "stage": self.stage,
            "moves": [[m.loop, m.name, m.label(), m.text()] for m in self.moves],
            "verdicts": [[v.kind, v.why] for v in self.verdicts],
            "steps": [[x.text or "as written", _time(x.seconds, base)] for x in self.steps],
            "at": self.at,
            "picture": None if self.picture is None else self.picture.plain(),
            "source": self.source,
            "note": self.note,
        }


def _time(seconds: float | None, base: float | None) -> str:
    """A time as a page shows it, beside that of the first schedule."""
    if seconds is None:
        return ""
    shown = f"{seconds * 1e3:.3g} ms"
    return shown if not base or base == seconds else f"{shown}, {seconds / base:.2f} of the first"
