"""Property tests for programs and their schedules.

`check` runs a schedule in every way there is and compares it with what its program means, instance
by instance and bit by bit. `schedules`, `programs` and `arguments` are strategies for hypothesis.
"""

from .compare import Mismatch, check
from .strategies import arguments, programs, schedules

__all__ = ["Mismatch", "arguments", "check", "programs", "schedules"]
