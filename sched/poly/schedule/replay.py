"""Directives that were written as JSON are given to a schedule again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ...lang.errors.errors import LanguageError
from ..directives import every as every  # which makes all directives known
from ..state.record import from_json
from . import serial
from .numbers import resolved_anew

if TYPE_CHECKING:
    from .schedule import Schedule


def restore(s: Schedule, written: serial.Written, anew: bool = False) -> None:
    """`replay` of all that was written, with how much of it a model has chosen."""
    replay(s, written.steps, anew)
    _choose(s, written.chosen)


def _choose(s: Schedule, chosen: Any) -> None:
    """So many of the first directives were chosen by a model.

    Raises:
        LanguageError: there are not so many.
    """
    if type(chosen) is not int or not 0 <= chosen <= len(s.directives):
        raise LanguageError(f"{chosen!r} is no number of directives that a model has chosen")
    s.chosen = chosen


def replay(s: Schedule, steps: Sequence[Any], anew: bool = False) -> None:
    """Gives a schedule the directives that were written; each directive is proven anew.

    Args:
        anew: numbers that come from words are resolved for the target of this schedule.

    Raises:
        LanguageError: a step is none that `to_json` wrote, or is refused.
    """
    for step in steps:
        match step:
            case {"directive": data, "trust": None | str() as reason}:
                trusting = nullcontext() if reason is None else s.trust(reason)
                with trusting, s._builder.again():
                    written = from_json(data, s.parameters)
                    s._builder.replay(resolved_anew(s, written) if anew else written)
            case {"specialize": condition, "steps": list(inside), **more}:
                variant = s._variant(serial.condition(condition, s.parameters))
                replay(variant, inside, anew)
                _choose(variant, more.get("chosen", 0))
            case {"comment": str() as text}:
                s.comment(text)
            case {"batch": list(inside)}:
                with s._builder.again(), s.batch():
                    replay(s, inside, anew)
            case _:
                raise LanguageError(f"{step!r} says nothing to a schedule")
