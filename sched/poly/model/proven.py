"""The proof that a program is well-formed: its model, and its preconditions on sizes and data."""

from __future__ import annotations

from contextlib import suppress

from ...lang.errors.errors import LanguageError
from ...lang.program.program import Program
from ...steps import Log
from ..program.inline import Definitions
from ..sets.budget import BudgetExceeded, attempt
from ..sets.memo import Memo
from .conditions import Conditions, conditions, together
from .model import Model
from .updates import check_updates


def proven(
    program: Program,
    definitions: Definitions,
    log: Log,
    as_written: Conditions | None,
    memo: Memo,
) -> tuple[Model, Conditions]:
    """The model and its preconditions.

    Regions are filled up to hulls where that makes loops simpler. Elements that are computed
    beyond need must not add preconditions; so where a program has any, its regions are exact.

    Args:
        as_written: the preconditions of the program before any rewrite.
        memo: what other rewritten programs have found.

    Raises:
        BudgetExceeded: the program is too intricate.
    """
    model, found = _proven(program, definitions, log, memo)
    if as_written is None and len(definitions) < len(program.funcs):
        # A Func that is inlined is not stored, but the preconditions of its shape stay in force.
        _, as_written = _attempt(program, None, True, log, memo)
    return model, found if as_written is None else together(model, found, as_written)


def _proven(
    program: Program, definitions: Definitions, log: Log, memo: Memo
) -> tuple[Model, Conditions]:
    filled: tuple[Model, Conditions] | None = None
    with suppress(BudgetExceeded, LanguageError), attempt():
        filled = _attempt(program, definitions, False, log, memo)
        if not (filled[1].sizes or filled[1].checked):
            return filled
    if filled is None:
        return _attempt(program, definitions, True, log, memo)
    with suppress(BudgetExceeded), attempt():
        return _attempt(program, definitions, True, log, memo)
    return filled  # preconditions of filled regions are sufficient, if not the weakest


def unproved(program: Program) -> LanguageError:
    """What is said where the time for a proof ran out."""
    return LanguageError(
        f"{', '.join(f.name for f in program.outputs)} could not be proven right: the "
        "regions and bounds of the program are too intricate for the time allowed",
        where=program.outputs[-1].history.recorded[-1].span,
        hint="declare the shapes of the Funcs in between, or clamp indices more simply",
    )


def _attempt(
    program: Program, definitions: Definitions | None, exact: bool, log: Log, memo: Memo
) -> tuple[Model, Conditions]:
    step = log.step
    model = step("model", lambda: Model(program, definitions, exact, memo))
    step("updates", lambda: check_updates(model))
    return model, step("conditions", lambda: conditions(model))
