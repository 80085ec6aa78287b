"""Tensors as users handle them: they are read at an index, and refuse other operations on
arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors.errors import LanguageError, LanguageTypeError, user_span
from ..errors.frames import bounded
from ..errors.suggest import Suggesting
from ..errors.words import axes_text
from ..expr.expr import Expr, as_node
from ..expr.symbols import check_name
from ..expr.tuples import ExprTuple, refuse_operators
from ..nodes import nodes
from ..nodes.affine import never_affine, own_size
from ..nodes.dtypes import DType
from ..nodes.nodes import Node, Read
from ..nodes.printer import expr_text
from ..nodes.shown import Shown
from ..nodes.tensor import Tensor
from ..nodes.typing import typed_size

Extent = Expr | int | np.integer[Any]
ShapeLike = Sequence[Extent] | Extent


@bounded
class Indexable(Tensor, Suggesting, Shown):
    """A tensor as users handle it: `A[i, j]` is an expression; other operations on arrays are
    refused."""

    _public = frozenset({"dtype", "name", "ndim", "shape", "vars"})

    def __init__(self, name: str, dtypes: tuple[DType, ...], shape: ShapeLike | None) -> None:
        self.name = check_name(name, self.kind)
        self.span = user_span()
        self.serial = nodes.next_serial()
        self.dtypes = dtypes
        self.extents = None if shape is None else self._extents(shape)

    def _extents(self, shape: ShapeLike) -> tuple[Node, ...]:
        given = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        for extent in given:
            if isinstance(extent, (bool, float, str, np.bool_, np.floating, DType)):
                raise LanguageTypeError(
                    f"{self.kind} {self.name}: an extent must be an integer or a size, "
                    f"not {extent!r}",
                    hint="a shape is a tuple of them: (n, m)",
                )
            if isinstance(extent, (int, np.integer)) and extent < 0:
                raise LanguageError(f"{self.kind} {self.name}: an extent cannot be {extent}")
        extents = tuple(as_node(e) for e in given)
        for node in nodes.postorder(*extents):
            if not isinstance(node, (nodes.Const, nodes.Size, nodes.Param, nodes.Op)):
                raise LanguageError(
                    f"{self.kind} {self.name}: an extent is made of integers and sizes, "
                    f"and cannot contain {Expr(node)!r}",
                    hint='sizes are made by n, m = ps.sizes("n m")',
                )
        typed = tuple(typed_size(e, self.span) for e in extents)
        for extent in typed:
            if never_affine(extent) is not None:
                raise LanguageError(
                    f"the extent {expr_text(extent)} of {self.name} is not affine in sizes",
                    where=self.span,
                    hint=own_size(extent),
                )
        return typed

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
    def dtype(self) -> DType | tuple[DType, ...]:
        return self.dtypes[0] if len(self.dtypes) == 1 else self.dtypes

    @property
    def vars(self) -> tuple[Expr, ...]:
        """The Vars of its axes: those of its definition, or else the implicit ones of `...`."""
        return implicit_vars(self.ndim)

    def _others(self) -> dict[str, str]:
        """What to write in place of attributes of NumPy's arrays."""
        at = self.element
        return {
            "T": f"write the axes in another order: f[j, i] = {self.name}[i, j]",
            **dict.fromkeys(
                ("transpose", "reshape", "ravel"), "an index says it: f[j, i] = A[i, j]"
            ),
            **{x: f"ps.{x} over an RVar: ps.{x}({at}, k)" for x in ("sum", "max", "min", "prod")},
            **{x: f"ps.{x} over an RVar: ps.{x}({at}, k)" for x in ("argmax", "argmin")},
            "mean": f"ps.sum({at}, k) / n",
            "dot": 'ps.einsum("ik,kj->ij", A, B)',
            "astype": f"elements are cast: {at}.astype(ps.float32)",
            **dict.fromkeys(("size", "rank"), f"{self.name}.shape, {self.name}.ndim"),
        }

    def __getitem__(self, index: object) -> Any:
        nodes_ = self._index(index)
        reads = tuple(Expr(Read(self, nodes_, c, None)) for c in range(self._components()))
        return reads[0] if len(reads) == 1 else ExprTuple(reads)

    def _components(self) -> int:
        return len(self.dtypes)

    def _index(self, index: object, implicit: int | None = None) -> tuple[Node, ...]:
        """The index expressions of `self[index]`; `...` becomes implicit Vars, aligned right."""
        items = index if isinstance(index, tuple) else (index,)
        if any(x is Ellipsis for x in items):
            items = self._without_ellipsis(items, implicit)
        rank = self._rank()
        if rank is not None and len(items) != rank:
            raise LanguageError(
                f"{self.name} has {axes_text(rank)} but is indexed with {len(items)}",
                hint=f"all indices go into one bracket: {self.element}"
                + (f"; {self.name}[...] stands for the leading axes" if rank > 1 else ""),
            )
        return tuple(self._one_index(axis, x) for axis, x in enumerate(items))

    def _without_ellipsis(
        self, items: tuple[object, ...], implicit: int | None
    ) -> tuple[object, ...]:
        rank = self._rank()
        if sum(x is Ellipsis for x in items) > 1:
            raise LanguageError(f"{self.name}[...]: only one ... is possible in an index")
        at = next(k for k, x in enumerate(items) if x is Ellipsis)
        missing = implicit if rank is None else rank - (len(items) - 1)
        if missing is None:
            raise LanguageError(
                f"{self.name}[...]: the rank of {self.name} is not known yet",
                hint="define it first, or give it a shape",
            )
        if missing < 0:
            raise LanguageError(
                f"{self.name} has {axes_text(rank or 0)} but is indexed with "
                f"{len(items) - 1} beside the ..."
            )
        return (*items[:at], *implicit_vars(missing), *items[at + 1 :])

    def _one_index(self, axis: int, item: object) -> Node:
        if isinstance(item, slice):
            raise LanguageTypeError(
                f"{_slice_text(item)} in an index of {self.name}: slices are not part of the "
                "language",
                hint=f"an equation holds at each point: f[i] = {self.name}[i + 1], i a ps.Var",
            )
        if isinstance(item, Indexable):
            raise LanguageTypeError(
                f"{item.name} is a whole array and cannot be an index of {self.name}",
                hint=f"read an element: {item.element}",
            )
        if item is None or isinstance(item, (bool, np.bool_, list, str, float, np.floating)):
            raise LanguageTypeError(
                f"{item!r} cannot be an index of {self.name}",
                hint=f"an index is an integer or an expression: {self.element}",
            )
        if isinstance(item, (int, np.integer)) and item < 0 and self.extents is not None:
            extent = Expr(self.extents[axis])
            raise LanguageError(
                f"{self.name}[{item}]: indices do not count from the end",
                hint=f"write the extent: {extent + int(item)!r}".replace("+ -", "- "),
            )
        return as_node(item)

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: object) -> Tensor:
        return self

    def __repr__(self) -> str:
        dtype = self.dtypes[0] if len(self.dtypes) == 1 else self.dtypes
        shape = "?" if self.extents is None else ", ".join(repr(e) for e in self.shape)
        return f"{type(self).__name__} {self.name}[{shape}] {dtype}"

    def __bool__(self) -> bool:
        raise LanguageTypeError(f"{self.name} is an array and has no truth value")

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise LanguageTypeError(
            f"{self.name} is the description of an array and holds no numbers",
            hint="call the Func that you want computed",
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> NoReturn:
        raise self._whole(f"np.{ufunc.__name__}", f"np.{ufunc.__name__}({self.element})")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> NoReturn:
        raise self._whole(f"np.{function.__name__}", self.element)

    def _whole(self, what: str, at_a_point: str) -> LanguageTypeError:
        left = self.element.replace(self.name, "f", 1)
        return LanguageTypeError(
            f"{what} of {self.name}: operators work on elements, not on whole arrays",
            hint=f"write it at a point: {left} = {at_a_point}",
        )

    if TYPE_CHECKING:
        __iter__: None  # else pyright takes what can be indexed for a sequence
    else:  # what always raises is an error for type checkers, too

        def __setitem__(self, index: object, value: object) -> None:
            raise LanguageTypeError(
                f"{self.kind} {self.name} cannot be assigned to: a program computes Funcs",
                hint=f"f = ps.Func('f', {self.name}.shape); f[...] = {self.name}[...] starts "
                "from it",
            )

        def __delitem__(self, index: object) -> NoReturn:
            raise LanguageTypeError(f"an element of {self.name} cannot be deleted")

        @bounded
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            raise LanguageTypeError(
                f"{self.kind} {self.name} cannot be called",
                hint=f"to read an element write {self.name}[{', '.join(map(repr, args)) or '()'}]",
            )

        def __iter__(self) -> NoReturn:
            raise LanguageTypeError(
                f"{self.name} cannot be iterated over",
                hint="an equation over Vars says it for every element at once; "
                "ps.sum(x[k], k) goes over a ps.RVar k",
            )

        def __len__(self) -> int:
            raise LanguageTypeError(f"{self.name} has no len()", hint=f"see {self.name}.shape")

        def __contains__(self, item: object) -> bool:
            raise LanguageTypeError(
                f"'in' means nothing for {self.name}: it holds no numbers yet",
                hint="compare elements in an update over an RVar: found[()] |= A[k] == x",
            )

        def __float__(self) -> float:
            raise self._whole("float", self.element)


def _slice_text(item: slice) -> str:
    bounds = ["" if x is None else repr(x) for x in (item.start, item.stop)]
    return ":".join(bounds if item.step is None else [*bounds, repr(item.step)])


def _whole_array(symbol: str, unary: bool = False) -> Callable[..., NoReturn]:
    def refuse(self: Indexable, *others: object) -> NoReturn:
        there = f"{symbol}({self.element})" if unary else f"{self.element} {symbol} ..."
        raise self._whole(repr(symbol), there)

    return refuse


def implicit_vars(count: int) -> tuple[Expr, ...]:
    """The implicit Vars that `...` stands for. They are numbered from the right, so that axes align
    as in NumPy's broadcasting."""
    return tuple(Expr(nodes.Var(f"_{k}")) for k in range(count, 0, -1))


refuse_operators(Indexable, _whole_array, partial(_whole_array, unary=True))
