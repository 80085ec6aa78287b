"""Named numbers in the source of a schedule: said once, at the top."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, count

_FACTOR = re.compile(r"ps\.factor\('(\w+)', (\d+)\)")


def said_once(lines: Sequence[str], taken: Iterable[str]) -> list[str]:
    """Lines of Python with the named numbers assigned in front of them, and variables in their
    places. Such a variable has another name where that means something else already, or where
    several numbers have it.

    Args:
        taken: names that mean something else.
    """
    code = "\n".join(x for x in lines if _is_code(x))
    used = {*taken, *re.findall(r"\w+", _FACTOR.sub("", code))}
    variables: dict[str, str] = {}
    for match in _FACTOR.finditer(code):
        if match[0] not in variables:
            names = chain([match[1]], (f"{match[1]}_{k}" for k in count(2)))
            variables[match[0]] = next(x for x in names if x not in used)
            used.add(variables[match[0]])
    first = [f"{variable} = {factor}" for factor, variable in variables.items()]

    def named(match: re.Match[str]) -> str:
        return variables[match[0]]

    return first + [_FACTOR.sub(named, x) if _is_code(x) else x for x in lines]


def _is_code(line: str) -> bool:
    return not line.lstrip().startswith("#")
