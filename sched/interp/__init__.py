"""The reference meaning: what every schedule of a program must compute, to the bit."""

from .interpret import interpret

__all__ = ["interpret"]
