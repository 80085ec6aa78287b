"""What the tests of the language share: running a program twice, and refusals."""

from __future__ import annotations

import inspect
import sys
import traceback
from types import TracebackType
from typing import Any

import numpy as np
import pytest
from gallery.execute import as_tuple, assert_same

import polysched as ps

ALL = (
    ps.bool_, ps.int8, ps.int16, ps.int32, ps.int64, ps.uint8, ps.uint16, ps.uint32, ps.uint64,
    ps.float32, ps.float64,
)  # fmt: skip
INTEGERS = tuple(t for t in ALL if t.is_int)
FLOATS = (ps.float32, ps.float64)


def run(funcs: Any, /, *args: Any, **kwargs: Any) -> Any:
    """What a program computes; the interpreter and native code must give the same bits."""
    wanted = ps.interpret(funcs, *args, **kwargs)
    found = (funcs if isinstance(funcs, ps.Func) else ps.Schedule(funcs).compile())(*args, **kwargs)
    assert_same(_flat(found), _flat(wanted))
    return found


def _flat(results: Any) -> tuple[Any, ...]:
    return tuple(a for r in as_tuple(results) for a in as_tuple(r))


def at_points(value: Any, /, *shape: Any, **arrays: Any) -> Any:
    """What an expression over the Var i is at i = 0, 1, ...; `arrays` are its Inputs."""
    n = next(len(a) for a in arrays.values()) if arrays and not shape else shape[0]
    f = ps.Func("f", (n,))
    f[ps.vars("i")] = value
    return run(f, **arrays)


def inputs(**arrays: Any) -> tuple[ps.Input, ...]:
    """An Input for each array, of its dtype and shape."""
    return tuple(ps.Input(name, np.asarray(a).dtype, a.shape) for name, a in arrays.items())


class refused:
    """The block must be refused: `with refused("what is said", hint="how to mend it"): ...`

    Args:
        parts: texts that the message contains, in order.
        hint: a part of the hint.
        error: the class of the error.
        marked: the error is that of the line with the comment "# here", not of the one that
            raised it. A LanguageError always names one of the two.

    `text` is the whole message afterwards.
    """

    def __init__(
        self,
        *parts: str,
        hint: str | None = None,
        error: type[ps.PolyschedError] = ps.LanguageError,
        marked: bool = False,
    ) -> None:
        self.parts, self.hint = parts, hint
        self.raises = pytest.raises(error)  # which replay/refusals.py listens to
        self.code = sys._getframe(1).f_code
        self.marked = marked
        self.text = ""

    def __enter__(self) -> refused:
        self.raises.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        found: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not self.raises.__exit__(kind, found, trace):
            return False
        assert isinstance(found, ps.PolyschedError)
        self.text = str(found)
        at = 0
        for part in self.parts:
            assert part in found.what[at:], f"{part!r} is missing in: {self.text}"
            at = found.what.index(part, at) + len(part)
        if self.hint is not None:
            assert found.hint is not None, self.text
            assert self.hint in found.hint, self.text
        if isinstance(found, ps.LanguageError):
            self._check_line(found, trace)
        return True

    def _check_line(self, found: ps.LanguageError, trace: TracebackType | None) -> None:
        assert found.where is not None
        file = self.code.co_filename
        lines = [f.lineno for f in traceback.extract_tb(trace) if f.filename == file][-1:]
        if self.marked:
            source, first = inspect.getsourcelines(self.code)
            lines = [first + k for k, line in enumerate(source) if "# here" in line]
        assert len(lines) == 1, "mark one line with # here"
        assert (found.where.file, found.where.line) == (file, lines[0]), self.text
