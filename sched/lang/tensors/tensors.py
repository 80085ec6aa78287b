"""The kinds of tensors: Inputs, embedded tables (Consts) and Funcs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors.errors import LanguageError, LanguageTypeError, PolyschedError, Span, user_span
from ..errors.frames import bounded, cut
from ..expr.expr import Expr, ExprLike, as_node
from ..nodes import nodes
from ..nodes.bfloat import of_torch
from ..nodes.dtypes import DType, DTypeLike, as_dtype
from ..nodes.nodes import Node
from ..nodes.typing import typed_size
from .indexable import Indexable, ShapeLike

if TYPE_CHECKING:
    from .define import History


@bounded
class Input(Indexable):
    """An array that each call passes.

    Args:
        name: its keyword in a call.
        dtype: its element type, ours or NumPy's.
        shape: extents: integers or expressions affine in sizes.
        range: half-open bounds `(lo, hi)` of its values, as Python's range: `lo <= value < hi`.
            Checked at the call, and used in proofs, so that gathers through it need no clamp.
    """

    kind = "Input"
    _public = Indexable._public | {"range"}

    def __init__(
        self,
        name: str,
        dtype: DTypeLike,
        shape: ShapeLike,
        range: tuple[ExprLike, ExprLike] | None = None,
    ) -> None:
        if shape is None:
            raise LanguageError(
                f"the Input {name} needs a shape", hint='n, m = ps.sizes("n m"), then (n, m)'
            )
        if isinstance(dtype, (tuple, Expr)):
            raise LanguageTypeError(
                f"{dtype!r} is no element type: the dtype of an Input comes before its shape",
                hint=f"ps.Input({name!r}, ps.float32, (n, m))",
            )
        super().__init__(name, (as_dtype(dtype),), shape)
        self.range: tuple[Node, Node] | None = None
        if range is not None:
            if not isinstance(range, tuple) or len(range) != 2:
                raise LanguageTypeError(
                    f"Input {name}: range= is a pair (lo, hi), not {range!r}",
                    hint="half-open: lo <= value < hi",
                )
            lo, hi = (self._limit(bound) for bound in range)
            if isinstance(lo, nodes.Const) and isinstance(hi, nodes.Const) and lo.value >= hi.value:
                raise LanguageError(
                    f"Input {name}: no value lies in range=({lo.value}, {hi.value})",
                    hint="half-open: lo <= value < hi",
                )
            self.range = (lo, hi)

    def _limit(self, bound: ExprLike) -> Node:
        """An end of the range: a number, or an integer expression over sizes and Params."""
        root = as_node(bound)
        for node in nodes.postorder(root):
            if not isinstance(node, (nodes.Const, nodes.Size, nodes.Param, nodes.Op)):
                raise LanguageError(
                    f"Input {self.name}: range= is made of numbers, sizes and Params, and cannot "
                    f"contain {Expr(node)!r}"
                )
        t = self.dtypes[0]
        if t.is_bool:
            raise LanguageTypeError(f"Input {self.name}: bools have no range")
        if t.is_float and isinstance(root, nodes.Const):
            return root
        return typed_size(root, self.span)

    if TYPE_CHECKING:  # one value at each point, which a Func need not have

        def __getitem__(self, index: object) -> Expr: ...


@bounded
class Const(Indexable):
    """A table that is part of the program.

    Args:
        name: for messages and listings.
        array: anything NumPy takes; copied.
    """

    kind = "Const"

    def __init__(self, name: str, array: object) -> None:
        if isinstance(array, np.ma.MaskedArray):
            raise LanguageTypeError(
                f"Const {name} is a masked array: the mask would be ignored",
                hint="array.filled(value) is a plain array",
            )
        try:
            halves = of_torch(array)
            data = np.array(array if halves is None else halves, order="C")
        except LanguageError:
            raise
        except (TypeError, ValueError, RuntimeError) as error:  # two are PyTorch's
            raise LanguageTypeError(
                f"Const {name}: NumPy makes no array of this: {error}"
            ) from None
        super().__init__(name, (as_dtype(data.dtype),), data.shape)
        data = data.astype(data.dtype.newbyteorder("="), copy=False)
        data.flags.writeable = False
        self.data = data

    if TYPE_CHECKING:  # one value at each point, which a Func need not have

        def __getitem__(self, index: object) -> Expr: ...


if TYPE_CHECKING:
    # Type checkers do not know how many values a Func has at each point. What they are told can be
    # used as one value, and unpacked as several.
    class Values(Expr):
        def __iter__(self) -> Iterator[Expr]: ...
        def __len__(self) -> int: ...
        def __getitem__(self, index: int) -> Expr: ...
        def __iadd__(self, other: ExprLike) -> Values: ...  # f[i] += x assigns it to f[i]

        __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __iadd__
        __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = __iadd__

else:
    Values = Expr


@bounded
class Func(Indexable):
    """A tensor that is computed: a pure definition, then updates in the order written.

    Args:
        name: for calls, listings and schedules.
        shape: extents affine in sizes. Without one, the region is what consumers need.
        dtype: an element type, or a tuple of them. Without one, the least type that holds all
            its definitions.
    """

    kind = "Func"
    #: Set by the package: the functions of higher layers that calls and schedules need.
    _call: ClassVar[Callable[..., Any]]
    _signature: ClassVar[Callable[[Func], str]]
    _call_signature: ClassVar[Callable[[Func], inspect.Signature]]
    _made: ClassVar[Callable[[Func], None]]
    _scheduled: ClassVar[Callable[[Func], dict[str, str]]]
    requirements: list[Any]
    #: What a call without a schedule runs, once there has been one.
    _default_kernel: Any = None

    def __init__(
        self,
        name: str,
        shape: ShapeLike | None = None,
        dtype: DTypeLike | Sequence[DTypeLike] | None = None,
    ) -> None:
        self._prepare(name, shape, dtype)
        Func._made(self)

    def _prepare(self, name: str, shape: Any, dtype: object) -> None:
        from .define import History  # definitions are made of tensors: the import goes one way

        if isinstance(shape, DType) or (isinstance(shape, type) and issubclass(shape, np.generic)):
            raise LanguageTypeError(
                f"{shape!r} is no shape: the shape of a Func comes before its dtype",
                hint=f"ps.Func({name!r}, (n, m), ps.float32), or dtype=ps.float32 alone",
            )
        given = tuple(dtype) if isinstance(dtype, (tuple, list)) else (dtype,)
        if not given:
            raise LanguageTypeError(f"Func {name}: a tuple of dtypes holds at least one")
        types = () if dtype is None else tuple(as_dtype(t) for t in given)
        super().__init__(name, types, shape)
        self.declared_dtypes = self.dtypes or None
        self.history = History(self)
        self.requirements = []
        self.__name__ = self.name  # as functions have one: Dask names its tasks by it

    @classmethod
    def _internal(cls, name: str, dtypes: tuple[DType, ...] | None) -> Func:
        """A Func that the language makes itself, named after the one that needs it."""
        func = cls.__new__(cls)
        func._prepare("_", None, dtypes)
        func.name = name
        return func

    @property
    def read_history(self) -> History | None:
        return self.history

    if TYPE_CHECKING:

        def __getitem__(self, index: object) -> Values: ...

    def __setitem__(self, index: object, value: object) -> None:
        self.history.record(index, value, user_span())

    def _rank(self) -> int | None:
        rank = super()._rank()
        return self.history.rank if rank is None else rank

    def _components(self) -> int:
        return len(self.dtypes) or self.history.components or 1

    @property
    def ndim(self) -> int:
        rank = self._rank()
        return super().ndim if rank is None else rank

    @property
    def vars(self) -> tuple[Expr, ...]:
        if not self.history.recorded:
            return super().vars
        return tuple(Expr(v) for v in self.history.pure_vars())

    @property
    def dtype(self) -> DType | tuple[DType, ...]:
        types = self.history.dtypes()
        return types[0] if len(types) == 1 else types

    def complete(self, by: Span) -> None:
        """Completes the Func, which is used at `by`: it gets no more definitions."""
        self.history.complete(by)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        kernel = self._default_kernel
        try:
            if kernel is not None:
                return kernel(*args, **kwargs)
            self._check_arrays(args)
            return Func._call(self, *args, **kwargs)
        except PolyschedError as error:
            if kernel is not None:
                self._check_arrays(args)
            cut(error)
            raise

    @bounded
    def _check_arrays(self, args: tuple[Any, ...]) -> None:
        """Refuses indices where a call takes arrays."""
        if any(isinstance(a, Expr) for a in args):
            raise LanguageTypeError(
                f"{self.name}(...) calls the compiled program on arrays",
                hint=f"to read an element write {self.name}[{', '.join(map(repr, args))}]",
            ) from None

    def _others(self) -> dict[str, str]:
        call = {"realize": f"call it with arrays: {self.name}(A=a)"}
        return super()._others() | Func._scheduled(self) | call

    @property
    def __signature__(self) -> inspect.Signature:
        """The arguments of a call, as far as the Func is defined."""
        return Func._call_signature(self)

    def __repr__(self) -> str:
        if not self.history.recorded:
            shape = "" if self.extents is None else ", ".join(repr(e) for e in self.shape)
            return f"Func {self.name}[{shape}], not defined yet"
        return Func._signature(self)

    def __str__(self) -> str:
        return self.history.text()
