"""`Expr`: what a user holds. Operators build nodes; Python's other protocols explain themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NoReturn

import numpy as np

from . import nodes
from .dtypes import DType, as_dtype
from .errors import LanguageTypeError
from .nodes import Const, Node, Op, Read
from .printer import expr_text

ExprLike = object
"""Whatever `as_node` takes: an Expr, a Python or NumPy scalar."""


class Expr:
    """A value computed at each point. Immutable; combine with operators and `ps` functions."""

    __slots__ = ("_augmented", "node")
    __array_priority__ = 1000.0
    node: Node
    #: Set by `+=` and its like: (operator, the read on the left, the right side). An assignment
    #: to the same place then is an update; anywhere else it is the plain sum.
    _augmented: tuple[str, Node, Node] | None

    def __init__(self, node: Node, augmented: tuple[str, Node, Node] | None = None) -> None:
        self.node = node
        self._augmented = augmented

    def __repr__(self) -> str:
        return expr_text(self.node)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>{escape(repr(self))}</code>"

    def __hash__(self) -> int:
        return hash(symbol_key(self.node))

    # arithmetic -----------------------------------------------------------------------------
    def __add__(self, other: ExprLike) -> Expr:
        return binary("add", self, other)

    def __radd__(self, other: ExprLike) -> Expr:
        return binary("add", other, self)

    def __sub__(self, other: ExprLike) -> Expr:
        return binary("sub", self, other)

    def __rsub__(self, other: ExprLike) -> Expr:
        return binary("sub", other, self)

    def __mul__(self, other: ExprLike) -> Expr:
        return binary("mul", self, other)

    def __rmul__(self, other: ExprLike) -> Expr:
        return binary("mul", other, self)

    def __truediv__(self, other: ExprLike) -> Expr:
        return binary("div", self, other)

    def __rtruediv__(self, other: ExprLike) -> Expr:
        return binary("div", other, self)

    def __floordiv__(self, other: ExprLike) -> Expr:
        return binary("floordiv", self, other)

    def __rfloordiv__(self, other: ExprLike) -> Expr:
        return binary("floordiv", other, self)

    def __mod__(self, other: ExprLike) -> Expr:
        return binary("mod", self, other)

    def __rmod__(self, other: ExprLike) -> Expr:
        return binary("mod", other, self)

    def __divmod__(self, other: ExprLike) -> tuple[Expr, Expr]:
        return self // other, self % other

    def __rdivmod__(self, other: ExprLike) -> tuple[Expr, Expr]:
        return binary("floordiv", other, self), binary("mod", other, self)

    def __pow__(self, exponent: ExprLike) -> Expr:
        if isinstance(exponent, float) and exponent == 0.5:
            return unary("sqrt", self)
        if isinstance(exponent, (int, np.integer)) and not isinstance(exponent, bool):
            return _integer_power(self, int(exponent))
        raise LanguageTypeError(
            f"{self!r} ** {exponent!r}: the exponent must be an integer literal or 0.5",
            hint="write other powers as ps.exp(y * ps.log(x)), for x > 0",
        )

    def __rpow__(self, base: ExprLike) -> Expr:
        raise LanguageTypeError(
            f"{base!r} ** {self!r}: the exponent must be a literal",
            hint="write 1 << i for powers of two, ps.exp(y * ps.log(x)) for others",
        )

    def __neg__(self) -> Expr:
        return unary("neg", self)

    def __pos__(self) -> Expr:
        return Expr(self.node)

    def __abs__(self) -> Expr:
        return unary("abs", self)

    def __round__(self, digits: int | None = None) -> Expr:
        if digits:
            raise LanguageTypeError("round() to decimal digits is not supported")
        return unary("round", self)

    def __floor__(self) -> Expr:
        return unary("floor", self)

    def __ceil__(self) -> Expr:
        return unary("ceil", self)

    # bits and truth values ------------------------------------------------------------------
    def __and__(self, other: ExprLike) -> Expr:
        return binary("and", self, other)

    def __rand__(self, other: ExprLike) -> Expr:
        return binary("and", other, self)

    def __or__(self, other: ExprLike) -> Expr:
        return binary("or", self, other)

    def __ror__(self, other: ExprLike) -> Expr:
        return binary("or", other, self)

    def __xor__(self, other: ExprLike) -> Expr:
        return binary("xor", self, other)

    def __rxor__(self, other: ExprLike) -> Expr:
        return binary("xor", other, self)

    def __lshift__(self, other: ExprLike) -> Expr:
        return binary("shl", self, other)

    def __rlshift__(self, other: ExprLike) -> Expr:
        return binary("shl", other, self)

    def __rshift__(self, other: ExprLike) -> Expr:
        return binary("shr", self, other)

    def __rrshift__(self, other: ExprLike) -> Expr:
        return binary("shr", other, self)

    def __invert__(self) -> Expr:
        return unary("not", self)

    def __lt__(self, other: ExprLike) -> Expr:
        return binary("lt", self, other)

    def __le__(self, other: ExprLike) -> Expr:
        return binary("le", self, other)

    def __gt__(self, other: ExprLike) -> Expr:
        return binary("gt", self, other)

    def __ge__(self, other: ExprLike) -> Expr:
        return binary("ge", self, other)

    def __eq__(self, other: ExprLike) -> Expr:  # type: ignore[override]
        return _equality("eq", self, other)

    def __ne__(self, other: ExprLike) -> Expr:  # type: ignore[override]
        return _equality("ne", self, other)

    # in-place operators: updates when assigned back to the place that was read ----------------
    def __iadd__(self, other: ExprLike) -> Expr:
        return _augment("add", self, other)

    def __isub__(self, other: ExprLike) -> Expr:
        return _augment("sub", self, other)

    def __imul__(self, other: ExprLike) -> Expr:
        return _augment("mul", self, other)

    def __itruediv__(self, other: ExprLike) -> Expr:
        return _augment("div", self, other)

    def __ifloordiv__(self, other: ExprLike) -> Expr:
        return _augment("floordiv", self, other)

    def __imod__(self, other: ExprLike) -> Expr:
        return _augment("mod", self, other)

    def __iand__(self, other: ExprLike) -> Expr:
        return _augment("and", self, other)

    def __ior__(self, other: ExprLike) -> Expr:
        return _augment("or", self, other)

    def __ixor__(self, other: ExprLike) -> Expr:
        return _augment("xor", self, other)

    def __ilshift__(self, other: ExprLike) -> Expr:
        return _augment("shl", self, other)

    def __irshift__(self, other: ExprLike) -> Expr:
        return _augment("shr", self, other)

    # what an expression is not --------------------------------------------------------------
    def __bool__(self) -> bool:
        if isinstance(self.node, Const) and isinstance(self.node.value, bool):
            return self.node.value
        raise LanguageTypeError(
            f"{self!r} has no truth value while the program is being written",
            hint="use ps.select(condition, a, b) for if, & | ~ for and or not, "
            "and two comparisons for a chain: (lo <= x) & (x < hi)",
        )

    def __float__(self) -> float:
        self._no_number("float", "ps.cast(ps.float64, x)")

    def __int__(self) -> int:
        self._no_number("int", "ps.cast(ps.int64, x)")

    def __complex__(self) -> complex:
        self._no_number("complex", "a tuple of real and imaginary part")

    def __index__(self) -> int:
        if isinstance(self.node, Const):
            value = self.node.value
            if isinstance(value, int):
                return int(value)
        self._no_number("a Python or NumPy index", "A[i] on a ps.Input or a ps.Const table")

    def _no_number(self, wanted: str, instead: str) -> NoReturn:
        raise LanguageTypeError(
            f"{self!r} has no value while the program is being written; it cannot become {wanted}",
            hint=f"use {instead}",
        )

    def __iter__(self) -> Iterator[Expr]:
        raise LanguageTypeError(
            f"{self!r} is one value, not a sequence",
            hint="loop over a ps.RVar in an update, or over Python integers when unrolling",
        )

    def __len__(self) -> int:
        raise LanguageTypeError(f"{self!r} is one value: it has no len()", hint="see .shape")

    def __contains__(self, item: object) -> bool:
        raise LanguageTypeError(
            f"'in' means nothing for {self!r}", hint="write (x == a) | (x == b)"
        )

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise LanguageTypeError(f"{self!r} is a value, not a function", hint="use * to multiply")

    def __getitem__(self, index: object) -> Any:
        raise LanguageTypeError(
            f"{self!r} is one value and cannot be indexed", hint="put all indices in one bracket"
        )

    # NumPy ----------------------------------------------------------------------------------
    _ufuncs: ClassVar[dict[str, Callable[..., Any]]] = {}

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """NumPy's ufuncs on expressions are ours; NumPy scalars keep their type."""
        function = self._ufuncs.get(ufunc.__name__)
        if method != "__call__" or kwargs or function is None:
            raise LanguageTypeError(
                f"np.{ufunc.__name__} is not available on expressions",
                hint="available: " + ", ".join(sorted(self._ufuncs)),
            )
        return function(*inputs)

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise LanguageTypeError(
            f"{self!r} has no value while the program is being written; NumPy cannot hold it",
            hint="compute with operators and ps functions, then call the Func on arrays",
        )

    # conveniences ---------------------------------------------------------------------------
    def astype(self, dtype: object) -> Expr:
        """This value converted to `dtype`, as `ps.cast(dtype, self)`."""
        return cast(as_dtype(dtype), self)


