"""Refusals and answers about directives, drawn: as pictures, as displays, in tracebacks."""

from __future__ import annotations

from typing import Any

from .display import bundle
from .notebook import traceback
from .pictures import picture

_ASKED = {"picture": picture, "bundle": bundle, "traceback": traceback}


def shown(asked: str, thing: Any) -> Any:
    """What `Drawn` asks for: "picture", "bundle" or "traceback"."""
    return _ASKED[asked](thing)
