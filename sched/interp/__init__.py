"""The reference meaning: what every schedule of a program must compute, to the bit."""

from .instances import Instance, instances
from .interpret import interpret

__all__ = ["Instance", "instances", "interpret"]
