"""Words for numbers that depend on the machine: `ps.native`, `4 * ps.native`, `ps.tile_rows`.

A schedule that says `vectorize("j", ps.native)` is right on every machine. A word becomes a number
when it is given to a directive, for the schedule's target and the widest type of what is computed;
the directive keeps both, so that the schedule can be made anew for another target.
"""

from __future__ import annotations

from collections.abc import Callable
from keyword import iskeyword
from numbers import Integral
from typing import Any

from ..lang.errors.errors import LanguageError, LanguageTypeError
from ..lang.nodes.dtypes import DType
from ..lang.nodes.shown import Shown
from ..records import dataclass
from .target import Target

_NAMES: dict[str, Callable[[Target, DType], int]] = {
    "native": lambda target, dtype: target.lanes(dtype),
    "tile_rows": lambda target, dtype: target.tile(dtype)[0],
    "tile_columns": lambda target, dtype: target.tile(dtype)[1],
}

_NUMBERED: dict[str, Callable[[int, Target, DType], int]] = {
    "cache_elements": lambda level, target, dtype: target.cache(level).bytes // dtype.itemsize,
    "rows_beside": lambda vectors, target, dtype: target.rows_beside(vectors),
}
"""Names with a number: which cache, or how many vectors."""

_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b if b else 0,
    "min": min,
    "max": max,
}


@dataclass(frozen=True, eq=False)
class Word(Shown):
    """A number that depends on the machine: a name, or an operator of numbers and words.

    `+`, `-`, `*` and `//` make larger words of words and Python integers, and so do `at_least` and
    `at_most`.
    """

    name: str
    operands: tuple[Word | int, ...] = ()
    label: str = ""

    def resolve(self, target: Target, dtype: DType) -> Resolved:
        """The number for a target.

        Args:
            dtype: whose elements are counted.
        """
        return Resolved.of(_value(self, target, dtype), self)

    def at_least(self, other: Word | int) -> Word:
        """The larger one of this and another number."""
        return _made("max", self, other)

    def at_most(self, other: Word | int) -> Word:
        """The smaller one of this and another number."""
        return _made("min", self, other)

    def __add__(self, other: Word | int) -> Word:
        return _made("+", self, other)

    def __radd__(self, other: int) -> Word:
        return _made("+", other, self)

    def __sub__(self, other: Word | int) -> Word:
        return _made("-", self, other)

    def __rsub__(self, other: int) -> Word:
        return _made("-", other, self)

    def __mul__(self, other: Word | int) -> Word:
        return _made("*", self, other)

    def __rmul__(self, other: int) -> Word:
        return _made("*", other, self)

    def __floordiv__(self, other: Word | int) -> Word:
        return _made("//", self, other)

    def __rfloordiv__(self, other: int) -> Word:
        return _made("//", other, self)

    def __repr__(self) -> str:
        """As it is written: `4 * ps.native`."""
        return _text(self, 0)

    def to_json(self) -> Any:
        """As JSON takes it: `["*", 4, "native"]`."""
        if not self.operands:
            return self.name
        label = [self.label] if self.label else []
        return [
            self.name,
            *label,
            *(x.to_json() if isinstance(x, Word) else x for x in self.operands),
        ]


class Resolved(int):
    """A number that a word has become, with the word. It is equal to any other such number."""

    word: Word

    @classmethod
    def of(cls, number: int, word: Word) -> Resolved:
        """A number with the word that it comes from."""
        made = cls(number)
        made.word = word
        return made

    def __reduce__(self) -> Any:
        return Resolved.of, (int(self), self.word)


Number = Word | int
"""What directives take where they take a number."""

native = Word("native")
"""The lanes of a vector register."""
tile_rows = Word("tile_rows")
"""The rows of a tile of a matrix product that registers hold: see `Target.tile`."""
tile_columns = Word("tile_columns")
"""Its columns: full vectors."""


def cache_elements(level: int) -> Word:
    """How many elements the cache of a level holds: of 1, 2 or 3, or of the last that there is."""
    given: Any = level
    if isinstance(given, bool) or not isinstance(given, Integral) or given not in (1, 2, 3):
        raise LanguageError(f"there is no cache {level!r}", hint="1, 2 or 3: 1 is next to the core")
    return Word("cache_elements", (int(level),))


def rows_beside(vectors: int) -> Word:
    """The rows of a tile of a matrix product that registers hold beside so many vectors of columns:
    see `Target.rows_beside`."""
    if isinstance(vectors, bool) or not isinstance(vectors, int) or vectors < 1:
        raise LanguageError(
            f"a tile has at least one vector of columns, not {vectors!r}", hint="rows_beside(2)"
        )
    return Word("rows_beside", (vectors,))


def factor(name: str, number: int) -> Word:
    """A number with a name, the same on every machine: `s.source()` says it once, at the top, for
    all directives that it was given to.

    Args:
        name: an identifier of Python.
    """
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        raise LanguageError(f"{name!r} is no name of Python", hint='ps.factor("rows", 6)')
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise LanguageError(f"{name} is a number from 1 on, not {number!r}")
    return Word("factor", (int(number),), name)


def from_json(data: Any) -> Word:
    """What `to_json` wrote.

    Raises:
        LanguageError: it is no word.
    """
    match data:
        case str(name) if name in _NAMES:
            return Word(name)
        case ["cache_elements", int(level)]:
            return cache_elements(level)
        case ["rows_beside", int(vectors)]:
            return rows_beside(vectors)
        case ["factor", str(label), int(number)]:
            return factor(label, number)
        case [str(name), a, b] if name in _OPERATORS:
            x, y = (v if isinstance(v, int) else from_json(v) for v in (a, b))
            return Word(name, (x, y))
    raise LanguageError(f"{data!r} is no number of a machine that to_json wrote")


def _made(name: str, *operands: Any) -> Word:
    for x in operands:
        if not isinstance(x, Word) and (isinstance(x, bool) or not isinstance(x, int)):
            raise LanguageTypeError(
                f"a number of a machine goes with such numbers and Python integers, not with {x!r}"
            )
    return Word(name, operands)


def _value(word: Word | int, target: Target, dtype: DType) -> int:
    if isinstance(word, int):
        return word
    if not word.operands:
        return _NAMES[word.name](target, dtype)
    if word.label:
        (number,) = word.operands
        return _value(number, target, dtype)
    if word.name in _NUMBERED:
        (number,) = word.operands
        return _NUMBERED[word.name](_value(number, target, dtype), target, dtype)
    return _OPERATORS[word.name](*(_value(x, target, dtype) for x in word.operands))


_TIGHTNESS = {"+": 1, "-": 1, "*": 2, "//": 2}


def _text(word: Word | int, around: int) -> str:
    """A word as Python, in parentheses where what is around it binds more tightly."""
    if isinstance(word, int):
        return str(int(word)) if word >= 0 else f"({int(word)})"
    if not word.operands:
        return f"ps.{word.name}"
    if word.label:
        return f"ps.factor({word.label!r}, {word.operands[0]})"
    if word.name in _NUMBERED:
        return f"ps.{word.name}({word.operands[0]})"
    a, b = word.operands
    if word.name in ("min", "max"):
        method = "at_most" if word.name == "min" else "at_least"
        own = a if isinstance(a, Word) else b
        other = b if own is a else a
        return f"{_text(own, 3)}.{method}({_text(other, 0)})"
    tight = _TIGHTNESS[word.name]
    text = f"{_text(a, tight)} {word.name} {_text(b, tight + 1)}"
    return f"({text})" if tight < around else text
