"""Property tests for programs and their schedules.

`check` runs a schedule in every way there is and compares it with what its program means, instance
by instance and bit by bit. `schedules`, `programs` and `arguments` are strategies for hypothesis.
"""

from ..checking.report import CheckError
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
