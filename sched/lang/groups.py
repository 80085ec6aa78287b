"""The graph of a program: which Funcs read which, and those that read each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .define import Definition
from .errors import LanguageError, Span
from .nodes import Read, Var, postorder
from .tensors import Func

if TYPE_CHECKING:
    from .program import Program


def funcs_read(d: Definition) -> list[Func]:
    """The Funcs that a definition reads, in the order of reading."""
    bounds = [b for r in d.rvars for b in (r.lo, r.hi)]
    found = postorder(*d.lhs, *bounds, *d.where, *d.values)
    return [n.tensor for n in found if isinstance(n, Read) and isinstance(n.tensor, Func)]


def producers(func: Func) -> tuple[Func, ...]:
    """The Funcs that a Func reads, in the order of first reading; not itself."""
    found = dict.fromkeys(f for d in func.history.typed() for f in funcs_read(d))
    return tuple(f for f in found if f is not func)


def reads_itself(func: Func) -> bool:
    """Whether the pure definition of a Func is a recurrence."""
    return any(func in funcs_read(d) for d in func.history.typed() if not d.is_update)


def groups(outputs: Sequence[Func], span: Span | None) -> tuple[tuple[Func, ...], ...]:
    """All Funcs below the outputs, those that read each other together, producers first.

    Completes each Func, as used at `span`. Source: Tarjan's strongly connected components.
    """
    found: list[tuple[Func, ...]] = []
    number: dict[Func, int] = {}
    low: dict[Func, int] = {}
    path: list[Func] = []
    grouped: set[Func] = set()
    stack: list[tuple[Func, list[Func]]] = []

    def enter(func: Func) -> None:
        if span is not None:
            func.complete(span)
        number[func] = low[func] = len(number)
        path.append(func)
        stack.append((func, list(reversed(producers(func)))))

    for output in outputs:
        if output not in number:
            enter(output)
        while stack:
            func, waiting = stack[-1]
            if waiting:
                producer = waiting.pop()
                if producer not in number:
                    enter(producer)
                elif producer not in grouped:
                    low[func] = min(low[func], number[producer])
                continue
            stack.pop()
            if stack:
                reader = stack[-1][0]
                low[reader] = min(low[reader], low[func])
            if low[func] == number[func]:
                at = path.index(func)
                members = sorted(path[at:], key=_first_written)
                del path[at:]
                grouped.update(members)
                found.append(tuple(members))
    return tuple(found)


def _first_written(func: Func) -> int:
    return func.history.recorded[0].serial


def demand_order(program: Program) -> tuple[Func, ...]:
    """Consumers first; a Func whose region is given waits for nobody.

    Raises:
        LanguageError: the region of a Func would follow from itself.
    """
    for func in program.funcs:
        if not program.is_fixed(func) and reads_itself(func):
            _refuse(func)
    waiting = dict.fromkeys(program.funcs, 0)
    for func in program.funcs:
        for producer in producers(func):
            waiting[producer] += not program.is_fixed(producer)
    order: list[Func] = []
    ready = [f for f in program.funcs if waiting[f] == 0]
    while ready:
        func = ready.pop()
        order.append(func)
        for producer in producers(func):
            if not program.is_fixed(producer):
                waiting[producer] -= 1
                if waiting[producer] == 0:
                    ready.append(producer)
    for func in program.funcs:
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
    bounds = [b for r in d.rvars for b in (r.lo, r.hi)]
    nodes = postorder(*d.lhs, *bounds, *d.where, *d.values)
    own = [n for n in nodes if isinstance(n, Read) and n.tensor is d.func]
    return plain and all(n.index == d.lhs for n in own)
