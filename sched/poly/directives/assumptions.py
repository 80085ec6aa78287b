"""Directives that say what holds of sizes. Each call checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lang.nodes.nodes import Node
from ...lang.nodes.printer import expr_text
from ...later import later
from ...records import dataclass, replace
from ..state.fields import loop_name, number, predicate
from ..state.record import Directive
from ..tree.edits import At, stages
from .parts import iterations_of, values_of

if TYPE_CHECKING:
    from ..sets import affine_conditions, isl as sets
    from ..sets.isl import PwAff, Set
    from ..state import state as states
    from ..state.editing import Editing
else:
    affine_conditions = later("..sets.affine_conditions", __package__)
    sets = later("..sets.isl", __package__)
    states = later("..state.state", __package__)


@dataclass(frozen=True)
class Assume(Directive, name="assume", of="program"):
    """Only sizes that meet a condition count. Legal: where some do."""

    condition: Node = predicate()

    def edit(self, e: Editing) -> tuple[str, ...]:
        e.check_symbols(self.condition)
        found = affine_conditions.condition(e.model.parameters, self.condition)
        allowed = found.set.params() if found.exact else e.context
        made = states.Assumption(allowed, expr_text(self.condition), self.condition, self.span)
        if allowed.intersect(e.context).is_empty():
            raise e.malformed(f"no sizes meet the assumption {expr_text(self.condition)}")
        e.state = replace(e.state, assumptions=(*e.state.assumptions, made))
        return ()


@dataclass(frozen=True)
class AlignBounds(Directive, name="align_bounds", of="loops"):
    """A loop begins and ends at multiples of a factor. Legal: where it can."""

    loop: str = loop_name()
    factor: int = number("factor", least=1)

    def edit(self, e: Editing) -> tuple[str, ...]:
        at = e.at(self.loop)
        e.assume(at, multiples(at, self.factor), f"{self.loop} is a multiple of {self.factor}")
        return ()


@dataclass(frozen=True)
class Bound(Directive, name="bound", of="loops"):
    """A loop has so many iterations. Legal: where it can."""

    loop: str = loop_name()
    extent: int = number("extent", least=1)

    def edit(self, e: Editing) -> tuple[str, ...]:
        at = e.at(self.loop)
        e.assume(at, spans(at, self.extent), f"{self.loop} has {self.extent} iterations")
        return ()


def multiples(at: At, factor: int) -> Set:
    """The sizes at which a loop begins and ends at multiples of a factor, wherever it runs."""
    first, last = _first_and_last(at)
    bad = [
        end.mod_val(sets.val(factor))
        .nonneg_set()
        .subtract(end.mod_val(sets.val(factor)).zero_set())
        for end in (first, last.add_constant_val(sets.isl.Val(1)))
    ]
    return sets.complement(sets.coalesced(bad[0].params().union(bad[1].params())))


def spans(at: At, extent: int) -> Set:
    """The sizes at which a loop has that many iterations from the first to the last."""
    first, last = _first_and_last(at)
    wrong = last.sub(first).add_constant_val(sets.val(1 - extent))
    return sets.complement(sets.coalesced(wrong.domain().subtract(wrong.zero_set()).params()))


def _first_and_last(at: At) -> tuple[PwAff, PwAff]:
    """The first and the last iteration, over the outer loops."""
    visited = values_of([iterations_of(s, at.depth + 1) for s in stages(at.loop)], at.depth)
    first = visited.lexmin_pw_multi_aff().get_pw_aff(0)
    return first, visited.lexmax_pw_multi_aff().get_pw_aff(0)
