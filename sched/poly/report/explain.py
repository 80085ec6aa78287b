"""`s.explain()`: what a schedule does and stores, its preconditions, and what may be missed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress

from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import DType
from ...lang.nodes.nodes import Op, postorder
from ...lang.nodes.printer import expr_text
from ...lang.tensors.definitions import Definition
from ...lang.tensors.tensors import Func
from ...lang.tensors.trace import Trace
from ..nests.loop_nest import (
    LoopNest,
    NestIf,
    NestLoop,
    NestStage,
    children,
)
from ..program.narrow_sums import sums_in_16_bits
from ..sets.budget import BudgetExceeded, attempt
from ..sets.expressions import Translator
from ..sets.isl import isl
from ..tree import looptree
from ..tree.edits import loops_around, stages
from ..tree.hints import Prefetch
from ..tree.looptree import Loop, Tree
from ..tree.memory import AS_WRITTEN, WHERE, Memory
from .analysis import Analysis
from .idle_iterations import Steps, Uncountable, idle_shares
from .listing import text
from .loop_notes import loop_notes, note_text, notes_of
from .placements import local_extents, placements, storage_placements
from .requires import conditions
from .said import Said


def explain(a: Analysis, said: Said) -> str:
    """The whole text, section by section; a section without anything is left out."""
    _ = a.nests_if_known, a.windows, a.copied  # these have budgets of their own
    with a.in_time():
        return _explained(a, said)


def _explained(a: Analysis, said: Said) -> str:
    sections = (
        ("stages", [*_stages(a), *hint_lines(a)]),
        ("placement", list(placements(a))),
        ("storage", list(_storage(a))),
        ("requires", list(conditions(a))),
        ("notes", [*notes(a, said), *_wider(a), *_narrow_sums(a), *_guards(a)]),
        ("comments", list(_comments(said))),
    )
    lines = [f"Schedule of {a.program.signature()}"]
    for title, found in sections:
        if found:
            lines += [f"{title}:", *(f"  {text}" for text in found)]
    return "\n".join(lines)


def _comments(said: Said, known: Collection[str] = ()) -> Iterator[str]:
    """The comments, and those of variants that were made there.

    Args:
        known: those that a variant has from the schedule that it was made of.
    """
    own = [comment for _, comment in said.comments]
    for comment in own:
        yield from () if comment in known else comment.splitlines()
    for condition, variant in said.variants:
        inside = list(_comments(variant, own))
        if inside:
            yield f"where {expr_text(condition)}:"
            yield from (f"  {line}" for line in inside)


def listing(a: Analysis, said: Said) -> str:
    """`print(s)`: the loops with their bounds, and what else there is to say in a line each."""
    head = f"Schedule of {a.program.signature()}"
    nests = a.nests_if_known
    if nests is None:
        lines = [head, looptree.text(a.tree, 1), f"  note: {NO_BOUNDS}"]
    else:
        beside = lambda loop: note_text(loop_notes(a, loop))
        lines = [head, *(text(nest, 1, a.program.names, beside) for nest in nests)]
    lines += [f"  keeps {k} of {a.program.names[f]}" for f, k in a.windows.items()]
    lines += [f"  {line}" for line in (*memory_lines(a), *hint_lines(a))]
    lines += [f"  copies {x.name} first" for x in a.copied]
    lines += [f"  requires {c}" for c in conditions(a)]
    repeated = (x for x in a.evaluations if x.times)
    lines += [f"  note: {a.program.names[x.func]} is {x}" for x in repeated]
    lines += [f"  note: {line}" for line in notes(a, said)]
    return "\n".join(lines)


def notes(a: Analysis, said: Said) -> Iterator[str]:
    """Directives that may be missing, and questions whose budgets were exceeded."""
    touched = {d.stage for d in a.directives if d.name not in _OF_THE_FUNC}
    for stage in stages(a.tree):
        d = stage.statement.definition
        if d.is_update and d.func.history.home is None:
            pure = next((n for n in touched if n == d.func.name), None)
            updates = [n for n in touched if n.startswith(f"{d.func.name}.update")]
            if pure is not None and not updates:
                yield f"{d.func.name} is scheduled, {stage.name} is not"
    yield from storage_placements(a)
    if a.directives and not _has_vectors(a.tree):
        yield "no loop is vectorised"
    yield from _one_thread(a)
    for p in a.hints.prefetches:
        kinds = _kinds(a, p)
        if not kinds.isdisjoint(("serial", "parallel")):
            continue
        why = f"{p.loop} is {kinds.pop()}" if kinds else f"there is no loop {p.loop} any more"
        yield f"{p.stage} does not prefetch {p.tensor}: {why}"
    for name in said.broken_by:
        yield f"not bit-exact: {name} may be summed in any order"
    for condition, _ in said.variants:
        yield f"where {expr_text(condition)}: another variant"
    for directive, reason in said.trusted:
        yield f"trusted, {reason}: {directive.text()}"


def _one_thread(a: Analysis) -> Iterator[str]:
    """Parallel loops whose iterations run in order, since Python is called in them."""
    for stage in stages(a.tree):
        d = stage.statement.definition
        if d.opaque is None and not any(isinstance(n, Trace) for n in postorder(*d.lhs, *d.values)):
            continue
        for around in loops_around(a.tree, stage.name):
            if around.loop.kind == "parallel":
                yield f"{around.loop.name} runs on one thread: {stage.name} calls Python"


NO_BOUNDS = "the bounds of these loops are too intricate to be shown"

_OF_THE_FUNC = {
    *("compute_at", "compute_root", "store_at", "store_root", "fold_storage"),
    *("reorder_storage", "align_storage", "store_in"),
}
"""Directives that concern a pure definition and its updates together."""


def memory_lines(a: Analysis) -> Iterator[str]:
    """How Funcs lie in memory, where a directive says so."""
    for func, how in a.memory.items():
        if func in a.model.regions and how != AS_WRITTEN:
            verb = "keeps" if func in a.program.outputs else "stores"
            yield f"{verb} {a.program.names[func]} {_laid_out(func, how)}"


def _laid_out(func: Func, how: Memory) -> str:
    names = [expr_text(x.node) for x in func.vars]
    if len(names) < func.ndim:  # an array of the caller's has axes alone
        names = [f"axis {k}" for k in range(func.ndim)]
    parts = [f"as [{', '.join(names[k] for k in how.order)}]"] if how.order else []
    if how.multiples:
        found = (f"{names[axis]} in multiples of {n}" for axis, n in how.multiples)
        parts.append(f"with {' and '.join(found)}")
    if how.place != "auto":
        parts.append(WHERE[how.place])
    return " ".join(parts)


def hint_lines(a: Analysis) -> Iterator[str]:
    """What is said of single stages."""
    yield from (f"{name} is atomic" for name in sorted(a.atomic))
    yield from (f"{name} is streamed" for name in sorted(a.hints.streams))
    for p in a.hints.prefetches:
        if not _kinds(a, p).isdisjoint(("serial", "parallel")):
            times = "1 iteration" if p.distance == 1 else f"{p.distance} iterations"
            yield f"{p.stage} prefetches {p.tensor}, {times} of {p.loop} ahead"


def _kinds(a: Analysis, p: Prefetch) -> set[str]:
    """What kinds of loops a prefetch is about: none if they are gone."""
    named = [x.name for x in stages(a.tree) if p.stage in (x.name, x.statement.name)]
    around = [at.loop for name in named for at in loops_around(a.tree, name)]
    return {loop.kind for loop in around if loop.name == p.loop}


def _has_vectors(tree: Tree) -> bool:
    if isinstance(tree, Loop) and tree.kind == "vector":
        return True
    return any(_has_vectors(child) for child in getattr(tree, "body", ()))


def _stages(a: Analysis) -> Iterator[str]:
    for stage in stages(a.tree):
        loops = [at.loop for at in loops_around(a.tree, stage.name)]
        shown = ", ".join(
            f"{x.name} [{a.extent(x)}]" + ("" if x.kind == "serial" else f" {x.kind}")
            for x in loops
        )
        said = [(x.name, note_text(notes_of(a, x))) for x in loops]
        yield f"{stage.name}: {shown or 'once'}"
        yield from (f"  {name} {text}" for name, text in said if text)
    yield from (f"{a.program.names[x.func]}: {x}" for x in a.evaluations)


def _storage(a: Analysis) -> Iterator[str]:
    windows = a.windows
    for func in a.funcs:
        if func in a.program.outputs:
            continue
        extents = local_extents(a, func) or _extents(a, func)
        window = windows.get(func)
        kept = "" if window is None else f", {window.planes} kept along axis {window.axis}"
        types = ", ".join(t.name for t in func.dtypes)
        how = a.memory.get(func, AS_WRITTEN)
        said = "" if how == AS_WRITTEN else f", {_laid_out(func, how)}"
        yield f"{a.program.names[func]}: {types}[{', '.join(extents)}]{kept}{said}"
    yield from (line for line in memory_lines(a) if line.startswith("keeps "))
    for array in a.copied:
        yield f"{array.name}.initial: a copy, made first"


def _extents(a: Analysis, func: Func) -> list[str]:
    region = a.model.regions[func].intersect_params(a.context)
    if region.params().is_empty():
        return ["0"] * func.ndim
    names = Translator(a.parameters)
    found = []
    for axis in range(func.ndim):
        found.append("?")
        with suppress(BudgetExceeded), attempt(OPERATIONS):
            extent = region.dim_max(axis).sub(region.dim_min(axis)).add_constant_val(isl.Val(1))
            found[-1] = expr_text(names.pw_aff(extent.gist(region.params()), ix.ZERO))
    return found


OPERATIONS = 250_000
"""So much work may isl put into something that is only shown."""


def _wider(a: Analysis) -> Iterator[str]:
    """Where a wider float appears from narrower values."""
    for d in a.program.definitions:
        for t in dict.fromkeys(_widened(d)):
            yield f"{d.name} computes in {t.name} from narrower floats ({d.span})"


def _narrow_sums(a: Analysis) -> Iterator[str]:
    """Sums and products that are kept in a 16-bit float, whose digits they soon exceed."""
    for d in a.program.definitions:
        for t in sums_in_16_bits(d):
            yield (
                f"{d.name} accumulates in {t.name}, of {t.format.precision} binary digits: what is "
                f"smaller than its last one is lost; ps.float32 as the dtype of {d.func.name} "
                f"keeps it ({d.span})"
            )


def _widened(d: Definition) -> Iterator[DType]:
    for n in postorder(*d.values):
        if isinstance(n, Op) and n.op == "cast" and isinstance(n.type, DType) and n.type.is_float:
            source = n.operands[0].type
            if isinstance(source, DType) and source.is_float and source.bits < n.type.bits:
                yield n.type


def _guards(a: Analysis) -> Iterator[str]:
    """Stages whose loops have idle iterations: iterations in which the stage does nothing."""
    if a.nests_if_known is None:
        yield NO_BOUNDS
    steps = Steps()
    for nest in a.nests_if_known or ():
        try:
            with attempt(OPERATIONS):
                shares = idle_shares(nest, a.accepted, steps)
        except (BudgetExceeded, Uncountable):
            for name in _guarded(nest, False, False):
                yield f"the loops of {name} have some idle iterations"
        else:
            yield from (f"the loops of {name} have {share}" for name, share in shares.items())


def _guarded(nest: LoopNest, inside: bool, tested: bool) -> Iterator[str]:
    match nest:
        case NestLoop(body=body):
            yield from _guarded(body, True, tested)
        case NestIf(body=body):
            yield from _guarded(body, inside, tested or inside)
        case NestStage(stage=stage):
            if tested:
                yield stage.name
        case _:
            for part in children(nest):
                yield from _guarded(part, inside, tested)
