"""Invariants of a tree that are checked after each directive."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...lang.nodes.nodes import Read, RVar, postorder
from ...lang.nodes.printer import expr_text
from ...lang.tensors.tensors import Func
from ..placement.accumulators import copies
from ..sets.coordinates import is_too_far
from ..sets.memo import Same
from ..tree.edits import changed, loops_around, new_roots, stages
from ..tree.kinds import Kind
from ..tree.looptree import (
    Accumulator,
    Alloc,
    Loop,
    Path,
    Tree,
    kinds,
    leaves,
    loops_of,
    produced,
)
from ..tree.stage import Stage
from ..tree.uses import shape
from .kinds import check_count

if TYPE_CHECKING:
    from ..state.editing import Editing


def check_reach(e: Editing) -> None:
    """Whether the loops whose coordinates have changed stay within 64 bits."""
    before = {x for _, stage in changed(e.before, e.tree) for x in stage.coordinates}
    for path, stage in changed(e.tree, e.before):
        for loop, x in zip(loops_of(path), stage.coordinates, strict=True):
            if x not in before and is_too_far(x):
                raise e.malformed(
                    f"the loop {loop.name} of {stage.name} would count to {expr_text(x)}, "
                    "which may not fit in 64 bits: sizes are below 2**40, loops within 2**44",
                    "smaller factors, which can all be multiplied with such indices",
                )


def check_kinds(e: Editing) -> None:
    """Whether the loops around changed stages can be of the kinds that they are."""
    gone = changed(e.before, e.tree)
    before = {(stage.run, _kinds_of(path)) for path, stage in gone}
    for path, stage in changed(e.tree, e.before):
        if (stage.run, _kinds_of(path)) in before:
            continue
        around = loops_around(e.tree, stage.name)
        for at in around:
            check_count(e, at)
        lanes = [a for a in around if a.loop.kind == "vector"]
        below = [a for a in around if lanes and a.depth > lanes[0].depth]
        wrong = next((a for a in below if a.loop.kind in ("vector", "parallel")), None)
        if wrong is not None:
            raise e.malformed(
                f"the {wrong.loop.kind} loop {wrong.loop.name} would be inside of the vector "
                f"loop {lanes[0].loop.name}",
                "reorder, so that the vector loop is inside",
            )


def _kinds_of(path: Path) -> tuple[Kind, ...]:
    return tuple(loop.kind for loop in loops_of(path))


def check_lanes(e: Editing) -> None:
    """Whether lanes would compute Funcs: they share storage."""
    found = produced(e.tree)
    for path, node in found if found and "vector" in kinds(e.tree) else ():
        loop = next((x for x in loops_of(path) if x.kind == "vector"), None)
        if loop is not None:
            names = " and ".join(f.name for f in node.funcs)
            raise e.malformed(
                f"{names} would be computed inside of the vector loop {loop.name}: its lanes "
                "run together",
                f"compute {names} at a loop outside of {loop.name} first",
            )


def check_bounds_known(e: Editing) -> None:
    """Whether the bounds of loops read nothing that is computed inside of these loops."""
    found = produced(e.tree)
    if not found or not any(s.data_bounds for s in e.model.statements):
        return
    for path, node in found:
        around = loops_of(path)
        for stage in stages(around[-1]):
            r = _bounded_by(stage, node.funcs, len(around))
            if r is not None:
                names = " and ".join(f.name for f in node.funcs)
                raise e.malformed(
                    f"the bounds of {r.name} in {stage.name} read {names}, which would be "
                    f"computed inside of the loop {around[-1].name}",
                    f"compute {names} at a loop outside of {r.name}",
                )


def check_private(e: Editing) -> None:
    """Whether nothing else uses what is in the private accumulator of a stage. The answer depends
    on the nest that this is in, on the definitions and on the sizes: where only nests can have
    changed, those that were there before are known to be right."""
    is_same = e.model is e.state.rewritten.model and not e.state.assumptions
    for _, nest in new_roots(e.tree, e.before) if is_same else e.tree.roots:
        if not isinstance(nest, Loop) or nest.has_accumulators:
            _check_nest(e, nest)


def _check_nest(e: Editing, nest: Tree) -> None:
    """The same of what stands at the root."""
    for path, stage in leaves(nest):
        around = [nest, *(node for _, node in path)]
        own = [node for node in around if type(node) is Accumulator]
        if not own:
            continue
        if len({node.func for node in own}) < len(own):
            # Each of two accumulators would miss what is in the other one.
            raise e.malformed(
                f"{stage.name} would have two private accumulators of {own[-1].func.name}, "
                "one inside of the other",
                "accumulate at one loop",
            )
        _check_inside(e, stage, around)


def _check_inside(e: Editing, stage: Stage, around: Sequence[Tree]) -> None:
    """The same of the nodes around a stage, outermost first: what is inside of an accumulator."""
    private: dict[Func, Accumulator] = {}
    depth, lanes = 0, ""  # the name of the vector loop that is further out
    copied: list[tuple[Accumulator, int]] = []
    for node in around:
        match node:
            case Loop(name=name, kind=kind):
                depth += 1
                if kind == "vector" and not lanes:
                    lanes = name
            case Alloc(funcs=funcs) if not private.keys().isdisjoint(funcs):
                func = next(f for f in funcs if f in private)
                raise e.malformed(
                    f"the private accumulator of {private[func].stage} would be around the "
                    f"storage of {func.name}",
                    f"a loop inside of where {func.name} is stored, or store it outside",
                )
            case Accumulator(func=func):
                private[func] = node
                if lanes:
                    raise e.malformed(
                        f"the lanes of {lanes} would share the private accumulator of {stage.name}",
                        "vectorize a loop inside of the one of accumulate_at",
                    )
                if node.is_of(stage):
                    copied.append((node, depth))
    for node, outside in copied:
        _check_copied(e, node, outside)


def _check_copied(e: Editing, node: Accumulator, depth: int) -> None:
    """Whether loops can copy in and out an accumulator that is inside of `depth` others."""
    # Of which kinds the loops are makes no difference.
    key = ("copied", shape(node, kinds=False), depth, Same(e.context))
    e.model.memo.of(key, partial(copies, node, depth, e.symbols, e.context))


def _bounded_by(stage: Stage, funcs: Collection[Func], depth: int) -> RVar | None:
    """An RVar that one of the outermost loops of a stage runs over, and whose bounds read one of
    the Funcs."""
    over = set(postorder(*stage.coordinates[:depth]))
    for r in stage.statement.definition.rvars:
        bounds = {r.lo, r.hi} & stage.statement.data_bounds
        if r in over and any(isinstance(n, Read) and n.tensor in funcs for n in postorder(*bounds)):
            return r
    return None
