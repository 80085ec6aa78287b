"""Directives that put stages together, take them apart, and say what holds of their loops."""

from __future__ import annotations

from typing import Any, Self

from ....lang.errors.errors import user_span
from ....lang.errors.frames import bounded
from ....lang.expr.expr import as_node
from ....lang.nodes.nodes import Node, RVar, Var, postorder, substitute
from ....lang.nodes.typing import infer_condition
from ....targets.words import Number
from ...directives.assumptions import AlignBounds, Bound
from ...directives.bodies import ComputeWith, Fission
from ...directives.parts import Partition, Peel
from ...directives.pieces import Join
from ...state.fields import in_terms_of
from .base import Handle, Loop, StageLike


@bounded
class BodyDirectives(Handle):
    """fission, compute_with, partition, peel, ..."""

    def fission(self, loop: Loop, after: StageLike | None = None) -> Self:
        """Takes a loop apart behind a stage of it (this one, or `after`).

        Legal: where nothing before the cut needs an earlier iteration of what comes after it.
        """
        self._do(Fission, loop=loop, after=self if after is None else after)
        return self

    def compute_with(self, other: StageLike, loop: Loop, shift: int = 0) -> Self:
        """Moves this stage into the loops of another one, down to `loop`.

        Args:
            shift: by how many iterations of that loop it comes later.

        Legal: where the other's later iterations need nothing of this stage's earlier ones, and
        the other way round.
        """
        self._do(ComputeWith, other=other, loop=loop, shift=shift)
        return self

    def join(self) -> Self:
        """Puts the pieces of a definition into one nest of loops, that of the closing piece: each
        runs where that one would compute the same point.

        `tile`, and whatever else changes several loops, joins pieces that do not share these
        loops, if it is said of the Func.

        Legal: where each point comes behind those that it is made of, in these loops.
        """
        self._do(Join)
        return self

    def partition(self, condition: Any) -> tuple[Self, Self]:
        """Splits the stage in two by an affine condition over its Vars, RVars and sizes.

        Returns:
            The stage where the condition holds, and the one where it does not; they stand one
            after the other in the same loops. fission takes the loops apart.

        Legal: where, in one iteration of the loops, the order does not matter.
        """
        node = in_terms_of(
            "the condition of partition",
            lambda: infer_condition(as_node(condition), user_span()),
        )
        # Vars and RVars by name: a record is equal to the one that its text makes.
        names: dict[Node, Node] = {x: Var(x.name) for x in postorder(node) if isinstance(x, RVar)}
        made = self._do_stages(Partition, condition=substitute(node, names))
        return made[0], made[1]

    def peel(self, loop: Loop, first: Number = 0, last: Number = 0) -> Self:
        """Gives the first and the last iterations of a loop loops of their own.

        The stages in them are called `C.first` and `C.last`.

        Legal: always; the order of iterations stays the same.
        """
        self._do(Peel, loop=loop, first=first, last=last)
        return self

    def bound(self, loop: Loop, extent: Number) -> Self:
        """Says that a loop has a constant extent, which each call checks."""
        self._do(Bound, loop=loop, extent=extent)
        return self

    def align_bounds(self, loop: Loop, factor: Number) -> Self:
        """Says that a loop begins and ends at multiples of a factor, which each call checks."""
        self._do(AlignBounds, loop=loop, factor=factor)
        return self
