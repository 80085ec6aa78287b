"""What a kernel takes and gives, said when somebody asks: most processes never do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...cached import cached_property, of_instances
from ...lang.program.program import Program

if TYPE_CHECKING:
    from inspect import Signature


class Described:
    """A kernel that says how it is called."""

    _program: Program

    @cached_property
    def signature(self) -> str:
        """The arguments and results, as text."""
        return self._program.signature()

    @of_instances
    def __signature__(self) -> Signature:
        return self._program.call_signature()
