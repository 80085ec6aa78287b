"""A cache of checked calls: one on arrays of the same layouts and with the same scalars needs no
checks again.

Checking the arguments of a call in Python takes longer than many kernels run. So a kernel caches
some calls by all that its checks depend on: not the arrays, which are not kept alive, but their
layouts; and their addresses, since arrays must not overlap. Data in the arrays are looked at in
each call, where something depends on them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from ...lang.arguments.elements import are_within
from ...lang.arithmetic.evaluate import Scalar
from ...lang.nodes.dtypes import Array, DType
from ...records import dataclass
from .arena import Pool
from .arguments import allocate, check_overlap
from .variant import Prepared, Variant

Key = tuple[object, ...]
Addresses = tuple[int, ...]

_BITS = struct.Struct("d")
_WORD = struct.Struct("q")

MOST = 16
"""Calls that a kernel remembers, and places of the arrays of each."""


def float_bits(x: float) -> int:
    """The bits of a float64, as an integer of 64 bits."""
    word: int = _WORD.unpack(_BITS.pack(x))[0]
    return word


def given_to(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> tuple[Any, ...]:
    """The arguments of a call, in the order of its key."""
    outputs = () if out is None else out if type(out) is tuple else (out,)
    return (*args, *kwargs.values(), *outputs)


def key_of(
    args: Sequence[Any], kwargs: Mapping[str, Any], out: Any
) -> tuple[Key, Addresses] | None:
    """All of a call's arguments that its checks depend on, and their addresses; None if the checks
    depend on more."""
    found: list[object] = [len(args), type(out), *kwargs]
    addresses = []
    for x in given_to(args, kwargs, out):
        if type(x) is np.ndarray:
            addresses.append(x.__array_interface__["data"][0])
            found += (x.dtype, x.shape, x.strides, x.flags.num)
        elif type(x) is int or type(x) is bool:
            addresses.append(0)
            found += (type(x), x)
        elif type(x) is float:
            addresses.append(0)
            found.append(_BITS.pack(x))  # -0.0 is another argument than 0.0, -nan than nan
        else:
            return None
    return tuple(found), tuple(addresses)


@dataclass(frozen=True, slots=True)
class CachedCall:
    """A call that has been checked: its code, its arguments, and the arrays that it returns.

    Attributes:
        words: which argument each word is the address of.
        made: what is allocated for it, by the word that is its address.
        places: of the results among the arguments, and what is made.
        inputs, outputs: names of arrays, and which arguments they are.
        bounded: which arguments must have all elements in a half-open range, and in which.
        free: Params that may have any value: nothing is checked of them.
        disjoint: addresses of arguments that do not overlap.
    """

    variant: Variant
    prepared: Prepared
    words: tuple[tuple[int, int], ...]
    made: tuple[tuple[int, tuple[str, tuple[int, ...], DType]], ...]
    places: tuple[int, ...]
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    bounded: tuple[tuple[int, Scalar, Scalar], ...]
    free: frozenset[str]
    disjoint: set[Addresses] = field(default_factory=set)

    def fits(self, given: tuple[Any, ...]) -> bool:
        """Whether all elements are where they must be; those that are not are refused by the checks
        of a call that is not cached."""
        return all(are_within(given[k], lo, hi) for k, lo, hi in self.bounded)

    def run(self, given: tuple[Any, ...], addresses: Addresses, blocks: Pool) -> tuple[Any, ...]:
        """The results of a call.

        Raises:
            CallValueError: arrays overlap, or one does not fit into memory.
        """
        if self.outputs and addresses not in self.disjoint:
            outputs = {name: given[k] for name, k in self.outputs}
            check_overlap(outputs, {name: given[k] for name, k in self.inputs})
            if len(self.disjoint) >= MOST:
                self.disjoint.clear()
            self.disjoint.add(addresses)
        made = [(word, allocate(*what)) for word, what in self.made]
        words = [(word, addresses[k]) for word, k in self.words]
        words += [(word, array.ctypes.data) for word, array in made]
        self.variant.run(self.prepared, {}, blocks, words)
        arrays = (*given, *(array for _, array in made))
        return tuple(arrays[k] for k in self.places)


def cached_call(
    variant: Variant,
    prepared: Prepared,
    inputs: Mapping[str, Array],
    outputs: Mapping[str, Array],
    given: Sequence[Any],
    results: Sequence[Any],
    bounded: Mapping[str, tuple[Scalar, Scalar]],
    free: frozenset[str],
) -> CachedCall | None:
    """The cache entry of a call that has run; None where an array is neither an argument nor made
    for an output, or is passed as two arguments, so that its position is ambiguous, or as a Param,
    which may have another value the next time."""
    taken = [id(x) for x in given if type(x) is np.ndarray]
    if len(set(taken)) < len(taken):
        return None
    arrays, buffers = list(given), {**inputs, **outputs}
    where: dict[str, int] = {}
    words, made = [], []
    for word, buffer in enumerate(variant.buffers):
        array = buffers.get(buffer.name)
        if array is None:
            continue
        k = next((k for k, x in enumerate(given) if x is array), -1)
        if k >= 0:
            words.append((word, k))
            where[buffer.name] = k
        elif buffer.kind == "output":
            made.append((word, (buffer.name, array.shape, buffer.dtype)))
            arrays.append(array)
        else:
            return None
    places = [next((k for k, x in enumerate(arrays) if x is r), -1) for r in results]
    if -1 in places or not all(name in where for name in (*inputs, *bounded)):
        return None
    if len(set(where.values())) < len(taken):
        return None
    return CachedCall(
        variant, prepared, tuple(words), tuple(made), tuple(places),
        tuple((name, where[name]) for name in inputs),
        tuple((name, where[name]) for name in outputs if name in where),
        tuple((where[name], lo, hi) for name, (lo, hi) in bounded.items()),
        free,
    )  # fmt: skip
