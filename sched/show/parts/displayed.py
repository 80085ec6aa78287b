"""What notebooks show of an object that has HTML of its own."""

from __future__ import annotations

from collections.abc import Iterable

SMALL = 12_000
"""Letters of a drawing up to which it is among the displays by itself, too."""


class Displayed:
    """A base class of what has `_repr_html_`, and a drawing where `_repr_svg_` gives one."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        raise NotImplementedError

    def _repr_svg_(self) -> str | None:
        """The drawing as a file of its own, for what shows no HTML; None where it is large."""
        return None

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, str]:
        drawing = self._repr_svg_()
        found = {"text/plain": repr(self), "text/html": self._repr_html_()}
        if drawing is not None:
            found["image/svg+xml"] = drawing
        left_out = frozenset(exclude or ())
        asked = frozenset(found if include is None else include) - left_out
        return {kind: content for kind, content in found.items() if kind in asked}
