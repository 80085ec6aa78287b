"""The indices that a call checks: values of an Input that nothing but their type bounds."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.nodes.dtypes import INDEX, concrete, int64
from ...lang.nodes.nodes import Node, Op, Read
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.definitions import Definition
from ...lang.tensors.tensors import Func, Input
from ...records import dataclass
from ..sets.isl import Map, Set, isl
from .model import Model
from .statements import Access


@dataclass(frozen=True, eq=False)
class CheckedIndex:
    """An index that a call checks: every value of `source` must be one along `axis` of `tensor`.

    Attributes:
        is_padded: whether the index is read from a copy that has zeros where `source` has no
            elements. A read that needs no guard could meet them, and an axis may be empty.
    """

    source: Input
    tensor: Tensor
    axis: int
    access: Access
    is_padded: bool = False


def checked_indices(model: Model, access: Access) -> list[CheckedIndex]:
    """The indices that are values read from an Input, bounded by their type alone."""
    found = []
    for axis, index in enumerate(access.index):
        source, is_padded = _source(model, index)
        if source is not None:
            found.append(CheckedIndex(source, access.tensor, axis, access, is_padded))
    return found


def checked_inside(model: Model, checked: Sequence[CheckedIndex], accessed: Map) -> Map:
    """{ instance -> element } with the coordinates that are checked inside of the tensor."""
    for index in checked:
        accessed = accessed.intersect_range(axis_range(model.declared(index.tensor), index.axis))
    return accessed


def axis_range(box: Set, axis: int) -> Set:
    """The box opened along every axis but one."""
    count = int(box.dim(isl.dim_type.set))
    result = box
    for k in range(count):
        if k != axis:
            result = result.drop_constraints_involving_dims(isl.dim_type.set, k, 1)
    return result


def _source(model: Model, index: Node) -> tuple[Input | None, bool]:
    """The Input whose value is the index, through conversions that keep it and through copies, if
    there is one; and whether a copy has zeros where the Input has no elements. These zeros are not
    checked: no index that the program reads is among them."""
    passed: set[Tensor] = set()
    is_padded = False
    while True:
        match index:
            case Read(tensor=Input() as source) if source.range is None:
                return source, is_padded
            case Read(tensor=Func() as func) if func not in passed:  # as in a recurrence
                passed.add(func)
                match model.definitions.get(func):
                    case [Definition(is_padded=True, values=(Op(operands=(_, inside, _)),))]:
                        index, is_padded = inside, True
                    case [Definition(is_update=False, values=(Node() as value,))]:
                        index = value
                    case _:
                        return None, False
            case Op(op="cast", operands=(inner,)) if _widens(inner, index):
                index = inner
            case _:
                return None, False


def _widens(inner: Node, outer: Node) -> bool:
    """Whether a conversion keeps all valid indices: every uint64 below an extent is an int64."""
    a, b = concrete(inner.type or INDEX), concrete(outer.type or INDEX)
    return a.is_int and b.is_int and b.min <= a.min and (a.max <= b.max or b == int64)
