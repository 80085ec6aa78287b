"""The outputs of a program, as users pass them: one Func or several."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors.errors import LanguageError, LanguageTypeError, Span
from ..expr.expr import Expr
from .indexable import Indexable
from .tensors import Func


def outputs_of(given: object) -> tuple[Func, ...]:
    """One Func, or several, as a tuple.

    Raises:
        LanguageTypeError: there is no Func, or an object that is not one.
    """
    several = isinstance(given, Sequence) and not isinstance(given, str)
    outputs: tuple[Any, ...] = tuple(given) if several else (given,)  # type: ignore[arg-type]
    if not outputs:
        raise LanguageTypeError(
            "a program computes at least one Func", hint="ps.Schedule(f), ps.Schedule((f, g))"
        )
    for output in outputs:
        if not isinstance(output, Func):
            raise LanguageTypeError(
                f"a program computes Funcs, not {_described(output)}", hint=_hint(output)
            )
    return outputs


def check_scope(output: Func, span: Span) -> None:
    """Refuses an output that has no value outside of a `sequential`."""
    home = output.history.home
    if home is not None:
        raise LanguageError(
            f"{output.name} is defined inside {home.text}, fresh in each iteration: it cannot be "
            "an output",
            where=span,
            hint=f"define {output.name} before the sequential, and update it inside",
        )


def _described(given: object) -> str:
    match given:
        case Indexable():
            return f"the {given.kind} {given.name}"
        case Expr():
            return f"{given!r}, an expression"
        case None | str() | bool() | int() | float():
            return repr(given)
        case type() | np.ufunc():
            return f"the function {given.__name__}"
        case _ if inspect.isroutine(given):
            return f"the function {given.__name__}"
    return f"a {type(given).__name__}"


def _hint(given: object) -> str:
    match given:
        case Indexable():
            left = given.element.replace(given.name, "f", 1)
            made = f"f = ps.Func('f', {given.name}.shape); {left} = {given.element}"
            return f"nothing of it is computed; a Func with its values is {made}"
        case Expr():
            return "assign it to a Func: f[i] = ..., with i the Vars over which it runs"
        case str():
            return "pass the Func itself, not its name"
        case None:
            return "a function that makes a Func has to return it"
        case np.ndarray():
            return "arrays are passed when it is called: f(A=a)"
        case _ if callable(given):
            return "call it, and pass the Func that it returns"
    return "a Func, or a tuple or list of Funcs"
