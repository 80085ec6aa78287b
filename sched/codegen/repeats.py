"""Calls like an earlier one: on the same memory, of the same sizes. What fitted then fits now.

Checking the arguments of a call in Python takes longer than many kernels run. So a kernel remembers
some calls by all that its checks have seen: not the arrays, which are not kept alive, but where
these lie and how. Whatever depends on the data in them is no such call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..lang.dtypes import Array, DType
from .variant import Prepared, Variant

Key = tuple[object, ...]

MOST = 16
"""Calls that a kernel remembers."""


def key_of(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Key | None:
    """All that a call's checks see of its arguments; None if there is more to see."""
    found: list[object] = [len(args), len(kwargs), *kwargs]
    for x in given_to(args, kwargs, out):
        if type(x) is np.ndarray:
            at = x.__array_interface__["data"][0]
            found += (at, x.dtype, x.shape, x.strides, x.flags.num)
        elif type(x) is int or type(x) is bool:
            found += (type(x), x)
        elif type(x) is float:
            found.append(x.hex())  # -0.0 is another argument than 0.0
        else:
            return None
    return tuple(found)


def given_to(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> tuple[Any, ...]:
    """The arguments of a call, in the order of its key."""
    outputs = () if out is None else out if type(out) is tuple else (out,)
    return (*args, *kwargs.values(), *outputs)


@dataclass(frozen=True, slots=True)
class Repeat:
    """How such a call runs: by what code, on what, and which arrays it returns.

    Attributes:
        made: what is allocated for it, by the number of the word that says where it lies.
        places: of the results among the arguments, and what is made.
    """

    variant: Variant
    prepared: Prepared
    made: tuple[tuple[int, tuple[str, tuple[int, ...], DType]], ...]
    places: tuple[int, ...]


def repeat(
    variant: Variant,
    prepared: Prepared,
    buffers: Mapping[str, Array],
    given: Sequence[Any],
    results: Sequence[Any],
) -> Repeat | None:
    """A call that has run, to be run again; None where something is neither an argument nor made
    for an output."""
    made, arrays = [], list(given)
    for k, buffer in enumerate(variant.buffers):
        array = buffers.get(buffer.name)
        if array is None or any(array is x for x in given):
            continue
        if buffer.kind != "output":
            return None
        made.append((k, (buffer.name, array.shape, buffer.dtype)))
        arrays.append(array)
    places = [next((k for k, x in enumerate(arrays) if x is r), -1) for r in results]
    return None if -1 in places else Repeat(variant, prepared, tuple(made), tuple(places))
