"""Handles: the stages and loops of a Schedule, by name.

A handle holds names, not nodes: it is resolved when it is used, so it survives `copy()` and every
directive that leaves its loop alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...lang.errors import absent
from ...lang.errors.errors import LanguageTypeError, ScheduleError
from ...lang.errors.frames import bounded
from ...lang.errors.suggest import public
from ..report.finding import existing
from ..state.fields import LOOP_HINT
from .handles.base import Loop, LoopHandle, name_of
from .handles.bodies import BodyDirectives
from .handles.loops import LoopDirectives
from .handles.placing import PlacingDirectives
from .handles.storage import StorageDirectives
from .why_not import Verdict, verdict


@bounded
class StageHandle(LoopDirectives, BodyDirectives, PlacingDirectives, StorageDirectives):
    """A stage of a Schedule. Its methods are the directives.

    A loop is named by its handle, by a Var or RVar, or by a string. Directives that make loops
    return them; all others return the stage. A refused one leaves the schedule as it was.
    """

    def __getitem__(self, loop: Loop) -> LoopHandle:
        name = name_of(loop)
        if not isinstance(name, str):
            raise LanguageTypeError(f"{loop!r} is no loop", hint=LOOP_HINT)
        self._schedule._builder.known(("loop", self.name, name), lambda: self._has(name))
        return LoopHandle(self._schedule, self.name, name)

    def _has(self, loop: str) -> bool:
        self._schedule._find(self.name, loop)
        return True

    def update(self, number: int = 0) -> StageHandle:
        """The stage of an update, counted from 0."""
        return self._other("update", number, lambda: f"{self._func_name}.update({number})")

    def piece(self, number: int) -> StageHandle:
        """The stage of a piece of a pure definition, in the order written."""
        return self._other("piece", number, lambda: f"{self._func_name}.piece({number})")

    def reduction(self, number: int = 0) -> StageHandle:
        """The update of an inline reduction, `C.sum0` and so on."""
        return self._other("reduction", number, lambda: self._reduction(number))

    def _reduction(self, number: int) -> str:
        if not isinstance(number, (int, np.integer)):
            raise LanguageTypeError(
                f"the inline reductions of {self._func_name} are numbered, and {number!r} is no "
                "number",
                hint="reduction(0) is the first",
            )
        made = self._stage.statement.func.history.reductions
        if not 0 <= number < len(made):
            raise ScheduleError(
                f"{self._func_name} has {len(made)} inline reductions, and no number {number}",
                hint="ps.sum(...) and its like are; an update, C[...] += ..., is s[C].update(0)",
            )
        return f"{self._schedule.program.names[made[number]]}.update(0)"

    def _other(self, kind: str, number: int, find: Callable[[], str]) -> StageHandle:
        """Another stage of the Func, as far as there is one."""
        name = self._schedule._builder.known(
            (kind, self.name, number), lambda: existing(self._schedule.analysis, find())
        )
        return StageHandle(self._schedule, name)

    @property
    def _func_name(self) -> str:
        name: str = self._schedule.program.names[self._stage.statement.func]
        return name

    def __dir__(self) -> list[str]:
        return [n for n in sorted(object.__dir__(self)) if n[0] != "_"]

    def _ipython_key_completions_(self) -> list[str]:
        """What may stand in `stage["..."]`."""
        return [] if self._is_gone else [loop.name for loop in self.loops]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """As IPython shows it: a line for each loop."""
        lines = [] if self._is_gone else [f"\n  {x.name}{x._iterations()}" for x in self.loops]
        printer.text(f"stage {self.name}{''.join(lines)}" if lines else repr(self))

    def __repr__(self) -> str:
        if self.is_inlined:
            return f"stage {self.name}, inlined"
        if self._is_gone:
            return f"stage {self.name}, which is not there any more"
        names = ", ".join(x.name for x in self.loops) or "none"
        return f"stage {self.name}, loops {names}"

    def why_not(self, directive: str, /, *args: Any, **options: Any) -> Verdict:
        """Whether a directive would be accepted, and if not, why: `s[C].why_not("split", i, 8)`.
        Nothing changes, and a refusal is no exception.

        Raises:
            LanguageError: there is no directive of that name.
        """
        return verdict(self._schedule, self, directive, args, options)

    def pipe(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Applies a directive of your own: `function(stage, ...)`."""
        if not callable(function):
            raise LanguageTypeError(
                f"pipe applies a function of a stage, not {function!r}",
                hint="s[f].pipe(lambda stage: stage.split('i', 8))",
            )
        return function(self, *args, **kwargs)


def of_stages(at: str, made: str = "") -> dict[str, str]:
    """What to write in place of directives that are said of something else than a stage.

    Args:
        at: a stage, as it is written.
        made: how its schedule is made.
    """
    own = {x: f"directives are of a stage: {made}{at}.{x}(...)" for x in public(StageHandle)}
    return absent.directives(at) | own
