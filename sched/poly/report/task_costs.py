"""Parallel loops that hand out little work, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .cost import FINE, Cost, Leaf, instance_seconds, instances, leaves, most
from .movement import reduces

if TYPE_CHECKING:
    from .analysis import Analysis


MANY = 16
"""So many iterations of the loop outside could be handed out in their place."""

TASKS = 10
"""So many tasks are counted where their number depends on sizes."""


def task_costs(a: Analysis) -> Iterator[Cost]:
    """Parallel loops that begin anew in each iteration of another loop, with the time that they
    take where that is known, or else that of one iteration: threads are woken for it."""
    for leaf in leaves(a):
        at = next((k for k, x in enumerate(leaf.loops) if x.loop.kind == "parallel"), None)
        if at is None or leaf.loops[at] not in leaf.own:
            continue
        around = [x for x in leaf.loops[:at] if most(x) != 1]
        count = instances(leaf.loops[at:])
        if around and (count is not None or _could_be_outside(a, leaf, at)):
            yield from _fine(leaf, at, count)


def _could_be_outside(a: Analysis, leaf: Leaf, at: int) -> bool:
    """Whether the outermost loop may be parallel in its place, as far as is seen at a glance."""
    outer, d = leaf.loops[0], leaf.definition
    is_free = (
        (most(outer) or MANY) >= MANY
        and not a.program.is_recurrence(d.func)
        and d.func.history.home is None
    )
    return is_free and outer in leaf.own and not reduces(leaf, outer)


def _fine(leaf: Leaf, at: int, count: int | None) -> Iterator[Cost]:
    inside = instances(leaf.loops[at + 1 :])
    if count is None and inside is None:
        return
    name, outer = leaf.loops[at].loop.name, leaf.loops[0].loop.name
    if count is not None:
        many, of = count, "all"
    else:
        assert inside is not None
        many, of = inside, "each"
    lanes = next((x.count for x in leaf.loops if x.loop.kind == "vector"), None) or 1
    what = (
        f"the parallel loop {name} of {leaf.name} begins again in each iteration of {outer}, and "
        f"{of} of its iterations compute{'s' if of == 'each' else ''} {many:,} element"
        f"{'s' if many != 1 else ''}"
    )
    fix = f's["{leaf.name}"].parallel("{outer}") in its place, or none'
    seconds = many * instance_seconds(leaf.definition) / lanes * (TASKS if of == "each" else 1)
    yield Cost(FINE, leaf.name, what, fix, ("parallel",), seconds)
