"""The three families of errors a user can meet, and where in the user's code they arose.

A message says, in this order: what was asked and where; what conflicts; what would make it right.
"""

from __future__ import annotations

import copyreg
import sys
from dataclasses import field
from types import FrameType
from typing import Any

from ...records import dataclass
from . import cells, codes, kinds
from .drawn import Drawn
from .kind import INTERNAL


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the user's source: a file and a line, or a notebook cell, by its number, and a
    line."""

    file: str
    line: int
    cell: int | None = field(default=None, compare=False)

    def __init__(self, file: str, line: int, cell: int | None = None) -> None:
        # Written out, as there is one for each directive: a function that is compiled for a class
        # counts for many calls.
        put = object.__setattr__
        put(self, "file", file)
        put(self, "line", line)
        put(self, "cell", cell)

    def __str__(self) -> str:
        if self.cell is not None:
            return f"cell {self.cell}, line {self.line}"
        return f"{self.file}:{self.line}"


#: Modules whose frames are not the user's: ours, and libraries through which users call us.
_NOT_THE_USER = frozenset(
    {
        *(__name__.partition(".")[0], "numpy", "copy", "inspect", "functools", "contextlib"),
        *("pickle", "cloudpickle", "multiprocessing", "joblib"),
    }
)


class _Modules(dict[str, bool]):
    """Whether the code of a module is the user's, by its name."""

    def __missing__(self, module: str) -> bool:
        found = self[module] = str(module).partition(".")[0] not in _NOT_THE_USER
        return found


_of_the_user = _Modules()


def is_users(frame: FrameType) -> bool:
    """Whether a frame runs code that the user wrote."""
    return _of_the_user[frame.f_globals.get("__name__", "")]


def user_span() -> Span:
    """The innermost line on the call stack that the user wrote."""
    return Span(*user_place())


def user_place() -> tuple[str, int, int | None]:
    """The same as plain data, for whoever keeps many and shows few."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _of_the_user[frame.f_globals.get("__name__", "")]:
            file = frame.f_code.co_filename
            return file, frame.f_lineno, cells.number_of(file)
        frame = frame.f_back
    return "<unknown>", 0, None


class PolyschedError(Exception):
    """Base of everything this package raises on purpose.

    Attributes: `what` (the conflict, in words), `where` (a `Span` or None), `hint` (what would
    make it right, or None), `code` (the kind of mistake, see `codes.py`). A traceback names the
    code in its last line; `str(error)` does not.
    """

    code: str | None

    def __init__(
        self, what: str, *, where: Span | None = None, hint: str | None = None,
        code: str | None = None,
    ) -> None:  # fmt: skip
        self.what = what
        self.where = where
        self.hint = hint
        lines = [what]
        if where is not None:
            lines.append(f"  at {where}")
        if hint is not None:
            lines.append(f"  hint: {hint}")
        super().__init__("\n".join(lines))
        codes.coded(self, code or codes.made_in(sys._getframe(1)))

    def __reduce__(self) -> Any:
        # Not by what `__init__` takes, which would add the line that reads the pickle.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class LanguageError(PolyschedError, ValueError):
    """The algorithm is ill-formed. Raised at the line of the user's code that made it so."""

    def __init__(
        self, what: str, *, where: Span | None = None, hint: str | None = None,
        code: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(what, where=where or user_span(), hint=hint, code=code)


class LanguageTypeError(LanguageError, TypeError):
    """A value of the wrong type, or one of Python's protocols that means nothing here."""


@dataclass(frozen=True)
class Instance:
    """One instance of a stage: the values of the algorithm's loops by name.

    `iteration` are the loops of its consumers at which it is computed, by name.
    """

    stage: str
    point: dict[str, int]
    iteration: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        text = f"{self.stage}[{', '.join(f'{k}={v}' for k, v in self.point.items())}]"
        where = ", ".join(f"{k}={v}" for k, v in self.iteration.items())
        return f"{text} in iteration {where}" if where else text


class ScheduleError(Drawn, PolyschedError, ValueError):
    """A schedule is refused. Where that is for the order of two instances, `picture()` draws them.

    Attributes:
        status: "violation" (with two instances that would run in the wrong order), "unproved" (a
            place that depends on data, or too intricate a question), or "malformed".
        kind: of the dependence: "flow", "anti", "output", "race", "lane", "clobber",
            "uninitialised"; None if malformed.
        tensor: the name of the tensor that both instances access.
        source, sink: the instance that must come first, and the other one.
        sizes: the smallest sizes at which it fails.
        directive: the directive that is refused, as text.
    """

    def __init__(
        self,
        what: str,
        *,
        where: Span | None = None,
        hint: str | None = None,
        status: str = "malformed",
        kind: str | None = None,
        tensor: str | None = None,
        source: Instance | None = None,
        sink: Instance | None = None,
        sizes: dict[str, int] | None = None,
        directive: str | None = None,
        code: str | None = None,
    ) -> None:
        self.status = status
        self.kind = kind
        self.tensor = tensor
        self.source = source
        self.sink = sink
        self.sizes = sizes or {}
        self.directive = directive
        code = code or kinds.OF_KIND.get(kind or "")
        super().__init__(what, where=where or user_span(), hint=hint, code=code)

    def reworded(self, what: str, hint: str | None, directive: str | None) -> ScheduleError:
        """A copy of the refusal with another message, hint and directive."""
        made = ScheduleError(
            what, where=self.where, hint=hint, status=self.status, kind=self.kind,
            tensor=self.tensor, source=self.source, sink=self.sink, sizes=self.sizes,
            directive=directive, code=self.code,
        )  # fmt: skip
        made._evidence = self._evidence
        return made

    def __reduce__(self) -> Any:
        make, args, known = super().__reduce__()
        return make, args, {**known, "_evidence": None}

    def _render_traceback_(self) -> list[str]:
        """The traceback as IPython asks for it; a notebook gets a display beside it."""
        lines: list[str] = Drawn._shown("traceback", self)
        return lines


class CallError(PolyschedError):
    """The arguments of a call do not fit. Attribute `argument`: the name of the wrong one."""

    def __init__(
        self, what: str, *, argument: str | None = None, hint: str | None = None,
        code: str | None = None,
    ) -> None:  # fmt: skip
        self.argument = argument
        super().__init__(what, hint=hint, code=code)


class CallTypeError(CallError, TypeError):
    """An argument has the wrong dtype or kind, is missing, or is unknown."""


class CallValueError(CallError, ValueError):
    """An argument has the wrong shape, layout or value."""


REPORT = "this is a fault in polysched: please report it"


class InternalError(PolyschedError, RuntimeError):
    """A fault of this package, never of its user. Please report it."""

    def __init__(self, what: str) -> None:
        super().__init__(what, hint=REPORT, code=INTERNAL)
