"""Which Funcs are inlined where a schedule begins. Whoever only names a rule needs nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...lang.nodes.nodes import Read, RVar, Var
from ...lang.tensors.definitions import Definition
from ...lang.tensors.tensors import Func
from ...later import later

if TYPE_CHECKING:
    from . import inline
else:
    inline = later(".inline", __package__)

Rule = Callable[[Func, list[tuple[Definition, list[Read]]]], bool]
"""Whether a Func is inlined into the definitions that read it, each with its reads."""


def once_a_consumer(func: Func, uses: list[tuple[Definition, list[Read]]]) -> bool:
    """The rule of a program as written: a Func is inlined if each consumer reads it at one point.
    One with a division or a function, which take long, is inlined only where it is not evaluated
    more often than if it were stored."""
    if any(len({r.index for r in reads}) != 1 for _, reads in uses):
        return False
    return not inline.is_expensive(func.history.typed()[0]) or (
        len(uses) == 1 and inline.determines_instance(func, *uses[0])
    )


def without_recomputation(func: Func, uses: list[tuple[Definition, list[Read]]]) -> bool:
    """The default: one consumer, which reads it at one point and never the same one twice."""
    if len(uses) != 1:
        return False
    definition, reads = uses[0]
    index = reads[0].index
    if any(r.index != index for r in reads):
        return False
    plain = [x for x in index if isinstance(x, (Var, RVar))]
    return {*plain, *loops_of(func)} >= set(definition.dims)


def loops_of(func: Func) -> tuple[RVar, ...]:
    """The loops in whose iterations a Func is fresh, which its readers are in too."""
    return func.history.home.loops if func.history.home is not None else ()
