"""Funcs and definitions that a schedule adds to a program: copies of operands, partial sums."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import replace

from ..errors.errors import LanguageError, Span
from ..nodes.dtypes import DType
from ..nodes.nodes import Node, next_serial
from ..tensors.definitions import Definition, Recorded
from ..tensors.elaborate import typed_definition
from ..tensors.tensors import Func
from .program import Program
from .steps import Plain, Step, funcs_read


def added_func(name: str, dtypes: tuple[DType, ...]) -> Func:
    """A new Func for a schedule, without definitions; `close` completes it once these are made."""
    func = Func._internal(name, dtypes)
    func.dtypes = dtypes
    return func


def typed(
    func: Func, lhs: Sequence[Node], values: Sequence[Node], op: str, span: Span, number: int | None
) -> Definition:
    """A typed definition, which is not recorded in the Func's history: `close` does that."""
    recorded = Recorded(tuple(lhs), tuple(values), op, span, next_serial())
    made = typed_definition(func, recorded, number, func.dtypes)
    return replace(made, is_added=True)


def close(func: Func, definitions: Sequence[Definition]) -> Func:
    """The Func with its definitions, pure ones first."""
    history = func.history
    history.recorded = [
        Recorded(d.lhs, d.values, d.op, d.span, d.serial, None, d.rvars) for d in definitions
    ]
    history.pieces = sum(not d.is_update for d in definitions)
    history._typed, history.completed_by = tuple(definitions), definitions[0].span
    return func


def extended(program: Program, func: Func, readers: Collection[Func], span: Span) -> Program:
    """The program with one more Func, computed before those that read it.

    Raises:
        LanguageError: one of them is computed inside of a `sequential`, or in a recurrence with
            what the Func reads.
    """
    made = copy.copy(program)
    at = next(k for k, step in enumerate(program.steps) if _holds(step, readers))
    step = Plain(func, func.history.typed())
    made.steps = (*program.steps[:at], step, *program.steps[at:])
    first = min(program.funcs.index(f) for f in readers)
    made.funcs = (*program.funcs[:first], func, *program.funcs[first:])
    made.definitions = (*program.definitions, *func.history.typed())
    name, taken = func.name, set(program.names.values())
    while name in taken:
        name += "'"
    made.names = {**program.names, func: name}
    groups = list(program.demand_order)
    inside = [f for f in readers if f.history.home is not None]
    if inside:
        raise LanguageError(
            f"{inside[0].name} is computed inside of a sequential, {func.name} would be outside",
            where=span,
        )
    read = {r for d in func.history.typed() for r in funcs_read(d)} - {func}
    following = {f for f in read if not program.is_fixed(f)}
    # In the order of demand the Func stands behind its readers, since its region follows from their
    # reads, and before Funcs whose regions follow from its reads. Regions that blocks read are
    # known first, so readers inside of blocks do not matter.
    behind = 1 + max(k for k, group in enumerate(groups) if set(group) & set(readers))
    before = (k for k, group in enumerate(groups) if following.intersection(group))
    place = min((behind, *before))
    made.__dict__["demand_order"] = (*groups[:place], (func,), *groups[place:])
    for needed in read:
        if needed in readers or (needed in made.funcs and made.funcs.index(needed) > first):
            raise LanguageError(
                f"{func.name} would be computed from {needed.name}, which is not complete before "
                "it is read",
                where=span,
            )
    return made


def exchanged(program: Program, old: Definition, new: Definition) -> Program:
    """The program with one definition in the place of another."""
    made = copy.copy(program)

    def change(step: Step) -> Step:
        if isinstance(step, Plain):
            found = tuple(new if d.serial == old.serial else d for d in step.definitions)
            return Plain(step.func, found)
        return step

    made.steps = tuple(map(change, program.steps))
    return made


def _holds(step: Step, funcs: Collection[Func]) -> bool:
    return any(d.func in funcs for d in step.definitions)
