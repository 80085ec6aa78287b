"""Modules of the package that are loaded when something of them is first used.

A process that finds its kernels on disk neither lowers nor searches, and does not wait for what
would. A thread that imports a module holds Python's lock of it, which a forked process would then
never get: so forks wait for threads that load modules here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import forks
from .garbage import uncollected

loading = forks.whole()
"""Held by a thread that imports a part of the package while others may fork."""


def load(name: str, package: str | None) -> Any:
    """A module by its name, which may be relative to a package. Python's collector rests meanwhile:
    modules are many objects that all stay."""
    with loading, uncollected():
        return import_module(name, package)


class later:
    """Stands for a module until something of it is used:

    if TYPE_CHECKING:
        from .. import lower
    else:
        lower = later("..lower", __package__)
    """

    def __init__(self, name: str, package: str | None) -> None:
        self._name, self._package = name, package
        self._module: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            self._module = load(self._name, self._package)
        return getattr(self._module, name)
