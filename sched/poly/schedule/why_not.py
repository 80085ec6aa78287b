"""Whether a directive would be accepted, and why not: tried on a copy, of which nothing stays."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ...lang.errors.close import close
from ...lang.errors.drawn import Drawn
from ...lang.errors.errors import (
    Instance,
    InternalError,
    LanguageError,
    LanguageTypeError,
    PolyschedError,
    ScheduleError,
)
from ...lang.expr.expr import Expr
from ...lang.nodes.nodes import RVar, Var
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Func
from ...records import dataclass
from . import lookups
from .handles.base import Handle, LoopHandle, name_of
from .handles.bodies import BodyDirectives
from .handles.loops import LoopDirectives
from .handles.placing import PlacingDirectives
from .handles.storage import StorageDirectives

if TYPE_CHECKING:
    from ..legality.evidence import Evidence
    from .schedule import Schedule

ON_STAGES = frozenset(
    name
    for kind in (LoopDirectives, BodyDirectives, PlacingDirectives, StorageDirectives)
    for name in vars(kind)
    if name[0] != "_"
)
"""The directives of a stage."""

ON_SCHEDULES = frozenset({"assume", "specialize"})
"""Those of a schedule."""


@dataclass(frozen=True, eq=False)
class Verdict(Drawn):
    """The answer to whether a directive would be accepted. It is true where it would be.

    Attributes:
        directive: what was asked, as text.
        error: the refusal; None where the directive would be accepted.
    """

    directive: str
    error: PolyschedError | None = None
    _evidence: Evidence | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether the directive would be accepted."""
        return self.error is None

    def __bool__(self) -> bool:
        return self.ok

    @property
    def message(self) -> str:
        """Why it would be refused, in words; empty where it would be accepted."""
        return "" if self.error is None else self.error.what

    @property
    def hint(self) -> str | None:
        """What would make it right, where that is known."""
        return None if self.error is None else self.error.hint

    @property
    def code(self) -> str | None:
        """The code of the kind of mistake."""
        return getattr(self.error, "code", None)

    @property
    def status(self) -> str:
        """ "legal", or as of a ScheduleError: "violation", "unproved", "malformed"."""
        return "legal" if self.error is None else getattr(self.error, "status", "malformed")

    @property
    def source(self) -> Instance | None:
        """The instance that must come first, of the two that a refusal names."""
        return getattr(self.error, "source", None)

    @property
    def sink(self) -> Instance | None:
        """The other one."""
        return getattr(self.error, "sink", None)

    @property
    def sizes(self) -> Mapping[str, int]:
        """The smallest sizes at which it goes wrong."""
        return getattr(self.error, "sizes", {})

    def __str__(self) -> str:
        if self.error is None:
            return f"{self.directive} would be accepted"
        hint = "" if self.hint is None else f"\n  hint: {self.hint}"
        said = "" if "is refused" in self.message else f"{self.directive} would be refused: "
        return f"{said}{self.message}{hint}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __reduce__(self) -> Any:
        return Verdict, (self.directive, self.error)


def answer(
    s: Schedule, directive: str, args: tuple[Any, ...], options: Mapping[str, Any]
) -> Verdict:
    """What `s.why_not(directive, *args, **options)` says."""
    asked = _directive(directive)
    if asked in ON_SCHEDULES:
        return _verdict(s, None, asked, args, options)
    if not args:
        raise LanguageTypeError(
            f"why_not({directive!r}) does not say of which stage",
            hint=f's.why_not("{directive}", loop), or s[C].why_not("{directive}")',
        )
    if isinstance(args[0], (Func, Handle)):
        return verdict(s, args[0], asked, args[1:], options)
    return verdict(s, None, asked, args, options)


def verdict(
    s: Schedule, stage: Any, directive: str, args: tuple[Any, ...], options: Mapping[str, Any]
) -> Verdict:
    """Tries a directive of a stage on a copy.

    Args:
        stage: a handle or a Func; None for the first stage in the loop that `args` begins with.
    """
    asked = _directive(directive)
    if asked in ON_SCHEDULES:
        raise LanguageError(
            f"{asked} is said of the whole schedule", hint=f's.why_not("{asked}", ...)'
        )
    try:
        found = _stage_of(s, args[0]) if stage is None else s[stage]
    except PolyschedError as error:
        return _refused(f"{asked}({_shown(args, options)})", error)
    return _verdict(s, found, asked, args, options)


def _directive(name: Any) -> str:
    """The name of a directive, which must be one."""
    known = ON_STAGES | ON_SCHEDULES
    if isinstance(name, str) and name in known:
        return name
    if not isinstance(name, str):
        raise LanguageTypeError(
            f"why_not takes the name of a directive first, not {name!r}",
            hint='s.why_not("parallel", i)',
        )
    meant = close(name, known)
    raise LanguageError(
        f"there is no directive {name}" + (f"; did you mean {meant}?" if meant else ""),
        hint="directives are " + ", ".join(sorted(known)),
    )


def _stage_of(s: Schedule, loop: Any) -> Any:
    """The first stage inside of a loop that is given by its handle or its name."""
    if isinstance(loop, LoopHandle):
        return s[loop.stage]
    name = name_of(loop)
    if not isinstance(name, str):
        raise LanguageTypeError(
            f"{loop!r} is neither a loop nor a stage", hint='s[C].why_not("split", i, 8)'
        )
    return s[lookups.stage_in(s, name)]


def _verdict(
    s: Schedule, stage: Any, directive: str, args: tuple[Any, ...], options: Mapping[str, Any]
) -> Verdict:
    at = "s" if stage is None else f's["{stage.name}"]'
    text = f"{at}.{directive}({_shown(args, options)})"
    try:
        trial = _trial(s)
        getattr(trial if stage is None else trial[stage], directive)(*args, **options)
        builder = trial._builder
        if builder._batch is not None:
            builder._settle(builder._batch)
    except PolyschedError as error:
        return _refused(text, error)
    return Verdict(text)


def _refused(text: str, error: PolyschedError) -> Verdict:
    if isinstance(error, InternalError):
        raise error
    # Its frames are those of the trial, and would keep everything there alive.
    error.__traceback__ = error.__context__ = error.__cause__ = None
    evidence = error._evidence if isinstance(error, ScheduleError) else None
    return Verdict(text, error, evidence)


def _trial(s: Schedule) -> Schedule:
    """A copy that is in the batch or sketch around the schedule, and proves what it is given."""
    if s._builder._batch is None:
        return s.copy()
    made = type(s).__new__(type(s))
    made.__dict__.update(s.__dict__)
    made._builder = copy.copy(s._builder)
    made._builder._budgets = 1
    made._builder._trust = None
    return made


def _shown(args: tuple[Any, ...], options: Mapping[str, Any]) -> str:
    given = [_text(x) for x in args] + [f"{k}={_text(x)}" for k, x in options.items()]
    return ", ".join(given)


def _text(given: Any) -> str:
    """An argument as a user would write it."""
    match given:
        case tuple() | list():
            return f"({', '.join(map(_text, given))}{',' if len(given) == 1 else ''})"
        case Handle() | LoopHandle():
            return repr(given.name)
        case Expr(node=Var(name=name) | RVar(name=name)):
            return repr(name)
        case Tensor():
            return str(given.name)
        case Expr():
            return repr(given)
        case _ if callable(given):
            return str(getattr(given, "__name__", "function"))
    return repr(given)


__all__ = ["ON_SCHEDULES", "ON_STAGES", "Verdict", "answer", "verdict"]
