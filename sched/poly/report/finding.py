"""Which stage or loop of a schedule is meant by what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lang.errors.errors import LanguageTypeError, ScheduleError
from ...lang.tensors.tensors import Func
from ..tree.edits import loops_around, stages

if TYPE_CHECKING:
    from .analysis import Analysis


def stage_name(a: Analysis, what: Func | str) -> str:
    """The name of the stage that is meant by a Func, the name of one, or that of a stage.

    Raises:
        ScheduleError: there is no such stage, or more than one.
    """
    if isinstance(what, Func):
        return existing(a, _name_of(a, what))
    if not isinstance(what, str):
        raise LanguageTypeError(
            f"{what!r} is no stage", hint="s[C] for a Func, s['C'], s['C.update(0)']"
        )
    names = a.program.names
    funcs = [f for f in a.program.funcs if what in (names[f], f.name)]
    if len(funcs) > 1:
        raise ScheduleError(f"{what!r} names {len(funcs)} Funcs", hint="s[f] with the Func itself")
    if what in a.tree.by_name:
        return what
    return existing(a, _name_of(a, funcs[0]) if funcs else what)


def pieces_of(a: Analysis, what: Func | str) -> tuple[str, ...]:
    """The stages of the pieces of a pure definition, if a Func is meant and has several."""
    names = a.program.names
    if isinstance(what, str) and what in a.tree.by_name:
        return ()
    funcs = [f for f in a.program.funcs if what in (f, names[f], f.name)]
    pure = [d for f in funcs for d in a.model.definitions.get(f, ()) if not d.is_update]
    if len(funcs) != 1 or len(pure) < 2:
        return ()  # which is so of most, and known without a look at all statements
    own = [x for x in a.model.statements if x.func is funcs[0] and not x.definition.is_update]
    return tuple(x.name for x in own) if len(own) > 1 else ()


def existing(a: Analysis, name: str) -> str:
    """The name of a stage, which must be there."""
    if name in a.tree.by_name:
        return name
    if name not in [a.program.names[f] for f in a.program.funcs if f not in a.model.regions]:
        have = ", ".join(stage.name for stage in stages(a.tree))
        raise ScheduleError(f"there is no stage {name}", hint=f"stages are {have}")
    return name


def _name_of(a: Analysis, func: Func) -> str:
    """The name of the closing piece of a Func's definition, or of its first update."""
    own = [x for x in a.model.statements if x.func is func]
    if not own:
        if func in a.program.funcs:
            return a.program.names[func]  # inlined, which directives can change
        raise ScheduleError(
            f"{func.name} is not part of this schedule",
            hint="its Funcs are " + ", ".join(f.name for f in a.funcs),
        )
    pure = [x for x in own if not x.definition.is_update]
    return (pure[-1] if pure else own[0]).name


def stage_in(a: Analysis, loop: str) -> str:
    """The first stage inside of a loop of that name."""
    for stage in stages(a.tree):
        if any(at.loop.name == loop for at in loops_around(a.tree, stage.name)):
            return stage.name
    have = dict.fromkeys(x for names in a.tree.loop_names.values() for x in names)
    raise ScheduleError(f"there is no loop {loop}", hint=f"loops are {', '.join(have)}")
