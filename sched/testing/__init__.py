"""Property tests for programs and their schedules.

`check` executes a schedule step by step and as compiled kernels, and compares it with the reference
interpreter, instance by instance and bit by bit. `schedules`, `programs` and `arguments` are
strategies for hypothesis.
"""

from typing import TYPE_CHECKING, NoReturn

from ..checking.report import CheckError
from ..lang.errors import suggest
from .calls import SlowCheck
from .compare import check
from .native import Difference, Mismatch
from .strategies import arguments, programs, schedules

__all__ = [
    "CheckError",
    "Difference",
    "Mismatch",
    "SlowCheck",
    "arguments",
    "check",
    "programs",
    "schedules",
]

if not TYPE_CHECKING:  # a type checker would take every name to be there

    def __getattr__(name: str) -> NoReturn:
        suggest.no_member(__name__, name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
