"""Directives as data: a schedule is a program and a tuple of these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .dtypes import ALL, INDEX, WEAK_FLOAT, WEAK_INT
from .errors import LanguageError, Span
from .nodes import Const, Node, Op, Param, RVar, Size, Var, substitute
from .printer import code_text

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

    def text(self, schedule: str = "s") -> str:
        """As a user writes it: `s["C"].split("i", factor=8)`."""
        options = dict(self.options)
        if "values" in options:
            map = _Lambda(_map_text(options["loops"], options["values"]))
            options = {"loops": options["loops"], "map": map, "names": options["names"]}
        shown = ", ".join(_arguments(tuple(options.items())))
        asked = f'{schedule}["{self.stage}"]' if self.stage else schedule
        return f"{asked}.{self.name}({shown})"

    def to_json(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            "stage": self.stage,
            "name": self.name,
            "options": {k: encoded(v) for k, v in self.options},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], symbols: Mapping[str, Node]) -> Directive:
        """What `to_json` wrote.

        Args:
            symbols: the sizes and Params of the program, by name.
        """
        options = tuple((k, decoded(v, symbols)) for k, v in data["options"].items())
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
        "axes",
        "values",
        "condition",
    }
)


class _Lambda(str):
    """Text that is Python already."""

    __slots__ = ()


def _map_text(loops: Any, values: Any) -> str:
    """A map of coordinates as a lambda over the names of the loops, as far as Python takes them."""
    names = [re.sub(r"\W", "_", name) for name in loops]
    given: dict[Node, Node] = {Var(f"#{k}"): Var(name) for k, name in enumerate(names)}
    inside = ", ".join(code_text(substitute(v, given)) for v in values)
    return f"lambda {', '.join(names)}: ({inside})"


def _arguments(options: tuple[tuple[str, Plain], ...]) -> list[str]:
    shown: list[str] = []
    named = False  # behind an argument by its name all are
    for key, value in options:
        if value is None:
            continue
        if isinstance(value, _Lambda) or (key == "loops" and len(options) > 1):
            shown.append(str(value) if isinstance(value, _Lambda) else _shown(value))
        elif key in _POSITIONAL and not named:
            shown += [_shown(v) for v in (value if isinstance(value, tuple) else (value,))]
        else:
            named = True
            shown.append(f"{key}={_shown(value)}")
    return shown


def _shown(value: Plain) -> str:
    if isinstance(value, tuple):
        inside = ", ".join(map(_shown, value))
        return f"({inside}{',' if len(value) == 1 else ''})"
    return code_text(value) if isinstance(value, Node) else repr(value)


_TYPES: dict[str, Any] = {"index": INDEX, "int": WEAK_INT, "float": WEAK_FLOAT} | {
    t.name: t for t in ALL
}


def _type_name(node: Node) -> str:
    return next(name for name, t in _TYPES.items() if node.type is t)


def encoded(value: Plain) -> Any:
    """An option as JSON takes it."""
    match value:
        case tuple():
            return [encoded(v) for v in value]
        case Const(value=number):
            return {"const": number, "type": _type_name(value)}
        case Var(name=name) | RVar(name=name):
            return {"var": name}
        case Size(name=name) | Param(name=name):
            return {"symbol": name}
        case Op(op=op, operands=operands):
            return {
                "op": op,
                "of": [encoded(x) for x in operands],
                "type": _type_name(value),
            }
        case _:
            return value


def decoded(value: Any, symbols: Mapping[str, Node]) -> Plain:
    """What `encoded` was given; sizes and Params are taken from the program, by name."""
    match value:
        case list():
            return tuple(decoded(v, symbols) for v in value)
        case {"const": number, "type": t}:
            return Const(number, _TYPES[t])
        case {"var": name}:
            return Var(name)
        case {"symbol": name}:
            if name not in symbols:
                raise LanguageError(f"the program has no size or Param {name}")
            return symbols[name]
        case {"op": op, "of": operands, "type": t}:
            args: Any = tuple(decoded(x, symbols) for x in operands)
            return Op(op, args, _TYPES[t])
        case _:
            return value  # type: ignore[no-any-return]
