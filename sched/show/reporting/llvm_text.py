"""LLVM's IR as functions of lines, each with the line of the loop IR that it is of."""

from __future__ import annotations

import re

from ...records import dataclass

_LOCATION = re.compile(r"^!(\d+) = !DILocation\(line: (\d+),")
_DBG = re.compile(r",? !dbg !(\d+)")
_WIDE = re.compile(r" {3,};")
_DEFINE = re.compile(r'^define .*?@("[^"]*"|[^\s(]+)\(')


@dataclass(frozen=True, slots=True)
class LlvmLine:
    """A line: its text, the line of the loop IR (0 where LLVM knows none), and whether it is an
    instruction."""

    text: str
    line: int
    is_instruction: bool


@dataclass(frozen=True, slots=True)
class LlvmFunction:
    """A function: its name, and its lines with head and end."""

    name: str
    lines: tuple[LlvmLine, ...]


def parsed(text: str) -> tuple[LlvmFunction, ...]:
    """The functions that are defined in a module; its constants and metadata are left out."""
    raw = text.splitlines()
    lines = {m[1]: int(m[2]) for x in raw if (m := _LOCATION.match(x))}
    found: list[LlvmFunction] = []
    name = ""
    body: list[LlvmLine] = []
    for x in raw:
        defined = _DEFINE.match(x)
        if defined:
            name, body = defined[1].strip('"'), []
        if not name:
            continue
        place = _DBG.search(x)
        is_instruction = x.startswith("  ") and not defined
        line = lines.get(place[1], 0) if place and is_instruction else 0
        body.append(LlvmLine(_WIDE.sub("  ;", _DBG.sub("", x)), line, is_instruction))
        if x == "}":
            found.append(LlvmFunction(name, tuple(body)))
            name = ""
    return tuple(found)
