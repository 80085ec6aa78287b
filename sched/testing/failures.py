"""Failures that `check` finds: shrinking them, and describing them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from ..checking.report import Breach, FaultError, TrustError
from ..lang.errors.errors import CallError, InternalError, LanguageError
from ..lang.nodes.bits import numbers
from ..lang.nodes.dtypes import Array, bfloat16
from ..poly.schedule.schedule import Schedule
from ..records import dataclass
from .calls import Arguments, Call
from .native import Mismatch
from .shrink import smallest

ATTEMPTS = 200
INSTANCES = 10_000
"""Limits on the calls tried to shrink a failure: their number, and that of their instances."""


@dataclass(frozen=True)
class Failure:
    """What is wrong in a call: breaches found by the instance checker, and differing results."""

    breaches: tuple[Breach, ...]
    mismatch: Mismatch | None

    def is_like(self, other: Failure) -> bool:
        """Whether it has breaches and differing results wherever the other failure has."""
        return bool(self.breaches) >= bool(other.breaches) and (
            self.mismatch is not None or other.mismatch is None
        )

    def throw(self, schedule: Schedule, details: str) -> NoReturn:
        """Raises the failure as an error; `details` are added to its message."""
        if not self.breaches:
            assert self.mismatch is not None
            raise self.mismatch.detailed(details) from None
        text = f"{self.mismatch.text}\n{details}" if self.mismatch is not None else details
        if schedule.trusted:
            raise TrustError(self.breaches, schedule.trusted, text)
        raise FaultError(self.breaches, text)


def shrunk(
    call: Call,
    failure: Failure,
    run: Callable[[Arguments], Failure | None],
    at: Callable[[dict[str, int]], Call],
    trusted: bool,
) -> tuple[Call, Failure]:
    """The smallest call found that fails in the same way, and its failure.

    Args:
        run: gives the failure of a call.
        at: gives a call at other sizes.
        trusted: whether directives were trusted, perhaps for a reason that holds only for the
            user's arguments.
    """
    if trusted and call.sizes is None:
        return call, failure
    found = [(call, failure)]
    left = INSTANCES

    def fails(candidate: Call) -> bool:
        nonlocal left
        left -= max(candidate.instances, 1)
        if left < 0:
            return False
        try:
            other = run(candidate.arguments)
        except (CallError, InternalError, LanguageError):
            return False  # the arguments do not fit, or it fails in another way
        if other is not None and other.is_like(failure):
            found.append((candidate, other))
            return True
        return False

    smallest(call, (lambda c: _smaller_sizes(c, at), _simpler_values), fails, ATTEMPTS)
    return found[-1]


def _smaller_sizes(call: Call, at: Callable[[dict[str, int]], Call]) -> Iterator[Call]:
    """The call with one size smaller, the smallest first."""
    sizes = dict(call.sizes or {})
    for name, value in sizes.items():
        for less in range(value):
            yield at({**sizes, name: less})


def _simpler_values(call: Call) -> Iterator[Call]:
    """The call with an array replaced by zeros, by ones, or by whole numbers, then with some of its
    elements set to zero."""
    for name, array in call.arguments.items():
        if isinstance(array, np.ndarray) and np.any(numbers(array)):
            for values in _simpler(numbers(array)):
                same = values if values.dtype == array.dtype else bfloat16.array(values)
                yield replace(call, arguments={**call.arguments, name: same})


def _simpler(array: Array) -> Iterator[Array]:
    yield np.zeros_like(array)
    if np.any(array != 1):
        yield np.ones_like(array)
    if array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            whole = np.trunc(array)
        if np.any(whole != array):
            yield whole
    length = array.size
    while length > 1:
        length = (length + 1) // 2
        for start in range(0, array.size, length):
            made = array.copy()
            part = made.reshape(-1)[start : start + length]
            if np.any(part):
                part[...] = 0
                yield made


def details(schedule: Schedule, call: Call) -> str:
    """The sizes, the arguments and the schedule of a call that fails."""
    arrays = {k: v for k, v in call.arguments.items() if isinstance(v, np.ndarray)}
    others = {k: v for k, v in call.arguments.items() if k not in arrays}
    scalars: Mapping[str, Any] = {**call.found, **others}
    sizes = ", ".join(f"{k}={v}" for k, v in scalars.items())
    lines = [f"at {sizes}"] if sizes else []
    lines += [f"{name} = {array!r}" for name, array in arrays.items()]
    return "\n".join([*lines, "for the schedule", _indented(schedule.source())])


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
