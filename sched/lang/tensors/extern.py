"""Extern stages: functions of Python or of C over arrays."""

from __future__ import annotations

import ctypes
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...records import dataclass
from ..errors.errors import (
    CallTypeError,
    CallValueError,
    LanguageError,
    LanguageTypeError,
    Span,
    user_span,
)
from ..errors.frames import bounded
from ..expr.expr import Expr, as_node
from ..nodes import nodes
from ..nodes.affine import never_affine, own_size
from ..nodes.dtypes import Array, DTypeLike
from ..nodes.nodes import Node, Read, postorder
from ..nodes.printer import expr_text
from ..nodes.typing import typed_index
from .indexable import Indexable, ShapeLike
from .opaque import Opaque
from .tensors import Func
from .trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Extern:
    """A function of Python or of C that computes the values of a Func from arrays."""

    name: str
    function: Any
    takes_out: bool
    is_native: bool

    def run(self, arrays: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Calls the function, which reads `arrays` and fills `outputs`."""
        if self.is_native:
            self._native((*arrays, *outputs))
            return
        out = outputs[0] if len(outputs) == 1 else tuple(outputs)
        if self.takes_out:
            result = self.function(*arrays, out=out)
            if result is not None and not _is_same(result, outputs):
                raise CallTypeError(
                    f"the extern stage {self.name} takes out= and also returns a "
                    f"{type(result).__name__}: it is not clear which is the result",
                    argument=self.name,
                    hint="fill out and return nothing",
                )
            return
        result = self.function(*arrays)
        results = result if len(outputs) > 1 and isinstance(result, tuple) else (result,)
        if len(results) != len(outputs):
            raise CallTypeError(
                f"the extern stage {self.name} returned {len(results)} arrays, and has "
                f"{len(outputs)} values at each point",
                argument=self.name,
            )
        for array, target in zip(results, outputs, strict=True):
            self._admit(array, target)
            target[...] = array

    def _admit(self, array: Any, target: Array) -> None:
        if isinstance(array, np.ma.MaskedArray):
            raise CallTypeError(
                f"the extern stage {self.name} returned a masked array: the mask would be ignored",
                argument=self.name,
                hint="return its filled(value), a plain array",
            )
        if not isinstance(array, (np.ndarray, np.generic)):
            raise CallTypeError(
                f"the extern stage {self.name} returned a {type(array).__name__}, not an array",
                argument=self.name,
                hint="return an array, or take out= and fill it",
            )
        if array.shape != target.shape or array.dtype != target.dtype:
            raise CallValueError(
                f"the extern stage {self.name} returned {array.dtype}{list(array.shape)}, "
                f"declared as {target.dtype}{list(target.shape)}",
                argument=self.name,
                hint="return what writes= and dtype= declare",
            )

    def _native(self, arrays: Sequence[Array]) -> None:
        """A C function gets the address of each array, then all extents as int64."""
        for array in arrays:
            if not array.flags.c_contiguous:
                raise CallValueError(
                    f"the extern stage {self.name} is a C function, and is given an array with "
                    f"strides {array.strides}",
                    argument=self.name,
                    hint="pass contiguous arrays, and declare regions that are whole planes",
                )
        extents = [n for a in arrays for n in a.shape]
        given = getattr(self.function, "argtypes", None)
        if given is None:
            words = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
            self.function(*words, *map(ctypes.c_int64, extents))
            return
        pointers = [_pointer(a, t) for a, t in zip(arrays, given, strict=False)]
        self.function(*pointers, *extents)


@bounded
def extern(
    name: str,
    function: Callable[..., Any],
    reads: Sequence[Any] = (),
    writes: ShapeLike = (),
    dtype: DTypeLike | Sequence[DTypeLike] | None = None,
) -> Func:
    """A stage that the language does not look into: `ps.extern("s", np.sort, [A], (n,), ps.int32)`.

    The function is called once each time the stage runs, on NumPy arrays: one for each region
    read (read-only), and, if it has a parameter `out`, the array to fill; else it returns that.
    With a tuple of dtypes, out is a tuple of arrays. What arrays hold is theirs until the function
    returns. A C function (of ctypes) gets the address of each array, outputs last, then all their
    extents as int64; its arrays must be contiguous.

    Args:
        name: of the Func that it computes.
        function: of Python or of ctypes. Its results must depend on its arguments alone.
        reads: tensors that are read as a whole, or pairs of a tensor and a region, given by
            half-open bounds for each axis: `(A, ((0, n), (k, k + 1)))`.
        writes: the shape of the result, all of which is written.
        dtype: the dtype of the result; a tuple for several values at each point.

    Returns:
        The Func. It may be updated, as any other.
    """
    if not callable(function):
        raise LanguageTypeError(f"extern {name}: {function!r} is not a function")
    if dtype is None:
        raise LanguageError(
            f"extern {name} needs a dtype: nothing else says what the function computes",
            hint=f"ps.extern({name!r}, f, reads=..., writes=..., dtype=ps.float32)",
        )
    if not isinstance(reads, (tuple, list)):
        raise LanguageTypeError(
            f"extern {name}: reads= is a list of tensors, not {reads!r}", hint="reads=[A]"
        )
    operands = tuple(x for r in reads for x in region_of(name, r))
    func = Func(name, writes, dtype)
    define_by(func, function, operands, user_span())
    return func


def define_by(func: Func, function: Any, operands: tuple[Node, ...], span: Span) -> None:
    """Records the definition of a Func by a function; `operands` are those of an `Opaque`."""
    stage = Extern(func.name, function, _takes_out(function), _is_native(function))
    values = tuple(
        Expr(Opaque(stage, c, operands, t)) for c, t in enumerate(func.declared_dtypes or ())
    )
    axes = tuple(Expr(nodes.Var(f"i{k}")) for k in range(func.ndim))
    func.history.record(axes, values if len(values) > 1 else values[0], span)


def region_of(name: str, given: Any) -> list[Node]:
    """A region as a read of its first element, followed by its upper bounds."""
    tensor, bounds = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    if not isinstance(tensor, Indexable):
        raise LanguageTypeError(
            f"extern {name} reads tensors, not {given!r}",
            hint="reads=[A, (B, ((0, n), (0, 1)))]: a tensor, or one with half-open bounds",
        )
    if bounds is None:
        bounds = tuple((0, extent) for extent in tensor.shape)
    given_axes = bounds if isinstance(bounds, (tuple, list)) else ()
    pairs = [p for p in given_axes if isinstance(p, (tuple, list)) and len(p) == 2]
    if len(pairs) != len(given_axes) or len(pairs) != tensor.ndim:
        raise LanguageError(
            f"extern {name}: the region of {tensor.name} has {tensor.ndim} pairs of bounds, not "
            f"{bounds!r}",
            hint="half-open, as range(lo, hi): one (lo, hi) an axis",
        )
    lows = tuple(as_node(lo) for lo, _ in pairs)
    highs = [as_node(hi) for _, hi in pairs]
    for node in postorder(*lows, *highs):
        if isinstance(node, (Read, nodes.Var, Trace)):
            raise LanguageError(
                f"extern {name}: the region of {tensor.name} is made of sizes, Params and the "
                f"loops around, and cannot contain {Expr(node)!r}"
            )
    for bound in (*lows, *highs):
        typed_index(bound, {}, user_span())
    for lo, hi in zip(lows, highs, strict=True):
        if never_affine(lo, hi) is not None:
            raise LanguageError(
                f"{name} reads {tensor.name} over [{expr_text(lo)}, {expr_text(hi)}), which is not "
                "affine in sizes",
                hint=own_size(hi),
            )
    return [Read(tensor, lows, 0, None), *highs]


def _is_same(result: Any, outputs: Sequence[Array]) -> bool:
    """Whether a function returns the very arrays that it was given to fill, as NumPy's functions
    do."""
    found = result if isinstance(result, tuple) else (result,)
    return len(found) == len(outputs) and all(map(operator.is_, found, outputs))


def _pointer(array: Array, declared: Any) -> Any:
    """An array as an argument of the declared type: a pointer, or `numpy.ctypeslib.ndpointer`."""
    is_pointer = isinstance(declared, type) and issubclass(declared, ctypes._Pointer)
    if is_pointer or declared in (ctypes.c_void_p, ctypes.c_char_p):
        return ctypes.cast(array.ctypes.data, declared)
    return array


def _is_native(function: Any) -> bool:
    return isinstance(function, ctypes._CFuncPtr)  # type: ignore[attr-defined]


def _takes_out(function: Any) -> bool:
    """Whether the function is given the array to fill."""
    if isinstance(function, np.ufunc):
        return True
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return "out" in parameters
