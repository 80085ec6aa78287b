"""Funcs that are computed more often than they have elements, where a directive says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...lang.nodes import index as ix
from ..nests.loop_nest import LoopNest, NestAlloc, NestLoop, children
from ..program.inline import is_expensive
from ..sets.linear import coefficient
from .cost import AGAIN, Cost, most, most_of

if TYPE_CHECKING:
    from .analysis import Analysis

TWICE = 2.0
"""How often an element is computed at least. Tiles that overlap compute less than that again, and
often gain by it."""


def again_costs(a: Analysis) -> Iterator[Cost]:
    """What is computed at loops, and what takes long and is inlined."""
    names = a.program.names
    said = {d.stage for d in a.directives if d.name == "compute_at"}
    if said:
        yield from (x for nest in a.nests for x in _at_loops(a, nest, (), said))
    inlined = {d.stage for d in a.directives if d.name == "compute_inline"}
    costly = [
        f for f in a.program.funcs if names[f] in inlined and is_expensive(f.history.typed()[0])
    ]
    for x in a.evaluations if costly else ():
        if x.times and x.func in costly:
            name = names[x.func]
            what = f"{name} takes a division or a function, and is evaluated {x.times}"
            yield Cost(AGAIN, name, what, f's["{name}"].compute_root()', ("compute_inline",))


def _at_loops(
    a: Analysis, nest: LoopNest, around: tuple[NestLoop, ...], said: set[str]
) -> Iterator[Cost]:
    """What is stored in the loop in which it is computed, and so not kept for the next iteration.
    What is stored further outside is computed only where it is not there yet."""
    if isinstance(nest, NestAlloc) and around and a.program.names[nest.func] in said:
        yield from _again(a, nest, around)
    inside = (*around, nest) if isinstance(nest, NestLoop) else around
    for child in children(nest):
        yield from _at_loops(a, child, inside, said)


def _again(a: Analysis, at: NestAlloc, around: tuple[NestLoop, ...]) -> Iterator[Cost]:
    name, loop = a.program.names[at.func], around[-1].loop.name
    if at.func.history.typed()[0].is_added:
        return
    moved = [_moved(at, x) for x in around]
    if any(x is None or len(x) > 1 for x in moved):
        return  # by how far is not known, or along several axes
    nearest: dict[int, int] = {}  # by axis, the step of the innermost loop that moves it
    for axes in reversed(moved):
        nearest = {**(axes or {}), **nearest}
    times = 1.0
    for axis, step in nearest.items():
        times *= max(1.0, (most_of(at.extents[axis]) or 1) / step)
    still = [
        x.loop.name for x, axes in zip(around, moved, strict=True) if not axes and most(x) != 1
    ]
    if not still and times < TWICE:
        return
    often = [f"{times:.3g} times for each element"] if times > 1 else []
    often += [f"anew in each iteration of {' and '.join(still)}"] if still else []
    fix = (
        f's["{name}"].compute_at at a loop further outside, larger tiles, or '
        f's["{name}"].compute_root()'
    )
    kept = "computed at" if loop in _said_of(a, name) else "stored in"
    what = f"{name} is {kept} {loop}, and so computed {', and '.join(often)}"
    yield Cost(AGAIN, name, what, fix, ("compute_at",))


def _said_of(a: Analysis, name: str) -> set[str]:
    """The loops at which a Func is said to be computed."""
    said = (dict(d.options) for d in a.directives if d.name == "compute_at" and d.stage == name)
    return {str(x["loop"]) for x in said}


def _moved(at: NestAlloc, x: NestLoop) -> dict[int, int] | None:
    """By how many elements an iteration moves what is stored, by axis; None if that varies."""
    found = {}
    for axis, origin in enumerate(at.origin):
        step = coefficient(origin, x.var)
        number = None if step is None else ix.constant(step)
        if number is None:
            return None
        if number:
            found[axis] = abs(number) * x.step
    return found
