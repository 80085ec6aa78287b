"""Directives on how Funcs lie in memory, and how elements get there."""

from __future__ import annotations

from typing import Any, Self

from ....lang.errors.frames import bounded
from ....lang.nodes.tensor import Tensor
from ....targets.words import Number
from ...directives.storage import (
    AlignStorage,
    FoldStorage,
    PrefetchOf,
    ReorderStorage,
    StoreIn,
    Stream,
)
from ...directives.sums import Atomic, Reassociate
from ...tree.memory import Place
from .base import Handle, Loop


@bounded
class StorageDirectives(Handle):
    """fold_storage, store_in, prefetch, atomic, ..."""

    def reorder_storage(self, *axes: Any) -> Self:
        """Puts the axes of the Func in another order in memory, outermost first.

        Args:
            axes: numbers, or the Vars of its pure definition.
        """
        self._do(ReorderStorage, axes=axes)
        return self

    def align_storage(self, axis: Any, multiple: Number) -> Self:
        """Makes the extent of an axis in memory a multiple of a number, for full vectors."""
        self._do(AlignStorage, axis=axis, multiple=multiple)
        return self

    def store_in(self, place: Place) -> Self:
        """Where the Func is stored: "stack" or "register", for constant extents; "heap"; "auto".

        Legal: "register" where every element is known when compiling: all loops inside of which
        it is stored are unrolled or vectors, or do not move its elements.
        """
        self._do(StoreIn, place=place)
        return self

    def fold_storage(self, axis: Any, planes: Number) -> Self:
        """Keeps so many planes of this Func along an axis: plane x lies where x % planes does.

        Args:
            axis: a number, or the Var of its pure definition.
            planes: a Python integer, at least 1.

        Recurrences are folded by themselves; this asks for more planes, or for other Funcs.

        Legal: where no plane is overwritten before its last read, also after later directives.
        """
        self._do(FoldStorage, axis=axis, planes=planes)
        return self

    def stream(self) -> Self:
        """Writes results past the caches, for what is not read soon. A hint."""
        self._do(Stream)
        return self

    def prefetch(self, tensor: Tensor | str, loop: Loop, distance: Number = 1) -> Self:
        """Fetches what this stage reads of a tensor some iterations of a loop later. A hint."""
        self._do(PrefetchOf, tensor=tensor, loop=loop, distance=distance)
        return self

    def atomic(self) -> Self:
        """Makes each accumulation atomic, so that iterations which add to one element may run
        concurrently.

        Legal: for sums of integers, minima and maxima; for sums of floats after `reassociate()`.
        """
        self._do(Atomic)
        return self

    def reassociate(self) -> Self:
        """The float sum or product of this update may be taken in any order.

        The result is no longer the same to the bit.
        """
        self._do(Reassociate)
        return self
