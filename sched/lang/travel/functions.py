"""The functions of extern stages: how another process finds them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..errors.errors import LanguageError

HINT = "use a module-level function: def it in a module that the other process can import"


def place_of(name: str, function: Any) -> tuple[str, str]:
    """The module and the qualified name of the function of an extern stage.

    Args:
        name: of the stage.

    Raises:
        LanguageError: nobody else finds it by these: it is a lambda, a local function, or one of C.
    """
    module, path = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if isinstance(function, np.ufunc):
        module, path = "numpy", function.__name__
    if isinstance(module, str) and isinstance(path, str) and _at(module, path) is function:
        return module, path
    shown = f"{module}.{path}" if module and path else repr(function)
    raise LanguageError(
        f"the extern stage {name} calls {shown}, which another process could not find by a name",
        hint=HINT,
    )


def function_at(module: str, path: str) -> Any:
    """The function of that name in a module that is loaded. Nothing is imported: what a text names
    is not run.

    Raises:
        LanguageError: there is none.
    """
    if module not in sys.modules:
        raise LanguageError(
            f"an extern stage calls {path} of the module {module}, which is not loaded",
            hint=f"import {module} first",
        )
    found = _at(module, path)
    if not callable(found):
        raise LanguageError(f"an extern stage calls {path}, which {module} does not have")
    return found


def _at(module: str, path: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found
