"""Numba's functions of elements, also in a process of another Python: wheels of llvmlite have no
SVML since 0.45, and earlier ones cannot be loaded beside ours. It imports nothing of polysched.

    venv/bin/pip install numba==0.61.2 intel-cmplr-lib-rt
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_MATH = {"erf", "erfc", "lgamma", "gamma"}
"""What Numba takes from Python's `math`."""


class Call:
    """A function of arrays that are given: to look at what it gives, and to measure."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call

    def result(self) -> Array:
        return np.asarray(self._call())

    def seconds(self, limit: float) -> float:
        """What the quickest of some calls takes, of as many as the time is enough for."""
        best, until = float("inf"), time.perf_counter() + limit
        while True:
            before = time.perf_counter()
            self._call()
            now = time.perf_counter()
            best = min(best, now - before)
            if now >= until:
                return best


def made(true: str, is_fast: bool, arguments: list[Array], out: Array) -> Call:
    """A loop that calls a function for each element. Of a function that is `fast_`, arithmetic is
    fast, too: it may be wrong by 4 units of the last place.

    Raises:
        NotImplementedError: there is no such function.
    """
    import numba

    element = _element(true, is_fast)
    if len(arguments) == 2:

        def two(a: Array, b: Array, out: Array) -> None:
            for k in range(len(a)):
                out[k] = element(a[k], b[k])

        compiled = numba.njit(two, fastmath=is_fast)
    else:

        def one(a: Array, out: Array) -> None:
            for k in range(len(a)):
                out[k] = element(a[k])

        compiled = numba.njit(one, fastmath=is_fast)

    def call() -> Array:
        compiled(*arguments, out)
        return out

    try:
        call()
    except numba.core.errors.TypingError as error:
        raise NotImplementedError(true) from error
    return Call(call)


def _element(true: str, is_fast: bool) -> Any:
    """What a loop calls for an element."""
    import numba

    compiled = numba.njit(fastmath=is_fast)
    if true == "rsqrt":
        return compiled(lambda x: 1 / np.sqrt(x))
    if true == "sigmoid":
        return compiled(lambda x: 1 / (1 + np.exp(-x)))
    if true == "pow":
        return compiled(lambda x, y: x**y)
    module = math if true in _MATH else np
    if not hasattr(module, true):
        raise NotImplementedError(true)
    return getattr(module, true)


# in another process ------------------------------------------------------------------------------
class Other:
    """Numba of another Python, in a process of its own that waits while others are measured.

    Args:
        python: its interpreter; libraries beside it are found, such as Intel's SVML.
    """

    def __init__(self, python: str) -> None:
        libraries = Path(python).parent.parent / "lib"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment["LD_LIBRARY_PATH"] = str(libraries)
        self._process = subprocess.Popen(
            [python, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
            text=True,
        )  # fmt: skip
        self.has_svml = bool(self._answer())
        self._folder = tempfile.TemporaryDirectory()

    def made(self, true: str, is_fast: bool, arguments: list[Array], out: Array) -> Asked:
        """As `made`; until the next one is made."""
        names = [f"{self._folder.name}/{k}.npy" for k in range(len(arguments) + 1)]
        for name, array in zip(names, [*arguments, out], strict=True):
            np.save(name, array)
        if not self.ask({"true": true, "is_fast": is_fast, "files": names}):
            raise NotImplementedError(true)
        return Asked(self, names[-1])

    def ask(self, question: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


class Asked(Call):
    """A call in the other process."""

    def __init__(self, other: Other, file: str) -> None:
        self._other, self._file = other, file

    def result(self) -> Array:
        return np.asarray(np.load(self._file))

    def seconds(self, limit: float) -> float:
        return float(self._other.ask({"seconds": limit}))


def main() -> None:
    """Answers what it is asked, a line each, until nobody asks."""
    import numba

    print(json.dumps(bool(numba.config.USING_SVML)), flush=True)
    call = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "seconds" in asked:
            assert call is not None
            print(json.dumps(call.seconds(asked["seconds"])), flush=True)
            continue
        *arguments, out = (np.load(x) for x in asked["files"])
        try:
            call = made(asked["true"], asked["is_fast"], arguments, out)
            np.save(asked["files"][-1], call.result())
        except NotImplementedError:
            call = None
        print(json.dumps(call is not None), flush=True)


if __name__ == "__main__":
    main()
