"""A second meaning of programs, that shares no code with the package: neither with the language
nor with the interpreter.

A program's text is run with a `ps` of its own (`symbols.PS`), which records trees (`trees`). They
are typed (`types`) and evaluated point by point (`evaluate`, `tensors`) with Python's integers and
NumPy's scalars (`arithmetic`). Slow, small, and for a part of the language: what it does not know
raises `Unknown`.
"""


class Unknown(Exception):
    """A part of the language that is not told here."""


class Outside(Exception):
    """A read or write out of bounds."""


class Refused(Exception):
    """A precondition does not hold."""
