"""A shorthand for LLVM text that is written by hand: reading and writing what a pointer points to.

    %n = field i64, %pointer, OFFSET      the field so many bytes behind a pointer
    %n = item i64, %pointer, %k           element k of an array
    set i64 %n, %pointer, OFFSET          writes a field
    put i64 %n, %pointer, %k              writes an element

Each stands for the computation of an address and the access.
"""

from __future__ import annotations

import re
from itertools import count

_READ = re.compile(r"^  (%[\w.]+) = (field|item) (\w+), (%[\w.]+), ([%\w.]+)$")
_WRITE = re.compile(r"^  (set|put) (\w+) ([%\w.]+), (%[\w.]+), ([%\w.]+)$")


def expanded(text: str) -> str:
    """The text in plain LLVM."""
    numbers = count()
    lines: list[str] = []
    for line in text.splitlines():
        if read := _READ.match(line):
            result, how, kind, base, at = read.groups()
            step = "i8" if how == "field" else kind
            access = f"  {result} = load {kind}, ptr %at.{{}}, align {_aligned(kind)}"
        elif write := _WRITE.match(line):
            how, kind, value, base, at = write.groups()
            step = "i8" if how == "set" else kind
            access = f"  store {kind} {value}, ptr %at.{{}}, align {_aligned(kind)}"
        else:
            lines.append(line)
            continue
        number = next(numbers)
        lines.append(f"  %at.{number} = getelementptr {step}, ptr {base}, i64 {at}")
        lines.append(access.format(number))
    return "\n".join(lines)


def _aligned(kind: str) -> int:
    return 4 if kind == "i32" else 8
