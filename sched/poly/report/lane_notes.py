"""Vector loops whose lanes go to memory one by one, as code generation decides it.

Lanes that read elements which follow each other, at a small stride or near each other load full
vectors; so does one element for all. Any others gather. Notes are about full vectors, away from
borders (`lanes.in_full_vectors`), where masks are not needed and a clamp equals one operand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...cached import cached_property
from ...lang.nodes import index as ix
from ...lang.nodes.guards import guards
from ...lang.nodes.nodes import Node, Read, Var, integer, postorder, replaced_all
from ...lang.nodes.tensor import Tensor
from ...lang.program.scalars import output_sizes
from ...lang.tensors.inout import Initial
from ...lang.tensors.tensors import Func
from ...records import dataclass
from ..nests.boxes import box
from ..nests.decided import decided
from ..nests.lane_axes import axes_of_lanes
from ..nests.loop_nest import (
    LoopNest,
    NestAccumulator,
    NestAlloc,
    NestIf,
    NestLoop,
    NestStage,
    children,
    walk,
)
from ..nests.rooms import local_box
from ..program.accumulation import accumulates, is_exact
from ..sets.flat import offset, without_origins
from ..sets.lane_offsets import LaneOffsets
from ..sets.lanes import in_full_vectors, near, stride
from ..tree.edits import loops_around
from ..tree.memory import AS_WRITTEN
from .interleaving import interleaves
from .notes import LoopNote

if TYPE_CHECKING:
    from .analysis import Analysis


def lane_notes(a: Analysis, loop: NestLoop) -> Iterator[LoopNote]:
    """What lanes gather and scatter, and what they do one after the other."""
    for stage, seen in lanes_one_by_one(a, loop):
        names = a.program.names
        yield LoopNote(seen.verb, stage.stage.name if seen.access is None else names[seen.tensor])


IN_TURN = "runs one lane after the other:"


@dataclass(frozen=True, slots=True)
class OneByOne:
    """What lanes do one by one.

    Attributes:
        verb: `gathers`, `scatters`, or `IN_TURN`.
        access: the tensor and where lanes go in it, over the dimensions of the stage; None where
            they do all of it in turn.
    """

    verb: str
    access: tuple[Tensor, tuple[Node, ...]] | None = None

    @property
    def tensor(self) -> Tensor:
        """What lanes gather from, or scatter to."""
        assert self.access is not None
        return self.access[0]


def lanes_one_by_one(a: Analysis, loop: NestLoop) -> Iterator[tuple[NestStage, OneByOne]]:
    """For each stage in a vector loop, what its lanes do one by one."""
    if loop.loop.kind != "vector" or loop.count is None or loop.count <= loop.step:
        return
    for stage, tests in _stages(loop.body, loop.var, ()):
        if stage.stage.statement.definition.opaque is None:
            for seen in _Lanes(a, loop, stage, tests).found():
                yield stage, seen


def _stages(
    nest: LoopNest, var: Var, tests: tuple[Node, ...]
) -> Iterator[tuple[NestStage, tuple[Node, ...]]]:
    """Every stage below, with the conditions around it; where loops between run over different
    iterations in each lane, these are conditions as well."""
    match nest:
        case NestStage():
            yield nest, tests
        case NestIf(condition=condition, body=body):
            yield from _stages(body, var, (*tests, condition))
        case NestLoop(var=x, lo=lo, hi=hi, body=body):
            varies = var in postorder(lo, hi)
            within = (ix.compare("ge", x, lo), ix.compare("lt", x, hi)) if varies else ()
            yield from _stages(body, var, (*tests, *within))
        case _:
            for part in children(nest):
                yield from _stages(part, var, tests)


@dataclass
class _Lanes:
    """One stage in the lanes of a loop; `tests` are the conditions between them."""

    a: Analysis
    loop: NestLoop
    leaf: NestStage
    tests: tuple[Node, ...]

    def found(self) -> Iterator[OneByOne]:
        """What the lanes do one by one."""
        d = self.leaf.stage.statement.definition
        store = self._stride(d.func, self._at[: len(d.lhs)], self._own)
        folds = accumulates(d) and not store
        in_turn = store is None or d.func.dtypes[0].is_bool or self._keeps_order
        if self._is_atomic or (folds and in_turn):
            yield OneByOne(IN_TURN)
            return
        for read, guard in self._reads:
            if not (folds and read.tensor is d.func) and self._is_scattered(read, guard):
                yield OneByOne("gathers", (read.tensor, read.index))
        if not folds and store not in (1, -1) and not self._interleaves:
            yield OneByOne("scatters", (d.func, self._at_first))

    @property
    def _keeps_order(self) -> bool:
        """Whether the order in which lanes accumulate would change bits."""
        statement = self.leaf.stage.statement
        is_free = statement.name in self.a.state.reassociated
        return not is_free and not is_exact(statement.definition)

    @property
    def _interleaves(self) -> bool:
        """Whether lanes store together with those of the copies of unrolled loops."""
        d = self.leaf.stage.statement.definition
        at = self._offset(d.func, self._at[: len(d.lhs)], self._own)
        masked = any(map(self._varies, self._masks))
        return not masked and interleaves(self.a, self.loop, self.leaf, at)

    def _is_scattered(self, read: Read, guard: Node | None) -> bool:
        """Whether lanes load one by one in full vectors."""
        seen = self._whole[self._moved[read]]
        if not isinstance(seen, Read) or seen not in self._live:
            return False
        inside = self._own if read.index == self._at_first else None
        masks = [] if guard is None else [self._whole[self._moved[guard]]]
        masked = any(map(self._varies, (*masks, *self._masks)))
        step = self._stride(seen.tensor, seen.index, inside)
        if step in (-1, 0, 1) or not (masked or any(map(self._varies, seen.index))):
            return False
        return masked or not self._is_near(seen, inside)

    # expressions ------------------------------------------------------------------------------
    @cached_property
    def _roots(self) -> tuple[Node, ...]:
        """What the stage is made of, as code generation has it: where it stores, its values, and
        what is tested."""
        statement = self.leaf.stage.statement
        d = statement.definition
        tests: list[Node] = [
            test
            for r in d.rvars
            for test in (ix.compare("ge", r, r.lo), ix.compare("lt", r, r.hi))
            if test.operands[1] in statement.data_bounds
        ]
        tests += [] if statement.guard is None else [statement.guard]
        return decided(self.leaf.stage, self.a.context, (*d.lhs, *d.values, *tests))

    @cached_property
    def _reads(self) -> list[tuple[Read, Node | None]]:
        """All reads, each with the condition that it is kept under."""
        statement = self.leaf.stage.statement
        needed = guards(self._roots)
        local = {x.func for x in walk(*self.a.nests) if isinstance(x, NestAlloc)}
        safe = {n for x, n in self.a.proven.safe if x is statement.base and n.tensor not in local}
        found: dict[Read, Node | None] = {}
        for n in postorder(*self._roots):
            if isinstance(n, Read):
                inside = [found[x] for x in postorder(*n.index) if isinstance(x, Read)]
                is_free = n in safe and all(x is None for x in inside)
                found[n] = None if is_free else needed[n]
        return list(found.items())

    @cached_property
    def _moved(self) -> dict[Node, Node]:
        """Expressions over the loops instead of the dimensions of the stage."""
        nodes = tuple(
            dict.fromkeys([*self._roots, *(x for pair in self._reads for x in pair if x)])
        )
        known = {self.a.parameters[name]: value for name, value in self.a.constants.items()}
        return dict(zip(nodes, replaced_all(nodes, {**self.leaf.point, **known}), strict=True))

    @cached_property
    def _whole(self) -> Mapping[Node, Node]:
        """The expressions of the stage, as they are in full vectors."""
        roots = (*self._moved.values(), *self.tests)
        count = len(self.leaf.stage.statement.definition.lhs)
        indices = [x for n in postorder(*roots) if isinstance(n, Read) for x in n.index]
        stored = [self._moved[x] for x in self._roots[:count]]
        places = set(postorder(*indices, *stored))
        return in_full_vectors(roots, self.loop.var, places, self._values)

    @property
    def _at(self) -> tuple[Node, ...]:
        """All expressions of the stage, as they are in full vectors."""
        return tuple(self._whole[self._moved[x]] for x in self._roots)

    @property
    def _at_first(self) -> tuple[Node, ...]:
        """Where the stage stores, over its dimensions."""
        return self._roots[: len(self.leaf.stage.statement.definition.lhs)]

    @cached_property
    def _masks(self) -> tuple[Node, ...]:
        """Conditions on the instance, of which some may differ between lanes."""
        d = self.leaf.stage.statement.definition
        return (*self._at[len(d.lhs) + len(d.values) :], *(self._whole[x] for x in self.tests))

    @cached_property
    def _live(self) -> set[Node]:
        """What is left of all parts."""
        return set(postorder(*self._at))

    def _varies(self, node: Node) -> bool:
        return self.loop.var in postorder(node)

    # memory -----------------------------------------------------------------------------------
    def _stride(
        self, tensor: Tensor, index: Sequence[Node], inside: NestAccumulator | None
    ) -> int | None:
        return stride(self._offset(tensor, index, inside), self.loop.var, self.loop.step)

    def _is_near(self, read: Read, inside: NestAccumulator | None) -> bool:
        at = self._offset(read.tensor, read.index, inside)
        return near(at, self.loop.var, self._values) is not None

    @property
    def _values(self) -> LaneOffsets:
        """Those of the loop in the lanes."""
        loop = self.loop
        assert loop.count is not None
        return LaneOffsets(loop.lo, tuple(range(0, loop.count, loop.step)))

    def _offset(
        self, tensor: Tensor, index: Sequence[Node], inside: NestAccumulator | None
    ) -> Node:
        """Where an element is, as far as lanes differ in it: from the outermost axis that moves."""
        how = self.a.memory.get(tensor, AS_WRITTEN) if isinstance(tensor, Func) else AS_WRITTEN
        if inside is not None:
            axes = frozenset(k for x in self._alike(inside) for k in axes_of_lanes(x))
            how = how.by_lanes(axes, len(index))
        order = how.order or tuple(range(len(index)))
        window = self.a.windows.get(tensor) if isinstance(tensor, Func) else None
        at = list(index)
        if window is not None and inside is None:
            at[window.axis] = ix.mod(at[window.axis], window.planes)
        moving = [k for k, axis in enumerate(order) if self._varies(at[axis])]
        inner = order[moving[0] :] if moving else ()
        if len(inner) < 2:
            return without_origins(offset(at, inner, at))  # no other axis is stepped over
        return without_origins(offset(at, inner, how.pitches(self._extents(tensor, inside))))

    def _extents(self, tensor: Tensor, inside: NestAccumulator | None) -> tuple[Node, ...]:
        """How many elements of it are stored along each axis."""
        a = self.a
        if isinstance(tensor, Initial) and tensor.array in a.program.inouts:
            tensor = tensor.array
        if inside is not None:
            found = local_box(self._alike(inside), "")[1]
        elif isinstance(tensor, Func) and tensor not in a.program.outputs:
            found = self._stored(tensor)
        elif tensor.extents is not None:
            found = tuple(tensor.extents)
        else:
            assert isinstance(tensor, Func)
            found = output_sizes(a.program, tensor)
        known = {a.parameters[name]: value for name, value in a.constants.items()}
        return replaced_all(found, known)

    def _alike(self, inside: NestAccumulator) -> list[NestAccumulator]:
        """All private accumulators of a stage: they lie in memory alike."""
        parts = walk(*self.a.nests)
        return [x for x in parts if isinstance(x, NestAccumulator) and x.name == inside.name]

    def _stored(self, func: Func) -> tuple[Node, ...]:
        made = self.a.loops_if_made
        if made is not None:
            return made.boxes[func].extents  # found already, which takes isl some time
        parts = list(walk(*self.a.nests))
        local = [x for x in parts if isinstance(x, NestAlloc) and x.func is func]
        if local:
            return local_box(local, "")[1]
        padded = [x.stage for x in parts if isinstance(x, NestStage) and x.stage.padding]
        found = box(self.a.model, func, padded)[1]
        window = self.a.windows.get(func)
        if window is None:
            return found
        return (*found[: window.axis], integer(window.planes), *found[window.axis + 1 :])

    @cached_property
    def _own(self) -> NestAccumulator | None:
        """The private accumulator of the stage, if it has one."""
        stage = self.leaf.stage
        found = [
            x
            for x in walk(*self.a.nests)
            if isinstance(x, NestAccumulator)
            and any(y is self.leaf for y in walk(x.body))
            and x.accumulator.holds(stage, stage.statement.write)
        ]
        return found[-1] if found else None

    @property
    def _is_atomic(self) -> bool:
        """Whether threads accumulate in one element."""
        stage, atomic = self.leaf.stage, self.a.atomic
        around = loops_around(self.a.tree, stage.name)
        return not atomic.isdisjoint((stage.name, stage.statement.name)) and any(
            x.loop.kind == "parallel" for x in around
        )
