"""Named numbers in the source of a schedule: said once, at the top."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_FACTOR = re.compile(r"ps\.factor\('(\w+)', (\d+)\)")


def said_once(lines: Sequence[str], taken: Iterable[str]) -> list[str]:
    """Lines of Python with the named numbers assigned in front of them, and the names in their
    places. Names that mean something else, or that several numbers have, stay where they are.

    Args:
        taken: names that mean something else.
    """
    code = [x for x in lines if _is_code(x)]
    numbers: dict[str, set[str]] = {}
    for name, number in _FACTOR.findall("\n".join(code)):
        numbers.setdefault(name, set()).add(number)
    others = {*taken, *re.findall(r"\w+", "\n".join(_FACTOR.sub("", x) for x in code))}
    known = {x for x, found in numbers.items() if len(found) == 1} - others

    def named(match: re.Match[str]) -> str:
        return match[1] if match[1] in known else match[0]

    first = [f"{x} = ps.factor({x!r}, {min(numbers[x])})" for x in numbers if x in known]
    return first + [_FACTOR.sub(named, x) if _is_code(x) else x for x in lines]


def _is_code(line: str) -> bool:
    return not line.lstrip().startswith("#")
