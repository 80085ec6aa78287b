"""Inputs, embedded tables and Funcs: what has a shape and is read at an index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from . import nodes
from .dtypes import DType, as_dtype
from .elaborate import typed_size
from .errors import LanguageError, LanguageTypeError, Span, user_span
from .expr import Expr, ExprLike, as_node
from .nodes import Node, Read
from .symbols import check_name

ShapeLike = tuple[ExprLike, ...] | list[ExprLike] | ExprLike


class ExprTuple(tuple[Expr, ...]):
    """The values of a Func with a tuple dtype at one point; unpack it or index it."""

    __slots__ = ()

    def __add__(self, other: object) -> NoReturn:
        raise LanguageTypeError(
            "a tuple of values cannot be added to",
            hint="unpack it, zr, zi = z[i], and write the update as z[i] = (zr + a, zi + b)",
        )


class Tensor:
    """Base of everything that is read at an index. An identity, not a value."""

    is_tensor = True
    #: What a user calls this kind of thing, for messages.
    kind: ClassVar[str] = "tensor"

    def __init__(self, name: str, dtypes: tuple[DType, ...], shape: ShapeLike | None) -> None:
        self.name = check_name(name, self.kind)
        self.span = user_span()
        self.serial = nodes.next_serial()
        self.dtypes = dtypes
        self.extents: tuple[Node, ...] | None = None if shape is None else self._extents(shape)

    def _extents(self, shape: ShapeLike) -> tuple[Node, ...]:
        given = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        for extent in given:
            if isinstance(extent, (int, np.integer)) and extent < 0:
                raise LanguageError(f"{self.kind} {self.name}: an extent cannot be {extent}")
            if isinstance(extent, (float, np.floating)):
                raise LanguageTypeError(
                    f"{self.kind} {self.name}: an extent must be an integer, not {extent!r}"
                )
        extents = tuple(as_node(e) for e in given)
        for node in nodes.postorder(*extents):
            if not isinstance(node, (nodes.Const, nodes.Size, nodes.Param, nodes.Op)):
                raise LanguageError(
                    f"{self.kind} {self.name}: an extent is made of integers and sizes, "
                    f"and cannot contain {Expr(node)!r}",
                    hint='sizes are made by n, m = ps.sizes("n m")',
                )
        return tuple(typed_size(e, self.span) for e in extents)

    @property
    def shape(self) -> tuple[Expr, ...]:
        """Its extents as expressions."""
        if self.extents is None:
            raise LanguageError(
                f"{self.kind} {self.name} has no declared shape",
                hint=f"give it one: ps.Func({self.name!r}, (n, m))",
            )
        return tuple(Expr(e) for e in self.extents)

    @property
    def ndim(self) -> int:
        if self.extents is None:
            raise LanguageError(f"the rank of {self.kind} {self.name} is not known yet")
        return len(self.extents)

    @property
    def dtype(self) -> DType | tuple[DType, ...]:
        return self.dtypes[0] if len(self.dtypes) == 1 else self.dtypes

    def __getitem__(self, index: object) -> Any:
        nodes_ = self._index(index)
        reads = tuple(Expr(Read(self, nodes_, c, None)) for c in range(self._components()))
        return reads[0] if len(reads) == 1 else ExprTuple(reads)

    def _components(self) -> int:
        return len(self.dtypes)

    def _rank(self) -> int | None:
        """The number of axes, if it is known."""
        return None if self.extents is None else len(self.extents)

    def _index(self, index: object, implicit: int | None = None) -> tuple[Node, ...]:
        """The index expressions of `self[index]`; `...` becomes implicit Vars, aligned right."""
        items = index if isinstance(index, tuple) else (index,)
        rank = self._rank()
        if sum(x is Ellipsis for x in items) > 1:
            raise LanguageError(f"{self.name}[...]: only one ... is possible in an index")
        if any(x is Ellipsis for x in items):
            at = next(k for k, x in enumerate(items) if x is Ellipsis)
            missing = implicit if rank is None else rank - (len(items) - 1)
            if missing is None:
                raise LanguageError(f"{self.name}[...]: the rank of {self.name} is not known yet")
            items = (*items[:at], *implicit_vars(missing), *items[at + 1 :])
        result = tuple(self._one_index(x) for x in items)
        if rank is not None and len(result) != rank:
            raise LanguageError(
                f"{self.name} has {rank} axes but is indexed with {len(result)}",
                hint=f"{self.name}[...] stands for the leading axes" if rank else "write [()]",
            )
        return result

    def _one_index(self, item: object) -> Node:
        if isinstance(item, slice):
            raise LanguageTypeError(
                f"{self.name}[...:...] slices are not part of the language",
                hint=f"an equation holds at each point: f[i] = {self.name}[i + 1], i a ps.Var",
            )
        if item is None or isinstance(item, (bool, np.bool_, list, str)):
            raise LanguageTypeError(f"{item!r} cannot be an index of {self.name}")
        if getattr(item, "is_tensor", False):
            raise LanguageTypeError(
                f"{item.name} is a whole array and cannot be an index of {self.name}",  # type: ignore[attr-defined]
                hint=f"read an element: {self.name}[{item.name}[i]]",  # type: ignore[attr-defined]
            )
        if isinstance(item, (float, np.floating)):
            raise LanguageTypeError(f"the index {item!r} of {self.name} is not an integer")
        if isinstance(item, (int, np.integer)) and item < 0 and self.extents is not None:
            raise LanguageError(
                f"{self.name}[{item}]: indices do not count from the end",
                hint=f"write the extent: {self.name}[n - {-item}]",
            )
        return as_node(item)

    def __repr__(self) -> str:
        dtype = self.dtypes[0] if len(self.dtypes) == 1 else self.dtypes
        shape = "?" if self.extents is None else ", ".join(repr(e) for e in self.shape)
        return f"{type(self).__name__} {self.name}[{shape}] {dtype}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    def __iter__(self) -> NoReturn:
        raise LanguageTypeError(
            f"{self.name} cannot be iterated over",
            hint="an equation over Vars says it for every element at once",
        )

    def __len__(self) -> int:
        raise LanguageTypeError(f"{self.name} has no len()", hint=f"see {self.name}.shape")

    def __bool__(self) -> bool:
        raise LanguageTypeError(f"{self.name} is an array and has no truth value")

    def __contains__(self, item: object) -> bool:
        raise LanguageTypeError(f"'in' means nothing for {self.name}", hint="use ps.any(...)")

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise LanguageTypeError(
            f"{self.name} is the description of an array and holds no numbers",
            hint="call the Func that you want computed",
        )

    __array_ufunc__ = None


def _whole_array(symbol: str) -> Callable[..., NoReturn]:
    def refuse(self: Tensor, *others: object) -> NoReturn:
        raise LanguageTypeError(
            f"{symbol!r} of {self.name}: operators work on elements, not on whole arrays",
            hint=f"write it at a point: f[i, j] = {self.name}[i, j] {symbol} ...",
        )

    return refuse


for _name, _symbol in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}.items():  # fmt: skip
    for _prefix in ("", "r", "i"):
        setattr(Tensor, f"__{_prefix}{_name}__", _whole_array(_symbol))
for _name, _symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    setattr(Tensor, f"__{_name}__", _whole_array(_symbol))
for _name, _symbol in {"neg": "-", "pos": "+", "invert": "~", "abs": "abs"}.items():
    setattr(Tensor, f"__{_name}__", _whole_array(_symbol))


def implicit_vars(count: int) -> tuple[Expr, ...]:
    """The Vars that `...` stands for. Counted from the right, so that they align as in NumPy."""
    if count < 0:
        raise LanguageError("too many indices beside the ...")
    return tuple(Expr(nodes.Var(f"_{k}")) for k in range(count, 0, -1))


class Input(Tensor):
    """An array that each call passes.

    Args:
        name: its keyword in a call.
        dtype: its element type, ours or NumPy's.
        shape: extents: integers or expressions affine in sizes.
        range: half-open bounds `(lo, hi)` of its values, as Python's range: `lo <= value < hi`.
            Scanned at the call and used in proofs, so that gathers through it need no clamp.
    """

    kind = "Input"

    def __init__(
        self,
        name: str,
        dtype: object,
        shape: ShapeLike,
        range: tuple[ExprLike, ExprLike] | None = None,
    ) -> None:
        super().__init__(name, (as_dtype(dtype),), shape)
        self.range: tuple[Node, Node] | None = None
        if range is not None:
            if not isinstance(range, tuple) or len(range) != 2:
                raise LanguageTypeError(f"Input {name}: range= is a pair (lo, hi), not {range!r}")
            lo, hi = (as_node(bound) for bound in range)
            if self.dtypes[0].is_int:
                lo, hi = (typed_size(bound, self.span) for bound in (lo, hi))
            self.range = (lo, hi)


class Const(Tensor):
    """A table that is part of the program.

    Args:
        name: for messages and listings.
        array: anything NumPy takes; copied.
    """

    kind = "Const"

    def __init__(self, name: str, array: object) -> None:
        data = np.array(array, order="C")
        super().__init__(name, (as_dtype(data.dtype),), data.shape)
        data.flags.writeable = False
        self.data = data


class Func(Tensor):
    """A tensor that is computed: a pure definition, then updates in the order written.

    Args:
        name: for calls, listings and schedules.
        shape: extents affine in sizes. Without one, the region is what consumers need.
        dtype: an element type, or a tuple of them. Without one, the least type that holds all
            its definitions.
    """

    kind = "Func"
    #: Set by the package: what a call and a schedule need from the rooms above this one.
    _call: ClassVar[Callable[..., Any]]
    _signature: ClassVar[Callable[[Func], str]]
    _made: ClassVar[Callable[[Func], None]]
    requirements: list[Any]

    def __init__(
        self, name: str, shape: ShapeLike | None = None, dtype: object | tuple[object, ...] = None
    ) -> None:
        from .define import History  # definitions are made of tensors: the import goes one way

        given = () if dtype is None else dtype if isinstance(dtype, tuple) else (dtype,)
        super().__init__(name, tuple(as_dtype(t) for t in given), shape)
        self.declared_dtypes = self.dtypes or None
        self.history = History(self)
        Func._made(self)

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
        """The Vars of its pure definition."""
        return tuple(Expr(v) for v in self.history.pure_vars())

    @property
    def dtype(self) -> DType | tuple[DType, ...]:
        types = self.history.dtypes()
        return types[0] if len(types) == 1 else types

    def complete(self, by: Span) -> None:
        """From now on no definition may be added: it is used at `by`."""
        self.history.complete(by)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(a, Expr) for a in args):
            raise LanguageTypeError(
                f"{self.name}(...) calls the compiled program on arrays",
                hint=f"to read an element write {self.name}[{', '.join(map(repr, args))}]",
            )
        return Func._call(self, *args, **kwargs)

    def __repr__(self) -> str:
        if not self.history.recorded:
            shape = "" if self.extents is None else ", ".join(repr(e) for e in self.shape)
            return f"Func {self.name}[{shape}], not defined yet"
        return Func._signature(self)

    def __str__(self) -> str:
        return self.history.text()
