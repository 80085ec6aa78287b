"""What is read at an index, as the nodes that read it know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..errors.errors import LanguageError, Span
from .dtypes import DType, Type
from .printer import expr_text

if TYPE_CHECKING:
    from .nodes import Node


class Tensor:
    """What has a shape and is read at an index: an identity, not a value.

    Attributes:
        name: as users call it.
        span: where it was made.
        serial: which was made first.
        dtypes: its element type, or one for each component.
        extents: its shape, if that is declared.
    """

    name: str
    span: Span
    serial: int
    dtypes: tuple[DType, ...]
    extents: tuple[Node, ...] | None
    #: A reduction that has no value over an empty domain: each call checks that there is none.
    nonempty = False
    #: Made of an inline reduction: its update is part of its value, as an equation's right side is.
    is_reduction = False
    #: The reduction of which it was made, and the index at which that stood.
    made_of: tuple[Node, tuple[Node, ...]] | None = None
    #: What a user calls this kind of thing, for messages.
    kind: ClassVar[str] = "tensor"

    @property
    def ndim(self) -> int:
        """The number of axes."""
        if self.extents is None:
            raise LanguageError(
                f"the rank of {self.kind} {self.name} is not known yet",
                hint="define it first, or give it a shape",
            )
        return len(self.extents)

    @property
    def read_history(self) -> Any:
        """The definitions that give what a read sees, a `History`; None for what is not
        computed."""
        return None

    def read_dtype(self, component: int) -> Type | None:
        """The type of what a read gives; None if it is not known yet."""
        history = self.read_history
        found: Type | None = (self.dtypes if history is None else history.dtypes())[component]
        return found

    def meant(self) -> Tensor:
        """The tensor that a read of this one is a read of."""
        return self

    @property
    def written(self) -> str:
        """What a user calls it: an inline reduction has no name."""
        return self.name if self.made_of is None else expr_text(self.made_of[0])

    @property
    def element(self) -> str:
        """How an element of it may be written, for hints: `A[i, j]`."""
        rank = self._rank()
        return f"{self.name}[{_letters(2 if rank is None else rank)}]"

    def _rank(self) -> int | None:
        """The number of axes, if it is known."""
        return None if self.extents is None else len(self.extents)


def _letters(rank: int) -> str:
    return ", ".join("ijkl"[:rank] if rank <= 4 else (f"i{k}" for k in range(rank))) or "()"
