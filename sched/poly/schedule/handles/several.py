"""The loops that a directive makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....lang.errors.suggest import Suggesting, public

if TYPE_CHECKING:
    from .base import LoopHandle

    _Tuple = tuple[LoopHandle, ...]
else:
    _Tuple = tuple


class Loops(Suggesting, _Tuple):
    """A tuple of loops, which says where directives go on that Halide would chain to it."""

    __slots__ = ()

    def _called(self) -> str:
        return "a tuple of loops"

    def _others(self) -> dict[str, str]:
        if not self:
            return {}
        at, names = f's["{self[0].stage_name}"]', ", ".join(x.name for x in self)
        return {
            x: f"these are the loops that were made, {names}; directives go on at the stage: "
            f"{at}.{x}(...)"
            for x in public(type(self[0].stage))
        }
