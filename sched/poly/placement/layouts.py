"""The elements and coordinates that loops of a stage determine, for copies and partial results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Var, integer
from ..model.statements import Statement
from ..sets.affine import affine_values
from ..sets.budget import is_spent
from ..sets.expressions import Translator
from ..sets.isl import Frame, Map, PwAff, Set, coalesced, isl, relation, union_sets
from ..tree.stage import Stage


def element_of(
    stage: Stage,
    parts: Sequence[Stage],
    depths: Sequence[int],
    index: Sequence[Node],
    also: Set | None = None,
) -> Map | None:
    """{ some coordinates of a stage -> the element at an index }, if they determine it in all
    parts of its definition.

    Args:
        also: more coordinates at which the element is asked for than those at which parts run.
    """
    frame = Frame(stage.statement.frame.params, stage.statement.frame.dims)
    coordinates = affine_values(frame, [stage.coordinates[k] for k in depths])
    element = affine_values(frame, index)
    if coordinates is None or element is None:
        return None
    reached, inside = relation(coordinates, frame), _boxed(stage, parts)
    if also is not None:
        inside = _box([inside, reached.intersect_range(also).domain()])
    reached = reached.intersect_domain(inside)
    found = reached.reverse().apply_range(relation(element, frame))
    return found if _is_function(found) else None


def _is_function(found: Map) -> bool:
    """Whether a relation gives each point one value: isl finds these values sooner than that there
    is one each."""
    try:
        found.as_pw_multi_aff()
    except isl.Error:
        if is_spent():
            raise
        return False
    return True


def _boxed(stage: Stage, parts: Sequence[Stage]) -> Set:
    """The box around all parts, over the dimensions of one. Where a part has other loops around
    it, these have no bounds."""
    if len({p.statement.frame.dims for p in parts}) == 1:
        return _box([p.padded for p in parts])
    around = [len(p.statement.around) for p in parts]
    own = _box([
        p.padded.project_out(isl.dim_type.set, 0, k) for p, k in zip(parts, around, strict=True)
    ])  # fmt: skip
    return own.insert_dims(isl.dim_type.set, 0, len(stage.statement.around))


def _box(parts: Sequence[Set]) -> Set:
    """All points with each dimension between its constant bounds, where it has some: a filter of
    one row has no other row, so no loop need determine it. Bounds by sizes are left out, so that
    the answer is the same for padded tiles."""
    points = union_sets(parts[1:], parts[0])
    box = Set.universe(points.get_space())
    for k in range(int(points.dim(isl.dim_type.set))):
        lo, hi = points.dim_min_val(k), points.dim_max_val(k)
        if lo.is_int():
            box = box.lower_bound_val(isl.dim_type.set, k, lo)
        if hi.is_int():
            box = box.upper_bound_val(isl.dim_type.set, k, hi)
    return box


def tile_of(stage: Stage, depth: int) -> int | None:
    """How many values a coordinate of a stage has in a full tile: where it is made of remainders
    alone, as that of an inner loop of a split, or of some of them fused."""
    frame = Frame(stage.statement.frame.params, stage.statement.frame.dims)
    values = affine_values(frame, [stage.coordinates[depth]])
    if values is None:
        return None
    visited = relation(values, frame).range()
    lo, hi = visited.dim_min_val(0), visited.dim_max_val(0)
    return int(hi.to_python()) + 1 if lo.is_zero() and hi.is_int() else None


def expressions(found: Map, symbols: Mapping[str, Node], dims: Sequence[Var]) -> tuple[Node, ...]:
    """The range of a single-valued map over its domain, as expressions."""
    names = Translator(symbols, dims)
    values, known = found.as_pw_multi_aff(), found.domain()
    return tuple(
        names.pw_aff(values.get_pw_aff(k).gist(known), ix.ZERO)
        for k in range(int(found.dim(isl.dim_type.out)))
    )


def bounds(
    statement: Statement, coordinate: Node, symbols: Mapping[str, Node], context: Set
) -> tuple[Node, Node] | None:
    """Half-open bounds of a coordinate over all instances of a statement: expressions over sizes,
    or constants that are large enough."""
    values = affine_values(statement.frame, [coordinate])
    if values is None:
        return None
    whole = statement.domain.intersect_params(context)
    alone = coalesced(whole.apply(relation(values, statement.frame)))
    if alone.is_empty():
        return ix.ZERO, ix.ZERO
    inhabited = alone.params()
    names = Translator(symbols)
    try:
        lo, hi = alone.dim_min(0), alone.dim_max(0)
    except isl.Error:
        if is_spent():
            raise
        return None
    lo, hi = (coalesced(x.gist(inhabited)) for x in (lo, hi))
    if lo.n_piece() > 1 or hi.n_piece() > 1:
        constant = _constant_bounds(alone)
        if constant is not None and constant[1] - constant[0] <= _FEW:
            return integer(constant[0]), integer(constant[1])
        found = _enough(lo, inhabited, last=False), _enough(hi, inhabited, last=True)
        if found[0] is None or found[1] is None:
            return constant and (integer(constant[0]), integer(constant[1]))
        lo, hi = found[0], found[1]
    return names.pw_aff(lo, ix.ZERO), ix.add(names.pw_aff(hi, ix.ZERO), integer(1))


_FEW = 256
"""More values than these are counted by sizes, where these bound them: the range of a small type
says less."""


def _enough(end: PwAff, inhabited: Set, last: bool) -> PwAff | None:
    """The end, or a piece of it that is nowhere before the last, or behind the first."""
    if end.n_piece() == 1:
        return end
    affs = sorted((aff for _, aff in end.get_pieces()), key=lambda aff: bool(aff.is_cst()))
    for piece in map(PwAff, affs):  # what sizes say first
        within = piece.ge_set(end) if last else piece.le_set(end)
        if inhabited.intersect(end.domain()).is_subset(within):
            return piece
    return None


def _constant_bounds(values: Set) -> tuple[int, int] | None:
    """Ends that hold for all sizes, as of the lanes of a tile."""
    lo, hi = values.dim_min_val(0), values.dim_max_val(0)
    if not (lo.is_int() and hi.is_int()):
        return None
    return int(lo.to_python()), int(hi.to_python()) + 1
