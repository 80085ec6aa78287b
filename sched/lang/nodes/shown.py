"""What notebooks show of an object, as HTML and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar


class Shown:
    """A base class of what a notebook shows; `sched/show/rich/` has a renderer for each class.

    What `print` and `repr` give does not come from here: it stays as it is.
    """

    __slots__ = ()

    #: Set by the package: the display of an object by MIME type. It is far above the rooms that
    #: define the object, and raises nothing.
    _bundle: ClassVar[Callable[[Any], dict[str, str]]]

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, str]:
        found = Shown._bundle(self)
        left_out = frozenset(exclude or ())
        asked = frozenset(found if include is None else include) - left_out
        return {kind: content for kind, content in found.items() if kind in asked}

    def _repr_html_(self) -> str | None:
        """The same for front ends that know no bundles."""
        return Shown._bundle(self).get("text/html")
