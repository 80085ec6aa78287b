"""Directives that assume, allow, and say how much is stored."""

from __future__ import annotations

from dataclasses import replace

from ...lang.nodes import Node
from ...lang.printer import expr_text
from ..affine import condition as sizes_condition
from ..directives import loops
from ..folding import Window, foldable
from ..isl import Frame
from ..proof import accumulates
from ..state import Assumption
from .base import BaseEditor


class TermsEditor(BaseEditor):
    """assume and its like; fold_storage; reassociate."""

    def assume(self, condition: Node) -> tuple[str, ...]:
        self._check_symbols(condition)
        found = sizes_condition(Frame(tuple(self.symbols), ()), condition)
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
