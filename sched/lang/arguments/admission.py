"""Checks of single arguments of a call against the declarations of a program."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from ..errors.errors import CallTypeError, CallValueError
from ..errors.words import axes_text, numeral, with_article
from ..expr.expr import Expr
from ..nodes.dtypes import ALL, Array, DType, as_dtype, int64
from ..nodes.nodes import ParamInfo
from ..nodes.tensor import Tensor
from ..tensors.inout import Initial
from ..tensors.tensors import Func, Input
from .foreign import Place, array_of, as_array, converted, how_to_write, numpy_type

#: Sizes are below this limit: a call refuses others. So index arithmetic in int64 does not wrap.
SIZE_LIMIT = 1 << 40
#: Loops begin and end between -LOOP_LIMIT and LOOP_LIMIT, for the same reason: a call checks each
#: Param, and each multiple of a size, that bounds a loop.
LOOP_LIMIT = 1 << 43


def admit_array(name: str, tensor: Tensor, given: Any, is_written: bool) -> Array:
    """`given` as an array of an Input's dtype and rank, without a copy."""
    assert isinstance(tensor, Input)
    dtype = tensor.dtypes[0]
    if isinstance(given, (Tensor, Expr)):
        what = f"the {given.kind} {given.name}" if isinstance(given, Tensor) else repr(given)
        raise CallTypeError(
            f"{name} is {what}, which stands for an array and holds no numbers",
            argument=name,
            hint="a call passes arrays of NumPy's; other Funcs are read where it is defined",
        )
    plain = array_of(name, dtype)
    array = as_array(Place(name, name, name, plain, is_written, False), given)
    _check_dtype(name, array, dtype, name, converted(given, name, dtype))
    _check_rank(name, array, tensor, name)
    return array


def admit_inout(name: str, array: Array, given: Any) -> Array:
    """The array passed for an InOut, as `given`, which must be writable."""
    if not array.flags.writeable:
        raise CallValueError(
            f"{name} is updated in place, and this array is read-only",
            argument=name,
            hint=how_to_write(given, name),
        )
    return array


def _check_dtype(
    name: str, array: Array, dtype: DType, argument: str, hint: str, is_output: bool = False
) -> None:
    """Refuses an array whose dtype is not the declared one.

    Args:
        name: what the array is called in messages.
        argument: the name of the argument.
        hint: how to get an array of the declared dtype.
    """
    if array.dtype == dtype.numpy:
        return
    if dtype.numpy.newbyteorder("S") == array.dtype:
        raise CallTypeError(
            f"{name} has the dtype {array.dtype.str}: its bytes are not in this machine's order",
            argument=argument,
            hint=hint,
        )
    known = _is_known(array.dtype) and not is_output
    given = as_dtype(array.dtype).name if _is_known(array.dtype) else str(array.dtype)
    raise CallTypeError(
        f"{name} has the dtype {given}, not {dtype}",
        argument=argument,
        hint=hint + (f", or declare it as {given}" if known else ""),
    )


def _is_known(dtype: np.dtype[Any]) -> bool:
    """Whether the language has an element type for this dtype of NumPy's."""
    return any(t.numpy == dtype for t in ALL)


def _check_rank(name: str, array: Array, tensor: Tensor, argument: str) -> None:
    if array.ndim != tensor.ndim:
        raise CallValueError(
            f"{name} has {axes_text(array.ndim)} (shape {array.shape}), not {tensor.ndim}",
            argument=argument,
            hint=f"it is declared as {tensor.array if isinstance(tensor, Initial) else tensor!r}",
        )


def admit_output(name: str, func: Func, given: Any) -> tuple[tuple[Array, ...], Any]:
    """The arrays that out= gives for one output: one for each component, all of one shape; and what
    the call returns for it: the caller's own objects."""
    parts = given if isinstance(given, (tuple, list)) else (given,)
    if len(parts) == 1 < len(func.dtypes) and isinstance(parts[0], (tuple, list)):
        parts = parts[0]
    if len(parts) != len(func.dtypes):
        raise CallTypeError(
            f"out= holds {len(parts)} arrays for {name}, which has {len(func.dtypes)} values "
            "at each point",
            argument="out",
            hint="one array a value: " + ", ".join(t.name for t in func.dtypes),
        )
    arrays = []
    for k, (part, dtype) in enumerate(zip(parts, func.dtypes, strict=True)):
        label = f"out= of {name}" if len(parts) == 1 else f"out= of {name}, value {k},"
        plain = f"np.empty(shape, {numpy_type(dtype)})"
        array = as_array(Place(label, "out", "out", plain, True, True), part)
        _check_dtype(label, array, dtype, "out", f"a plain array: {plain}", True)
        _check_rank(label, array, func, "out")
        if not array.flags.writeable:
            raise CallValueError(
                f"{label} is read-only", argument="out", hint=how_to_write(part, "out", True)
            )
        arrays.append(array)
    shapes = {a.shape for a in arrays}
    if len(shapes) > 1:
        raise CallValueError(
            f"the arrays in out= of {name} have different shapes: "
            + ", ".join(str(a.shape) for a in arrays),
            argument="out",
        )
    return tuple(arrays), parts[0] if len(parts) == 1 else tuple(parts)


