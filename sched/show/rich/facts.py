"""Facts of programs: their statements with loops, accesses and operations, windows, distances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from ..parts.markup import Content, Markup, tag
from ..parts.theme import display

# What is shown comes from a room beside this one, which is not imported.
Facts: TypeAlias = Any
StatementFacts: TypeAlias = Any
LoopFacts: TypeAlias = Any
MemoryAccess: TypeAlias = Any
Window: TypeAlias = Any
Distance: TypeAlias = Any

FEW, MOST = 3, 12
"""Statements up to which all is unfolded, and up to which their names are."""


def facts(shown: Facts) -> dict[str, str]:
    """All that is known of a program: a block for each statement, which unfolds."""
    count = len(shown.statements)
    at = ", ".join(f"{name} = {size}" for name, size in shown.sizes.items())
    words = "1 statement" if count == 1 else f"{count} statements"
    head = tag("div", f"Facts of {words}", f" at {at}" if at else "", class_="head")
    blocks = [_folded(_title(s), _body(s), is_open=count <= FEW) for s in shown.statements]
    whole: Content = blocks if count <= MOST else _folded(words, blocks, is_open=False)
    found = display(head, whole, _windows(shown.windows), _distances(shown.distances))
    return {"text/html": str(found)}


def statement(shown: StatementFacts) -> dict[str, str]:
    """What is known of a statement."""
    head = tag("div", _title(shown), class_="head")
    return {"text/html": str(display(head, _body(shown), _distances(shown.distances)))}


def _folded(title: Content, body: Content, *, is_open: bool) -> Markup:
    return tag("details", tag("summary", title), body, open=is_open)


def _title(s: StatementFacts) -> Content:
    loops = " ".join(f"{loop.name}:{loop.extent}" for loop in s.loops) or "no loops"
    return [tag("code", s.name), f" {s.kind}, ", tag("span", loops, class_="faint")]


def _body(s: StatementFacts) -> Content:
    done = ", ".join(f"{count} {name}" for name, count in s.operations.items()) or "none"
    parts: list[Content] = [
        _table(("loop", "iterations", ""), [_loop(s, x) for x in s.loops], numbers=(1,)),
        tag("div", f"Operations of an instance: {done}"),
    ]
    names = [x.name for x in s.loops]
    heads = ("", "tensor", "bytes", "elements", *(f"stride along {x}" for x in names))
    rows = [_access(x) for x in s.accesses]
    parts.append(_table(heads, rows, numbers=range(2, len(heads))))
    return parts


def _loop(s: StatementFacts, loop: LoopFacts) -> Sequence[str]:
    skews = s.skewable.get(loop.name, {})
    said = [
        word
        for word, holds in (
            ("parallel", loop.parallel),
            ("reduction", loop.is_reduction),
            ("shared with other statements", loop.is_shared),
            ("short at any sizes", loop.is_short),
            ("as long as data say", loop.is_ragged),
        )
        if holds
    ]
    said += [f"skewed by {factor} along {outer} it goes forward" for outer, factor in skews.items()]
    return loop.name, str(loop.extent), ", ".join(said)


def _access(x: MemoryAccess) -> Sequence[str]:
    strides = ("by data" if y is None else f"{y:g}" for y in x.strides)
    return "writes" if x.is_write else "reads", x.tensor, str(x.bytes), str(x.elements), *strides


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()
) -> Markup | None:
    """A table; None where it has no rows. `numbers` are the columns of numbers."""
    if not rows:
        return None
    kinds = ["number" if k in numbers else None for k in range(len(heads))]
    top = [tag("th", x, class_=kind) for x, kind in zip(heads, kinds, strict=True)]
    lines = ([tag("td", x, class_=k) for x, k in zip(row, kinds, strict=True)] for row in rows)
    return tag("table", tag("tr", top), [tag("tr", line) for line in lines])


def _windows(found: Sequence[Window]) -> Content:
    rows = [row for window in found for row in _window(window)]
    heads = ("producer", "is read by", "in an iteration of", "elements", "")
    table = _table(heads, rows)
    return None if table is None else _folded("What consumers need", table, is_open=False)


def _window(window: Window) -> Iterator[Sequence[str]]:
    for one in window.loops:
        widths = " x ".join(map(str, one.widths)) or "1"
        yield window.producer, window.consumer, one.loop, widths, one.relation


def _distances(found: Sequence[Distance]) -> Content:
    rows = [(d.source, d.sink, d.tensor, "(" + ", ".join(map(_span, d.spans)) + ")") for d in found]
    table = _table(("first", "then", "by", "distances along loops"), rows)
    return None if table is None else _folded("Dependences", table, is_open=False)


def _span(span: tuple[int | None, int | None]) -> str:
    lo, hi = span
    if lo is not None and lo == hi:
        return str(lo)
    return f"{'any' if lo is None else lo} to {'any' if hi is None else hi}"
