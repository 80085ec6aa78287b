"""Divisions of integers by zero and negative powers of integers, which `checks=True` counts.

They are counted where a statement runs, in its index and in its values. What bounds the RVars of a
statement, or says where it runs, is evaluated by the program for each point of the loops around
it, also where nothing runs then. Scheduled loops evaluate it at other points, or leave it to the
proofs, so they cannot count the same. What may divide by zero there is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...lang.errors.errors import LanguageError
from ...lang.nodes.dtypes import bool_
from ...lang.nodes.guards import NEVER, Guard, conjunction, guards
from ...lang.nodes.nodes import Const, Node, Op, dtype_of, postorder
from ...lang.nodes.printer import expr_text
from ...lang.program.intervals import Interval, interval
from ...lang.tensors.definitions import Definition
from ...poly.nests import loop_program as lp

_OPPOSITE = {"eq": "ne", "lt": "ge"}
"""What excludes a fault, by the operator of what tells it."""


def faults(roots: tuple[Node, ...], needed: Mapping[Node, Guard]) -> list[Node]:
    """For each integer division that may be by zero, and each power of integers that may be
    negative: that it happens and is.

    Args:
        needed: the condition under which each node is evaluated.
    """
    found = (conjunction(needed[node], fault) for node, fault in _possible(roots))
    return [x for x in found if x is not None]


def uncounted(program: lp.LoopProgram) -> Iterator[tuple[Definition, Op]]:
    """The operations that may be faulty where none is counted, and the definitions they are of."""
    runs = (x.instance.definition for x in lp.walk(*program.nests) if isinstance(x, lp.Run))
    for d in dict.fromkeys(runs):
        roots = _around(d)
        needed = guards(roots)
        for node, fault in _possible(roots):
            if needed[node] is not NEVER and not _excludes(needed[node], fault):
                yield d, node


def refuse_uncounted(program: lp.LoopProgram) -> None:
    """Refuses a program that may divide by zero where no division is counted."""
    for d, node in uncounted(program):
        divisor = expr_text(node.operands[1])
        may, floor = ("be negative", 0) if node.op == "pow" else ("be 0", 1)
        raise LanguageError(
            f"checks=True counts nothing in the bounds and conditions of loops, where {divisor} of "
            f"{expr_text(node)} in {d.name} may {may}",
            where=d.span,
            hint=f"ps.maximum({divisor}, {floor}) may not; or leave out checks=True",
        )


def _around(d: Definition) -> tuple[Node, ...]:
    """What is evaluated for points of the loops around a definition, not where it runs."""
    bounds = (b for r in d.rvars for b in (r.lo, r.hi))
    return (*bounds, *d.where)


def _possible(roots: tuple[Node, ...]) -> Iterator[tuple[Op, Op]]:
    """Each operation that may be faulty, and what tells that it is."""
    known: dict[Node, Interval] = {}
    for node in postorder(*roots):
        known[node] = interval(node, known)[0]
        match node:
            case Op(op="pow", operands=(_, last)) if dtype_of(last).is_int and known[last][0] < 0:
                yield node, Op("lt", (last, Const(0, dtype_of(last))), bool_)
            case Op(op="floordiv" | "mod", operands=(_, last)) if dtype_of(last).is_int:
                if known[last][0] <= 0 <= known[last][1]:
                    yield node, Op("eq", (last, Const(0, dtype_of(last))), bool_)


def _excludes(guard: Guard, fault: Op) -> bool:
    """Whether a condition that was added to the guard is the opposite of the fault."""
    while isinstance(guard, Op):
        outer, last = guard.operands if guard.op == "and" else (None, guard)
        opposite = isinstance(last, Op) and last.op == _OPPOSITE[fault.op]
        if opposite and last.args == fault.args:
            return True
        guard = outer
    return False
