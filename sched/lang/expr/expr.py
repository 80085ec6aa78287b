"""`Expr`: the expressions that users hold. Operators build nodes; Python's other protocols are
refused with an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..errors.errors import LanguageTypeError
from ..errors.frames import bounded
from ..nodes import nodes
from ..nodes.dtypes import DType, DTypeLike, as_dtype
from ..nodes.nodes import Const, Node, Op, Read
from ..nodes.printer import expr_text
from ..nodes.shown import Shown
from ..nodes.tensor import Tensor
from ..nodes.travelling import Travelling
from .numpy_element import NumPyElement
from .one_value import OneValue
from .symbol_key import symbol_key

ExprLike = object
"""An argument of `as_node`: an Expr, or a Python or NumPy scalar."""


@bounded
class Expr(OneValue, NumPyElement, Travelling, Shown):
    """A value computed at each point. Immutable; combine with operators and `ps` functions."""

    __slots__ = ("_augmented", "node")
    _public = frozenset({"astype"})
    node: Node
    #: Set by `+=` and its like: (operator, the read on the left, the right side). An assignment
    #: to the same place then is an update; anywhere else it is the plain sum.
    _augmented: tuple[str, Node, Node] | None

    def __init__(self, node: Node, augmented: tuple[str, Node, Node] | None = None) -> None:
        self.node = node
        self._augmented = augmented

    def __repr__(self) -> str:
        return expr_text(self.node)

    def __hash__(self) -> int:
        return hash(symbol_key(self.node))

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: object) -> Expr:
        return self

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

    def __pow__(self, exponent: ExprLike, modulus: object = None) -> Expr:
        if modulus is not None:
            raise LanguageTypeError(
                "pow() with a modulus is not supported", hint=f"write ({self!r} ** n) % m"
            )
        if isinstance(exponent, float) and _is_half(exponent):
            return _half_power(self, exponent)
        if isinstance(exponent, (int, np.integer)) and not isinstance(exponent, bool):
            return _integer_power(self, int(exponent))
        return binary("pow", self, exponent)

    def __rpow__(self, base: ExprLike) -> Expr:
        return binary("pow", base, self)

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

    def _called(self) -> str:
        return "an expression" if type(self) is Expr else f"a {type(self).__name__}"

    if not TYPE_CHECKING:  # what always raises is an error for type checkers, too

        def __trunc__(self) -> NoReturn:
            self._no_number("an int", "ps.cast(ps.int64, x), which truncates")

        def __matmul__(self, other: ExprLike) -> NoReturn:
            raise LanguageTypeError(
                f"@ multiplies whole arrays, and {self!r} is one value",
                hint="a matrix product is an update over an RVar: C[i, j] += A[i, k] * B[k, j]",
            )

        __rmatmul__ = __imatmul__ = __matmul__

    # conveniences ---------------------------------------------------------------------------
    def astype(self, dtype: DTypeLike) -> Expr:
        """This value converted to `dtype`, as `ps.cast(dtype, self)`."""
        return cast(as_dtype(dtype), self)


def as_node(value: ExprLike) -> Node:
    """The node of an expression or of a Python or NumPy scalar."""
    if isinstance(value, Expr):
        return value.node
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise LanguageTypeError(
                f"the integer {value} does not fit in 64 bits",
                hint=f"as a float it is {value:.17g}" if abs(value) < 2**1023 else None,
            )
        return nodes.literal(value)
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return Const(value.item(), as_dtype(value.dtype))
    if isinstance(value, complex):
        as_dtype(complex)
    raise _not_a_value(value)


def _not_a_value(value: object) -> LanguageTypeError:
    table = "embed a table, T = ps.Const('T', array), and read T[i]"
    match value:
        case np.ndarray():
            return LanguageTypeError(
                f"an array of shape {value.shape} is not one value", hint=table
            )
        case list():
            return LanguageTypeError(f"a list of {len(value)} is not one value", hint=table)
        case tuple():
            return LanguageTypeError(
                "a tuple is not one value",
                hint="unpack it: a Func of a tuple dtype has several values, else each is by "
                "itself, as in tuple(ps.sum(x, k) for x in (a, b))",
            )
        case DType():
            return LanguageTypeError(
                f"{value} is an element type, not a value",
                hint=f"a dtype is passed by name: dtype=ps.{value}",
            )
    if isinstance(value, Tensor):
        return LanguageTypeError(
            f"{value.name} is a whole array, not one value",
            hint=f"read an element: {value.element}",
        )
    return LanguageTypeError(f"{value!r} (a {type(value).__name__}) is not a value of the language")


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


def _is_half(exponent: float) -> bool:
    """Whether an exponent is half of an odd number."""
    return (2 * exponent) % 2 == 1


def _half_power(x: Expr, exponent: float) -> Expr:
    """x ** 1.5 is x * sqrt(x), x ** -1.5 is 1 / (x * sqrt(x))."""
    whole, root = int(abs(exponent)), unary("sqrt", x)
    if not whole:
        return root if exponent > 0 else unary("rsqrt", x)
    made = _integer_power(x, whole) * root
    return made if exponent > 0 else 1 / made


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
