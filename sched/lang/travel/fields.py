"""The fields of one entry, checked as they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar

from ..errors.errors import LanguageError, Span
from ..nodes.dtypes import DType
from ..nodes.node_json import type_of
from ..nodes.nodes import Node
from ..nodes.tensor import Tensor

T = TypeVar("T")


class Fields:
    """The fields of an entry. Each is asked for once, and `done` refuses those that were not.

    Args:
        entry: as JSON has it.
        number: its number.
        table: what the entries before it are.

    Raises:
        LanguageError: from all methods: a field is missing, or not what it can be.
    """

    def __init__(self, entry: Any, number: int, table: Sequence[object]) -> None:
        self.number, self._table = number, table
        if not isinstance(entry, dict):
            self.refuse(f"it is {_short(entry)}, not an object")
        self._left: dict[str, Any] = dict(entry)
        self.kind = self.text("is")

    @property
    def name(self) -> str:
        """The entry in messages."""
        return f"entry {self.number} of the program is malformed"

    def refuse(self, what: str) -> NoReturn:
        """Refuses the entry."""
        raise LanguageError(
            f"{self.name}: {what}",
            hint="ps.to_json writes what ps.from_json reads",
        )

    def value(self, name: str) -> Any:
        """A field of any type."""
        if name not in self._left:
            self.refuse(f"it lacks {name!r}")
        return self._left.pop(name)

    def has(self, name: str) -> bool:
        """Whether there is such a field."""
        return name in self._left

    def of(self, name: str, kind: type[T], given: Any) -> T:
        """A value, if it is of a type; an int is no bool."""
        if not isinstance(given, kind) or (isinstance(given, bool) and kind is int):
            self.refuse(f"it has {name} = {_short(given)}, which is no {kind.__name__}")
        return given

    def text(self, name: str) -> str:
        return self.of(name, str, self.value(name))

    def integer(self, name: str) -> int:
        return self.of(name, int, self.value(name))

    def optional_text(self, name: str) -> str | None:
        return self.text(name) if self.has(name) else None

    def flag(self, name: str) -> bool:
        return self.of(name, bool, self.value(name))

    def listed(self, name: str) -> list[Any]:
        """A field that is a list."""
        return self.of(name, list, self.value(name))

    def number_or_none(self, name: str) -> bool | int | float | None:
        """A number as `Writer` writes it: floats as hexadecimal text."""
        return self.as_number(name, self.value(name)) if self.has(name) else None

    def as_number(self, name: str, given: Any) -> bool | int | float:
        """A number as `Writer` writes it."""
        if isinstance(given, str):
            try:
                return float.fromhex(given)
            except (ValueError, OverflowError):
                pass
        if not isinstance(given, int):
            self.refuse(f"it has {name} = {_short(given)}, which is no number")
        return given

    def dtype(self, name: str) -> DType:
        """An element type by its name."""
        return self.as_dtype(name, self.value(name))

    def as_dtype(self, name: str, given: Any) -> DType:
        """An element type by its name."""
        found = type_of(self.of(name, str, given))
        if not isinstance(found, DType):
            self.refuse(f"it has {name} = {given!r}, which is no element type")
        return found

    # references -------------------------------------------------------------------------------
    def reference(self, name: str, kind: type[T], given: Any) -> T:
        """What an earlier entry is."""
        at = self.of(name, int, given)
        if not 0 <= at < len(self._table):
            self.refuse(f"it has {name} = {at}, and there are {len(self._table)} entries before it")
        found = self._table[at]
        if not isinstance(found, kind):
            self.refuse(f"it has {name} = {at}, and entry {at} is no {kind.__name__}")
        return found

    def item(self, name: str, kind: type[T]) -> T:
        """The earlier entry that a field names."""
        return self.reference(name, kind, self.value(name))

    def items(self, name: str, kind: type[T]) -> tuple[T, ...]:
        """The earlier entries that a field lists."""
        return tuple(self.reference(name, kind, x) for x in self.listed(name))

    def node(self, name: str) -> Node:
        return self.item(name, Node)

    def nodes(self, name: str) -> tuple[Node, ...]:
        return self.items(name, Node)

    def optional_node(self, name: str) -> Node | None:
        return self.node(name) if self.has(name) else None

    def tensor(self, name: str) -> Tensor:
        return self.item(name, Tensor)

    def regions(self, name: str) -> list[tuple[Tensor, list[tuple[Node, Node]]]]:
        """Regions of tensors: each with a pair of bounds along each axis."""
        found = []
        for region in self.listed(name):
            match region:
                case [tensor, [*axes]] if all(isinstance(x, list) and len(x) == 2 for x in axes):
                    pairs = [tuple(self.reference(name, Node, x) for x in axis) for axis in axes]
                    found.append((self.reference(name, Tensor, tensor), pairs))
                case _:
                    self.refuse(f"it has {name} = {_short(region)}, which is no region of a tensor")
        return found  # type: ignore[return-value]

    # what most entries have -------------------------------------------------------------------
    def serials(self) -> list[int]:
        """The serials that what it makes has had."""
        found = [self.of("serials", int, x) for x in self.listed("serials")]
        if any(x < 0 for x in found):
            self.refuse("it has a serial below 0")
        return found

    def place(self) -> Span | None:
        """Where it was made; None if that is not written."""
        if not self.has("place"):
            return None
        match self.value("place"):
            case [str(file), int(line)]:
                return Span(file, line)
            case [str(file), int(line), int(cell)]:
                return Span(file, line, cell)
        self.refuse("it has a place that is no file and line")

    def done(self) -> None:
        """Refuses fields that nothing has asked for."""
        if self._left:
            unknown = ", ".join(map(repr, self._left))
            self.refuse(f"it has {unknown}, which is no field of {self.kind}")


def _short(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= 60 else text[:57] + "..."
