"""Directives that say where Funcs are computed, and those that add Funcs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from ....lang.errors.frames import bounded
from ....lang.nodes.tensor import Tensor
from ....lang.tensors.tensors import Func
from ...directives.accumulators import AccumulateAt
from ...directives.copies import CloneIn, StageIn
from ...directives.placing import ComputeAt, ComputeInline, ComputeRoot, StoreAt, StoreRoot
from ...directives.sums import Rfactor
from ...state.record import Directive
from .base import Handle, Loop, LoopHandle, StageLike, loop_of


@bounded
class PlacingDirectives(Handle):
    """compute_at, store_at, stage, rfactor, ..."""

    def compute_at(self, consumer: StageLike | LoopHandle, loop: Loop | None = None) -> Self:
        """Computes the Func in each iteration of a loop of a consumer, as far as it is read there.

        Args:
            consumer: a stage (or its Func), and `loop` one of its loops; or the handle of a loop.

        Its storage lives for one iteration of that loop, unless `store_at` says otherwise. The
        Funcs of a recurrence move together.

        Legal: where all that reads the Func is inside of the loop, or what it reads is computed
        before.
        """
        self._do(ComputeAt, **loop_of(consumer, loop))
        return self

    def compute_inline(self) -> Self:
        """Computes the Func wherever it is read, each time anew. It has no loops then.

        Legal: for one pure equation that is no output.
        """
        self._do(ComputeInline)
        return self

    def compute_root(self) -> Self:
        """Computes the Func once, before all that reads it, and stores all of it. An output that
        nothing reads comes last."""
        self._do(ComputeRoot)
        return self

    def store_at(self, consumer: StageLike | LoopHandle, loop: Loop | None = None) -> Self:
        """Keeps the storage of the Func for one iteration of a loop around where it is computed.

        What an earlier iteration has computed is not computed again: the window slides, and no
        more of it is kept than is still read.

        Legal: where iterations that run concurrently do not share what they write.
        """
        self._do(StoreAt, **loop_of(consumer, loop))
        return self

    def store_root(self) -> Self:
        """Keeps the storage of the Func for the whole program."""
        self._do(StoreRoot)
        return self

    def accumulate_at(self, loop: Loop) -> Self:
        """Gives the stage a private accumulator inside of a loop.

        In each iteration of the loop it is copied there first, as far as it has values already,
        and written back once, by copies of this stage's loops over what its left side is made of.

        Legal: where nothing else inside of the loop uses these elements, not this stage itself.
        """
        self._do(AccumulateAt, loop=loop)
        return self

    def clone_in(self, consumer: StageLike) -> Func:
        """Gives one consumer a Func of its own with the same definitions.

        Returns:
            The clone, to be scheduled apart: one Func, two placements.
        """
        return self._made(CloneIn, consumer=consumer)

    def stage(
        self,
        tensor: Tensor | str,
        at: Loop,
        layout: Sequence[Loop] | None = None,
        pad: bool = False,
    ) -> Func:
        """Copies the part of an operand that is used inside of a loop, before it is used.

        Args:
            tensor: what this stage reads.
            at: the loop; the copy is made anew in each of its iterations.
            layout: loops inside of `at` whose coordinates index the copy, outermost first. As the
                tensor without it.
            pad: elements that the tensor does not have are 0, not read.

        Returns:
            The copy, a pure Func that can be scheduled.

        Legal: where the tensor does not change while the stage runs.
        """
        return self._made(StageIn, tensor=tensor, at=at, layout=layout, pad=pad)

    def rfactor(self, loop: Loop) -> Func:
        """Splits a reduction in two steps: a partial result for each iteration of a loop, then the
        reduction of these.

        The loops and their kinds stay with the partial results, of which the loop is the first
        dimension.

        Returns:
            The Func of the partial results.

        Legal: for integers, minima and maxima, argmin and argmax; for float sums and products
        after `reassociate()`.
        """
        return self._made(Rfactor, loop=loop)

    def _made(self, kind: type[Directive], **options: Any) -> Func:
        (name,) = self._apply(kind, **options)
        return self._schedule._builder.added(name)
