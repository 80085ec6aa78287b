"""The order in which regions are inferred from consumers, and the check of updates inside
recurrences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors.errors import LanguageError
from ..nodes.nodes import Read, Var, postorder
from ..tensors.definitions import Definition
from ..tensors.tensors import Func
from .order import components
from .steps import funcs_read, reads_itself, roots_of

if TYPE_CHECKING:
    from .program import Program


def producers(func: Func) -> tuple[Func, ...]:
    """The other Funcs that a Func's definitions outside of blocks read, in the order of reading."""
    definitions = [d for d in func.history.typed() if d.block is None]
    found = dict.fromkeys(f for d in definitions for f in funcs_read(d))
    return tuple(f for f in found if f is not func)


def demand_order(program: Program) -> tuple[tuple[Func, ...], ...]:
    """The Funcs in the order in which their regions are inferred: consumers before producers. A
    Func with a given region has no need to wait for its consumers, and reads inside of blocks are
    known before all others. Funcs whose regions depend on each other form one group.

    Raises:
        LanguageError: the region of a Func that is computed anew in each iteration depends on
            itself.
    """
    funcs = [f for f in program.funcs if f.history.home is None]
    for func in program.funcs:
        if func.history.home is not None and follows_itself(program, (func,)):
            _refuse(func)

    is_here = frozenset(funcs)
    # Of each Func, those whose regions wait for its own: they are asked for several times.
    following = {
        f: [p for p in producers(f) if p in is_here and not program.is_fixed(p)] for f in funcs
    }
    groups = [tuple(group) for group in components(funcs, following.__getitem__)]
    group_of = {f: group for group in groups for f in group}
    waiting = dict.fromkeys(groups, 0)
    for func in funcs:
        for producer in following[func]:
            waiting[group_of[producer]] += producer not in group_of[func]
    order: list[tuple[Func, ...]] = []
    ready = [group_of[f] for f in funcs if group_of[f][0] is f and waiting[group_of[f]] == 0]
    while ready:
        group = ready.pop()
        order.append(group)
        for producer in (p for f in group for p in following[f] if p not in group):
            waiting[group_of[producer]] -= 1
            if waiting[group_of[producer]] == 0:
                ready.append(group_of[producer])
    return tuple(order)


def follows_itself(program: Program, group: Sequence[Func]) -> bool:
    """Whether the regions of several Funcs depend on each other, or that of one on itself."""
    return len(group) > 1 or (not program.is_fixed(group[0]) and reads_itself(group[0]))


def _refuse(func: Func) -> None:
    raise LanguageError(
        f"the region of {func.name} that is needed follows from itself: {func.name} is a "
        "recurrence inside a sequential and has no shape",
        where=func.history.recorded[0].span,
        hint=f"declare it: ps.Func({func.name!r}, (n, m))",
    )


def check_recurrence(group: Sequence[Func]) -> None:
    """Checks that an update inside a recurrence accesses its own point only, so that each value can
    be computed when it is needed.

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
