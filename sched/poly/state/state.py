"""The state of a schedule as a frozen value: each directive makes a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ...lang.errors.errors import ScheduleError, Span
from ...lang.nodes.nodes import Const, Node, Op, Size, integer
from ...lang.tensors.tensors import Func
from ...records import dataclass
from ..sets.isl import Set, coalesced
from ..tree.hints import Prefetch
from ..tree.looptree import Seq
from ..tree.memory import Memory, Window
from .record import Directive
from .rewritten import RewrittenProgram


@dataclass(frozen=True)
class State:
    """The state of a schedule.

    Attributes:
        rewritten: the program with the definitions that are scheduled.
        gone: for a stage and a loop it had, the directive that replaced the loop.
        reassociated: the stages for which the order of a sum does not matter.
        trusted: directives that were not proven, each with the reason given.
        memory: how Funcs lie in memory, where a directive says so.
        atomic: the stages whose accumulations are atomic, so that they may run concurrently.
        streams: the stages whose results are written past the caches.
        complete: the last tree in which all Funcs were placed, where that is put off; else None.
    """

    rewritten: RewrittenProgram
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
    complete: Seq | None = None

    def assumed(self, context: Set) -> Set:
        """The sizes of a context that meet the assumptions."""
        for a in self.assumptions:
            context = coalesced(context.intersect(a.allowed))
        return context

    @property
    def constants(self) -> dict[str, Node]:
        """Sizes that are known: what is assumed to be equal to a constant."""
        found: dict[str, Node] = {}
        for a in self.assumptions:
            match a.condition:
                case Op(op="eq", operands=(Size(name=name), Const(value=value))):
                    found[name] = integer(int(value))
        return found


class NoLoops(ScheduleError):
    """A stage that is inlined is asked for its loops."""

    def __init__(self, name: str, *, where: Span | None = None) -> None:
        hint = f's["{name}"].compute_root() keeps it and gives it loops, or compute_at(...)'
        self.name = name
        super().__init__(
            f"{name} is inlined into its consumers: it has no loops", where=where, hint=hint
        )


@dataclass(frozen=True)
class Assumption:
    """A precondition of a schedule on the sizes, which each call checks.

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
