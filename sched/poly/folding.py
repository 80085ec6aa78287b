"""What need not be stored: planes of recurrences, and initial values of arrays in place.

Folding: how many planes of a recurrence's Func must be kept along its first axis.

A Func that is computed plane by plane keeps plane x at x mod W. That is right if no plane is
overwritten before its last read: with D the reads and W the writes of the Func,

    { r -> w : r reads [x, p], w writes [y, p], y - x in { W, 2W, ... }, w before r }

must be empty, in the order of the tree (a statement reads before it writes). The smallest window
for which isl proves that is taken.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..lang.inout import InOut
from ..lang.tensors import Func
from .isl import Map, Space, isl
from .looptree import Seq, time_maps
from .model import Model
from .recurrence import direction
from .statements import Access, Statement

LARGEST = 8
"""Windows up to this size are tried."""


def windows(model: Model, tree: Seq) -> dict[Func, int]:
    """The Funcs that need not be stored whole, and how many planes of each are kept."""
    program = model.program
    found: dict[Func, int] = {}
    for group in program.recurrences:
        inner = [f for f in group if f not in program.outputs and f in model.regions and f.ndim]
        times = time_maps(tree)
        for func in inner:
            window = _window(model, func, times, direction(tree, func))
            if window is not None:
                found[func] = window
    return found


def _window(model: Model, func: Func, times: Mapping[Statement, Map], sign: int) -> int | None:
    accesses = [a for s in model.statements for a in s.accesses if a.tensor is func]
    if any(a.relation.may or a.statement.definition.opaque is not None for a in accesses):
        return None  # nothing says which plane is touched, or a function is given the planes
    reads = [a for a in accesses if not a.is_write]
    writes = [a for a in accesses if a.is_write]
    for window in range(1, LARGEST + 1):
        if not any(_overwrites(model, w, r, window * sign, times) for w in writes for r in reads):
            return window
    return None


def _overwrites(
    model: Model, write: Access, read: Access, step: int, times: Mapping[Statement, Map]
) -> bool:
    """Whether a plane that shares storage is written before a read is done with the old one."""
    space = model.regions[write.tensor].get_space()  # type: ignore[index]
    clash = read.map.apply_range(_later_planes(space, step)).apply_range(write.map.reverse())
    clash = clash.intersect_params(model.context)
    return not clash.intersect(_before(times, write.statement, read.statement)).is_empty()


def _later_planes(space: Space, step: int) -> Map:
    """{ [x, p] -> [x + step * k, p] : k >= 1 }"""
    count = int(space.dim(isl.dim_type.set))
    result = Map.universe(space.map_from_set())
    for axis in range(1, count):
        result = result.equate(isl.dim_type.in_, axis, isl.dim_type.out, axis)
    pairs = result.deltas_map()
    deltas = pairs.range()
    frame = isl.LocalSpace.from_space(deltas.get_space())
    first = isl.Aff.var_on_domain(frame, isl.dim_type.set, 0)
    size = isl.Val(abs(step))
    forward = first if step > 0 else first.neg()
    allowed = isl.Set.from_basic_set(forward.mod_val(size).zero_basic_set())
    ahead = isl.Constraint.inequality_from_aff(forward.add_constant_val(size.neg()))
    allowed = allowed.intersect(isl.Set.from_basic_set(isl.BasicSet.from_constraint(ahead)))
    return pairs.intersect_range(allowed).domain().unwrap()


def copied(model: Model, tree: Seq) -> tuple[InOut, ...]:
    """The InOuts whose initial values are read after they have been overwritten.

    With R the reads of A.initial and W the writes of A, A needs a copy unless

        { r -> w : R(r) = W(w), w before r }

    is empty. (An instance reads before it writes.)
    """
    inouts = model.program.inouts
    if not inouts:
        return ()
    times = time_maps(tree)
    return tuple(a for a in inouts if _clobbered(model, a, times))


def _clobbered(model: Model, array: InOut, times: Mapping[Statement, Map]) -> bool:
    accesses = [a for s in model.statements for a in s.accesses]
    reads = [a for a in accesses if a.tensor is array.initial]
    writes = [a for a in accesses if a.tensor is array and a.is_write]
    for read in reads:
        for write in writes:
            touched = read.map.apply_range(write.map.reverse()).intersect_params(model.context)
            if not touched.intersect(_before(times, write.statement, read.statement)).is_empty():
                return True
    return False


def _before(times: Mapping[Statement, Map], first: Statement, second: Statement) -> Map:
    """{ x of second -> y of first : y before x }"""
    order = Map.lex_gt(times[second].get_space().range())
    return times[second].apply_range(order).apply_range(times[first].reverse())