def symbol_key(node: Node) -> object:
    """What two symbols must share to be the same: the name; for RVars the bounds too."""
    match node:
        case nodes.Size():
            return ("size", node.name)
        case nodes.RVar():
            where = node.domain.where
            return (
                "rvar",
                node.name,
                expr_text(node.lo),
                expr_text(node.hi),
                expr_text(where) if where is not None else "",
            )
        case _:
            return node


def as_node(value: ExprLike) -> Node:
    """The node of an expression or of a Python or NumPy scalar."""
    if isinstance(value, Expr):
        return value.node
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise LanguageTypeError(f"the integer {value} does not fit in 64 bits")
        return nodes.literal(value)
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return Const(value.item(), as_dtype(value.dtype))
    raise LanguageTypeError(_not_a_value(value))


def _not_a_value(value: object) -> str:
    if isinstance(value, np.ndarray):
        return (
            f"an array of shape {value.shape} is not one value: "
            "embed it with T = ps.Const('T', array) and read T[i]"
        )
    if isinstance(value, tuple):
        return "a tuple is not one value: unpack it, or give the Func a tuple dtype"
    name = getattr(value, "name", None)
    if getattr(value, "is_tensor", False):
        return f"{name} is a whole array, not one value: read an element, {name}[i, j]"
    return f"{value!r} (a {type(value).__name__}) is not a value of the language"


