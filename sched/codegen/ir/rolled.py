"""Unrolled loops become loops again, and one with the loop over what was left of them.

for v in [0, n // 4):                    for v in [0, (n - 1) // 4 + 1):
  T += A[4 * v]                            for r in [0, min(n - 4 * v, 4)):
  ...                              ->        T += A[4 * v + r]
  T += A[4 * v + 3]
for v in [n // 4, (n - 1) // 4 + 1):
  for r in [0, min(n - 4 * v, 4)):
    T += A[4 * v + r]

Copies stay copies that access storage on the stack, which may be in registers, each at another
place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Const, Node, Op, Var, integer, leaves_below, postorder, replaced_all
from ...records import replace
from .copies import first_copies
from .inequalities import Known
from .ir import Buffer, For, Load, Seq, Stmt, Stores, expressions, walk
from .rewrite import map_statements, map_tree_replaced

FEWEST = 3
"""Fewer copies stay copies."""


def rolled(stmt: Stmt, name: str) -> Stmt:
    """A statement whose unrolled loops are loops again.

    Args:
        name: what the variables of their copies begin with.
    """
    made = 0

    def rule(s: Stmt) -> Stmt:
        nonlocal made
        if not isinstance(s, Seq):
            return s
        parts: list[Stmt] = []
        for part in s.parts:
            if parts and (joined := _joined(parts[-1], part)) is not None:
                parts[-1] = joined
            else:
                made += 1
                parts.append(_with_loop(part, Var(f"{name}{made}")))
        return s if tuple(parts) == s.parts else Seq(tuple(parts))

    return map_statements(stmt, rule)


def _with_loop(loop: Stmt, var: Var) -> Stmt:
    """A loop with one in it for its copies, if it has such; any other statement as it is."""
    if not isinstance(loop, For) or loop.kind != "serial" or not isinstance(loop.body, Seq):
        return loop
    parts = list(_flat(loop.body))
    period = _period(parts)
    if period is None or len(parts) < FEWEST * period or len(parts) % period:
        return loop
    groups = [Seq(tuple(parts[k : k + period])) for k in range(0, len(parts), period)]
    found = first_copies(groups, var)
    if found is None or found[1] < len(groups) or _moves_on_stack(found[0], var):
        return loop
    body, copies = found
    return replace(loop, body=For(var, ix.ZERO, integer(copies), 1, "serial", body, "copy"))


def _flat(stmt: Stmt) -> Iterator[Stmt]:
    """The statements of which one is made that run one after the other."""
    if not isinstance(stmt, Seq):
        yield stmt
        return
    for part in stmt.parts:
        yield from _flat(part)


def _period(parts: Sequence[Stmt]) -> int | None:
    """How many statements there are up to the next one that stores where the first one does."""
    if not all(isinstance(p, Stores) for p in parts):
        return None
    places = [[(s.buffer, s.index) for s in p.stores] for p in parts if isinstance(p, Stores)]
    return next((k for k in range(1, len(places)) if places[k] == places[0]), None)


def _joined(first: Stmt, rest: Stmt) -> Stmt | None:
    """One loop in the place of two, if the second one goes on with what the first one does."""
    match first, rest:
        case (
            For(body=For(hi=Const(value=copies)) as inner, hi=end),
            For(lo=begin, body=For(lo=Const(value=0), hi=left, step=1) as other),
        ) if end is begin and first.step == rest.step == 1 and rest.kind == "serial":
            there: dict[Node, Node] = {rest.var: first.var, other.var: inner.var}
            same = Seq(tuple(_flat(map_tree_replaced(other.body, there)))) == inner.body
            (left,) = replaced_all((left,), there)
            if same and _is_all(left, int(copies), first):
                return replace(rest, lo=first.lo)
    return None


def _is_all(left: Node, copies: int, loop: For) -> bool:
    """Whether as many copies are left in each iteration of a loop as there are."""
    if not (isinstance(left, Op) and left.op == "min"):
        return False
    *_, most = left.operands
    known = [ix.compare("lt", loop.var, x) for x in _below(loop)]
    return ix.constant(most) == copies and any(
        Known([x]).implies(ix.compare("le", integer(copies), left)) for x in known
    )


def _below(loop: For) -> Iterator[Node]:
    """Ends of which each iteration of a loop is below at least one that is given alone."""
    yield loop.hi
    match loop.hi:
        case Op(op="max", operands=(a, b)):
            if b is loop.lo:
                yield a
            elif a is loop.lo:
                yield b


def _moves_on_stack(stmt: Stmt, var: Var) -> bool:
    """Whether an index of storage on the stack depends on a variable."""
    places: list[tuple[Buffer, tuple[Node, ...]]] = []
    for s in walk(stmt):
        if isinstance(s, Stores):
            places += [(x.buffer, x.index) for x in s.stores]
        loads = (n for n in postorder(*expressions(s)) if isinstance(n, Load))
        places += [(n.buffer, n.index) for n in loads]
    return any(b.kind == "stack" and var in leaves_below(*index) for b, index in places)
