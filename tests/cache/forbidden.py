"""A process in which neither isl nor LLVM's passes may run, for tests to be run in.

    from cache.forbidden import forbid; forbid()

All that polysched has of islpy is replaced by objects that raise, whatever is done with them: what
is left is what needs no set. So are the functions that LLVM text is parsed and compiled by.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, NoReturn

PARTS = (
    *("kernels", "poly.schedule.handles.pieces", "poly.schedule.replay", "poly.legality.checker"),
    *("poly.report.analysis", "poly.report.requires", "poly.report.finding", "poly.report.costs"),
)
"""What loads all that may use isl."""


class Used(BaseException):
    """Something was used that may not be. No `except Exception` takes it."""


class Forbidden:
    """Raises, whatever is done with it."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def _raise(self, *args: object, **kwargs: object) -> NoReturn:
        raise Used(object.__getattribute__(self, "_name"))

    def __getattr__(self, name: str) -> NoReturn:
        raise Used(f"{object.__getattribute__(self, '_name')}.{name}")

    __call__ = __instancecheck__ = __iter__ = __len__ = _raise


def forbid(isl: bool = True, llvm: bool = True) -> None:
    """Makes isl, or LLVM's passes, or both unusable from now on."""
    for part in PARTS:
        importlib.import_module(f"polysched.{part}")
    from polysched.codegen.llvm.machine import binding

    for name, module in list(sys.modules.items()) if isl else ():
        if name.startswith("polysched"):
            for attribute, value in list(vars(module).items()):
                if _is_of_isl(value):
                    setattr(module, attribute, Forbidden(f"{name}.{attribute}"))
    if llvm:
        for attribute in ("_optimised", "_generator", "_unlocked"):
            setattr(binding, attribute, Forbidden(f"binding.{attribute}"))


def _is_of_isl(value: Any) -> bool:
    where = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    if not isinstance(where, str):
        where = type(value).__module__
    return where.partition(".")[0] == "islpy"
