"""How the parts of entries are spelled in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ..nodes.dtypes import DType
from .writer import Entry

INFINITE = (float("inf"), float("-inf"))


def uses_of(entries: Sequence[Entry]) -> Counter[int]:
    """How often each entry is an operand."""
    return Counter(x for e in entries for x in (*operands(e), *e.get("at", ()), *e.get("to", ())))


def operands(e: Entry) -> Iterator[int]:
    match e["is"]:
        case "op":
            yield from e["of"]
        case "read":
            yield from e["at"]
        case "reduce" | "trace":
            yield e["of"]
            yield from e.get("over", ())


def is_cast(e: Entry) -> bool:
    return e.get("op") in ("cast", "bitcast", "saturating_cast")


def bracketed(operand: tuple[str, int], at_least: int) -> str:
    text, binds = operand
    return f"({text})" if binds < at_least else text


def number_of(written: Any) -> Any:
    return float.fromhex(written) if isinstance(written, str) else written


def python_of(value: Any) -> str:
    return f'float("{value}")' if value != value or value in INFINITE else repr(value)


def dtype_of(name: str) -> str:
    return f"ps.{'bool_' if name == 'bool' else name}"


def dtypes_of(names: Sequence[str]) -> str:
    found = ", ".join(map(dtype_of, names))
    return found if len(names) == 1 else f"({found})"


def numpy_of(dtype: DType) -> str:
    """NumPy's letters for a little-endian type."""
    return "?" if dtype.is_bool else f"<{dtype.kind}{dtype.itemsize}"
