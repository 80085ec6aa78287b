"""Funcs that directives have added, as long as nobody has looked at their definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...lang.errors.errors import InternalError
from ...lang.nodes.dtypes import DType
from ...lang.program.added import added_func
from ...lang.tensors.tensors import Func


class PromisedFunc(Func):
    """A Func with a name and types, whose definitions are made once somebody looks at them. Then it
    is a Func like any other."""

    if not TYPE_CHECKING:  # mypy would take every attribute to be there

        def __getattr__(self, name: str) -> Any:
            if name != "history":
                return super().__getattr__(name)
            self.__dict__["_make"]()
            if "history" not in self.__dict__:
                raise InternalError(f"nothing has defined {self.name}")
            return self.__dict__["history"]


def promised(name: str, dtypes: tuple[DType, ...], make: Callable[[], object]) -> Func:
    """A Func that a directive is known to add.

    Args:
        make: carries out the directive, which finds the Func by `redeemed`.
    """
    func = added_func(name, dtypes)
    func.__dict__["_make"], func.__dict__["_later"] = make, func.__dict__.pop("history")
    func.__class__ = PromisedFunc
    return func


def redeemed(func: Func) -> Func:
    """A promised Func as a Func without definitions, for a rewrite to define."""
    func.__class__ = Func
    func.__dict__.pop("_make", None)
    later = func.__dict__.pop("_later", None)
    if later is not None:  # otherwise it was redeemed before, by what was interrupted then
        func.__dict__["history"] = later
    return func
