"""Innermost loops in parts: where all their conditions hold, and what is left before and behind.

for v in [lo, hi):            for v in [lo, mid): A           mid = first v with v >= n
  if v < n: A           ->    for v in [mid, hi): if v < n: A
                                                  else: B
  else: B

so that one of the loops has no conditions, and its accumulators can stay in registers. Conditions
are comparisons of affine functions of the loop, of minima of such, and of quotients of these.

What is left of an unrolled loop runs once or not at all. Its copies are a loop again:

for v in [mid, hi):           for v in [mid, hi):
  if 0 < n - 4 * v: A[0]  ->    for r in [0, min(n - 4 * v, 4)): A[r]
  ...
  if 3 < n - 4 * v: A[3]

unless storage on the stack, which may be in registers, would be accessed at an index that moves.

What is left lacks the guards that hold in all lanes: it was the alternative of a choice about the
end of its own loop and that of the vectors, and the latter may be a condition around it by now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import (
    Const,
    Node,
    Op,
    Var,
    dtype_of,
    has_below,
    integer,
    leaves_below,
    postorder,
)
from ...poly.sets.linear import expanded, is_small
from ...poly.sets.simplify import FALSE, TRUE
from ...records import dataclass, replace
from ..ir.copies import first_copies
from ..ir.inequalities import is_at_one_index, total
from ..ir.ir import (
    Alloc,
    Buffer,
    Call,
    For,
    If,
    Load,
    Module,
    Seq,
    Stmt,
    Stores,
    expressions,
    map_children,
    walk,
)
from ..ir.needless_guards import without_needless_guards
from ..ir.rewrite import map_statements, map_tree_replaced
from ..ir.simplify import assuming, chosen, conjuncts, general

FEWEST = 3
"""Fewer copies stay copies."""

FEW = 8
"""So many iterations at an end of a loop are done apart, in front of what one index has of its own.
"""


def split_loops(module: Module) -> Module:
    """Each innermost loop whose conditions hold in one stretch of its iterations."""
    functions = tuple(replace(f, body=_Splitter().stmt(f.body)) for f in module.functions)
    return module if functions == module.functions else replace(module, functions=functions)


@dataclass
class _Stretch:
    """Where conditions hold: from each of `first` on, below each of `end`."""

    first: list[Node]
    end: list[Node]


class _Splitter:
    def __init__(self) -> None:
        self.count = self.rests = 0
        #: What holds around a statement, but for what was read in memory, which may change.
        self.known: tuple[Node, ...] = ()

    def stmt(self, stmt: Stmt) -> Stmt:
        """All loops of a statement."""
        match stmt:
            case For(body=body, kind="serial", step=1) if _is_innermost(body):
                return self._split(stmt, _conditions(body))
            case If(condition=condition, body=body, otherwise=otherwise):
                other, outside = otherwise and self.stmt(otherwise), self.known
                self.known += tuple(x for x in conjuncts(condition) if not has_below(Load, x))
                made, self.known = self.stmt(body), outside
                same = made is body and other is otherwise
                return stmt if same else replace(stmt, body=made, otherwise=other)
            case _:
                return map_children(stmt, self.stmt)

    def _split(self, loop: For, conditions: Iterable[Node]) -> Stmt:
        changed = {s.buffer for x in walk(loop.body) if isinstance(x, Stores) for s in x.stores}
        bounds = postorder(loop.lo, loop.hi)
        if any(isinstance(n, Load) and n.buffer in changed for n in bounds):
            return loop  # bounds are evaluated once, before the first iteration
        found = _Stretch([], [])
        known: dict[Node, Node] = {}
        for condition in dict.fromkeys(conditions):
            stretch, holds = _where(condition, loop.var), TRUE
            if stretch is None:
                stretch, holds = _elsewhere(condition, loop), FALSE
            if stretch is not None:
                found.first += stretch.first
                found.end += stretch.end
                known[condition] = holds
        if not known:
            return loop
        start = ix.maximum((loop.lo, *found.first)) if found.first else loop.lo
        start = ix.minimum((start, loop.hi)) if found.first else start
        end = loop.hi
        if found.end:
            end = ix.maximum((start, ix.minimum((loop.hi, *found.end))))
        whole = assuming(replace(loop, lo=start, hi=end), known)
        parts = [whole]
        border = without_needless_guards(general(loop.body, set(known)), self.known)
        border = replace(loop, body=border)
        if found.first:
            parts.insert(0, self._copy(border, loop.lo, start))
        if found.end:
            parts.append(self._copy(border, end, loop.hi))
        return Seq(tuple(parts))

    def _copy(self, loop: For, lo: Node, hi: Node) -> Stmt:
        """Some of the iterations, by variables of their own; once more in parts, where there are
        further choices."""
        copy = map_statements(replace(loop, lo=lo, hi=hi), self._renamed)
        assert isinstance(copy, For)
        copy = replace(copy, body=self._rolled(copy.body, copy.var))
        return self._split(copy, _conditions(copy.body, only_choices=True))

    def _rolled(self, stmt: Stmt, around: Var) -> Stmt:
        """What is left of an unrolled loop, with a loop for its copies."""
        if not isinstance(stmt, Seq):
            return stmt
        parts = stmt.parts
        made: list[Stmt] = []
        while parts:
            first = parts[0]
            is_border = isinstance(first, If) and around in leaves_below(first.condition)
            found = self._loop(parts) if is_border else None
            loop, count = found or (first, 1)
            made.append(loop)
            parts = parts[count:]
        return made[0] if len(made) == 1 else Seq(tuple(made))

    def _loop(self, parts: tuple[Stmt, ...]) -> tuple[For, int] | None:
        """A loop over the first few statements, and how many these are; None where these are no
        copies below a bound, or should not be a loop."""
        var = Var(f"rest#{self.rests + 1}")
        found = first_copies(parts, var)
        if found is None or found[1] < FEWEST or any(isinstance(s, For) for s in walk(parts[0])):
            return None
        copy, count = found
        match copy:
            case If(condition=Op(op="lt", operands=(number, end)), otherwise=None):
                moves = var in leaves_below(end) or has_below(Load, end)
                if number is not var or moves or _moves_in_registers(copy.body, var):
                    return None
                self.rests += 1
                return For(
                    var, ix.ZERO, _at_most(end, count), 1, "serial", copy.body, "copy"
                ), count
        return None

    def _renamed(self, stmt: Stmt) -> Stmt:
        if not isinstance(stmt, For):
            return stmt
        self.count += 1
        var, old = Var(f"{stmt.var.name}.{self.count}'"), stmt.var
        return replace(stmt, var=var, body=map_tree_replaced(stmt.body, {old: var}))


def _at_most(end: Node, count: int) -> Node:
    match end:
        case Op(op="min", operands=(_, Const(value=value))) if value <= count:
            return end
    return ix.minimum((end, integer(count)))


def _moves_in_registers(stmt: Stmt, var: Var) -> bool:
    """Whether an index of storage that may be in registers depends on a variable."""
    places: list[tuple[Buffer, tuple[Node, ...]]] = []
    for s in walk(stmt):
        if isinstance(s, Stores):
            places += [(x.buffer, x.index) for x in s.stores]
        loads = [n for n in postorder(*expressions(s)) if isinstance(n, Load)]
        places += [(n.buffer, n.index) for n in loads]
    return any(b.kind == "stack" and var in leaves_below(x) for b, index in places for x in index)


def _is_innermost(body: Stmt) -> bool:
    return not any(isinstance(s, (For, Alloc, Call)) for s in chosen(body))


def _conditions(stmt: Stmt, only_choices: bool = False) -> Iterator[Node]:
    """The conditions of choices, and of what is done only where they hold."""
    match stmt:
        case If(condition=condition, body=body, otherwise=otherwise):
            if stmt.choice or (otherwise is None and not only_choices):
                yield from conjuncts(condition)
            yield from _conditions(body, only_choices)
        case Seq(parts=parts):
            for part in parts:
                yield from _conditions(part, only_choices)


def _where(condition: Node, var: Var) -> _Stretch | None:
    """Where a comparison holds, as var rises; None if that is not one stretch, or not known."""
    match condition:
        case Op(operands=(a, *_)) if not dtype_of(a).is_int:
            return None  # floats are no indices
        case Op(op="lt", operands=(a, b)):
            return _positive(ix.sub(b, a), var)
        case Op(op="le", operands=(a, b)):
            return _positive(ix.add(ix.sub(b, a), integer(1)), var)
        case Op(op="gt", operands=(a, b)):
            return _positive(ix.sub(a, b), var)
        case Op(op="ge", operands=(a, b)):
            return _positive(ix.add(ix.sub(a, b), integer(1)), var)
        case _:
            return None


def _elsewhere(condition: Node, loop: For) -> _Stretch | None:
    """Where an equality does not hold that holds at one of the first or of the last iterations of a
    loop only; None for other conditions."""
    if not (isinstance(condition, Op) and is_at_one_index(condition)):
        return None
    a, b = condition.operands
    terms, constant = expanded(ix.sub(a, b))
    step = terms.pop(loop.var, 0)
    if abs(step) != 1:
        return None
    index = total({x: -step * times for x, times in terms.items()}, -step * constant)
    if _is_near(ix.sub(index, loop.lo)):
        return _Stretch([ix.add(index, integer(1))], [])
    if _is_near(ix.sub(loop.hi, index)):
        return _Stretch([], [index])
    return None


def _is_near(distance: Node) -> bool:
    """Whether an index is known to be a few iterations from an end of a loop."""
    terms, constant = expanded(distance)
    return not terms and constant <= FEW


def _positive(value: Node, var: Var) -> _Stretch | None:
    """Where an index is above 0."""
    if not is_small(value) or has_below(Load, value):
        return None
    terms, constant = expanded(value)
    step = terms.pop(var, 0)
    moving = [x for x in terms if var in leaves_below(x)]
    if len(moving) > 1 or (moving and step):
        return None
    rest = total({x: times for x, times in terms.items() if x not in moving}, constant)
    if not moving:
        return _affine(rest, step)
    if terms[moving[0]] != 1:
        return None
    match moving[0]:
        case Op(op="min", operands=(x, y)):
            found = _positive(ix.add(x, rest), var), _positive(ix.add(y, rest), var)
            if found[0] is None or found[1] is None:
                return None
            return _Stretch(found[0].first + found[1].first, found[0].end + found[1].end)
        case Op(op="floordiv", operands=(x, Const(value=d))) if d > 0:
            # rest + x // d > 0   iff   x >= d * (1 - rest)
            least = ix.mul(ix.sub(integer(1), rest), integer(int(d)))
            return _positive(ix.add(ix.sub(x, least), integer(1)), var)
        case _:
            return None


def _affine(rest: Node, step: int) -> _Stretch | None:
    """Where rest + step * var > 0."""
    if step < 0:
        return _Stretch([], [ix.add(ix.floordiv(ix.sub(rest, integer(1)), -step), integer(1))])
    if step > 0:
        return _Stretch([ix.add(ix.floordiv(ix.sub(ix.ZERO, rest), step), integer(1))], [])
    known = ix.constant(rest)
    return _Stretch([], []) if known is not None and known > 0 else None
