"""Innermost loops that run one element at a time, where a vector loop is at hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...lang.nodes.nodes import Read, postorder
from .cost import SCALAR, Cost, Leaf, leaves
from .movement import accesses, is_along, loops_along
from .scalar_notes import scalar_notes

if TYPE_CHECKING:
    from .analysis import Analysis


def scalar_costs(a: Analysis) -> Iterator[Cost]:
    """Stages without any vector loop. Nothing is said of those that only store what is computed
    without a load, nor of recurrences, whose loops seldom can be vectors."""
    found: dict[str, list[Leaf]] = {}
    for leaf in leaves(a):
        found.setdefault(leaf.name, []).append(leaf)
    said = {d.stage for d in a.directives}
    for name, every in found.items():
        d = every[0].definition
        is_said = not said.isdisjoint((name, a.program.names[d.func]))
        if not is_said or any(x.loop.kind == "vector" for leaf in every for x in leaf.loops):
            continue
        if a.program.is_recurrence(d.func) or d.func.history.home is not None:
            continue
        if not any(isinstance(n, Read) for n in postorder(*d.values)):
            continue
        yield from _scalar(a, every[0])


def _scalar(a: Analysis, leaf: Leaf) -> Iterator[Cost]:
    inner = next((x for x in reversed(leaf.loops) if any(scalar_notes(a, x))), None)
    others = loops_along(a, leaf)
    if inner is None or not others:
        return
    best = others[-1]
    name = best.loop.name
    fix = f's["{leaf.name}"].vectorize("{name}", ps.native)'
    if best.loop.kind == "parallel":
        fix += ", before it is parallel"
    what = f"the innermost loop {inner.loop.name} of {leaf.name} runs one element at a time"
    if best is not inner:
        written = next(accesses(leaf))
        far = "" if is_along(a, leaf, written, inner) else ", and does not move along memory"
        what, fix = what + far, fix + f", with {name} innermost"
    yield Cost(SCALAR, leaf.name, what, fix, ("reorder", "vectorize", "parallel", "tile", "split"))
