"""The stable codes of errors: each names a kind of mistake.

    python -m polysched explain PS0402

A code belongs to the places that make an error: a module, or a function of one. The error looks its
code up when it is made, by the innermost function on the call stack that `kinds.py` names, so no
raise says its code; `code=` says it where one function makes errors of several kinds. What only
passes messages on stands in `PASSING`, and its caller counts. Tests hold that every place has a
code, and that errors have those of their places.
"""

from __future__ import annotations

from functools import cache
from types import FrameType
from typing import TypeVar

from .kinds import CODES, PASSING

_PACKAGE = __name__.partition(".")[0] + "."


@cache
def _places() -> dict[str, str | None]:
    """The code of each place, None for those that pass messages on."""
    found: dict[str, str | None] = dict.fromkeys(PASSING.split())
    for code, kind in CODES.items():
        found |= dict.fromkeys(kind.places.split(), code)
    return found


def code_at(module: str, function: str) -> str | None:
    """The code of errors that a function makes, if there is one.

    Args:
        module: its path from the package's root, with dots.
        function: its name with the classes around it. A function inside of another one counts as a
            part of that.
    """
    places = _places()
    place = f"{module}:{function.partition('.<locals>')[0]}"
    return places[place] if place in places else places.get(module)


def made_in(frame: FrameType | None) -> str | None:
    """The code of an error that is made in a frame: that of the innermost frame that has one."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if str(module).startswith(_PACKAGE):
            found = code_at(module.removeprefix(_PACKAGE), frame.f_code.co_qualname)
            if found is not None:
                return found
        frame = frame.f_back
    return None


def command(code: str) -> str:
    """The command that says what a code means."""
    return f"python -m polysched explain {code}"


E = TypeVar("E", bound=BaseException)


def coded(error: E, code: str | None) -> E:
    """The exception with its code, which a traceback shows in its last line."""
    error.code = code  # type: ignore[attr-defined]
    if code is not None:
        error.add_note(f"  more: {command(code)}")
    return error
