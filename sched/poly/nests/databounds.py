"""The bounds of loops that are read from data: those of an RVar, moved as its loop was."""

from __future__ import annotations

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Const, Node, Op, RVar, Var, postorder
from ...records import dataclass
from .loop_nest import DataBounds, LoopNest, NestAlloc, NestIf, NestLoop, NestStage, walk


def data_bounds(body: LoopNest, around: tuple[Var, ...]) -> DataBounds | None:
    """The bounds of a loop in which one stage runs, if they are those of an RVar that are read from
    data at an index over the loops around.

    Args:
        body: of the loop.
        around: the loops around it.
    """
    while isinstance(body, (NestLoop, NestIf, NestAlloc)):
        body = body.body
    found = _of_stage(body, len(around)) if isinstance(body, NestStage) else None
    return found if found is not None and _is_known(found, around) else None


def over_all(loop: NestLoop, depth: int) -> RVar | None:
    """The RVar whose bounds are read from data, though the loop over it, or over blocks of it, does
    not read them: it runs over all values in the declared range.

    Args:
        depth: how many loops are around it.
    """
    if loop.data is not None:
        return None
    found = (s for s in walk(loop.body) if isinstance(s, NestStage))
    return next((_rvar_of(s, depth) for s in found if _of_stage(s, depth) is not None), None)


def _rvar_of(found: NestStage, depth: int) -> RVar | None:
    """The one RVar with bounds read from data that a coordinate of a stage is made of."""
    statement = found.stage.statement
    rvars = [
        n
        for n in postorder(found.stage.coordinates[depth])
        if isinstance(n, RVar) and {n.lo, n.hi} & statement.data_bounds
    ]
    return rvars[0] if len(rvars) == 1 else None


def _of_stage(found: NestStage, depth: int) -> DataBounds | None:
    rvar, coordinate = _rvar_of(found, depth), found.stage.coordinates[depth]
    if rvar is None:
        return None
    known: dict[Node, _Range | None] = {rvar: _Range(rvar.lo, rvar.hi)}
    for node in postorder(coordinate):
        moving = [a for a in node.args if a in known]
        if moving and isinstance(node, Op):
            of_operand = known[moving[0]]
            known[node] = (
                None
                if of_operand is None or len(moving) > 1
                else _step(node, moving[0], of_operand)
            )
    made = known[coordinate]
    if made is None:
        return None
    return DataBounds(found, made.first, made.end, rvar if made.exact else None)


@dataclass(frozen=True, slots=True)
class _Range:
    """first <= value < end, of an expression that an RVar is in; whether all of these are taken,
    one by one."""

    first: Node
    end: Node
    exact: bool = True


def _step(node: Op, moving: Node, x: _Range) -> _Range | None:
    """The range of an operator, by that of its one operand that moves; None if it is not known to
    be monotone in that."""
    other = next((a for a in node.operands if a is not moving), ix.ZERO)
    number = ix.constant(other) or 0
    match node.op:
        case "add":
            return _Range(ix.add(x.first, other), ix.add(x.end, other), x.exact)
        case "sub" if moving is node.operands[0]:
            return _Range(ix.sub(x.first, other), ix.sub(x.end, other), x.exact)
        case "sub" | "neg":
            behind = ix.add(other, ix.ONE)
            return _Range(ix.sub(behind, x.end), ix.sub(behind, x.first), x.exact)
        case "mul" if number:
            first, last = (ix.mul(e, other) for e in (x.first, ix.sub(x.end, ix.ONE)))
            first, last = (first, last) if number > 0 else (last, first)
            return _Range(first, ix.add(last, ix.ONE), exact=False)
        case "floordiv" if number > 0 and moving is node.operands[0]:
            last = _quotient(ix.sub(x.end, ix.ONE), number)
            return _Range(_quotient(x.first, number), ix.add(last, ix.ONE), exact=False)
    return None


def _quotient(x: Node, divisor: int) -> Node:
    match x:
        case Op(op="floordiv", operands=(dividend, Const(value=value))) if value > 0:
            return ix.floordiv(dividend, int(value) * divisor)
    return ix.floordiv(x, divisor)


def _is_known(bounds: DataBounds, around: tuple[Var, ...]) -> bool:
    """Whether what the bounds are read from is determined by the loops around."""
    point = bounds.stage.point
    read = [point[x] for x in postorder(bounds.lo, bounds.hi) if x in point]
    return all(x in around for x in postorder(*read) if isinstance(x, Var))
