"""What can be pickled: as the JSON of what a user wrote, never as code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..errors.errors import PolyschedError
from ..errors.frames import cut


class Travelling:
    """A base class of what is part of programs; `sched/lang/travel/` says how each is pickled."""

    __slots__ = ()

    #: Set by the package: how a part of a program is pickled, above the rooms that define it.
    _reduced: ClassVar[Callable[[Any], Any]]

    def __reduce__(self) -> Any:
        try:
            return Travelling._reduced(self)
        except PolyschedError as error:
            cut(error)
            raise
