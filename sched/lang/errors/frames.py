"""The boundary to the user: the traceback of a refusal has the user's frames, and none of ours.

A refusal names the place in the user's code and the reason; the functions of this package through
which it was raised are of no use to the user. Internal errors keep all frames, and so do all errors
where the environment variable POLYSCHED_FULL_TRACEBACK is set.

Source: JAX drops its frames in the same way, at the functions that users call.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from types import FunctionType, TracebackType
from typing import Any, TypeVar, cast

from .close import close
from .errors import InternalError, LanguageTypeError, PolyschedError, is_users

FULL = "POLYSCHED_FULL_TRACEBACK"

T = TypeVar("T")


def cut(error: Exception) -> None:
    """Drops the frames of this package from a refusal, and from its cause and context.

    To be followed by a bare `raise`, which adds no frame.
    """
    if isinstance(error, InternalError) or os.environ.get(FULL, "0") != "0":
        return
    error.__traceback__ = _of_the_user(error.__traceback__)
    is_alone = error.__suppress_context__
    error.__cause__ = _from_outside(error.__cause__)
    error.__context__ = _from_outside(error.__context__)
    error.__suppress_context__ = is_alone  # setting the cause has changed it


def _of_the_user(trace: TracebackType | None) -> TracebackType | None:
    """A traceback's frames of user code, including functions of the user's that this package
    called back."""
    frames = []
    while trace is not None:
        if is_users(trace.tb_frame):
            frames.append(trace)
        trace = trace.tb_next
    kept: TracebackType | None = None
    for t in reversed(frames):
        kept = TracebackType(kept, t.tb_frame, t.tb_lasti, t.tb_lineno)
    return kept


def _from_outside(error: BaseException | None) -> BaseException | None:
    """The exception, if user code raised it and was handling it when it called us; None for those
    that this package handled itself."""
    trace = None if error is None else error.__traceback__
    return error if trace is not None and is_users(trace.tb_frame) else None


def bounded(public: T) -> T:
    """A decorator for public functions, and for classes with public methods: refusals leave them
    without frames of this package.

    Calls of Funcs and kernels cut the frames themselves, since a wrapper would cost time.
    """
    if isinstance(public, type):
        for name, value in list(vars(public).items()):
            made = _attribute(value) if _is_called(name) else value
            if made is not value:
                setattr(public, name, made)
        return public
    return cast(T, _function(cast(Any, public)))


def _is_called(name: str) -> bool:
    if name[:2] == "__":
        return name not in _OTHERS
    return name[0] != "_"


_OTHERS = frozenset(
    {
        *("__call__", "__new__", "__getattr__", "__dir__", "__hash__", "__repr__", "__del__"),
        *("__copy__", "__deepcopy__", "__reduce__", "__class_getitem__", "__init_subclass__"),
    }
)
"""Methods that need no wrapper: they raise no refusals, or cut the frames themselves."""


def _attribute(value: Any) -> Any:
    match value:
        case FunctionType():
            return _function(value)
        case classmethod() | staticmethod():
            return type(value)(_function(value.__func__))
        case property() if value.fget is not None:
            return property(_function(value.fget), value.fset, value.fdel, value.__doc__)
    return value


def _function(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except PolyschedError as error:
            cut(error)
            raise
        except TypeError as error:
            trace = error.__traceback__
            if trace is None or trace.tb_next is not None:
                raise
            refuse = misused(function, str(error))  # the call's arguments do not fit the signature
        try:
            raise refuse
        except PolyschedError as error:
            cut(error)
            raise

    return called


def misused(function: Callable[..., Any], said: str) -> LanguageTypeError:
    """The error for a call with arguments that a function does not take; `said` is Python's."""
    owner, _, name = function.__qualname__.rpartition(".")
    shown = owner.rpartition(".")[2] if name == "__init__" else function.__name__
    parameters = inspect.signature(function).parameters
    taken = [
        f"{p.name}={p.default!r}" if p.default is not p.empty else str(p).partition(":")[0]
        for p in parameters.values()
        if p.name != "self"
    ]
    hint = f"{shown}({', '.join(taken)})"
    unknown = re.search(r"unexpected keyword argument '(\w+)'", said)
    meant = close(unknown[1], parameters) if unknown else None
    example = re.search(rf"`([^`]*\b{shown}\([^`]*)`", function.__doc__ or "")
    if meant is not None:
        hint += f"; did you mean {meant}=?"
    elif example is not None:
        hint += f", as {example[1]}"
    what = re.sub(r"^[\w.<>]*\(\) ", "", said)
    return LanguageTypeError(f"{shown}() {what}", hint=hint)


def flag(name: str, given: object) -> bool:
    """True or False, as an argument brings it."""
    if isinstance(given, bool) or type(given).__name__ in ("bool", "bool_"):
        return bool(given)
    plain = given is None or isinstance(given, str | int | float)
    found = repr(given) if plain else f"of type {type(given).__name__}"
    raise LanguageTypeError(f"{name} is True or False, not {found}", hint=f"{name}=True")


class Bounded(AbstractContextManager[T]):
    """A context manager at the boundary: errors raised at its end have no frames of ours."""

    def __init__(self, inner: AbstractContextManager[T]) -> None:
        self._inner = inner

    def __enter__(self) -> T:
        try:
            return self._inner.__enter__()
        except PolyschedError as error:
            cut(error)
            raise

    def __exit__(self, *raised: Any) -> bool | None:
        try:
            return self._inner.__exit__(*raised)
        except PolyschedError as error:
            cut(error)
            raise
