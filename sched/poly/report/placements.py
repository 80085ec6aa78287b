"""Placements: where Funcs are computed and stored, how much is stored, and how often they run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ...lang.nodes import index as ix
from ...lang.nodes.printer import expr_text
from ...lang.tensors.tensors import Func
from ..nests.loop_nest import NestAlloc, walk
from ..placement.storage_placement import storage_of, stored_depth
from ..sets.budget import BudgetExceeded, attempt
from ..tree.edits import stages
from ..tree.looptree import Path, Produce, loops_of, produced
from ..tree.stage import Stage
from .recomputation import Recomputation, recomputation

if TYPE_CHECKING:
    from .analysis import Analysis


def placements(a: Analysis) -> Iterator[str]:
    """A line for each Func that is computed at loops: where, and how often.

    `bx: computed at jo for by, stored there, runs each instance 1.50 times (...)`
    """
    places: dict[Func, list[tuple[Path, Produce]]] = {}
    for path, node in produced(a.tree):
        for func in node.funcs:
            places.setdefault(func, []).append((path, node))
    for func, found in places.items():
        where = "; ".join(dict.fromkeys(_where(a, func, *place) for place in found))
        own = [x for _, node in found for x in stages(node) if x.statement.func is func]
        count = _recomputation(a, own)
        yield f"{a.program.names[func]}: {where}" + (f", {count}" if count is not None else "")


def recomputations_of(a: Analysis) -> dict[int, list[tuple[Func, Recomputation | None]]]:
    """By the identity of each loop at which Funcs are computed, how often their instances run."""
    places: dict[tuple[int, Func], list[Stage]] = {}
    for path, node in produced(a.tree):
        for func in node.funcs:
            own = [x for x in stages(node) if x.statement.func is func]
            places.setdefault((id(loops_of(path)[-1]), func), []).extend(own)
    found: dict[int, list[tuple[Func, Recomputation | None]]] = {}
    for (loop, func), own in places.items():
        found.setdefault(loop, []).append((func, _recomputation(a, own)))
    return found


def _recomputation(a: Analysis, own: list[Stage]) -> Recomputation | None:
    with suppress(BudgetExceeded), attempt(OPERATIONS):
        return recomputation(own, a.accepted)
    return None


OPERATIONS = 2_000_000
"""So much work may isl put into how often a Func runs."""


def _where(a: Analysis, func: Func, path: Path, node: Produce) -> str:
    """`computed at i for by, stored outside of all loops, slides`"""
    loops = loops_of(path)
    depth = stored_depth(path, func)
    if depth == len(loops):
        stored = "stored there"
    else:
        stored = f"stored in {loops[depth - 1].name}" if depth else "stored outside of all loops"
    slides = ", slides" if node.fresh_depth < len(loops) else ""
    return f"computed at {loops[-1].name} for {_readers(func, path)}, {stored}{slides}"


def _readers(func: Func, path: Path) -> str:
    """The stages that a Func is computed for, in the innermost loop around it; none where those
    that read it never run."""
    loop = loops_of(path)[-1]
    found = dict.fromkeys(x.name for x in stages(loop) if _reads(x, func))
    return " and ".join(found) or "nothing that runs"


def _reads(stage: Stage, func: Func) -> bool:
    statement = stage.statement
    return statement.func is not func and statement.reads_from(func)


def storage_placements(a: Analysis) -> Iterator[str]:
    """Storage that has been placed further inside than the directive says, and why."""
    seen: dict[str, None] = {}
    for path, node in produced(a.tree):
        for func in node.funcs:
            storage, name = storage_of(path, func), a.program.names[func]
            if storage.reason:
                inside = loops_of(path)[: stored_depth(path, func)]
                place = f"in {inside[-1].name}" if inside else "for each part"
                seen[f"{name} is stored {place}: {storage.reason}"] = None
    yield from seen


def local_extents(a: Analysis, func: Func) -> list[str] | None:
    """The extents of storage that lives inside of loops, over sizes; the largest, where there are
    several; None if it lives outside of them."""
    found = [
        x for x in walk(*(a.nests_if_known or ())) if isinstance(x, NestAlloc) and x.func is func
    ]
    if not found:
        return None
    axes = zip(*(x.extents for x in found), strict=True)
    return [expr_text(ix.maximum(dict.fromkeys(axis))) for axis in axes]
