"""Solving for sizes: each axis of each array says `a*n + b*m + c == length`.

An axis with one unknown fixes it, until nothing new is found; then defaults fill in, one at a
time; every other axis is a check. An extent that is not affine is only checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import NoReturn

from ...records import dataclass
from ..arithmetic.extents import Extent, extent_of
from ..errors.errors import CallTypeError, CallValueError
from ..nodes.nodes import Node
from .admission import SIZE_LIMIT

#: An axis to solve or to check: (name of its array, axis number, extent, actual length).
Axis = tuple[str, int, Extent, int]


@dataclass(slots=True)
class Known:
    """Sizes and integer Params found so far, and where each was found, for messages."""

    values: dict[str, int] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, value: int, origin: str) -> None:
        self.values[name] = value
        self.origin[name] = origin

    def text(self, extent: Extent) -> str:
        """The known values of the names in an extent, and their sources, for messages."""
        found = [
            f"{n} = {self.values[n]} (by {self.origin[n]})"
            for n in extent.names
            if n in self.values
        ]
        return f"; {', '.join(found)}" if found else ""


def solve(known: Known, axes: list[Axis], defaults: Mapping[str, Node | None]) -> None:
    """Find every size that `defaults` names, and check every axis.

    Raises:
        CallTypeError: nothing fixes a size.
        CallValueError: two axes disagree, or no size gives a length.
    """
    pending = _propagate(known, axes)
    values = known.values
    if any(n not in values for n in defaults):
        while _fill_in(known, defaults):
            pending = _propagate(known, pending)
        missing = [n for n in defaults if n not in values]
        if missing:
            _refuse_unsolved(missing)
    for name in defaults:
        if values[name] >= SIZE_LIMIT:
            raise CallValueError(f"the size {name} is {values[name]}: sizes are below 2**40")


def _propagate(known: Known, axes: list[Axis]) -> list[Axis]:
    """Solves the axes with one unknown until there are none. Returns the axes with several
    unknowns, which wait for other sizes."""
    values = known.values
    while True:
        waiting: list[Axis] = []
        for axis in axes:
            whose, number, extent, length = axis
            only = extent.only
            if only is not None:
                if only not in values:
                    known.add(only, length, f"axis {number} of {whose}")
                elif values[only] != length:
                    _check(axis, known)
            elif extent.is_known(values):
                _check(axis, known)
            elif (name := extent.unknown(values)) is not None:
                known.add(name, _solution(axis, name, known), f"axis {number} of {whose}")
            else:
                waiting.append(axis)
        if not waiting or len(waiting) == len(axes):
            return waiting
        axes = waiting


def _fill_in(known: Known, defaults: Mapping[str, Node | None]) -> bool:
    """Use one default whose own sizes are known."""
    for name, default in defaults.items():
        if name in known.values or default is None:
            continue
        extent = extent_of(default)
        if extent.is_known(known.values):
            value = extent.value(known.values)
            if value < 0:
                raise CallValueError(
                    f"the size {name} is {extent} = {value} by default, which is negative"
                    + known.text(extent),
                    argument=name,
                    hint=f"pass it by name: {name}=...",
                )
            known.add(name, value, f"its default {extent}")
            return True
    return False


def _solution(axis: Axis, name: str, known: Known) -> int:
    """The value of the only unknown in an axis' extent."""
    whose, number, extent, length = axis
    factor, rest = dict(extent.terms)[name], extent.partial(known.values)
    value, remainder = divmod(length - rest, factor)
    if not remainder and value >= 0:
        return value
    near = sorted({rest + factor * max(v, 0) for v in (value, value + 1)})
    raise CallValueError(
        f"axis {number} of {whose} has length {length}, and its extent is {extent}: no size {name} "
        f"gives that{known.text(extent)}",
        argument=whose,
        hint="the nearest length" + ("s are " if len(near) > 1 else " is ")
        + " and ".join(str(n) for n in near),
    )  # fmt: skip


def _check(axis: Axis, known: Known) -> None:
    whose, number, extent, length = axis
    value = extent.value(known.values)
    if value == length:
        return
    raise CallValueError(
        f"axis {number} of {whose} has length {length}, but its extent {extent} is {value}"
        + known.text(extent),
        argument=whose,
        hint=f"pass {whose} with {value} elements along axis {number}, or change what fixes "
        + " and ".join(extent.names)
        if extent.names
        else f"pass {whose} with {value} elements along axis {number}",
    )


def _refuse_unsolved(missing: list[str]) -> NoReturn:
    raise CallTypeError(
        f"nothing in this call fixes the size{'s' if len(missing) > 1 else ''} "
        + " and ".join(missing),
        argument=missing[0],
        hint="pass by name: " + ", ".join(f"{n}=..." for n in missing),
    )