def admit_shape(name: str, func: Func, given: Any) -> tuple[int, ...]:
    """The shape that shape= gives for one output."""
    items = given if isinstance(given, (tuple, list)) else (given,)
    if len(items) != func.ndim:
        raise CallValueError(
            f"shape={given!r} has {axes_text(len(items))}, and {name} has {func.ndim}",
            argument="shape",
            hint="one extent an axis",
        )
    return tuple(admit_size("shape", n) for n in items)


def admit_size(name: str, given: Any) -> int:
    """A size passed by name."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)):
        raise CallTypeError(f"{name}={given!r}: a size is an integer", argument=name)
    if not 0 <= given < SIZE_LIMIT:
        raise CallValueError(
            f"{name}={numeral(given)}: a size is at least 0 and below 2**40", argument=name
        )
    return int(given)


# Params ---------------------------------------------------------------------------------------
def admit_param(info: ParamInfo, given: Any) -> bool | int | float:
    """The value of a Param, within its dtype and its declared bounds."""
    t = info.dtype
    value = given
    if _is_numpy_scalar(given):
        value = given.item()
    elif getattr(given, "shape", None) == () and hasattr(given, "__array__"):
        array = as_array(Place(info.name, info.name, info.name, "a number", False, False), given)
        value = array.item() if array.ndim == 0 else given
    if t.is_float:
        value = _float_param(info, value)
    elif t.is_bool:
        if not isinstance(value, bool):
            _refuse_param(info, given)
    else:
        if not isinstance(value, int):
            _refuse_param(info, given)
        if not t.min <= value <= t.max:
            raise CallValueError(
                f"{info.name}={numeral(value)} does not fit in {t}, which holds {t.min} to {t.max}",
                argument=info.name,
            )
        value = int(value)
    if info.min is not None or info.max is not None:
        _check_limits(info, value)
    result: bool | int | float = value
    return result


def _is_numpy_scalar(given: Any) -> bool:
    return isinstance(given, np.generic) or (isinstance(given, np.ndarray) and given.ndim == 0)


def check_signed(name: str, value: int) -> None:
    """Refuses a value of a uint64 Param that int64 cannot hold, where the program computes with it
    as int64."""
    if value > int64.max:
        raise CallValueError(
            f"{name}={value} does not fit in int64, which integer Params are in expressions",
            argument=name,
            hint=f"ps.cast(ps.uint64, {name}) wherever it is used, or pass it as an array",
        )


def check_near(name: str, value: int) -> None:
    """Refuses a value of a Param that bounds a loop, if it is beyond `LOOP_LIMIT`."""
    if abs(value) > LOOP_LIMIT:
        raise CallValueError(
            f"{name}={value}: a loop begins or ends by it, which is between -2**43 and 2**43",
            argument=name,
            hint="run from 0 on, and add it where values are computed",
        )


def check_end(loop: str, end: str, value: int) -> None:
    """Refuses sizes at which a bound of a loop, `end`, is beyond `LOOP_LIMIT`."""
    if abs(value) > LOOP_LIMIT:
        raise CallValueError(
            f"the loop over {loop} would begin or end at {end} = {value}, and loops are between "
            "-2**43 and 2**43",
            hint="smaller sizes; or run from 0 on, and add the rest where values are computed",
        )


def _float_param(info: ParamInfo, value: Any) -> float:
    if not isinstance(value, (int, float)):
        _refuse_param(info, value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    with np.errstate(over="ignore"):
        rounded = float(info.dtype.scalar(number))
    if math.isinf(rounded) and value not in (math.inf, -math.inf):
        raise CallValueError(
            f"{info.name}={numeral(value)} does not fit in {info.dtype}", argument=info.name
        )
    return rounded


def _check_limits(info: ParamInfo, value: bool | int | float) -> None:
    def rounded(bound: bool | int | float) -> float:
        return float(info.dtype.scalar(bound)) if info.dtype.is_float else bound

    low = info.min is None or rounded(info.min) <= value
    high = info.max is None or value <= rounded(info.max)
    if not (low and high):
        least = "" if info.min is None else f"{info.min} <= "
        most = "" if info.max is None else f" <= {info.max}"
        raise CallValueError(
            f"{info.name}={value} is outside its declared bounds {least}{info.name}{most}",
            argument=info.name,
        )


def _refuse_param(info: ParamInfo, given: Any) -> NoReturn:
    kind = {"b": "a bool", "f": "a number"}.get(info.dtype.kind, "an integer")
    raise CallTypeError(
        f"{info.name}={given!r} is {with_article(type(given).__name__)}; the Param is {info.dtype}",
        argument=info.name,
        hint=f"pass {kind}",
    )
