"""What comes of a call: values, a refusal, or a fault of ours; and whether two of them agree."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import polysched as ps

Array = npt.NDArray[Any]
Kind = Literal["values", "call refused", "program refused", "fault"]


@dataclass(frozen=True)
class Outcome:
    """`arrays` are the values, one a component of each output; `text` is the message."""

    kind: Kind
    arrays: tuple[Array, ...] = ()
    text: str = ""

    @property
    def is_refusal(self) -> bool:
        return self.kind in ("call refused", "program refused")


_LOOSE = ("different values", "written beside", "slow", "crash", "hang", "another", "breach")
"""Kinds of findings whose texts are different each time."""


@dataclass(frozen=True)
class Finding:
    """Something wrong. `kind` and `text` say what, `variant` which code, `call` which sizes."""

    kind: str
    variant: str
    call: str
    text: str

    @property
    def signature(self) -> str:
        """The same for findings of the same cause, one hopes."""
        loose = self.kind.startswith(_LOOSE)
        return self.kind if loose else f"{self.kind}: {normalised(self.text)}"


def outcome(function: Callable[[], Any]) -> Outcome:
    """Runs it."""
    try:
        return Outcome("values", flat(function()))
    except ps.InternalError as error:
        return Outcome("fault", text=f"InternalError: {error}")
    except ps.CallError as error:
        return Outcome("call refused", text=str(error))
    except ps.LanguageError as error:
        return Outcome("program refused", text=str(error))
    except Exception as error:
        return Outcome("fault", text=f"{type(error).__name__}: {error}")


def flat(results: Any) -> tuple[Array, ...]:
    """Arrays, tuples of them for Funcs of several components, or tuples of these."""
    if isinstance(results, tuple):
        return tuple(a for r in results for a in flat(r))
    return (results,)


def difference(found: Sequence[Array], wanted: Sequence[Array]) -> str | None:
    """Where they differ; bit for bit, but that all NaNs are equal."""
    if len(found) != len(wanted):
        return f"{len(found)} arrays instead of {len(wanted)}"
    for k, (f, w) in enumerate(zip(found, wanted, strict=True)):
        if (f.dtype, f.shape) != (w.dtype, w.shape):
            return f"result {k} is {f.dtype}{f.shape} instead of {w.dtype}{w.shape}"
        differs = _bits(f) != _bits(w)
        if f.dtype.kind in "fV":
            differs &= ~(np.isnan(f) & np.isnan(w))
        if differs.any():
            at = tuple(int(i) for i in np.argwhere(differs)[0])
            count = f"{np.count_nonzero(differs)} of {differs.size}"
            return f"result {k}{list(at)}: {f[at]!r} instead of {w[at]!r} ({count} {f.dtype})"
    return None


def _bits(array: Array) -> Array:
    contiguous = np.ascontiguousarray(array).reshape(array.shape)
    return contiguous.view(f"u{array.itemsize}")


def normalised(text: str) -> str:
    """A message without what differs from program to program."""
    first = text.split("\n  at ")[0].split("\n  hint")[0]
    first = re.sub(r"[\[{].*[\]}]", "[..]", first, flags=re.DOTALL)
    first = re.sub(r"\b[a-zA-Z]+\d+\w*(\.\w+\(\d+\))?", "N", first)
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "0", first)[:160]
