"""What provokes a message, and the message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path
from typing import Any

import polysched as ps

CASES: list[Case] = []


@dataclass(frozen=True)
class Case:
    """A function that raises an error, and the error's text: `FILE:LINE` for a place in it.

    `file` is where the message is written, if it is written at several places.
    """

    provoke: Callable[[], Any]
    error: type[ps.PolyschedError]
    text: str
    file: str

    @property
    def name(self) -> str:
        room = Path(self.provoke.__code__.co_filename).stem
        return f"{room}-{self.provoke.__name__}"


def says(
    text: str, error: type[ps.PolyschedError] = ps.ScheduleError, *, file: str = ""
) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Makes a case of a function.

    Args:
        text: the message with its hint, indented as the source is.
        file: where it is written, if other places say the same.
    """

    def made(provoke: Callable[[], Any]) -> Callable[[], Any]:
        CASES.append(Case(provoke, error, cleandoc(text), file))
        return provoke

    return made
