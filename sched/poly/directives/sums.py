"""Directives on what accumulates: in other orders, concurrently, in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lang.nodes.nodes import Node, RVar, postorder
from ...later import later
from ...records import dataclass, replace
from ..state.fields import loop_name
from ..state.record import Directive
from ..tree.edits import stages
from .rewriting import add_rewrite

if TYPE_CHECKING:
    from ..model.statements import Statement
    from ..placement import layouts
    from ..program import accumulation, rewrites
    from ..state.editing import Editing
else:
    layouts = later("..placement.layouts", __package__)
    accumulation = later("..program.accumulation", __package__)
    rewrites = later("..program.rewrites", __package__)


@dataclass(frozen=True)
class Reassociate(Directive, name="reassociate", of="stage"):
    """a + (b + c)   ->   (a + b) + c, in any order. Legal: where the user says so."""

    def edit(self, e: Editing) -> tuple[str, ...]:
        stage = e.own()
        if not accumulation.accumulates(stage.statement.definition):
            raise e.malformed(
                f"{self.stage} is no sum: it does not add to what an element was before",
                "an update does, C[i] += ..., also that of an inline reduction",
            )
        names = e.state.reassociated | {stage.statement.name}
        e.state = replace(e.state, reassociated=names)
        return ()


@dataclass(frozen=True)
class Atomic(Directive, name="atomic", of="stage"):
    """C[i] += v   ->   in one step that nothing else is seen in the middle of

    Legal: for sums of integers, minima and maxima; for sums of floats after `reassociate`.
    """

    def edit(self, e: Editing) -> tuple[str, ...]:
        stage = e.own()
        d = stage.statement.definition
        if not accumulation.accumulates(d):
            raise e.malformed(
                f"{self.stage} does not accumulate: nothing else can be made atomic",
                "an update does, C[i] += ...",
            )
        name = stage.statement.name
        if not accumulation.is_exact(d) and name not in e.state.reassociated:
            raise e.malformed(
                f"{self.stage} is a sum of floats, which come in any order then",
                "reassociate() allows it",
            )
        e.state = replace(e.state, atomic=e.state.atomic | {name})
        return ()


@dataclass(frozen=True)
class Rfactor(Directive, name="rfactor", of="stage"):
    """C[i] += v(r)   ->   P[x, i] += v(r) for each iteration x of a loop; C[i] += P[x, i]

    Legal: for what may be taken in any order, as with `atomic`.
    """

    loop: str = loop_name()

    def edit(self, e: Editing) -> tuple[str, ...]:
        at, stage = e.at(self.loop), e.own()
        s = stage.statement
        d, of = s.definition, stage.coordinates[at.depth]
        self._check(e, s, of)
        span = layouts.bounds(s, of, e.symbols, e.context)
        if span is None:
            raise e.malformed(f"nothing says where the loop {self.loop} begins and ends")
        name = f"{e.rewritten.program.names[d.func]}.by.{self.loop}"
        func = e.fresh_func(name, d.func, accumulation.partial_types(d))
        made = add_rewrite(e, rewrites.Factored(func, d.serial, of, self.loop, *span))
        if s.name in e.state.reassociated:
            partial = (x for x in e.model.statements if x.func is func)
            more = {x.name for x in partial if accumulation.accumulates(x.definition)}
            named = e.state.reassociated | more
            e.state = replace(e.state, reassociated=frozenset(named))
        return made

    def _check(self, e: Editing, s: Statement, of: Node) -> None:
        """Refuses what has no partial sums along a loop with the coordinate `of`."""
        d = s.definition
        is_arg = accumulation.finds_place(d)
        if not (accumulation.accumulates(d) or is_arg) or e.model.program.is_recurrence(d.func):
            raise e.malformed(
                f"{self.stage} is no reduction: it does not add to what an element was before",
                "an update does, C[i] += ..., also that of an inline reduction",
            )
        if not is_arg and not accumulation.is_exact(d) and s.name not in e.state.reassociated:
            raise e.malformed(
                f"{self.stage} is a sum of floats: adding partial sums gives other bits",
                "reassociate() allows it",
            )
        if s.part_of is not None or d.block is not None:
            raise e.malformed(
                f"{self.stage} is computed inside of the loops of others",
                "rfactor first, then say where it is computed",
            )
        if not any(isinstance(n, RVar) for n in postorder(of)):
            raise e.malformed(
                f"the loop {self.loop} runs over no RVar: its iterations write apart already"
            )
        if any(e.has_accumulator(x) for x in stages(e.tree) if x.statement is s):
            raise e.malformed(
                f"{self.stage} has a private accumulator",
                "rfactor first, then accumulate_at",
            )
