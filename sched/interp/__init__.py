"""The reference semantics: an interpreter whose results every schedule must match, to the bit."""

from .instances import Instance, instances
from .interpret import interpret

__all__ = ["Instance", "instances", "interpret"]
