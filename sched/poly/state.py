"""What a schedule is at a time, as a value: each directive makes a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..lang.errors import Span
from ..lang.nodes import Node
from ..lang.tensors import Func
from .directives.record import Directive
from .forms import Form
from .hints import Prefetch
from .isl import Set
from .looptree import Seq
from .memory import Memory, Window


@dataclass(frozen=True)
class State:
    """What a schedule is at a time.

    Attributes:
        form: the program as it is scheduled.
        gone: for a stage and a loop it had, the directive that replaced the loop.
        reassociated: the stages for which the order of a sum does not matter.
        trusted: directives that were not proven, each with the reason given.
        memory: how Funcs lie in memory, where a directive says so.
        atomic: the stages whose accumulation may happen at once.
        streams: the stages whose results are written past the caches.
    """

    form: Form
    tree: Seq
    gone: Mapping[tuple[str, str], Directive]
    reassociated: frozenset[str] = frozenset()
    trusted: tuple[tuple[Directive, str], ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    folds: tuple[tuple[Func, Window], ...] = ()
    memory: Mapping[Func, Memory] = field(default_factory=dict)
    atomic: frozenset[str] = frozenset()
    streams: frozenset[str] = frozenset()
    prefetches: tuple[Prefetch, ...] = ()

    def assumed(self, context: Set) -> Set:
        """The sizes of a context that meet the assumptions."""
        for a in self.assumptions:
            context = context.intersect(a.allowed).coalesce()
        return context


@dataclass(frozen=True)
class Assumption:
    """What a schedule asks of the sizes, checked at each call.

    `condition` is what the user wrote; without one it is what isl makes of `allowed`.
    """

    allowed: Set
    text: str
    condition: Node | None
    span: Span | None


@dataclass(frozen=True)
class Edit:
    """What a directive made: the new state, and the loops or stages that it returns."""

    state: State
    made: tuple[str, ...]
