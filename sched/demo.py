"""`python -m polysched demo`: real photographs through compiled programs, checked against NumPy."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from . import Func, demo_numpy, demo_programs
from .records import dataclass
from .show.extras import need
from .show.panels import Array, Panel, save_panels

Arguments = dict[str, Any]

_SECONDS = 0.6  # for timing a program, polysched's and NumPy's version in turn
_TURN = 0.02  # for one version before it is the other one's turn


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A program of the demo, its arguments, the same program with NumPy, and its pictures.

    Attributes:
        load: gives the arguments of a call; the shape of the first one is printed.
        tolerance: the largest admissible error, relative to the largest magnitude of the result.
        draw: gives the panels from the arguments and the result; `file` is the picture's name.
    """

    title: str
    program: Callable[[], Func]
    reference: Callable[..., Array]
    load: Callable[[], Arguments]
    tolerance: float
    file: str = ""
    draw: Callable[[Arguments, Array], list[Panel]] | None = None


@dataclass(slots=True)
class Measured:
    """The result of a program, its distance from NumPy's result, and the seconds that it took, at
    the first call with all that is compiled for it."""

    result: Array
    error: float
    first: float
    ours: float = math.inf
    numpys: float = math.inf


def run(folder: Path, stream: TextIO | None = None) -> bool:
    """Runs the demo.

    Args:
        folder: the folder for pictures, which is created if it does not exist.
        stream: the stream for text; standard output by default.

    Returns:
        Whether every result agrees with NumPy's.

    Raises:
        MissingExtra: matplotlib or scikit-image is not installed.
    """
    need("the demo", "viz", "matplotlib", "skimage")
    stream = stream or sys.stdout
    progress = _Progress(stream)
    print(_HEAD, file=stream)
    pictures, good = [], True
    for number, exhibit in enumerate(EXHIBITS, 1):
        progress.step = f"[{number}/{len(EXHIBITS)}] {exhibit.title}: "
        arguments = exhibit.load()
        measured = measure(exhibit, arguments, progress.show)
        if exhibit.draw is not None:
            progress.show("drawing")
            panels = exhibit.draw(arguments, measured.result)
            pictures.append(save_panels(folder / exhibit.file, panels))
        progress.clear()
        print(_row(exhibit, arguments, measured), file=stream)
        good &= measured.error <= exhibit.tolerance
    print(_tail(folder, pictures, good), file=stream)
    return good


def measure(exhibit: Exhibit, arguments: Arguments, say: Callable[[str], None]) -> Measured:
    """Calls a program, compares its result with NumPy's, and times the two in turn; the times are
    the best ones of many calls."""
    say("compiling")
    start, program = time.perf_counter(), exhibit.program()
    result = program(**arguments)
    first = time.perf_counter() - start
    say("comparing with NumPy")
    found = Measured(result, _error(result, exhibit.reference(**arguments)), first)
    say("timing")
    until = time.perf_counter() + _SECONDS
    while time.perf_counter() < until:
        found.ours = min(found.ours, _best(lambda: program(**arguments)))
        found.numpys = min(found.numpys, _best(lambda: exhibit.reference(**arguments)))
    return found


def _best(function: Callable[[], object]) -> float:
    """The seconds of the fastest call in one turn, which is one call at least."""
    best, start = math.inf, time.perf_counter()
    now = start
    while now < start + _TURN:
        before = now
        function()
        now = time.perf_counter()
        best = min(best, now - before)
    return best


def _error(found: Array, wanted: Array) -> float:
    """The largest difference, relative to the largest magnitude; inf if the shapes differ."""
    if found.shape != wanted.shape:
        return math.inf
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


# text -------------------------------------------------------------------------------------------

_HEAD = f"""\
Photographs and a matrix through compiled programs. The calls find their schedules themselves.

{"program":<18}{"size":<18}{"first call":>11}{"polysched":>12}{"NumPy":>11}  {"":<14}max error"""


