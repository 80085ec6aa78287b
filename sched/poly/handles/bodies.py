"""Directives that put stages together, take them apart, and say what holds of their loops."""

from __future__ import annotations

from typing import Any, Self

from ...lang.dtypes import bool_
from ...lang.elaborate import infer_condition
from ...lang.errors import LanguageTypeError, user_span
from ...lang.expr import as_node
from ...lang.frames import bounded
from ...lang.nodes import Node, RVar, Var, postorder, substitute
from ...lang.records import Plain
from .base import Handle, Loop, name_of


@bounded
class BodyDirectives(Handle):
    """fission, compute_with, partition, peel, ..."""

    def fission(self, loop: Loop, after: Handle | str | None = None) -> Self:
        """Takes a loop apart behind a stage of it (this one, or `after`).

        Legal: where nothing before the cut needs an earlier iteration of what comes after it.
        """
        cut = self.name if after is None else after if isinstance(after, str) else after.name
        self._do("fission", loop=name_of(loop), after=cut)
        return self

    def compute_with(self, other: Any, loop: Loop, shift: int = 0) -> Self:
        """Moves this stage into the loops of another one, down to `loop`.

        Args:
            shift: by how many iterations of that loop it comes later.

        Legal: where the other's later iterations need nothing of this stage's earlier ones, and
        the other way round.
        """
        target = other if isinstance(other, Handle) else self._schedule[other]
        self._do("compute_with", other=target.name, loop=name_of(loop), shift=shift)
        return self

    def partition(self, condition: Any) -> tuple[Self, Self]:
        """Splits the stage in two by an affine condition over its Vars, RVars and sizes.

        Returns:
            The stage where the condition holds, and the one where it does not; they stand one
            after the other in the same loops. fission takes the loops apart.

        Legal: where, in one iteration of the loops, the order does not matter.
        """
        node = infer_condition(as_node(condition), user_span())
        if node.type != bool_:
            raise LanguageTypeError(f"{condition!r} is no condition")
        # Vars and RVars by name: a record is equal to the one that its text makes.
        names: dict[Node, Node] = {x: Var(x.name) for x in postorder(node) if isinstance(x, RVar)}
        made = self._do_stages("partition", condition=_plain(substitute(node, names)))
        return made[0], made[1]

    def peel(self, loop: Loop, first: int = 0, last: int = 0) -> Self:
        """Gives the first and the last iterations of a loop loops of their own.

        The stages in them are called `C.first` and `C.last`.

        Legal: always; the order of iterations stays the same.
        """
        self._do("peel", loop=name_of(loop), first=first, last=last)
        return self

    def bound(self, loop: Loop, extent: int) -> Self:
        """Says that a loop has a constant extent, which each call checks."""
        self._do("bound", loop=name_of(loop), extent=extent)
        return self

    def align_bounds(self, loop: Loop, factor: int) -> Self:
        """Says that a loop begins and ends at multiples of a factor, which each call checks."""
        self._do("align_bounds", loop=name_of(loop), factor=factor)
        return self


def _plain(node: Node) -> Plain:
    return node
