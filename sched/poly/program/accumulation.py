"""Which updates accumulate, and whether the order of what they add changes a bit."""

from __future__ import annotations

from ...lang.errors.errors import ScheduleError
from ...lang.nodes.nodes import Node, Op, Read, Var, postorder, replaced_all
from ...lang.tensors.definitions import Definition

_EXACT = frozenset({"add", "sub", "mul", "min", "max", "and", "or", "xor"})


def accumulates(d: Definition) -> bool:
    """Whether an update combines the old value of an element with others, which could come in
    any order if the operator allows it."""
    if d.op == "=" or len(d.values) > 1:
        return False
    own = [n for n in postorder(*d.lhs, *d.where, *d.values) if _is_own(n, d)]
    if len(own) != 1 or not isinstance(own[0], Read) or own[0].index != d.lhs:
        return False
    match d.values[0]:
        case Op(op="fma", operands=(a, b, c)):
            return c is own[0] and own[0] not in set(postorder(a, b))
        case Op(op=op, operands=(a, b)) if op in _EXACT:
            last = b if a is own[0] else a
            beside = a is own[0] or (b is own[0] and op != "sub")
            return beside and own[0] not in set(postorder(last))
    return False


def is_exact(d: Definition) -> bool:
    """Whether the order of accumulation does not change a bit: integers, minima, maxima."""
    return accumulates(d) and (d.op in ("min", "max") or not d.func.dtypes[0].is_float)


def finds_place(d: Definition) -> bool:
    """Whether an update is a step of an inline argmin or argmax: partial results of (value, index,
    found) can be put together in any order."""
    return d.is_update and d.func.is_reduction and len(d.values) == 3


def folds(d: Definition) -> bool:
    """Whether an update over RVars changes an element from what it was and from others of other
    Funcs, which come in order, and whether its Vars determine the element."""
    if not (d.is_update and d.rvars and d.is_pointwise) or d.loops:
        return False
    own = (n for n in postorder(*d.values) if _is_own(n, d))
    return any(True for _ in own) and not any(_is_own(n, d) for n in postorder(*d.where))


def _is_own(n: Node, d: Definition) -> bool:
    return isinstance(n, Read) and n.tensor is d.func


def matched(update: Definition, other: Definition) -> dict[Node, Node]:
    """What the dimensions of an update are at an instance of another definition that writes the
    same element: RVars are where they begin.

    Raises:
        ScheduleError: Vars alone do not determine the update's element.
    """
    if not all(isinstance(x, Var) for x in update.lhs):
        raise ScheduleError(
            f"{update.name} writes {update.func.name} at more than its Vars",
            hint="the left side is made of Vars then: C[i, j] += ...",
        )
    found: dict[Node, Node] = dict(zip(update.lhs, other.lhs, strict=True))
    for r in update.rvars:
        found[r] = replaced_all((r.lo,), found)[0]
    return found
