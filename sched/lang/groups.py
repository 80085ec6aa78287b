"""Regions that follow from use, and what an update inside a recurrence may do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .define import Definition
from .errors import LanguageError
from .nodes import Read, Var, postorder
from .order import funcs_read, reads_itself, roots_of
from .tensors import Func

if TYPE_CHECKING:
    from .program import Program


def producers(func: Func) -> tuple[Func, ...]:
    """The Funcs that the definitions of a Func outside of blocks read, in the order of reading;
    not itself."""
    definitions = [d for d in func.history.typed() if d.block is None]
    found = dict.fromkeys(f for d in definitions for f in funcs_read(d))
    return tuple(f for f in found if f is not func)


def demand_order(program: Program) -> tuple[Func, ...]:
    """Consumers first; a Func whose region is given waits for nobody. Blocks come before all.

    Raises:
        LanguageError: the region of a Func would follow from itself.
    """
    funcs = [f for f in program.funcs if f.history.home is None]
    for func in program.funcs:
        if not program.is_fixed(func) and reads_itself(func):
            _refuse(func)
    waiting = dict.fromkeys(funcs, 0)
    for func in funcs:
        for producer in producers(func):
            waiting[producer] += not program.is_fixed(producer)
    order: list[Func] = []
    ready = [f for f in funcs if waiting[f] == 0]
    while ready:
        func = ready.pop()
        order.append(func)
        for producer in producers(func):
            if not program.is_fixed(producer):
                waiting[producer] -= 1
                if waiting[producer] == 0:
                    ready.append(producer)
    for func in funcs:
        if waiting[func] > 0:
            _refuse(func)
    return tuple(order)


def _refuse(func: Func) -> None:
    raise LanguageError(
        f"the region of {func.name} that is needed follows from itself: {func.name} is part of a "
        "recurrence and has no shape",
        where=func.history.recorded[0].span,
        hint=f"declare it: ps.Func({func.name!r}, (n, m))",
    )


def check_recurrence(group: Sequence[Func]) -> None:
    """An update inside a recurrence stays at its own point, so that each value can be computed
    when it is needed.

    Raises:
        LanguageError: it writes elsewhere, or reads other values that are being updated.
    """
    for func in group:
        for d in func.history.typed():
            if d.opaque is not None:
                raise LanguageError(
                    f"the extern stage {func.name} needs itself: {', '.join(f.name for f in group)}"
                    " need each other, and it is computed all at once",
                    where=d.span,
                    hint="inside a ps.sequential it can read what the iteration before computed",
                )
            if d.is_update and not _stays(d):
                raise LanguageError(
                    f"{d.name} is part of a recurrence ({', '.join(f.name for f in group)}) and "
                    f"changes {func.name} beyond its own point",
                    where=d.span,
                    hint=f"write it with the same Vars on the left, {func.name}[...] += ..., and "
                    "read no other element of it",
                )


def _stays(d: Definition) -> bool:
    plain = all(isinstance(x, Var) for x in d.lhs) and len(set(d.lhs)) == len(d.lhs)
    own = [n for n in postorder(*roots_of(d)) if isinstance(n, Read) and n.tensor is d.func]
    return plain and all(n.index == d.lhs for n in own)
