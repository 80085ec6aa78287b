"""What happens to the two instances of a refusal, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...poly.report.executed import Execution, Order, order_of
from .layout import Site
from .space import Column, Space


def named(space: Space, site: Site) -> str:
    inside = ", ".join(f"{d}={v}" for d, v in zip(space.dims[site[0]], site[1], strict=True))
    return f"{site[0]}[{inside}]"


def status(space: Space, column: Column) -> tuple[str, bool]:
    """What happens to the two instances of a refusal, in few words, and whether that is right."""
    if space.pair is None:
        return "", True
    if space.kind in _WRONG:
        is_after = column is space.columns[-1]
        return (_WRONG[space.kind], False) if is_after else ("right", True)
    ends = _ends(space, column)
    return ("", True) if ends is None else _SHORT[order_of(*ends)]


_SHORT: Mapping[Order, tuple[str, bool]] = {
    "before": ("in order", True),
    "after": ("turned round", False),
    "threads": ("concurrent", False),
    "lanes": ("concurrent", False),
    "same": ("one", True),
}
_WRONG = {"clobber": "overwritten", "uninitialised": "not computed there", "race": "one memory"}


def _ends(space: Space, column: Column) -> tuple[Execution, Execution] | None:
    if space.pair is None:
        return None
    found = []
    sites = (space.pair.source, space.pair.sink)
    for (statement, point), around in zip(sites, space.around, strict=True):
        own = [x for x in column.executions if (x.statement, x.point) == (statement, point)]
        exact = [x for x in own if x.around == around]
        if not own:
            return None
        found.append((exact or own)[0])
    return found[0], found[1]


_WORDS: Mapping[Order, str] = {
    "before": "{a} runs before {b}, which needs it",
    "after": "{a} runs after {b}, which needs it",
    "threads": "{a} and {b} run concurrently, in two iterations of a parallel loop",
    "lanes": "{a} and {b} run concurrently, in two lanes of a vector",
    "same": "{a} and {b} are one",
}


_INSTEAD = {
    "clobber": "what {a} still reads lies where {b} writes",
    "uninitialised": "what {b} reads there, {a} has not computed",
    "race": "they use the same memory",
}


def said(space: Space, column: Column, steps: Mapping[int, int]) -> Iterator[str]:
    """What happens to the two instances, in words.

    Args:
        steps: the numbers that are drawn, by those of the executions.
    """
    pair = space.pair
    if pair is None:
        return
    a, b = named(space, pair.source), named(space, pair.sink)
    ends = _ends(space, column)
    if ends is None:
        yield f"{column.title.capitalize()}: not both of {a} and {b} run."
        return
    words = _WORDS[order_of(*ends)].format(a=a, b=b)
    if space.kind in _WRONG:
        words = words.removesuffix(", which needs it")
    if space.kind in _WRONG and column is space.columns[-1]:
        words += f"; {_INSTEAD[space.kind].format(a=a, b=b)}"
    first, second = (steps[e.step] for e in ends)
    yield f"{column.title.capitalize()}: {words} (steps {first} and {second})."
