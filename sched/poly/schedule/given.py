"""Directives as they were given, which are made when somebody looks.

A script that ran before gives directives that were accepted before. What they return is known, and
nobody asks what they are unless something is refused, printed or written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...cached import cached_property
from ...lang.errors.errors import Span
from ..state.record import Directive


class Given:
    """A directive that was accepted before: its class and its fields, and where it was written.

    Attributes:
        name: that of the directive.
        exactly: the same for equal directives only.
    """

    def __init__(
        self,
        kind: type[Directive],
        stage: str,
        options: Mapping[str, Any],
        exactly: str,
        place: tuple[str, int, int | None],
    ) -> None:
        self.name, self.exactly = kind.name, exactly
        self._made_of = kind, stage, options, place

    @cached_property
    def directive(self) -> Directive:
        """The directive itself."""
        kind, stage, options, place = self._made_of
        return kind(stage, **options, span=Span(*place))


def as_made(said: Directive | Given) -> Directive:
    """A directive, whichever it is known by."""
    return said.directive if isinstance(said, Given) else said
