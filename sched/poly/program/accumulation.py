"""Which updates accumulate, and whether the order of what they add changes a bit."""

from __future__ import annotations

from ...lang.errors.errors import ScheduleError
from ...lang.nodes.dtypes import DType
from ...lang.nodes.nodes import Const, Node, Op, Read, RVar, Var, postorder, replaced_all
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
    """Whether an update is a step of an argmin or argmax: partial results of (value, index), or of
    (value, index, found), can be put together in any order."""
    return d.is_update and (is_inline_place(d) or keeps_first(d) is not None)


def is_inline_place(d: Definition) -> bool:
    """Whether a definition is of an inline argmin or argmax."""
    return d.func.is_reduction and len(d.values) > 1


def partial_types(d: Definition) -> tuple[DType, ...]:
    """The types of partial results of a reduction. Those of an inline argmax or argmin need not say
    whether they have found anything where they can begin with the first place of all: if no value
    is better than the worst of all, it is at this place."""
    kept = 2 if is_inline_place(d) and first_place(d) is not None else len(d.func.dtypes)
    return d.func.dtypes[:kept]


def first_place(d: Definition) -> int | None:
    """The first place that an inline argmax or argmin looks at, if that is a number, the same for
    all elements; None otherwise, and where a condition says which places it looks at. One that puts
    partial results together has their places, and its RVar is none."""
    match d.rvars, d.values:
        case (
            (RVar(lo=Const(value=int(first))) as r,),
            (_, Op(op="select", operands=(_, place, _)), *_),
        ) if place is r and r.domain.where is None and not d.where:
            return first
    return None


def keeps_first(d: Definition) -> str | None:
    """Of an update that the user has written, `f[i] = select(v > f[i][0], (v, r), f[i])`, whether
    it keeps the largest or the least value, "argmax" or "argmin", and where the first of equal ones
    is; None of others.

    A NaN never is better. What the Func begins with is no place, or comes before all of them: it
    wins over an equal value, like the place with the lowest index.
    """
    if d.loops or d.where or not all(isinstance(x, Var) for x in d.lhs):
        return None
    match d.values, d.rvars:
        case (
            (Op(op="select", operands=(better, v, best)), Op(op="select", operands=(same, k, at))),
            (r,),
        ) if better is same and k is r and r.domain.where is None:
            own = [Read(d.func, d.lhs, c, x.type) for c, x in enumerate((best, at))]
            if best is own[0] and at is own[1] and not any(_is_own(n, d) for n in postorder(v)):
                return _looks_for(better, v, best) if _begins_before(d, r) else None
    return None


def _looks_for(better: Node, value: Node, best: Node) -> str | None:
    """Whether a value is better that is larger, or that is less."""
    match better:
        case Op(op="gt", operands=(a, b)) | Op(op="lt", operands=(b, a)):
            found = {(value, best): "argmax", (best, value): "argmin"}
            return found.get((a, b))
    return None


def _begins_before(d: Definition, r: RVar) -> bool:
    """Whether a Func begins with a place before all those that its only update looks at."""
    match d.func.history.typed():
        case (Definition(is_update=False, values=(_, Const(value=first))), _):
            return isinstance(r.lo, Const) and first <= r.lo.value
    return False


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
