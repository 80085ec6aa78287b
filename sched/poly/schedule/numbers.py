"""Numbers of a machine in directives: what words become for the target of a schedule."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...lang.errors.errors import PolyschedError
from ...lang.nodes.dtypes import DType, as_dtype
from ...targets.words import Resolved, Word
from ..model.element_types import widest
from ..state.record import Directive
from ..tree.edits import own_stages, stages, stages_called

if TYPE_CHECKING:
    from .schedule import Schedule


def resolved(s: Schedule, value: Any, stage: str, loop: Any = None) -> Any:
    """A number as directives take it: a word, alone or in a tuple, becomes that of the target.

    Args:
        stage: what the directive is given to.
        loop: the name of the loop that the number is for, if it is for one: then all that is
            computed in the loop counts.
    """
    if isinstance(value, Word):
        return value.resolve(s.target, _known_type(s, stage, loop))
    if isinstance(value, tuple) and any(isinstance(x, (Word, tuple)) for x in value):
        return tuple(resolved(s, x, stage, loop) for x in value)
    return value


def resolved_anew(s: Schedule, d: Directive) -> Directive:
    """A directive with its words resolved for the target of this schedule."""
    loop = getattr(d, "loop", None)
    words = {f.name: _words(getattr(d, f.name)) for f in d.declared()}
    changed = {k: resolved(s, v, d.stage, loop) for k, v in words.items() if v is not None}
    made: Directive = replace(d, **changed) if changed else d
    return made


def _words(value: Any) -> Any:
    """What was given where a number comes from a word; None where none does."""
    if isinstance(value, Resolved):
        return value.word
    if isinstance(value, tuple) and any(isinstance(x, Resolved) for x in value):
        return tuple(x.word if isinstance(x, Resolved) else x for x in value)
    return None


def _known_type(s: Schedule, stage: str, loop: Any) -> DType:
    """The same as `element_type`, which need not be found out again."""
    if not isinstance(loop, str | None):
        return element_type(s, stage, loop)
    question = ("type", stage, loop)
    return as_dtype(s._builder.known(question, lambda: element_type(s, stage, loop).name))


def element_type(s: Schedule, stage: str, loop: Any) -> DType:
    """The widest type that a stage computes with, or all stages in one of its loops."""
    inside = stages_called(s.tree, stage) or list(stages(s.tree))
    if isinstance(loop, str):
        with suppress(PolyschedError):  # the directive will say that there is no such loop
            inside = list(own_stages(s._find(stage, loop).loop)) or inside
    return widest(x.statement.definition for x in inside)
