"""`InOut`: an array of the caller's that a program updates in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors.errors import LanguageError, LanguageTypeError
from ..errors.frames import bounded
from ..expr.expr import Expr
from ..nodes.dtypes import DTypeLike
from ..nodes.tensor import Tensor
from .indexable import Indexable, ShapeLike
from .tensors import Func, Input

if TYPE_CHECKING:
    from .define import History


@bounded
class InOut(Func):
    """An array that each call passes and that the program updates in place.

    It is defined by what the caller passes; every definition in the program is an update. Inside
    of a `sequential` that updates it, and in its own updates, a read sees the current value. A
    pure Func says which value it means: `A.initial[i]` or `A.final[i]`.

    Args:
        name: its keyword in a call.
        dtype: its element type, ours or NumPy's.
        shape: extents: integers or expressions affine in sizes.

    Attributes:
        initial: the array as the caller passes it.
        final: the array as the caller gets it back.
    """

    kind = "InOut"
    _public = Func._public | {"initial", "final"}

    def __init__(self, name: str, dtype: DTypeLike, shape: ShapeLike) -> None:
        if shape is None:
            raise LanguageError(
                f"the InOut {name} needs a shape", hint='n, m = ps.sizes("n m"), then (n, m)'
            )
        if dtype is None or isinstance(dtype, (tuple, list)):
            raise LanguageError(
                f"the InOut {name} needs one dtype, not {dtype!r}",
                hint=f"ps.InOut({name!r}, ps.float32, (n, m))",
            )
        super().__init__(name, shape, dtype)
        self.history.closed = True
        self.initial = Initial(self)
        self.final = Final(self)

    @property
    def is_updated(self) -> bool:
        """Whether the program so far changes it."""
        return bool(self.history.recorded)

    def meant(self) -> Tensor:
        """The tensor that a read of the final value reads: the initial one if there are no
        updates, since there is only one value then."""
        unchanged = self.history.completed_by is not None and not self.is_updated
        return self.initial if unchanged else self

    def __repr__(self) -> str:
        return Indexable.__repr__(self)


class _Face(Indexable):
    """The initial or the final value of an InOut, which pure definitions may read."""

    array: InOut

    if TYPE_CHECKING:

        def __getitem__(self, index: object) -> Expr: ...

    else:

        def __setitem__(self, index: object, value: object) -> None:
            name = self.array.name
            raise LanguageTypeError(
                f"{self!r} is a value of {name}, and cannot be assigned to",
                hint=f"{self.array.element} = ... updates {name}",
            )


class Initial(_Face, Input):
    """An InOut as the caller passes it; the argument of the call."""

    kind = "InOut"

    def __init__(self, array: InOut) -> None:
        super().__init__(array.name, array.dtypes[0], array.shape)
        self.span = array.span
        self.array = array

    def __repr__(self) -> str:
        return f"{self.array.name}.initial"


class Final(_Face):
    """An InOut after its last update."""

    kind = "InOut"

    def __init__(self, array: InOut) -> None:
        super().__init__(array.name, array.dtypes, array.shape)
        self.name = f"{array.name}.final"
        self.array = array

    @property
    def read_history(self) -> History:
        return self.array.history

    def meant(self) -> Tensor:
        return self.array if self.array.is_updated else self.array.initial

    def __repr__(self) -> str:
        return self.name
