"""Directives on what accumulates: in other orders, at once, in parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .fields import loop_name
from .record import Directive

if TYPE_CHECKING:
    from ..editor import Editor


@dataclass(frozen=True)
class Reassociate(Directive, name="reassociate"):
    """a + (b + c)   ->   (a + b) + c, in any order. Legal: where the user says so."""

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.reassociate()


@dataclass(frozen=True)
class Atomic(Directive, name="atomic"):
    """C[i] += v   ->   in one step that nothing else is seen in the middle of

    Legal: for sums of integers, minima and maxima; for sums of floats after `reassociate`.
    """

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.atomic()


@dataclass(frozen=True)
class Rfactor(Directive, name="rfactor"):
    """C[i] += v(r)   ->   P[x, i] += v(r) for each iteration x of a loop; C[i] += P[x, i]

    Legal: for what may be taken in any order, as with `atomic`.
    """

    loop: str = loop_name()

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.rfactor(self.loop)
