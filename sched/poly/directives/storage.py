"""Directives on how Funcs lie in memory, and how elements get there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...lang.errors.words import axes_text
from ...later import later
from ...records import dataclass, replace
from ..state.fields import axes, axis, choice, loop_name, number, tensor_name
from ..state.record import Directive
from ..tree.hints import Prefetch
from ..tree.looptree import Accumulator
from ..tree.memory import PLACES, Memory, Window

if TYPE_CHECKING:
    from ..placement import folding
    from ..state.editing import Editing
else:
    folding = later("..placement.folding", __package__)


@dataclass(frozen=True)
class FoldStorage(Directive, name="fold_storage", of="func"):
    """Plane x of an axis lies where plane x mod planes does.

    Legal: each plane is read for the last time before another one is written to its place.
    """

    axis: int = axis()
    planes: int = number("number of planes", least=1)

    def edit(self, e: Editing) -> tuple[str, ...]:
        func = e.own().statement.func
        if not 0 <= self.axis < func.ndim:
            raise e.malformed(f"{func.name} has {axes_text(func.ndim)}, and no axis {self.axis}")
        why = folding.foldable(e.model, func)
        if why is not None:
            raise e.malformed(f"the storage of {func.name} cannot be folded: {why}")
        others = tuple((f, w) for f, w in e.state.folds if f is not func)
        e.state = replace(e.state, folds=(*others, (func, Window(self.axis, self.planes))))
        return ()


@dataclass(frozen=True)
class ReorderStorage(Directive, name="reorder_storage", of="func"):
    """Axes in another order in memory, outermost first. Legal: always."""

    axes: tuple[int, ...] = axes()

    def edit(self, e: Editing) -> tuple[str, ...]:
        func = e.own().statement.func
        if sorted(self.axes) != list(range(func.ndim)):
            raise e.malformed(
                f"{self.axes} is no order of the {axes_text(func.ndim)} of {func.name}",
                "each axis once, outermost first",
            )
        return _memory(e, order=tuple(self.axes))


@dataclass(frozen=True)
class AlignStorage(Directive, name="align_storage", of="func"):
    """The extent of an axis in memory, rounded up to a multiple. Legal: always."""

    axis: int = axis()
    multiple: int = number("multiple", least=1)

    def edit(self, e: Editing) -> tuple[str, ...]:
        func = e.own().statement.func
        if not 0 <= self.axis < func.ndim:
            raise e.malformed(f"{func.name} has {axes_text(func.ndim)}, and no axis {self.axis}")
        old = e.state.memory.get(func, Memory()).multiples
        others = tuple((a, n) for a, n in old if a != self.axis)
        return _memory(e, multiples=(*others, (self.axis, self.multiple)))


@dataclass(frozen=True)
class StoreIn(Directive, name="store_in", of="func"):
    """Where the Func is stored.

    Legal: on the stack for extents that are constants and small; in registers where every element
    is known when compiling.
    """

    place: str = choice(PLACES)

    def edit(self, e: Editing) -> tuple[str, ...]:
        return _memory(e, place=self.place)


@dataclass(frozen=True)
class Stream(Directive, name="stream", of="stage"):
    """Results are written past the caches. Legal: always; refused where they are read soon."""

    def edit(self, e: Editing) -> tuple[str, ...]:
        stage = e.own()
        d = stage.statement.definition
        # What a recurrence reads of the iterations before, it may keep in registers.
        again = d.is_update and stage.statement.reads_from(d.func)
        if again or d.opaque is not None:
            raise e.malformed(
                f"{self.stage} reads what it writes: it belongs into the caches",
                "a pure definition can be streamed",
            )
        e.state = replace(e.state, streams=e.state.streams | {self.stage})
        return ()


@dataclass(frozen=True)
class PrefetchOf(Directive, name="prefetch", of="stage"):
    """What is read of a tensor some iterations later is fetched. Legal: always."""

    tensor: str = tensor_name()
    loop: str = loop_name()
    distance: int = number("distance", least=1)

    def edit(self, e: Editing) -> tuple[str, ...]:
        kind = e.at(self.loop).loop.kind
        if kind in ("vector", "unrolled"):
            raise e.malformed(
                f"{self.loop} is {kind}: it has no later iterations to fetch for",
                "a loop around it",
            )
        names = e.rewritten.program.names
        have = dict.fromkeys(names[a.tensor] for a in e.own().statement.reads)
        if self.tensor not in have:
            raise e.malformed(
                f"{self.stage} does not read {self.tensor}", "it reads " + ", ".join(have)
            )
        made = Prefetch(self.stage, self.tensor, self.loop, self.distance)
        e.state = replace(e.state, prefetches=(*e.state.prefetches, made))
        return ()


def _memory(e: Editing, **changes: Any) -> tuple[str, ...]:
    """Changes how the Func of the stage lies in memory."""
    func = e.own().statement.func
    is_private = any(isinstance(node, Accumulator) and node.func is func for node in e.nodes())
    if func in e.model.program.outputs and not is_private:
        raise e.malformed(
            f"{func.name} is an output, which lies where the caller says",
            "accumulate_at(...) gives the stage a private accumulator",
        )
    if any(s.definition.opaque is not None and s.touches(func) for s in e.model.statements):
        raise e.malformed(f"an extern stage is given {func.name} as an array")
    old = e.state.memory.get(func, Memory())
    made = {**e.state.memory, func: replace(old, **changes)}
    e.state = replace(e.state, memory=made)
    return ()
