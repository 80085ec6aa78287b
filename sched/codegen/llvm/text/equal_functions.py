"""Functions that are equal but for names stand once in a module.

The levels of a pyramid, the gates of a network and the pieces of a Func are often the same loops
over other buffers, which are parameters here. LLVM takes most of a compilation, and its time is
linear in the functions that it sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field

from ....records import dataclass
from .function_builder import FunctionBuilder

_NAME = re.compile(r"%[A-Za-z0-9_.]*\.(\d+)\b")
_LABEL = re.compile(r"^[A-Za-z0-9_.]*\.(\d+):$", re.MULTILINE)


@dataclass(slots=True)
class EqualFunctions:
    """The functions of one module so far.

    Attributes:
        is_used: whether equal ones are found; otherwise each stands where it is asked for.
    """

    is_used: bool = True
    _known: dict[tuple[int, int], list[_Written]] = field(default_factory=dict)

    def written(
        self, b: FunctionBuilder, head: Callable[[str], str], name: str, title: str
    ) -> tuple[str, str]:
        """The name of a function that is equal to a finished one, and text to be added for it.

        Args:
            head: of the function, given its name.
            name: what it is called if there is none yet.
        """
        alike: list[_Written] = []
        if self.is_used:
            alike = self._known.setdefault(b.amount, [])
        new = _Written(name, head("@"), b.lines)
        for old in alike:
            if old.is_equal(new):
                return old.name, ""
        alike.append(new)
        return name, b.definition(head(name), title)


@dataclass(slots=True)
class _Written:
    """A function, with a head that does not name it."""

    name: str
    head: str
    lines: list[str]
    _text: str = ""

    def is_equal(self, other: _Written) -> bool:
        return self._normal == other._normal

    @property
    def _normal(self) -> str:
        """The text without the hints in its names. The numbers tell names of a function apart."""
        if not self._text:
            text = "\n".join([self.head, *self.lines])
            self._text = _LABEL.sub(r".\1:", _NAME.sub(r"%.\1", text))
        return self._text