def _row(exhibit: Exhibit, arguments: Arguments, m: Measured) -> str:
    shape = next(iter(arguments.values())).shape
    ratio = m.numpys / m.ours
    verdict = f"{ratio:.1f}x faster" if ratio >= 1 else f"{1 / ratio:.1f}x slower"
    wrong = "" if m.error <= exhibit.tolerance else f"  WRONG: more than {exhibit.tolerance:.0e}"
    return (
        f"{exhibit.title:<18}{' x '.join(map(str, shape)):<18}{m.first:>9.2f} s"
        f"{m.ours * 1e3:>9.2f} ms{m.numpys * 1e3:>8.2f} ms  {verdict:<14}{m.error:>9.1e}{wrong}"
    )


def _tail(folder: Path, pictures: list[Path], good: bool) -> str:
    verdict = "agrees with NumPy" if good else "DIFFERS FROM NUMPY in the rows marked WRONG"
    names = "  ".join(picture.name for picture in pictures) or "none"
    return f"""
Every result {verdict}; errors are relative to the largest value.
NumPy's matrix product is OpenBLAS: SIMD code written by hand, on all cores.

Pictures in {folder.resolve()}: {names}

Try next:
  open notebooks/01-first-steps.ipynb, the language in half an hour
  print the schedule of a program above, to change and to keep:
    {_python()} -c "import polysched as ps, polysched.demo_programs as p; \
print(ps.Schedule.auto(p.harris()).source())"
  read docs/language.md, everything that can be said"""


def _python() -> str:
    """The command that starts this Python interpreter, as a user would type it."""
    here = f"{os.getcwd()}{os.sep}"
    return sys.executable.removeprefix(here) or "python"


class _Progress:
    """A line of progress that overwrites itself on a terminal; elsewhere it prints nothing."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream if stream.isatty() else None
        self.step = ""

    def show(self, text: str) -> None:
        self._write(self.step + text)

    def clear(self) -> None:
        self._write("")

    def _write(self, line: str) -> None:
        if self.stream is not None:
            self.stream.write(f"\r\x1b[K{line}")
            self.stream.flush()


# what is shown ----------------------------------------------------------------------------------


def _photograph(name: str) -> Array:
    """float32[h, w, 3] in [0, 1]. scikit-image's wheel holds it: nothing is downloaded."""
    from skimage import data

    image: Array = getattr(data, name)()
    return image.astype(np.float32) / 255


def _grey(image: Array) -> Array:
    return image @ np.array([0.299, 0.587, 0.114], np.float32)


def _draw_sharp(arguments: Arguments, sharp: Array) -> list[Panel]:
    eye = np.s_[52:178, 76:266]
    return [
        Panel(arguments["image"][eye], "photograph (a part of it)"),
        Panel(sharp[eye], "sharpened by an unsharp mask"),
    ]


def _draw_contrast(arguments: Arguments, clear: Array) -> list[Panel]:
    return [
        Panel(arguments["image"], "a retina"),
        Panel(clear, "faint details of every size amplified"),
    ]


def _draw_corners(arguments: Arguments, response: Array) -> list[Panel]:
    from skimage.feature import peak_local_max

    corners = peak_local_max(response, min_distance=7, num_peaks=120)
    scaled = np.sign(response) * np.abs(response) ** 0.25
    return [
        Panel(scaled, "response: bright at corners, dark along edges", colours="magma"),
        Panel(_photograph("astronaut"), f"the {len(corners)} strongest corners", marks=corners),
    ]


def _matrices() -> Arguments:
    rng = np.random.default_rng(0)
    return {name: rng.standard_normal((512, 512), np.float32) for name in ("A", "B")}


EXHIBITS = (
    Exhibit(
        "unsharp mask",
        demo_programs.unsharp_mask,
        demo_numpy.unsharp_mask,
        lambda: {"image": _photograph("chelsea"), "amount": 2.0},
        1e-5,
        "sharpened.png",
        _draw_sharp,
    ),
    Exhibit(
        "local contrast",
        demo_programs.local_contrast,
        demo_numpy.local_contrast,
        lambda: {"image": _photograph("retina")},
        1e-4,
        "local-contrast.png",
        _draw_contrast,
    ),
    Exhibit(
        "Harris corners",
        demo_programs.harris,
        demo_numpy.harris,
        lambda: {"image": _grey(_photograph("astronaut"))},
        1e-4,
        "corners.png",
        _draw_corners,
    ),
    Exhibit(
        "matrix product",
        demo_programs.matrix_product,
        demo_numpy.matrix_product,
        _matrices,
        1e-5,
    ),
)
