"""The picture of a refusal, or of a directive that would be accepted."""

from __future__ import annotations

from ...lang.errors.drawn import Drawn
from ...lang.errors.errors import LanguageError, ScheduleError
from ...poly.legality.evidence import Evidence
from ..spaces.draw import drawn
from ..spaces.picture import Picture
from ..spaces.sizes import shown
from .around import of_evidence


def picture(thing: Drawn) -> Picture:
    """The picture.

    Raises:
        LanguageError: there is nothing to be drawn, with the reason.
        ScheduleError: there is too much to be drawn.
    """
    evidence = thing._evidence
    error = getattr(thing, "error", thing)
    if isinstance(evidence, Evidence) and evidence.pair is not None:
        return drawn(of_evidence(evidence, _title(evidence)))
    if error is None:
        raise LanguageError(
            "it would be accepted: no two instances are in the wrong order",
            hint="give the directive; polysched.show.space(s, C) draws its order then",
        )
    if getattr(error, "source", None) is not None:
        raise LanguageError(
            "it has been read from a pickle, which has the two instances and not the schedule",
            hint="draw it where it was raised",
        )
    if isinstance(error, ScheduleError) and error.status == "unproved":
        raise LanguageError("no two instances are known that run in the wrong order")
    raise LanguageError("it is not about the order of two instances")


def _title(evidence: Evidence) -> str:
    pair = evidence.pair
    assert pair is not None
    names = dict.fromkeys((pair.first.base.name, pair.second.base.name))
    at = shown(pair.sizes)
    return ", ".join(names) + (f", at {at}" if at else "")
