"""Directives on how Funcs lie in memory, and how elements get there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..memory import PLACES
from .fields import axes, axis, choice, loop_name, number, tensor_name
from .record import Directive

if TYPE_CHECKING:
    from ..editor import Editor


@dataclass(frozen=True)
class FoldStorage(Directive, name="fold_storage"):
    """Plane x of an axis lies where plane x mod planes does.

    Legal: each plane is read for the last time before another one is written to its place.
    """

    axis: int = axis()
    planes: int = number("number of planes", least=1)

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.fold_storage(self.axis, self.planes)


@dataclass(frozen=True)
class ReorderStorage(Directive, name="reorder_storage"):
    """Axes in another order in memory, outermost first. Legal: always."""

    axes: tuple[int, ...] = axes()

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.reorder_storage(self.axes)


@dataclass(frozen=True)
class AlignStorage(Directive, name="align_storage"):
    """The extent of an axis in memory, rounded up to a multiple. Legal: always."""

    axis: int = axis()
    multiple: int = number("multiple", least=1)

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.align_storage(self.axis, self.multiple)


@dataclass(frozen=True)
class StoreIn(Directive, name="store_in"):
    """Where the Func is stored.

    Legal: on the stack for extents that are constants and small; in registers where every element
    is known when compiling.
    """

    place: str = choice(PLACES)

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.store_in(self.place)


@dataclass(frozen=True)
class Stream(Directive, name="stream"):
    """Results past the caches. Legal: always; refused where they are read again at once."""

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.stream()


@dataclass(frozen=True)
class PrefetchOf(Directive, name="prefetch"):
    """What is read of a tensor some iterations later is fetched. Legal: always."""

    tensor: str = tensor_name()
    loop: str = loop_name()
    distance: int = number("distance", least=1)

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.prefetch(self.tensor, self.loop, self.distance)
