"""Pictures: what notebooks show, and files hold."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ...lang.errors.errors import LanguageTypeError
from ...lang.errors.frames import bounded
from ...records import dataclass
from ..parts.displayed import SMALL, Displayed
from ..parts.drawing import Drawing
from ..parts.markup import Markup, tag
from ..parts.place import page_at
from ..parts.theme import STYLE, colour, display


@bounded
@dataclass(frozen=True, eq=False)
class Picture(Displayed):
    """A drawing with what it shows as data.

    Attributes:
        drawing: the shapes.
        data: what it was drawn from.
        notes: sentences below it.
    """

    drawing: Drawing
    data: Any
    notes: tuple[str, ...] = ()

    @property
    def html(self) -> Markup:
        """The picture for a page."""
        notes = [tag("div", note, class_="faint") for note in self.notes]
        return display(self.drawing.svg(), *notes)

    @property
    def svg(self) -> str:
        """The picture as a file of its own, with its colours and notes."""
        d = self.drawing
        widest = max((16 + 6.9 * len(note) for note in self.notes), default=0.0)
        whole = Drawing(max(d.width, widest), d.height + 16 * len(self.notes) + 8, d.label)
        whole.rect(0, 0, whole.width, whole.height, fill=colour("paper"))
        whole.shapes += d.shapes
        for k, note in enumerate(self.notes):
            whole.text(8, d.height + 12 + 16 * k, note, fill=colour("faint"))
        return str(
            tag(
                "svg", tag("style", Markup(STYLE)), whole.svg(),
                xmlns="http://www.w3.org/2000/svg", class_="polysched",
                width=whole.width, height=whole.height,
                viewBox=f"0 0 {whole.width:g} {whole.height:g}",
            )
        )  # fmt: skip

    def _repr_html_(self) -> str:
        return str(self.html)

    def _repr_svg_(self) -> str | None:
        found = self.svg
        return found if len(found) <= SMALL else None

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes an SVG file, in the place of one that is there, and returns its path.

        Raises:
            LanguageTypeError: the name does not end in .svg.
            OSError: it cannot be written.
        """
        with page_at(path, "picture", 'save("picture.svg")') as place:
            if Path(path).suffix.lower() != ".svg":
                raise LanguageTypeError(f"a picture is an SVG file, and not {Path(path).name}")
            place.write(self.svg)
            return place.path

    def __repr__(self) -> str:
        return f"<picture: {self.drawing.label}>"
