"""Pictures side by side, as a PNG file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..records import dataclass
from .extras import need

Array = np.ndarray[Any, np.dtype[Any]]

_HEIGHT = 4.6  # of the pictures, in inches
_DPI = 150


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One picture.

    Attributes:
        image: [h, w], drawn by a colour map, or colours [h, w, 3] in [0, 1].
        title: the text above the picture.
        marks: int[k, 2], rows and columns of pixels that get a ring around them.
        colours: matplotlib's name of the colour map of an [h, w] image.
    """

    image: Array
    title: str
    marks: Array | None = None
    colours: str = "gray"


def save_panels(path: Path, panels: Sequence[Panel]) -> Path:
    """Writes the panels side by side, all of one height, and returns the path.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    need("drawing", "viz", "matplotlib")
    from matplotlib.figure import Figure

    # A Figure of its own, not pyplot's: no window can open and no state is left behind.
    widths = [p.image.shape[1] / p.image.shape[0] for p in panels]
    figure = Figure(figsize=(_HEIGHT * sum(widths) + 0.4, _HEIGHT + 0.3), layout="constrained")
    for axes, panel in zip(
        figure.subplots(1, len(panels), squeeze=False, width_ratios=widths)[0], panels, strict=True
    ):
        axes.imshow(panel.image, cmap=panel.colours, interpolation="lanczos")
        axes.set_title(panel.title, fontsize=12)
        axes.set_axis_off()
        if panel.marks is not None:
            rows, columns = panel.marks.T
            axes.scatter(columns, rows, s=46, facecolors="none", edgecolors="black", linewidths=2.4)
            axes.scatter(columns, rows, s=46, facecolors="none", edgecolors="#39ff14")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DPI)
    return path
