"""Property tests for programs and their schedules.

`check` executes a schedule step by step and as compiled kernels, and compares it with the reference
interpreter, instance by instance and bit by bit. `schedules`, `programs` and `arguments` are
strategies for hypothesis.
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
