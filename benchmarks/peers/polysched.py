"""Ours with schedules by hand, measured like a peer."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
from case import Case

import polysched as ps

VERSION = version("polysched")


def implementation(case: Case) -> Callable[..., Callable[[], Any]]:
    """What the modules of the peers have a function for."""
    return measured(case, case.scheduled())


def measured(case: Case, s: ps.Schedule) -> Callable[..., Callable[[], Any]]:
    """The work of a case with a schedule."""
    kernel = s.compile()
    funcs = s.program.outputs
    changed = {f.name for f in funcs if isinstance(f, ps.InOut)}

    def prepare(**arguments: Any) -> Callable[[], Any]:
        arguments = case.given(**arguments)
        if not changed:
            out = kernel(**arguments)
            if case.result is None:
                return lambda: kernel(**arguments, out=out)
            return lambda: kernel(**arguments, out=out).transpose(case.result)
        given = {name: np.copy(arguments[name]) for name in changed}

        def in_place() -> Any:
            for name, array in given.items():
                array[...] = arguments[name]
            return kernel(**arguments | given)

        return in_place

    return prepare
