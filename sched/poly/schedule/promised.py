"""Funcs that directives have added, as long as nobody has looked at their definitions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING

from ...lang.errors.errors import InternalError
from ...lang.nodes.dtypes import DType
from ...lang.program.added import added_func
from ...lang.tensors.define import History
from ...lang.tensors.tensors import Func


class PromisedFunc(Func):
    """A Func with a name and types, whose definitions are made once somebody looks at them. Then it
    is a Func like any other. Whoever looks while they are made waits."""

    if not TYPE_CHECKING:  # for mypy a variable stays one

        @property
        def history(self) -> History:
            found = self.__dict__
            # What is made reads of its own beginnings. The maker holds the lock of isl's budgets,
            # which all others wait for.
            make = found.get("_make")
            if make is not None and found.get("_maker") != get_ident():
                make()
                if "_make" in found:
                    raise InternalError(f"nothing has defined {self.name}")
            return found["history"]


def promised(name: str, dtypes: tuple[DType, ...], make: Callable[[], object]) -> Func:
    """A Func that a directive is known to add.

    Args:
        make: carries out the directive, which finds the Func by `redeeming`.
    """
    func = added_func(name, dtypes)
    func.__dict__["_make"] = make
    func.__class__ = PromisedFunc
    return func


@contextmanager
def redeeming(funcs: Collection[Func]) -> Iterator[None]:
    """Defines promised Funcs inside, all of them; if that fails they are promised as before."""
    for func in funcs:
        func.__dict__["_maker"] = get_ident()
    try:
        yield
    except BaseException:
        for func in funcs:
            func.__dict__["history"] = History(func)
            del func.__dict__["_maker"]
        raise
    for func in funcs:
        func.__class__ = Func
        func.__dict__.pop("_maker")
        func.__dict__.pop("_make")
