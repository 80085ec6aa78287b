"""Directives that assume, allow, and say how much is stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...lang.nodes import Node
from ...lang.printer import expr_text
from ..affine import condition as sizes_condition
from ..directives import loops
from ..folding import Window, foldable
from ..looptree import Keep
from ..memory import Memory
from ..proof import accumulates, is_exact
from ..state import Assumption, Prefetch
from .base import BaseEditor


class TermsEditor(BaseEditor):
    """assume and its like; fold_storage; reassociate."""

    def assume(self, condition: Node) -> tuple[str, ...]:
        self._check_symbols(condition)
        found = sizes_condition(self.model.parameters, condition)
        allowed = found.set.params() if found.exact else self.context
        made = Assumption(allowed, expr_text(condition), condition, self.span)
        if allowed.intersect(self.context).is_empty():
            raise self._malformed(f"no sizes meet the assumption {expr_text(condition)}")
        self.state = replace(self.state, assumptions=(*self.state.assumptions, made))
        return ()

    def align_bounds(self, loop: str, factor: int) -> tuple[str, ...]:
        at = self.at(loop)
        self._assume(at, loops.multiples(at, factor), f"{loop} is a multiple of {factor}")
        return ()

    def bound(self, loop: str, extent: int) -> tuple[str, ...]:
        at = self.at(loop)
        self._assume(at, loops.spans(at, extent), f"{loop} has {extent} iterations")
        return ()

    def fold_storage(self, axis: int, planes: int) -> tuple[str, ...]:
        func = self._own().statement.func
        if not 0 <= axis < func.ndim:
            raise self._malformed(f"{func.name} has {func.ndim} axes, and no axis {axis}")
        why = foldable(self.model, func)
        if why is not None:
            raise self._malformed(f"the storage of {func.name} cannot be folded: {why}")
        others = tuple((f, w) for f, w in self.state.folds if f is not func)
        self.state = replace(self.state, folds=(*others, (func, Window(axis, planes))))
        self.edited.update(s for s in self.model.statements if s.func is func)
        return ()

    def atomic(self) -> tuple[str, ...]:
        stage = self._own()
        d = stage.statement.definition
        if not accumulates(d):
            raise self._malformed(
                f"{self.stage} does not accumulate: nothing else can be made indivisible",
                "an update does, C[i] += ...",
            )
        name = stage.statement.name
        if not is_exact(d) and name not in self.state.reassociated:
            raise self._malformed(
                f"{self.stage} is a sum of floats, which come in any order then",
                "reassociate() allows it",
            )
        self.state = replace(self.state, atomic=self.state.atomic | {name})
        self.edited.add(stage.statement)
        return ()

    def _memory(self, **changes: Any) -> tuple[str, ...]:
        """Changes how the Func of the stage lies in memory."""
        func = self._own().statement.func
        kept = any(isinstance(node, Keep) and node.func is func for node in self._nodes())
        if func in self.model.program.outputs and not kept:
            raise self._malformed(
                f"{func.name} is an output, which lies where the caller says",
                "accumulate_at(...) keeps what is accumulated in storage of its own",
            )
        if any(
            s.definition.opaque is not None and any(a.tensor is func for a in s.accesses)
            for s in self.model.statements
        ):
            raise self._malformed(f"an extern stage is given {func.name} as an array")
        old = self.state.memory.get(func, Memory())
        made = {**self.state.memory, func: replace(old, **changes)}
        self.state = replace(self.state, memory=made)
        return ()

    def reorder_storage(self, axes: tuple[int, ...]) -> tuple[str, ...]:
        func = self._own().statement.func
        if sorted(axes) != list(range(func.ndim)):
            raise self._malformed(
                f"{axes} is no order of the {func.ndim} axes of {func.name}",
                "each axis once, outermost first",
            )
        return self._memory(order=tuple(axes))

    def align_storage(self, axis: int, multiple: int) -> tuple[str, ...]:
        func = self._own().statement.func
        if not 0 <= axis < func.ndim:
            raise self._malformed(f"{func.name} has {func.ndim} axes, and no axis {axis}")
        old = self.state.memory.get(func, Memory()).multiples
        others = tuple((a, n) for a, n in old if a != axis)
        return self._memory(multiples=(*others, (axis, multiple)))

    def store_in(self, place: str) -> tuple[str, ...]:
        return self._memory(place=place)

    def stream(self) -> tuple[str, ...]:
        stage = self._own()
        d = stage.statement.definition
        # What a recurrence reads of the iterations before, it may keep in registers.
        again = d.is_update and any(a.tensor is d.func for a in stage.statement.reads)
        if again or d.opaque is not None:
            raise self._malformed(
                f"{self.stage} reads what it writes: it belongs into the caches",
                "a pure definition can be streamed",
            )
        self.state = replace(self.state, streams=self.state.streams | {self.stage})
        return ()

    def prefetch(self, tensor: str, loop: str, distance: int) -> tuple[str, ...]:
        kind = self.at(loop).loop.kind
        if kind in ("vector", "unrolled"):
            raise self._malformed(
                f"{loop} is {kind}: it has no later iterations to fetch for", "a loop around it"
            )
        names = self.form.program.names
        have = dict.fromkeys(names[a.tensor] for a in self._own().statement.reads)
        if tensor not in have:
            raise self._malformed(
                f"{self.stage} does not read {tensor}", "it reads " + ", ".join(have)
            )
        made = Prefetch(self.stage, tensor, loop, distance)
        self.state = replace(self.state, prefetches=(*self.state.prefetches, made))
        return ()

    def reassociate(self) -> tuple[str, ...]:
        stage = self._own()
        if not accumulates(stage.statement.definition):
            raise self._malformed(
                f"{self.stage} is no sum: it does not add to what an element was before",
                "an update does, C[i] += ..., also that of an inline reduction",
            )
        names = self.state.reassociated | {stage.statement.name}
        self.state = replace(self.state, reassociated=names)
        return ()
