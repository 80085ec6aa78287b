"""Printing traced values while a program is interpreted."""

from __future__ import annotations

from typing import Any

from ..lang.nodes.dtypes import concrete, int64
from ..lang.tensors.definitions import Definition
from ..lang.tensors.trace import Trace, trace_text
from .evaluate import Env, Tracer


def tracer(d: Definition) -> Tracer:
    """The function that prints the traced values of a definition."""

    def show(node: Trace, value: Any, env: Env) -> None:
        point = {x.name: env[x] for x in d.dims}
        print(trace_text(node.label, value, concrete(node.type or int64), d.name, point))

    return show
