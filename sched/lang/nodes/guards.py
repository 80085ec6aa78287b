"""Guards of reads: the condition under which each read of an expression happens.

`select` is lazy: a read inside an arm happens only where that arm is chosen. A read that several
arms share happens where any of them is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .dtypes import bool_
from .nodes import Const, Node, Op, postorder

Guard = Node | None
"""A condition, or None for always."""

NEVER = Const(False, bool_)


def guards(roots: Sequence[Node]) -> dict[Node, Guard]:
    """The condition under which each node's value is needed, given that all roots are."""
    found: dict[Node, Guard] = dict.fromkeys(roots)
    for node in reversed(list(postorder(*roots))):
        here = found.setdefault(node, NEVER)
        match node:
            case Op(op="select", operands=(condition, a, b)):
                _add(found, condition, here)
                _add(found, a, conjunction(here, condition))
                _add(found, b, conjunction(here, negation(condition)))
            case _:
                for operand in node.args:
                    _add(found, operand, here)
    return found


def _add(found: dict[Node, Guard], node: Node, guard: Guard) -> None:
    found[node] = disjunction(found[node], guard) if node in found else guard


def conjunction(a: Guard, b: Guard) -> Guard:
    """The guard that holds where both do."""
    if a is None or b is None:
        return b if a is None else a
    if a is b or NEVER in (a, b):
        return a if a is b else NEVER
    return Op("and", (a, b), bool_)


def disjunction(a: Guard, b: Guard) -> Guard:
    """The guard that holds where either does. The guards of the two arms of a select cancel out,
    so that a read which both arms need gets the guard of the select itself."""
    if a is None or b is None or a is b:
        return None if a is None or b is None else a
    for x, y in ((a, b), (b, a)):
        if x is NEVER:
            return y
        outer, last = _split(x)
        other, opposite = _split(y)
        if outer is other and negation(last) is opposite:
            return outer
        if outer is y or _implies(x, y):
            return y
    return Op("or", (a, b), bool_)


def _implies(a: Node, b: Node) -> bool:
    """Whether the structure of two guards shows that `a` implies `b`.

    A read inside a condition happens wherever the condition is evaluated, so the guards of the
    select's arms imply its own and must be absorbed: otherwise the guard of such a read would
    contain the read itself.
    """
    wide = _alternatives(b)
    single = (x for x in _alternatives(a) if not _is_or(x))
    return all(any(outer in wide for outer in _outer(x)) for x in single)


def _alternatives(guard: Node) -> set[Node]:
    """A guard and, recursively, the operands of disjunctions in it."""
    found, pending = {guard}, [guard]
    while pending:
        match pending.pop():
            case Op(op="or", operands=parts):
                pending += [x for x in parts if x not in found]
                found.update(parts)
    return found


def _is_or(guard: Node) -> bool:
    return isinstance(guard, Op) and guard.op == "or"


def _outer(guard: Guard) -> Iterator[Node]:
    """A guard, then the guards around it: its last conditions are removed one by one."""
    while guard is not None:
        yield guard
        guard = _split(guard)[0]


def _split(guard: Node) -> tuple[Guard, Node]:
    """A guard split into the condition that was added last and the guard before it, which is
    first."""
    match guard:
        case Op(op="and", operands=(outer, last)):
            return outer, last
        case _:
            return None, guard


def negation(condition: Node) -> Node:
    """The opposite condition."""
    match condition:
        case Op(op="not", operands=(inner,)):
            return inner
        case _:
            return Op("not", (condition,), bool_)
