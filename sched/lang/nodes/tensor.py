"""The base class of tensors: the attributes that nodes which read a tensor need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..errors.errors import LanguageError, Span
from .dtypes import DType, Type
from .printer import expr_text
from .travelling import Travelling

if TYPE_CHECKING:
    from .nodes import Node


class Tensor(Travelling):
    """A tensor: it has a shape and is read at an index. Tensors are equal by identity.

    Attributes:
        name: as users call it.
        span: where in the user's code it was made.
        serial: a number that orders tensors by when they were made.
        dtypes: its element type, or one for each component.
        extents: its shape, if that is declared.
    """

    name: str
    span: Span
    serial: int
    dtypes: tuple[DType, ...]
    extents: tuple[Node, ...] | None
    #: Whether it is a reduction without a value over an empty domain: each call checks that its
    #: domain is not empty.
    nonempty = False
    #: Whether it is the Func of an inline reduction, whose update is then part of its value as the
    #: right side of a pure definition is.
    is_reduction = False
    #: The inline reduction for which it was made, and the index at which the definition reads it.
    made_of: tuple[Node, tuple[Node, ...]] | None = None
    #: The Func in whose definition that reduction stands.
    made_for: Tensor | None = None
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
        """The `History` of the definitions that compute the values which a read sees; None for
        tensors that are not computed."""
        return None

    def read_dtype(self, component: int) -> Type | None:
        """The type of a read of the tensor; None if it is not known yet."""
        history = self.read_history
        found: Type | None = (self.dtypes if history is None else history.dtypes())[component]
        return found

    def meant(self) -> Tensor:
        """The tensor whose elements a read of this one reads, for tensors that stand for
        another."""
        return self

    @property
    def written(self) -> str:
        """The tensor in messages: its name, or for an inline reduction its expression."""
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
