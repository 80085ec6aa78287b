"""Which Funcs are computed wherever they are read: those that take little more than a load."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Op, Read, RVar, postorder
from ...lang.program.program import Program
from ...lang.tensors.definitions import Definition
from ...lang.tensors.tensors import Func
from ...poly.program.inline import determines_instance, inlined, is_expensive
from ...poly.program.rule import Rule
from ...poly.sets.memo import Memo
from ..facts.operations import operations
from ..model.operators import SLOTS

CHEAP = 1.5
"""Slots of what may be computed several times rather than stored."""

OPERANDS = 2
"""Reads of what may be."""

SIZE = 160
"""Slots up to which a consumer may grow."""

Uses = list[tuple[Definition, list[Read]]]


def is_inlined(func: Func, uses: Uses) -> bool:
    """Whether a Func is better computed where it is read, at some places, than stored."""
    own = func.history.typed()[0]
    if len(uses) == 1 and _points(uses) == 1 and determines_instance(func, *uses[0]):
        return True
    if is_expensive(own):
        return False
    slots, reads = _slots(own), len(_reads(own))
    if _has_long_index(own):
        return False
    is_once = _points(uses) == len(uses) and all(determines_instance(func, *x) for x in uses)
    if is_once and slots <= CHEAP * 2 and reads <= OPERANDS:
        return True  # by each consumer
    if any(isinstance(x, RVar) for d, _ in uses for x in d.dims):
        return slots == 0 and reads <= 1 and all(_is_over_window(d) for d, _ in uses)
    if slots == 0:
        return reads <= 1
    if _points(uses) == len(uses) and slots <= CHEAP * 2:
        return True
    grown = max(_slots(d) + slots * len({r.index for r in found}) for d, found in uses)
    return slots <= CHEAP and reads <= OPERANDS and grown <= SIZE


def _is_over_window(d: Definition) -> bool:
    """Whether all reductions of a definition are over few constant iterations."""
    extents = [ix.constant(ix.sub(x.hi, x.lo)) for x in d.dims if isinstance(x, RVar)]
    return all(e is not None and e <= WINDOW for e in extents)


WINDOW = 8
"""Iterations of a loop over a window, at most."""


def _has_long_index(d: Definition) -> bool:
    """Whether finding an index of what is read takes remainders."""
    indices = (x for r in _reads(d) if isinstance(r, Read) for x in r.index)
    return any(isinstance(n, Op) and n.op in ("mod", "floordiv") for n in postorder(*indices))


def _points(uses: Uses) -> int:
    """At how many points a Func is read, by all consumers together."""
    return sum(len({r.index for r in reads}) for _, reads in uses)


def _slots(d: Definition) -> float:
    return sum(
        SLOTS.get(name.rsplit(" ", 1)[0], 1.0) * count for name, count in operations(d).items()
    )


def _reads(d: Definition) -> set[Node]:
    return {x for x in postorder(*d.values) if isinstance(x, Read)}


def chosen(program: Program, rule: Rule, memo: Memo) -> tuple[tuple[Func, ...], tuple[Func, ...]]:
    """The Funcs to inline that a schedule does not inline by itself, by its rule, and those that it
    does and that are better stored.

    Args:
        memo: what its rewritten programs have found.
    """
    ours, theirs = (_gone(program, of, memo) for of in (is_inlined, rule))
    return (
        tuple(f for f in program.funcs if f in ours and f not in theirs),
        tuple(f for f in program.funcs if f in theirs and f not in ours),
    )


def _gone(program: Program, rule: Rule, memo: Memo) -> Sequence[Func]:
    return list(inlined(program, rule, memo)[1])
