"""Errors for accesses that are out of bounds, or that cannot be proven to be in bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lang.errors.errors import CallValueError, LanguageError
from ..lang.nodes.dtypes import DType, concrete, int64
from ..lang.nodes.nodes import Node, Op, Param, Read, Size, postorder
from ..lang.nodes.printer import region_text, written_text
from ..lang.nodes.tensor import Tensor
from ..lang.program.ranges import value_range
from ..lang.tensors.definitions import Definition
from ..lang.tensors.tensors import Func, Input
from .bounds import Box
from .evaluate import Env
from .footprint import Access, instance_point
from .intervals import Interval
from .storage import Point


def instance_text(d: Definition, env: Env) -> str:
    """The instance of a definition in an environment: `i=3, k=0`; an interval as `k in 0..7`."""
    return point_text(instance_point(d, env))


def point_text(point: Mapping[str, int | Interval]) -> str:
    """An instance by the names of its Vars and RVars."""
    return ", ".join(
        f"{name} in {value[0]}..{value[1]}" if isinstance(value, tuple) else f"{name}={value}"
        for name, value in point.items()
    )


def _access_text(d: Definition, access: Access) -> str:
    verb = "written" if access.is_write else "read"
    if access.region_end is None:
        inside = ", ".join(map(written_text, access.index))
    else:
        inside = region_text(access.index, access.region_end)
    return f"{access.tensor.name}[{inside}], {verb} by {d.name} ({d.span})"


def outside(
    d: Definition, access: Access, point: Point, env: Env, shape: tuple[int, ...] | None
) -> CallValueError:
    """The error for an access whose index is known and out of bounds."""
    at = instance_text(d, env)
    hint = (
        "a guard makes it safe: ps.select((0 <= i) & (i < n), ..., 0), "
        "or clamp the index: ps.clip(i, 0, n - 1)"
    )
    return CallValueError(
        f"{access.tensor.name}{list(point)} is out of bounds: {access.tensor.name} has the shape "
        f"{shape}; it is {_access_text(d, access)}" + (f" at {at}" if at else ""),
        argument=access.tensor.name,
        hint=hint
        if access.region_end is None
        else "declare a region that lies inside of the array",
    )


def unproved(
    d: Definition,
    access: Access,
    axis: int,
    found: Interval,
    env: Env,
    shape: tuple[int, ...],
) -> LanguageError | CallValueError:
    """The error for an index that depends on data and whose range exceeds the tensor's bounds.

    It is a `CallValueError` if the access could be in bounds at other sizes, else a
    `LanguageError`.
    """
    name, index, at = access.tensor.name, access.index[axis], instance_text(d, env)
    written = written_text(index)
    what = (
        f"the index {written} lies in {found[0]}..{found[1]} as far as types and declared "
        f"ranges tell, and {name} has {shape[axis]} elements along axis {axis}; "
        f"it is in {_access_text(d, access)}" + (f" at {at}" if at else "")
    )
    hint = (
        f"clamp it: ps.clip({written}, 0, n - 1), n the extent of {name} there, or give "
        "the Input that it is computed from a range=(lo, hi)"
    )
    if _other_sizes_help(access.tensor, axis, index, found):
        return CallValueError(what, argument=name, hint="other sizes, or " + hint)
    return LanguageError(what, where=d.span, hint=hint)


def _other_sizes_help(tensor: Tensor, axis: int, index: Node, found: Interval) -> bool:
    depends = any(_has_symbols(n) for n in _with_ranges(index))
    if found[0] < 0:
        return depends
    extent = None if tensor.extents is None else tensor.extents[axis]
    return found[1] < 1 << 40 and (depends or (extent is not None and _has_symbols(extent)))


def _with_ranges(index: Node) -> list[Node]:
    bounds: list[Node | None] = [index]
    for n in postorder(index):
        match n:
            case Read(tensor=Input(range=(lo, hi))):
                bounds += [lo, hi]
            case Read(tensor=Func() as func, component=component):
                held = value_range(func, component)
                bounds += [held.lo, held.hi]
    return [bound for bound in bounds if bound is not None]


def _has_symbols(root: Node) -> bool:
    """Whether an expression contains sizes or Params other than in the indices of its reads."""
    inside = {x for n in postorder(root) if isinstance(n, Read) for x in postorder(*n.index)}
    return any(isinstance(n, (Size, Param)) for n in postorder(root) if n not in inside)


def unbounded(d: Definition, access: Access, box: Box) -> LanguageError:
    """The error for a read, at an index that depends on data, of a Func without a shape: every
    element that the index may reach would have to be computed."""
    spans = " x ".join(f"{lo}..{hi}" for lo, hi in box)
    return LanguageError(
        f"{access.tensor.name} has no declared shape, and the index in {_access_text(d, access)} "
        f"can be anything in {spans}: all of that would have to be computed",
        where=d.span,
        hint="clamp the index: ps.clip(i, 0, n - 1), or give the Input that it is read from a "
        "range=(lo, hi)",
    )


def endless(func: Func, steps: int) -> LanguageError:
    """The error for a recurrence without a shape whose region does not end."""
    return LanguageError(
        f"the region of {func.name} that is needed follows from itself and has no end: after "
        f"{steps} steps there is still more",
        where=func.history.recorded[0].span,
        hint=f"say where it starts, by a piece with a constant on the left, or declare a shape: "
        f"ps.Func({func.name!r}, (n, m))",
    )


# indices read from Inputs ---------------------------------------------------------------------
def checked_source(index: Node) -> Input | None:
    """The Input whose elements are used as the index, if nothing but its type bounds them."""
    node = index
    while isinstance(node, Op) and node.op == "cast" and _widens(node):
        node = node.operands[0]
    match node:
        case Read(tensor=Input(range=None) as source):
            return source
        case _:
            return None


def _widens(node: Op) -> bool:
    source, target = (concrete(n.type) for n in (node.operands[0], node) if n.type is not None)
    return _holds(target, source)


def _holds(target: DType, source: DType) -> bool:
    if not target.is_int or source.is_float:
        return False
    # A uint64 that is the index of an element is an int64 as well.
    return target.min <= source.min and (source.max <= target.max or target == int64)


def check_elements(
    d: Definition,
    access: Access,
    axis: int,
    source: Input,
    array: NDArray[Any],
    extent: int,
) -> None:
    """Refuses an array with elements that are out of bounds as indices along `axis`."""
    if array.size == 0 or (array.min() >= 0 and array.max() < extent):
        return
    wrong = np.argwhere((array < 0) | (array >= extent))[0]
    at = tuple(int(i) for i in wrong)
    name = access.tensor.name
    raise CallValueError(
        f"{source.name}{list(at)} is {array[at]}, which is no index of {name}: {name} has "
        f"{extent} elements along axis {axis}; the index is in {_access_text(d, access)}",
        argument=source.name,
        hint=f"correct the array, or clamp the index: ps.clip({source.name}[...], 0, n - 1)",
    )
