"""What follows from a state of a schedule: each fact is found on demand, and once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Generic, Self, TypeVar, overload

from ...cached import cached_property
from ...lang.nodes.nodes import Node
from ...lang.program.program import Program
from ...lang.program.scalars import symbols_of
from ...lang.tensors.inout import InOut
from ...lang.tensors.tensors import Func
from ...steps import Log
from ..legality.checker import LegalityChecker
from ..model.conditions import Conditions
from ..model.model import Model
from ..nests import generate
from ..nests.loop_nest import LoopNest, NestAlloc, walk
from ..nests.loop_program import LoopProgram
from ..placement.folding import copied, windows
from ..sets.budget import BudgetExceeded, LookEnded, allowance, budget, look, separate_budget
from ..sets.isl import Set
from ..state.record import Directive
from ..state.rewritten import RewrittenProgram
from ..state.state import State
from ..tree.hints import Hints
from ..tree.looptree import Loop, Seq
from ..tree.memory import Memory, Window
from . import requires
from .evaluations import Evaluation, evaluations
from .listing import loop_extent
from .placements import recomputations_of
from .recomputation import Recomputation
from .requirements import Requirements

T = TypeVar("T")

LOOK = 150_000
"""isl operations for what a display shows beside what it must: about a tenth of a second. The
bounds of a product in registers take two thirds of it."""

FEW = 12
"""Statements up to which it is worth a look: more need more."""


class found(Generic[T]):
    """A fact of an `Analysis`, found within a budget of its own. An exceeded budget is cached as
    well, since another attempt would exceed it again."""

    def __init__(self, find: Callable[[Any], T]) -> None:
        self._find, self._name = find, find.__name__
        self.__doc__ = find.__doc__

    @overload
    def __get__(self, a: None, owner: type) -> Self: ...

    @overload
    def __get__(self, a: Analysis, owner: type) -> T: ...

    def __get__(self, a: Analysis | None, owner: type) -> Self | T:
        if a is None:
            return self
        kept = a.__dict__.setdefault("_found", {})
        if self._name not in kept:
            kept[self._name] = self._in_budget(a)
        result: T | BudgetExceeded = kept[self._name]
        if isinstance(result, BudgetExceeded):
            raise BudgetExceeded from result
        return result

    def _in_budget(self, a: Analysis) -> T | BudgetExceeded:
        try:
            with separate_budget(allowance(len(a.model.statements))):
                return a.log.step(self._name, lambda: self._find(a))
        except BudgetExceeded as error:
            return error.with_traceback(None)


class Analysis:
    """The facts that follow from a state of a schedule.

    Attributes:
        state: what the schedule is.
        directives: those that led to it.

    Any fact may raise `BudgetExceeded`.
    """

    def __init__(
        self, state: State, directives: tuple[Directive, ...], legality: LegalityChecker, log: Log
    ):
        self.state, self.directives = state, directives
        self.log, self._legality = log, legality
        self._has_looked = False

    def logged(self, log: Log) -> Analysis:
        """An analysis with all facts that this one has found; later steps are timed by `log`."""
        made = copy.copy(self)
        made.__dict__["_found"] = dict(self.__dict__.get("_found", {}))
        made.log = log
        return made

    # the state --------------------------------------------------------------------------------
    @property
    def rewritten(self) -> RewrittenProgram:
        """The program as it is scheduled: what is inlined, and what has been rewritten."""
        return self.state.rewritten

    @property
    def program(self) -> Program:
        """What is computed."""
        return self.rewritten.program

    @property
    def model(self) -> Model:
        """The statements, and what they access."""
        return self.rewritten.model

    @property
    def proven(self) -> Conditions:
        """The preconditions of the program on sizes and data."""
        return self.rewritten.proven

    @property
    def tree(self) -> Seq:
        """The loops and what stands in them."""
        return self.state.tree

    @property
    def memory(self) -> Mapping[Func, Memory]:
        """How Funcs lie in memory, where a directive says so."""
        return self.state.memory

    @property
    def atomic(self) -> frozenset[str]:
        """The stages whose accumulations are atomic."""
        return self.state.atomic

    @cached_property
    def hints(self) -> Hints:
        """What is said of caches."""
        return Hints(self.state.streams, self.state.prefetches)

    @cached_property
    def funcs(self) -> tuple[Func, ...]:
        """The Funcs that are stored, producers before consumers."""
        return tuple(f for f in self.program.funcs if f in self.model.regions)

    @cached_property
    def parameters(self) -> dict[str, Node]:
        """The sizes and Params that bounds and conditions are made of, by name."""
        return symbols_of(self.program)

    @cached_property
    def constants(self) -> dict[str, Node]:
        """Sizes that are known: what is assumed to be equal to a constant."""
        return self.state.constants

    # what follows -----------------------------------------------------------------------------
    @contextmanager
    def in_time(self) -> Iterator[None]:
        """Limits a question that has no budget of its own."""
        with budget(allowance(len(self.model.statements))):
            yield

    @cached_property
    def accepted(self) -> Set:
        """The sizes that a call accepts."""
        with self.in_time():
            return self._legality.callable(self.state)

    @cached_property
    def context(self) -> Set:
        """What holds of the sizes, by the program and by what the schedule assumes."""
        with self.in_time():
            return self.state.assumed(self.model.context)

    @found
    def bounds(self) -> tuple[LoopNest, ...]:
        """The loops with their bounds."""
        return self._legality.nests(self.state)

    @property
    def nests(self) -> tuple[LoopNest, ...]:
        """The loop nests with their bounds."""
        return self.bounds

    @property
    def nests_if_known(self) -> tuple[LoopNest, ...] | None:
        """The loop nests; None where finding their bounds exceeds the budget."""
        with suppress(BudgetExceeded):
            return self.bounds
        return None

    def extent(self, loop: Loop) -> str:
        """How many iterations a loop of the tree has, as text; "?" if that takes long to find."""
        nests = self.nests_if_known
        return "?" if nests is None else loop_extent(nests, loop)

    @property
    def knows_bounds(self) -> bool:
        """Whether the bounds of loops have been found."""
        return isinstance(self.__dict__.get("_found", {}).get("bounds"), tuple)

    def glance(self, find: Callable[[], T]) -> T | None:
        """A fact for a display; None where finding it takes longer than one may. After a look that
        has ended without an answer, none is taken before the bounds are known."""
        is_long = self._has_looked or len(self.model.statements) > FEW
        if is_long and not self.knows_bounds:
            return None
        try:
            with look(LOOK):
                return find()
        except (BudgetExceeded, LookEnded):
            self._has_looked = True
            return None

    def extent_at_a_glance(self, loop: Loop) -> str | None:
        """How many iterations a loop has; None where finding it takes longer than a display may."""
        if self.knows_bounds:
            return loop_extent(self.bounds, loop)
        return self.glance(lambda: loop_extent(self.bounds, loop))

    @found
    def windows(self) -> dict[Func, Window]:
        """The windows of Funcs: those that directives give, and those that are found."""
        return windows(self.model, self.tree, self.rewritten.memo, dict(self.state.folds))

    @found
    def copied(self) -> tuple[InOut, ...]:
        """InOuts whose initial values are still read after they have been overwritten."""
        return copied(self.model, self.tree)

    @found
    def evaluations(self) -> tuple[Evaluation, ...]:
        """How often what is inlined is evaluated."""
        return tuple(evaluations(self))

    @found
    def recomputation(self) -> dict[int, list[tuple[Func, Recomputation | None]]]:
        """By the identity of a loop, the Funcs that are computed there, and how often."""
        return recomputations_of(self)

    def recomputed_at(self, loop: Loop) -> list[tuple[Func, Recomputation | None]]:
        """The Funcs that are computed at a loop, and how often each instance runs."""
        return self.recomputation.get(id(loop), [])

    # for code and calls -----------------------------------------------------------------------
    @property
    def loop_program(self) -> LoopProgram:
        """The loop program, from which code is generated."""
        _ = self.nests, self.windows, self.copied  # steps of their own
        return self.loops

    @found
    def loops(self) -> LoopProgram:
        """The loop program."""
        nests, planes, copies = self.nests, self.windows, self.copied
        local = frozenset(x.func for x in walk(*nests) if isinstance(x, NestAlloc))
        generator = generate.Generator(self.proven, self.context, local)
        return LoopProgram(
            self.program,
            tuple(map(generator.nest, nests)),
            generate.boxes(self.model, nests, planes),
            planes,
            copies,
            self.memory,
            self.atomic,
            self.state.reassociated,
            self.hints,
            self.constants,
        )

    @property
    def loops_if_made(self) -> LoopProgram | None:
        """The loop program, if somebody has asked for it; None if not."""
        kept = self.__dict__.get("_found", {}).get("loops")
        return kept if isinstance(kept, LoopProgram) else None

    @cached_property
    def requirements(self) -> Requirements:
        """What a call is checked for."""
        with self.in_time():
            return requires.requirements(self)
