"""Uses of Params and sizes that limit the values which a call may pass for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..arguments.admission import LOOP_LIMIT, SIZE_LIMIT
from ..arithmetic.extents import Extent, extent_of
from ..nodes.dtypes import DType, uint64
from ..nodes.nodes import Const, Node, Op, Param, Size, leaves_below, postorder
from ..tensors.definitions import Definition
from .steps import roots_of

if TYPE_CHECKING:
    from .program import Program


def bounding(definitions: Iterable[Definition]) -> frozenset[str]:
    """The integer Params in bounds of loops and in conditions on RVars."""
    params = (n.info for n in postorder(*_bounds(definitions)) if isinstance(n, Param))
    return frozenset(p.name for p in params if p.dtype.is_int)


def near(definitions: Iterable[Definition]) -> frozenset[str]:
    """The integer Params that a call keeps near to 0, as loops begin or end by them. Float Params
    need no check: a cast from a float is clamped there, and without a cast no loop is bounded by
    one."""
    ends = [x for x in _bounds(definitions) if any(isinstance(n, Param) for n in leaves_below(x))]
    if not ends:
        return frozenset()
    from .intervals import limited  # loaded on demand: few programs need it

    return frozenset().union(*map(limited, ends))


def _bounds(definitions: Iterable[Definition]) -> Iterator[Node]:
    for d in definitions:
        yield from (end for x in (*d.loops, *d.rvars) for end in (x.lo, x.hi))
        yield from d.where


def far_bounds(definitions: Iterable[Definition]) -> tuple[tuple[str, Extent], ...]:
    """The bounds of loops that may exceed `LOOP_LIMIT` at admissible sizes, such as multiples of
    sizes, each with the name of its loop."""
    found: dict[tuple[str, Extent], None] = {}
    for d in definitions:
        for x in (*d.loops, *d.rvars):
            for end in (x.lo, x.hi):
                if all(isinstance(n, (Const, Size, Param, Op)) for n in postorder(end)):
                    extent = extent_of(end)
                    most = abs(extent.constant) + sum(abs(a) * SIZE_LIMIT for _, a in extent.terms)
                    if extent.names and (not extent.affine or most > LOOP_LIMIT):
                        found[x.name, extent] = None
    return tuple(found)


def signed(program: Program) -> frozenset[str]:
    """The uint64 Params that are used as int64 somewhere: everywhere but as the operand of a cast
    to an unsigned type."""
    found: set[str] = set()
    if not any(p.info.dtype == uint64 for p in program.params.values()):
        return frozenset()
    for root in _roots(program):
        used = [root, *(a for n in postorder(root) if not _is_unsigned_cast(n) for a in n.args)]
        found |= {a.name for a in used if isinstance(a, Param) and a.info.dtype == uint64}
    return frozenset(found)


def _roots(program: Program) -> Iterator[Node]:
    for d in program.definitions:
        yield from roots_of(d)
        yield from (end for x in d.loops for end in (x.lo, x.hi))
        for access, highs in () if d.opaque is None else d.opaque.regions:
            yield from (*access.index, *highs)
    for tensor in (*program.inputs, *program.funcs):
        yield from tensor.extents or ()
    yield from (end for i in program.inputs if i.range is not None for end in i.range)
    yield from (size.default for size in program.sizes.values() if size.default is not None)
    yield from (r.condition for r in program.requirements)


def _is_unsigned_cast(node: Node) -> bool:
    t = node.type
    return isinstance(node, Op) and node.op == "cast" and isinstance(t, DType) and t.kind == "u"
