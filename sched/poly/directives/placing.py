"""Directives that say where a Func is computed and stored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, cast

from ...lang.program.steps import tensors_read
from ...lang.tensors.tensors import Func
from ...later import later
from ...records import dataclass
from ..state.fields import loop_name, stage_name
from ..state.record import Directive
from ..tree.edits import At, loops_around, own_stages, stages, stages_of
from ..tree.looptree import Seq, loops_as_vars, loops_of, produced
from . import accumulators
from .rewriting import add_rewrite, chosen, func_of, stored

if TYPE_CHECKING:
    from ..placement import placement
    from ..program import inline, rewrites
    from ..state.editing import Editing
    from ..tree import relocation
else:
    placement = later("..placement.placement", __package__)
    inline = later("..program.inline", __package__)
    rewrites = later("..program.rewrites", __package__)
    relocation = later("..tree.relocation", __package__)


@dataclass(frozen=True)
class ComputeAt(Directive, name="compute_at", of="func"):
    """F before the loops of C   ->   in each iteration of a loop of C, what it reads of F

    Legal: each read of F is of a value computed in the same iteration, or before the loop.
    """

    consumer: str = stage_name()
    loop: str = loop_name()

    def edit(self, e: Editing) -> tuple[str, ...]:
        own = stored(e)
        if e.statement(self.consumer).func is own:
            return _begin_at(e, own, self.consumer, e.at(self.loop, self.consumer))
        funcs = placeable(e, own)
        at = e.at(self.loop, self.consumer)
        if e.statement(self.consumer).func in funcs:
            raise e.malformed(
                f"{self.consumer} and {self.stage} need each other",
                "they are computed together",
            )
        e.check_serial(at, self.consumer)
        compute_together(e, funcs, at, self.consumer)
        for func in funcs:
            for made in func.history.reductions:
                if made not in funcs and _only_read_by(e, made, funcs):
                    compute_together(e, (made,), e.at(self.loop, self.consumer), self.consumer)
        return ()


@dataclass(frozen=True)
class ComputeInline(Directive, name="compute_inline", of="func"):
    """F[x]   ->   its definition, wherever it is read.

    Legal: for one pure equation that is no output.
    """

    def edit(self, e: Editing) -> tuple[str, ...]:
        func = func_of(e)
        is_clone = any(
            isinstance(x, rewrites.Clone) and x.func is func for x in e.rewritten.rewrites
        )
        if func in e.rewritten.base.funcs or is_clone:
            why = inline.why_not_inline(func, e.rewritten.program)
        else:
            why = "it is a copy, or a part of a sum"
        if why is not None:
            raise e.malformed(f"{func.name} cannot be inlined: {why}")
        own = {func, *(d.serial for d in e.rewritten.program.definitions_of(func))}
        for rewrite in e.rewritten.rewrites:
            if not own.isdisjoint(rewrite.needs):
                raise e.malformed(
                    f"{func.name} cannot be inlined: {e.rewritten.program.names[rewrite.func]} was "
                    "made of it",
                )
        for path, node in produced(e.tree):
            if {s.statement.func for s in own_stages(loops_of(path)[-1])} == {func}:
                names = ", ".join(f.name for f in node.funcs)
                raise e.malformed(
                    f"{names} is computed at a loop of {func.name}", "compute it elsewhere first"
                )
        if is_clone:
            if func in e.model.regions:  # else it is inlined already
                add_rewrite(e, rewrites.InlinedClone(func))
            return ()
        chosen(e, func, True)
        if func in e.model.regions:
            readers = [s.definition for s in e.model.statements]
            whole = any(d.opaque is not None and func in tensors_read(d) for d in readers)
            why = (
                "an extern stage that reads it is given all of it" if whole
                else "at an index that depends on data, its conditions could not be proven"
            )  # fmt: skip
            raise e.malformed(f"{func.name} cannot be inlined: {why}")
        return ()


@dataclass(frozen=True)
class ComputeRoot(Directive, name="compute_root", of="func"):
    """F once, before all that reads it; an output that nothing reads comes last.

    Legal: for each dependence x -> y, x stays before y.
    """

    def edit(self, e: Editing) -> tuple[str, ...]:
        funcs = movable(e, stored(e))
        outputs = e.model.program.outputs
        e.tree = relocation.compute_root(e.tree, funcs, [f for f in funcs if f not in outputs])
        e.tree = cast(Seq, placement.at_root(e.model, e.tree, funcs))
        return ()


@dataclass(frozen=True)
class StoreAt(Directive, name="store_at", of="func"):
    """The storage of F for one iteration of a loop: what one iteration of the loops inside has
    computed is there for later ones.

    Legal: all uses of F are inside of the loop; concurrent iterations write no element in common.
    """

    consumer: str = stage_name()
    loop: str = loop_name()

    def edit(self, e: Editing) -> tuple[str, ...]:
        funcs = placeable(e, stored(e))
        at = e.at(self.loop, self.consumer)
        e.check_serial(at, self.consumer)
        inside = list(stages(at.loop))
        for stage in stages(e.tree):
            used = stage.statement.touches(*funcs)
            if used and not any(stage is s for s in inside):
                does = "computed" if stage.statement.func in funcs else f"read by {stage.name}"
                raise e.malformed(
                    f"{self.stage} is {does} outside of the loop {self.loop}",
                    "store it at a loop around all that reads and writes it",
                )
        e.tree = relocation.store_at(e.tree, funcs, at)
        return ()


@dataclass(frozen=True)
class StoreRoot(Directive, name="store_root", of="func"):
    """The storage of F for the whole program. Legal: as `store_at`."""

    def edit(self, e: Editing) -> tuple[str, ...]:
        funcs = placeable(e, stored(e))
        e.tree = relocation.store_at(e.tree, funcs, None)
        return ()


def movable(e: Editing, func: Func) -> tuple[Func, ...]:
    """The Funcs that are computed together with one, and can be so before others or behind them.

    Raises:
        ScheduleError: it stays where it is.
    """
    why = None
    if func.history.home is not None or any(r.block is not None for r in func.history.recorded):
        why = "a sequential says when it is computed"
    elif any(d.opaque is not None for d in e.model.definitions[func]):
        why = "an extern stage computes all of it at once"
    if why is not None:
        raise e.malformed(f"{func.name} cannot be computed or stored elsewhere: {why}")
    group = next((g for g in e.model.program.recurrences if func in g), (func,))
    return tuple(f for f in group if f in e.model.regions)


def placeable(e: Editing, func: Func) -> tuple[Func, ...]:
    """The same where they may be computed or stored in loops of others.

    Raises:
        ScheduleError: it stays where it is.
    """
    outputs = e.model.program.outputs
    if func in outputs:
        raise e.malformed(
            f"{func.name} cannot be computed or stored elsewhere: it is an output, which is "
            "computed once and whole",
            "leave this out: an output is at the root already, and what it reads can be placed",
        )
    members = movable(e, func)
    if any(f in outputs for f in members):
        names = ", ".join(f.name for f in members)
        raise e.malformed(
            f"{func.name} shares its loops with an output: {names} need each other",
            "they are computed together",
        )
    return members


def compute_together(e: Editing, funcs: Sequence[Func], at: At, consumer: str) -> None:
    """Moves Funcs to a loop of a consumer."""
    loops = (*loops_around(e.tree, consumer)[: at.depth], at)
    around = loops_as_vars(consumer, [a.loop for a in loops])
    e.tree = relocation.compute_at(e.tree, funcs, at, around)


def _begin_at(e: Editing, func: Func, update: str, at: At) -> tuple[str, ...]:
    """The pure definition inside of its own update."""
    _, to = e.tree.by_name[update]
    own = stages_of(e.tree, func)
    pure = [s.name for s in own if not s.statement.definition.is_update]
    if not to.statement.definition.is_update and e.stage in pure:
        raise e.malformed(
            f"{update} belongs to {e.stage} itself",
            "a Func is computed at a loop of what reads it, or of an update of its own",
        )
    if e.stage not in pure or not to.statement.definition.is_update:
        raise e.malformed(
            f"{e.stage} is no pure definition of {func.name}, or {update} is no update",
            "a pure definition can be computed inside of an update of the same Func",
        )
    if at.depth < e.depth_of_consumer(update):
        raise e.malformed(
            f"{func.name} is computed inside of the loop {at.loop.name} already",
            f"it can begin at a loop that {update} has of its own",
        )
    e.check_serial(at, update)
    e.tree = accumulators.begin_at(e.tree, pure, at, to)
    return ()


def _only_read_by(e: Editing, func: Func, readers: Collection[Func]) -> bool:
    """Whether a Func is stored and nothing else reads it."""
    found = {s.func for s in e.model.statements if s.reads_from(func)}
    return func in e.model.regions and found <= {*readers, func}
