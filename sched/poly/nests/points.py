"""The instance that a stage executes in an iteration, as expressions over the loops around it."""

from __future__ import annotations

from ...lang.errors.errors import InternalError
from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import int64
from ...lang.nodes.nodes import Const, Node, Op, RVar, Size, Var, dtype_of, postorder
from ..model.statements import Statement
from ..sets.affine import affine_value
from ..sets.budget import is_spent
from ..sets.expressions import Translator
from ..sets.inverse import values_of
from ..sets.isl import Set, coalesced, isl
from ..tree.stage import Stage, loop_map


def point_of(
    stage: Stage, loops: tuple[Var, ...], names: Translator, context: Set
) -> dict[Node, Node]:
    """The statement's dimensions as expressions over the loops."""
    statement = stage.statement
    quotients = rounded(statement)
    if stage.coordinates == statement.loops and not quotients:
        return dict(zip(statement.loops, loops, strict=True))
    running = stage.padded.intersect_params(context)
    inverse = loop_map(stage).intersect_domain(running).reverse()
    try:
        values = inverse.as_pw_multi_aff()  # isl makes none of what is no function
    except isl.Error:
        if is_spent():
            raise
        raise InternalError(f"several instances of {statement.name} share an iteration") from None
    known = inverse.domain()
    point: dict[Node, Node] = {
        symbol: names.pw_aff(value.gist(known), ix.ZERO)
        for symbol, value in zip(statement.loops, values_of(inverse, values), strict=True)
    }
    for node in quotients:
        exact = affine_value(statement.frame, node)
        assert exact is not None
        at = coalesced(exact.pullback_pw_multi_aff(values).gist(known))
        if at.n_piece() == 1:
            made = names.pw_aff(at, ix.ZERO)
            point[node] = made if dtype_of(node) is int64 else Op("cast", (made,), node.type)
    return point


def rounded(statement: Statement) -> list[Node]:
    """The quotients and remainders among the indices of a statement: in tiles of loops they are
    loops."""
    found: dict[Node, None] = {}
    for access in statement.accesses:
        for node in postorder(*access.index):
            if isinstance(node, Op) and node.op in ("floordiv", "mod") and all(
                isinstance(x, (Var, RVar, Const, Op, Size)) for x in postorder(node)
            ):  # fmt: skip
                found[node] = None
    return [n for n in found if affine_value(statement.frame, n) is not None]
