"""The roofline of a kernel: its operations a second against those a byte, below what a machine can
do.

It is that of Williams, Waterman and Patterson ("Roofline", 2009), with a roof for each cache as
Ilic, Pratas and Sousa draw them ("Cache-aware roofline model", 2014).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ...records import dataclass
from ..parts.drawing import Drawing
from ..parts.markup import Markup
from ..parts.theme import SERIES, colour

WIDTH, HEIGHT = 680.0, 380.0
LABEL = 14.0
"""The height of a line of text."""

LEFT, RIGHT, TOP, BOTTOM = 64.0, 170.0, 28.0, 44.0


@dataclass(frozen=True, slots=True)
class Roofs:
    """What one core can do.

    Attributes:
        peak: operations a second; a multiply-add is two.
        bandwidths: bytes a second that are read of each cache and of memory, with their names, the
            nearest first.
        how: where these numbers are from.
    """

    peak: float
    bandwidths: tuple[tuple[str, float], ...]
    how: str

    def at(self, intensity: float, bandwidth: float) -> float:
        """The most operations a second with so many a byte."""
        return min(self.peak, intensity * bandwidth)


@dataclass(frozen=True, slots=True)
class Point:
    """Where a kernel stands.

    Attributes:
        label: what is said beside it.
        intensity: operations for each byte.
        rate: operations a second; None where nothing was measured: it is somewhere below the roof.
        least: the least intensity that it may have, as far as that is known.
    """

    label: str
    intensity: float
    rate: float | None = None
    least: float | None = None


@dataclass(frozen=True, slots=True)
class _Axes:
    """Logarithmic axes; each is from one power of ten to another one."""

    x0: int
    x1: int
    y0: int
    y1: int

    def x(self, intensity: float) -> float:
        share = (math.log10(intensity) - self.x0) / (self.x1 - self.x0)
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    def y(self, rate: float) -> float:
        share = (math.log10(rate) - self.y0) / (self.y1 - self.y0)
        return HEIGHT - BOTTOM - min(max(share, 0.0), 1.0) * (HEIGHT - TOP - BOTTOM)


def roofline(roofs: Roofs, points: Sequence[Point], cores: int = 1) -> Markup:
    """The drawing.

    Args:
        cores: if more than one, the roofs of so many are drawn, too: so many times one core's,
            which is the most that they can do.
    """
    drawing = Drawing(WIDTH, HEIGHT, f"Roofline, {roofs.how}")
    axes = _axes(roofs, points, cores)
    _grid(drawing, axes)
    if cores > 1:
        _roofs(drawing, axes, roofs, cores, named=False)
    _roofs(drawing, axes, roofs, 1, named=True)
    labels: list[float] = []
    for number, point in enumerate(points):
        _point(drawing, axes, roofs, point, SERIES[number % len(SERIES)], labels)
    return drawing.svg()


def _axes(roofs: Roofs, points: Sequence[Point], cores: int) -> _Axes:
    slowest, fastest = roofs.bandwidths[-1][1], roofs.bandwidths[0][1]
    xs = [roofs.peak / slowest, roofs.peak / fastest, *(p.intensity for p in points)]
    x0, x1 = math.floor(math.log10(min(xs) / 2)), math.ceil(math.log10(max(xs) * 2))
    rates = [p.rate for p in points if p.rate]
    lowest = min([10.0**x0 * fastest, roofs.peak / 100, *rates])
    y0 = math.floor(math.log10(lowest))
    return _Axes(x0, x1, y0, math.ceil(math.log10(roofs.peak * cores * 1.3)))


def _grid(drawing: Drawing, axes: _Axes) -> None:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for k in range(axes.x0, axes.x1 + 1):
        x = axes.x(10.0**k)
        drawing.line(x, TOP, x, bottom)
        drawing.text(x, bottom + 15, _power(k), anchor="middle", fill=colour("faint"))
    for k in range(axes.y0, axes.y1 + 1):
        y = axes.y(10.0**k)
        drawing.line(LEFT, y, right, y)
        drawing.text(LEFT - 6, y + 4, _power(k - 9), anchor="end", fill=colour("faint"))
    drawing.text((LEFT + right) / 2, HEIGHT - 8, "operations for each byte", anchor="middle")
    drawing.text(4, TOP - 14, "GFLOP/s")


def _power(k: int) -> str:
    return f"{10.0**k:g}" if -4 < k < 5 else f"1e{k}"


def _roofs(drawing: Drawing, axes: _Axes, roofs: Roofs, cores: int, *, named: bool) -> None:
    peak, right = roofs.peak * cores, WIDTH - RIGHT
    stroke = colour("ink") if named else colour("faint")
    ridge = peak / (roofs.bandwidths[0][1] * cores)
    drawing.line(
        axes.x(ridge), axes.y(peak), right, axes.y(peak), stroke=stroke, width=1.6,
        dashed=not named, hint=f"{peak / 1e9:.1f} GFLOP/s of {_cores(cores)}",
    )  # fmt: skip
    of = "" if named else f", {cores} cores"
    drawing.text(right + 6, axes.y(peak) + 4, f"{peak / 1e9:.3g} GFLOP/s{of}", fill=stroke)
    for name, start, end, bandwidth in _slopes(axes, roofs, cores):
        hint = f"{name}: {bandwidth / 1e9:.1f} GB/s of {_cores(cores)}"
        drawing.line(
            axes.x(start), axes.y(start * bandwidth), axes.x(end), axes.y(end * bandwidth),
            stroke=stroke, width=1.3, dashed=not named, hint=hint,
        )  # fmt: skip
        if named:
            drawing.text(axes.x(start) + 14, axes.y(start * bandwidth) + 3, name, hint=hint)


def _cores(count: int) -> str:
    return "one core" if count == 1 else f"{count} cores, at most"


def _slopes(axes: _Axes, roofs: Roofs, cores: int) -> Iterator[tuple[str, float, float, float]]:
    """The slanted parts: name, intensities at which they begin and end, bytes a second."""
    for name, one in roofs.bandwidths:
        bandwidth = one * cores
        start = max(10.0**axes.x0, 10.0**axes.y0 / bandwidth)
        end = min(roofs.peak * cores / bandwidth, 10.0**axes.x1)
        if end > start:
            yield name, start, end, bandwidth


def _point(
    drawing: Drawing, axes: _Axes, roofs: Roofs, point: Point, fill: str, labels: list[float]
) -> None:
    """Draws a point; `labels` are the heights of labels that are there, and get this one's."""
    x = axes.x(point.intensity)
    if point.rate is None:
        top, bottom = axes.y(roofs.at(point.intensity, roofs.bandwidths[0][1])), HEIGHT - BOTTOM
        hint = f"{point.label}: {point.intensity:.3g} operations for each byte"
        drawing.line(x, top, x, bottom, stroke=fill, width=2, dashed=True, hint=hint)
        is_right = x > LEFT + (WIDTH - LEFT - RIGHT) * 0.6
        drawing.text(
            x - 5 if is_right else x + 5, _free(bottom - 8, labels), point.label, hint=hint,
            anchor="end" if is_right else "start",
        )  # fmt: skip
        return
    y = axes.y(point.rate)
    hint = f"{point.label}: {point.rate / 1e9:.3g} GFLOP/s, {point.intensity:.3g} for each byte"
    if point.least is not None and point.least < point.intensity:
        drawing.line(axes.x(point.least), y, x, y, stroke=fill, width=1.5, hint=hint)
    drawing.circle(x, y, 5, fill=fill, stroke=colour("paper"), hint=hint)
    height = _free(y - 8, labels)
    drawing.text(x - 9, height, point.label, bold=True, hint=hint, anchor="end")


def _free(y: float, labels: list[float]) -> float:
    """The height at or above one where a label has room."""
    while any(abs(y - other) < LABEL for other in labels):
        y -= LABEL
    labels.append(y)
    return y
