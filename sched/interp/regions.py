"""The region of each Func, which is the set of points that are computed, and the check that every
access is in bounds.

Regions are computed from the outputs to the Inputs. That of a Func with a shape is all of its box;
that of any other Func has the points that its consumers may read, and those that its own updates
access. Updates are visited from last to first, each over the region that is needed after it. Every
access is checked on the way.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

from numpy.typing import NDArray

from ..lang.errors.errors import CallValueError
from ..lang.nodes.tensor import Tensor
from ..lang.program.program import Program
from ..lang.program.steps import Block
from ..lang.tensors.definitions import Definition
from ..lang.tensors.inout import InOut
from ..lang.tensors.opaque import Opaque
from ..lang.tensors.tensors import Const, Func, Input
from . import refusals
from .blocks import Range, blocks, fresh_in, loop_point
from .bounds import LARGEST_BOX, Box
from .evaluate import Env, Evaluator, Faults, Symbols, constant
from .footprint import Access
from .may_instances import InstanceAccesses, PreparedDefinition
from .order import VarOrder, needs_check
from .pieces import Pieces, point_env
from .recurrence import DEPTH
from .storage import Point
from .vars import Points, Ranges, var_points


class Region:
    """A set of points of a tensor: the box `shape`, if there is one, else the points added so far.
    No point may lie outside of the box `limit`."""

    def __init__(
        self, tensor: Tensor, shape: tuple[int, ...] | None, limit: tuple[int, ...] | None
    ) -> None:
        self.tensor = tensor
        self.shape = shape
        self.limit = limit
        self.added: set[Point] = set()
        self.boxes: set[frozenset[Box]] = set()

    def points(self) -> Iterator[Point]:
        """Its points, in lexicographic order."""
        if self.shape is None:
            return iter(sorted(self.added))
        try:
            return itertools.product(*map(range, self.shape))
        except (MemoryError, OverflowError):
            raise CallValueError(
                f"the interpreter visits each element of {self.tensor.name}, of shape "
                f"{self.shape}: they do not fit into memory",
                hint="ask for smaller sizes",
            ) from None

    def span(self) -> Ranges:
        """The smallest box around it."""
        if self.shape is not None:
            return tuple(map(range, self.shape))
        if not self.added:
            return (range(0),) * self.tensor.ndim
        return tuple(range(min(axis), max(axis) + 1) for axis in zip(*self.added, strict=True))

    def extent(self, d: Definition) -> Ranges | Points:
        """The points or the box over which the Vars of an update run."""
        alone = self.shape is None and d.is_pointwise
        return frozenset(self.added) if alone else self.span()

    def holds(self, box: Box) -> bool:
        """Whether all of a box is within the limit."""
        return self.limit is not None and all(
            lo >= 0 and hi < n for (lo, hi), n in zip(box, self.limit, strict=True)
        )

    def is_outside(self, point: Point) -> bool:
        return self.limit is not None and not all(
            0 <= i < n for i, n in zip(point, self.limit, strict=True)
        )


def _exhaust(instances: Iterator[InstanceAccesses]) -> None:
    deque(instances, maxlen=0)


class Regions:
    """The regions of all tensors of a program at given sizes. Accesses out of bounds raise.

    Attributes:
        of: the region of each tensor; for a Func that is computed anew in each iteration, its
            region in the iteration entered last.
        spans: for each update and iteration around it, the box over which its Vars run; or the
            needed points, if it accesses no other element than its own and its Func has no shape.
    """

    def __init__(
        self,
        program: Program,
        symbols: Symbols,
        shapes: Mapping[Tensor, tuple[int, ...] | None],
        arrays: Mapping[Input, NDArray[Any]],
    ) -> None:
        self.program = program
        self.symbols = symbols
        self.arrays = arrays
        self.shapes = shapes
        self.of = {tensor: self._region(tensor) for tensor in shapes}
        self.spans: dict[tuple[Definition, Point], Ranges | Points] = {}
        self.pieces = {
            f: Pieces(program.definitions_of(f), symbols)
            for f in program.funcs
            if not isinstance(f, InOut)
        }
        self._prepared: dict[Definition, PreparedDefinition] = {}
        self._fresh: dict[tuple[Func, Point], Region] = {}
        self._ranges = {b.sequential: Range(b.sequential, symbols) for b in blocks(program.steps)}
        self._checked: set[tuple[Input, int]] = set()

    def compute(self) -> None:
        """Computes all regions."""
        for step in self.program.steps:
            if isinstance(step, Block):
                self._block(step, {})
        for group in self.program.demand_order:
            if self.program.follows_itself(group):
                self._closed(group)
                continue
            for d in self._updates(group[0]):
                self._update(d, {})
            if group[0] in self.pieces:
                _exhaust(self.pure(group[0]))

    def _updates(self, func: Func) -> list[Definition]:
        """The updates outside of blocks, last ones first."""
        definitions = self.program.definitions_of(func)
        return [d for d in reversed(definitions) if d.is_update and d.block is None]

    def _closed(self, group: Sequence[Func]) -> None:
        """Computes the regions of Funcs that depend on each other, as a fixed point: the reads of
        newly added points are followed until no points are added."""
        seen: dict[Func, set[Point]] = {f: set() for f in group}
        for _ in range(DEPTH):
            for func in group:
                for d in self._updates(func):
                    if self.spans.get((d, ())) != self.of[func].extent(d):
                        self._update(d, {})
                fresh = self.of[func].added - seen[func]
                seen[func] |= fresh
                _exhaust(self._pure_at(func, sorted(fresh), None))
            if all(len(seen[f]) == len(self.of[f].added) for f in group):
                return
        raise refusals.endless(group[0], DEPTH)

    def _region(self, tensor: Tensor) -> Region:
        shape = self.shapes.get(tensor)
        by_use = isinstance(tensor, Func) and not self.program.is_fixed(tensor)
        return Region(tensor, None if by_use else shape, shape)

    def _update(self, d: Definition, around: Env) -> None:
        self.spans[d, loop_point(d, around)] = self.of[d.func].extent(d)
        _exhaust(self.update(d, around))

    def _block(self, block: Block, around: Env) -> None:
        """Visits the steps of each iteration backwards, so that the region of a Func which is
        computed anew in it is known when its own definitions are reached."""
        for env in self._ranges[block.sequential].iterations(around):
            for func in fresh_in(block):
                self.of[func] = self._region(func)
            for step in reversed(block.body):
                if isinstance(step, Block):
                    self._block(step, env)
                    continue
                for d in reversed(step.definitions):
                    if d.is_update:
                        self._update(d, env)
                    elif (d.func, loop_point(d, env)) not in self._fresh:
                        self._fresh[d.func, loop_point(d, env)] = self.of[d.func]
                        _exhaust(self.pure(d.func, env))

    def iterations(self, block: Block, around: Env) -> Iterator[Env]:
        """The iterations of a block, in order; meanwhile `of` has the regions of each."""
        for env in self._ranges[block.sequential].iterations(around):
            for func in fresh_in(block):
                self.of[func] = self._fresh[func, loop_point(func.history.typed()[0], env)]
            yield env

    def pure(self, func: Func, around: Env | None = None) -> Iterator[InstanceAccesses]:
        """The instances of a pure definition, each access checked and added to its region."""
        return self._pure_at(func, self.of[func].points(), around)

    def _pure_at(
        self, func: Func, points: Iterable[Point], around: Env | None
    ) -> Iterator[InstanceAccesses]:
        pieces = self.pieces[func]
        opaque = pieces.definitions[0].opaque
        if opaque is not None:
            self._extern(pieces.definitions[0], opaque, around or {})
            return
        for point in points:
            d = pieces.at(point)
            env = point_env(d, point, around)
            footprint = self._prepare(d).footprint
            reads = footprint.reads(env)
            for access in reads:
                self._add(d, access, env)
            yield d, env, [*reads, footprint.write]

    def _extern(self, d: Definition, stage: Opaque, around: Env) -> None:
        """Checks the regions that an extern stage reads, and adds them to those of their
        tensors."""
        functions = Evaluator(stage.operands, self.symbols, {}, Faults())
        for first, highs in stage.regions:
            axes = [
                range(functions[lo](around), functions[hi](around))
                for lo, hi in zip(first.index, highs, strict=True)
            ]
            for point in itertools.product(*axes):
                access = Access(first.tensor, first.index, True, constant(point), region_end=highs)
                self._add(d, access, around)

    def update(self, d: Definition, around: Env | None = None) -> Iterator[InstanceAccesses]:
        """The instances of an update that may happen, each access checked and added to its
        region."""
        s, env = self._prepare(d), around or {}
        if needs_check(d):
            _exhaust(self._instances(s, VarOrder(d, self.of[d.func].shape).visit, env))
        yield from self._instances(s, partial(self._add, d), env)

    def _prepare(self, d: Definition) -> PreparedDefinition:
        if d not in self._prepared:
            self._prepared[d] = PreparedDefinition(d, self.symbols)
        return self._prepared[d]

    def _instances(
        self, s: PreparedDefinition, visit: Callable[[Access, Env], None], around: Env
    ) -> Iterator[InstanceAccesses]:
        d = s.definition
        vars = var_points(d, self.spans[d, loop_point(d, around)], self.symbols, around)
        return s.instances(vars, visit, lambda tensor: self.of[tensor].limit is None)

    # one access -------------------------------------------------------------------------------
    def _add(self, d: Definition, access: Access, env: Env) -> None:
        region = self.of[access.tensor]
        where = access.where(env)
        if access.exact:
            if where not in region.added:
                if region.is_outside(where):
                    raise refusals.outside(d, access, where, env, region.limit)
                region.added.add(where)
        else:
            boxes = self._boxes(access, where, env, region)
            if boxes not in region.boxes:
                for box in boxes:
                    self._check_box(d, access, box, env, region)
                region.boxes.add(boxes)

    def _boxes(self, access: Access, box: Box, env: Env, region: Region) -> frozenset[Box]:
        """Where an index lies: in one box; in smaller ones, if these are inside and that is not."""
        whole = frozenset((box,))
        if access.unknowns is None or (region.shape is not None and region.holds(box)):
            return whole
        found = access.unknowns.boxes(env)
        if found is None or not (region.limit is None or all(map(region.holds, found))):
            return whole
        return found

    def _check_box(self, d: Definition, access: Access, box: Box, env: Env, region: Region) -> None:
        if region.limit is None:
            if prod(hi - lo + 1 for lo, hi in box) > LARGEST_BOX:
                raise refusals.unbounded(d, access, box)
            region.added.update(itertools.product(*(range(lo, hi + 1) for lo, hi in box)))
            return
        if region.shape is None:
            inside = (
                range(max(lo, 0), min(hi + 1, extent))
                for (lo, hi), extent in zip(box, region.limit, strict=True)
            )
            region.added.update(itertools.product(*inside))
        for axis, ((lo, hi), extent) in enumerate(zip(box, region.limit, strict=True)):
            if lo >= 0 and hi < extent:
                continue
            source = refusals.checked_source(access.index[axis])
            if source is None:
                raise refusals.unproved(d, access, axis, (lo, hi), env, region.limit)
            self._check_index(d, access, axis, source, extent)

    def _check_index(
        self, d: Definition, access: Access, axis: int, source: Input, extent: int
    ) -> None:
        """Checks an index that is read from an Input: all elements of the array must be in
        bounds."""
        if source in self.arrays and (source, extent) not in self._checked:
            refusals.check_elements(d, access, axis, source, self.arrays[source], extent)
            self._checked.add((source, extent))


def tensor_shapes(
    program: Program, arrays: Mapping[Input, NDArray[Any]], funcs: Mapping[Func, Any]
) -> dict[Tensor, tuple[int, ...] | None]:
    """The shapes of all tensors of a program; None for Funcs that have none."""
    shapes: dict[Tensor, tuple[int, ...] | None] = {i: a.shape for i, a in arrays.items()}
    shapes.update((c, c.data.shape) for c in program.consts if isinstance(c, Const))
    for f in program.funcs:
        shapes[f] = funcs.get(f, () if f.ndim == 0 else None)
    return shapes
