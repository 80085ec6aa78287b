"""What can be drawn: refusals, and answers about directives. A room far above does the drawing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class Drawn:
    """A mixin for what has a picture of instances and their order.

    `_evidence` is what the picture is made from: states of a schedule, which pickles leave out.
    """

    #: Does what is asked for: "picture", "bundle" or "traceback".
    _shown: ClassVar[Callable[[str, Any], Any]]
    _evidence: Any = None

    def picture(self) -> Any:
        """The iterations at the smallest sizes that show it, the order in which they run before and
        after the directive, and the two instances whose order it would change.

        Returns:
            What a notebook shows and `save("x.svg")` writes.

        Raises:
            LanguageError: it is not about the order of instances, or comes from a pickle.
        """
        return Drawn._shown("picture", self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return Drawn._shown("bundle", self)
