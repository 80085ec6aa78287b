"""Directives as data: a schedule is a program and a tuple of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .dtypes import INDEX, WEAK_INT, bool_, int64
from .errors import LanguageError, Span
from .nodes import Const, Node, Op, Param, RVar, Size, Var, substitute
from .printer import expr_text

Plain = str | int | bool | None | tuple["Plain", ...] | Node


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive: `stage.name(**options)`. Loops and stages are given by name; without a stage
    it is about the schedule as a whole.

    `span` is the line that wrote it; it does not count when two are compared.
    """

    stage: str
    name: str
    options: tuple[tuple[str, Plain], ...]
    span: Span | None = field(default=None, compare=False)

    def text(self) -> str:
        """As a user writes it: `s["C"].split("i", factor=8)`."""
        options = dict(self.options)
        if "values" in options:
            map = _Lambda(_map_text(options["loops"], options["values"]))
            options = {"loops": options["loops"], "map": map, "names": options["names"]}
        shown = ", ".join(_arguments(tuple(options.items())))
        asked = f's["{self.stage}"]' if self.stage else "s"
        return f"{asked}.{self.name}({shown})"

    def to_json(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            "stage": self.stage,
            "name": self.name,
            "options": {k: _encoded(v) for k, v in self.options},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Directive:
        options = tuple((k, _decoded(v)) for k, v in data["options"].items())
        return cls(data["stage"], data["name"], options)


_POSITIONAL = frozenset(
    {
        "loop",
        "loops",
        "factors",
        "factor",
        "outer",
        "inner",
        "other",
        "consumer",
        "values",
        "condition",
    }
)


class _Lambda(str):
    """Text that is Python already."""

    __slots__ = ()


def _map_text(loops: Any, values: Any) -> str:
    """A map of coordinates as a lambda over the names of the loops."""
    names: dict[Node, Node] = {Var(f"#{k}"): Var(name) for k, name in enumerate(loops)}
    given = [substitute(v, names) for v in values]
    inside = ", ".join(expr_text(v) for v in given)
    return f"lambda {', '.join(loops)}: ({inside})"


def _arguments(options: tuple[tuple[str, Plain], ...]) -> list[str]:
    shown = []
    for key, value in options:
        if value is None:
            continue
        if isinstance(value, _Lambda) or (key == "loops" and len(options) > 1):
            shown.append(str(value) if isinstance(value, _Lambda) else _shown(value))
        elif key in _POSITIONAL:
            shown += [_shown(v) for v in (value if isinstance(value, tuple) else (value,))]
        else:
            shown.append(f"{key}={_shown(value)}")
    return shown


def _shown(value: Plain) -> str:
    if isinstance(value, tuple):
        inside = ", ".join(map(_shown, value))
        return f"({inside}{',' if len(value) == 1 else ''})"
    return expr_text(value) if isinstance(value, Node) else repr(value)


_TYPES: dict[str, Any] = {"bool": bool_, "int64": int64, "index": INDEX, "int": WEAK_INT}


def _type_name(node: Node) -> str:
    return next(name for name, t in _TYPES.items() if node.type is t)


def _encoded(value: Plain) -> Any:
    match value:
        case tuple():
            return [_encoded(v) for v in value]
        case Const(value=number):
            return {"const": number, "type": _type_name(value)}
        case Var(name=name) | RVar(name=name):
            return {"var": name}
        case Size(name=name):
            return {"size": name}
        case Param():
            return {"param": value.name}
        case Op(op=op, operands=operands):
            return {
                "op": op,
                "of": [_encoded(x) for x in operands],
                "type": _type_name(value),
            }
        case _:
            return value


def _decoded(value: Any) -> Plain:
    match value:
        case list():
            return tuple(_decoded(v) for v in value)
        case {"const": number, "type": t}:
            return Const(number, _TYPES[t])
        case {"var": name}:
            return Var(name)
        case {"size": name}:
            return Size(name, None)
        case {"op": op, "of": operands, "type": t}:
            args: Any = tuple(_decoded(x) for x in operands)
            return Op(op, args, _TYPES[t])
        case {"param": name}:
            raise LanguageError(f"the Param {name} in a condition cannot be read back from JSON")
        case _:
            return value  # type: ignore[no-any-return]
