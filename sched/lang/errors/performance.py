"""`PerformanceWarning`: what is right, and likely to be slow."""

from __future__ import annotations

import warnings
from typing import Any

from .errors import Span


class PerformanceWarning(UserWarning):
    """The warning of `s.compile()` that directives make slow code, at the line of one of them.

    Attributes:
        cause: `gathers`, `recomputation`, `scalar loop` or `fine tasks`.
    """

    def __init__(self, what: str, cause: str = "") -> None:
        super().__init__(what)
        self.cause = cause


_seen: dict[str, dict[Any, Any]] = {}
"""By file, what Python has shown there: a warning is shown once where nobody asks for more."""


def warn(cause: str, what: str, hint: str, where: Span) -> None:
    """Warns at a line of the user's code."""
    said = PerformanceWarning(f"{what}\n  hint: {hint}", cause)
    seen = _seen.setdefault(where.file, {})
    warnings.warn_explicit(said, PerformanceWarning, where.file, where.line, registry=seen)
