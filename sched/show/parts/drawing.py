"""Small drawings as SVG."""

from __future__ import annotations

from dataclasses import field

from ...records import dataclass
from .markup import Content, Markup, tag
from .theme import colour

WIDE = 1300.0
"""Pixels: a drawing that is wider stays as it is where there is less room, and is scrolled."""


@dataclass(slots=True)
class Drawing:
    """Shapes in the order in which they are drawn, in pixels from the left and upper corner.

    Colours are CSS: `theme.colour("accent")`, or one of `theme.SERIES`.

    Attributes:
        width, height: the size in pixels.
        label: what the drawing shows, for readers who cannot see it.
        shapes: markup of SVG, in order.
    """

    width: float
    height: float
    label: str
    shapes: list[Markup] = field(default_factory=list)

    def rect(
        self, x: float, y: float, width: float, height: float, *, fill: str = "none",
        stroke: str | None = None, opacity: float | None = None, hint: str | None = None,
        radius: float = 0.0,
    ) -> None:  # fmt: skip
        """A rectangle; `hint` is shown when the pointer rests on it."""
        self.shapes.append(
            tag(
                "rect", *_hint(hint), x=x, y=y, width=width, height=height, rx=radius or None,
                fill=fill, stroke=stroke, opacity=opacity,
            )
        )  # fmt: skip

    def circle(
        self, x: float, y: float, radius: float, *, fill: str, stroke: str | None = None,
        hint: str | None = None,
    ) -> None:  # fmt: skip
        """A circle; `hint` is shown when the pointer rests on it."""
        self.shapes.append(
            tag("circle", *_hint(hint), cx=x, cy=y, r=radius, fill=fill, stroke=stroke)
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *, stroke: str = colour("line"),
        width: float = 1.0, dashed: bool = False, hint: str | None = None, round_: bool = False,
        opacity: float | None = None,
    ) -> None:  # fmt: skip
        """A straight line; `round_`: with ends that are half circles."""
        self.shapes.append(
            tag(
                "line", *_hint(hint), x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke,
                stroke_width=width, stroke_dasharray="4 3" if dashed else None,
                stroke_linecap="round" if round_ else None, opacity=opacity,
            )
        )  # fmt: skip

    def ring(
        self, x: float, y: float, radius: float, *, stroke: str, width: float = 1.4,
    ) -> None:  # fmt: skip
        """A circle that shows what is inside of it."""
        self.shapes.append(
            tag("circle", cx=x, cy=y, r=radius, fill="none", stroke=stroke, stroke_width=width)
        )

    def arrow(
        self, x1: float, y1: float, x2: float, y2: float, *, stroke: str = colour("ink"),
        width: float = 1.4, dashed: bool = False, hint: str | None = None, bend: float = 0.0,
    ) -> None:  # fmt: skip
        """An arrow from the first point to the second.

        Args:
            bend: how far the middle stands to the left of the straight way, in pixels.
        """
        length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1e-9)
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        mx, my = (x1 + x2) / 2 + 2 * bend * uy, (y1 + y2) / 2 - 2 * bend * ux
        # The head looks along the end of the curve.
        ex, ey = x2 - mx, y2 - my
        end = max((ex * ex + ey * ey) ** 0.5, 1e-9)
        ex, ey = ex / end, ey / end
        size = 3.2 + 1.6 * width
        bx, by = x2 - ex * size, y2 - ey * size
        head = (
            f"M{x2:.5g} {y2:.5g}L{bx - ey * size / 2:.5g} {by + ex * size / 2:.5g}"
            f"L{bx + ey * size / 2:.5g} {by - ex * size / 2:.5g}Z"
        )
        way = f"M{x1:.5g} {y1:.5g}Q{mx:.5g} {my:.5g} {bx:.5g} {by:.5g}"
        self.shapes.append(
            tag(
                "g", *_hint(hint),
                tag(
                    "path", d=way, fill="none", stroke=stroke, stroke_width=width,
                    stroke_dasharray="4 3" if dashed else None,
                ),
                tag("path", d=head, fill=stroke),
            )
        )  # fmt: skip

    def text(
        self, x: float, y: float, words: Content, *, anchor: str = "start",
        fill: str | None = None, size: float | None = None, bold: bool = False,
        hint: str | None = None, clear: bool = False,
    ) -> None:  # fmt: skip
        """Words whose base line begins (`anchor="start"`), ends or has its middle at a point.
        `clear`: around them nothing is seen of what was drawn before."""
        style = "".join(
            part
            for part in (
                f"paint-order:stroke;stroke:{colour('paper')};stroke-width:4px;" if clear else "",
                f"fill:{fill};" if fill else "",
                f"font-size:{size:g}px;" if size else "",
                "font-weight:600;" if bold else "",
            )
        )
        self.shapes.append(
            tag("text", *_hint(hint), words, x=x, y=y, text_anchor=anchor, style=style or None)
        )

    def svg(self) -> Markup:
        """The drawing as an element that stands inside of a display of `theme`."""
        return tag(
            "svg", tag("title", self.label), self.shapes,
            xmlns="http://www.w3.org/2000/svg", width=self.width, height=self.height,
            viewBox=f"0 0 {self.width:g} {self.height:g}", role="img",
            style="max-width:none" if self.width > WIDE else None,
        )  # fmt: skip


def _hint(words: str | None) -> tuple[Markup, ...]:
    return () if words is None else (tag("title", words),)