def binary(op: str, a: ExprLike, b: ExprLike) -> Expr:
    return Expr(Op(op, (as_node(a), as_node(b)), None))


def unary(op: str, a: ExprLike) -> Expr:
    return Expr(Op(op, (as_node(a),), None))


def cast(dtype: DType, value: ExprLike) -> Expr:
    return Expr(Op("cast", (as_node(value),), dtype))


def _equality(op: str, a: Expr, other: ExprLike) -> Expr:
    if other is None or isinstance(other, (str, list, dict, set)):
        return Expr(nodes.literal(op == "ne"))
    b = as_node(other)
    if isinstance(a.node, nodes.Symbol) and symbol_key(a.node) == symbol_key(b):
        return Expr(nodes.literal(op == "eq"))
    return Expr(Op(op, (a.node, b), None))


def _augment(op: str, a: Expr, other: ExprLike) -> Expr:
    b = as_node(other)
    augmented = (op, a.node, b) if isinstance(a.node, Read) else None
    return Expr(Op(op, (a.node, b), None), augmented)


def _integer_power(x: Expr, n: int) -> Expr:
    if n < 0:
        return 1 / _integer_power(x, -n)
    if n == 0:
        return Expr(Op("select", (nodes.literal(True), nodes.literal(1), x.node), None))
    if n == 1:
        return x
    half = _integer_power(x, n // 2)
    square = half * half
    return square * x if n % 2 else square
