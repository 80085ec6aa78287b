"""When a stage's instances run, and which pairs of instances no schedule orders.

Two instances are compared at the loops that their stages share. A serial loop orders by its
coordinate; the iterations of a parallel loop are not ordered at all. A vector loop moves its lanes
inside of everything below it: instances are compared at the other loops, then by position in the
body; within one statement all lanes read, then all lanes write.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from operator import is_

from ...cached import cached_property
from ...records import dataclass
from ..sets.isl import Map, isl
from .kinds import Kind
from .looptree import Alloc, Loop, Path, Produce, Tree, leaves
from .stage import Run, Stage

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out


Storage = tuple[int, int, Alloc]
"""How far along a path it is, how many loops are around it, and itself."""


@dataclass(frozen=True, eq=False)
class _Around:
    """What a path leads through: its loops, how far along each of them is, the storage, and by Func
    what computes it."""

    loops: tuple[Loop, ...]
    places: list[int]
    storage: list[Storage]
    computed: Mapping[object, Produce]


@dataclass(frozen=True, eq=False)
class ScheduledStage:
    """A stage and where it is in a tree."""

    path: Path
    stage: Stage

    @property
    def loops(self) -> tuple[Loop, ...]:
        return self._around.loops

    @property
    def run(self) -> Run:
        return self.stage.run

    @cached_property
    def positions(self) -> list[int]:
        """Those along the path."""
        return [position for position, _ in self.path]

    @cached_property
    def _around(self) -> _Around:
        """Found in one walk, as each path is asked about many Funcs."""
        loops: list[Loop] = []
        places: list[int] = []
        storage: list[Storage] = []
        computed: dict[object, Produce] = {}
        for place, (_, x) in enumerate(self.path):
            if isinstance(x, Loop):
                loops.append(x)
                places.append(place)
            elif isinstance(x, Alloc):
                storage.append((place, len(loops), x))
            elif isinstance(x, Produce):
                for func in x.funcs:
                    computed.setdefault(func, x)
        return _Around(tuple(loops), places, storage, computed)

    def depth_at(self, place: int) -> int:
        """How many loops are around what stands at a place on the path."""
        return bisect_left(self._around.places, place)

    def stored(self, tensor: object) -> Sequence[Storage]:
        """The storage of a tensor around, outermost first."""
        return [found for found in self._around.storage if tensor in found[2].stored]

    def producer(self, tensor: object) -> Produce | None:
        """Where on the path a tensor is computed for the stages behind."""
        return self._around.computed.get(tensor)

    def at(self, chosen: list[int]) -> Map:
        """{ instance -> some of its coordinates }"""
        return self.run.at(chosen)


def scheduled_stages(tree: Tree) -> Iterator[ScheduledStage]:
    """Every stage of a tree, in order."""
    for path, stage in leaves(tree):
        yield ScheduledStage(path, stage)


@dataclass(frozen=True)
class Meeting:
    """What two stages share: how many loops, and which of them comes first inside.

    `position` is below 0 if the first stage comes first, 0 if both are one. Up to `place` on their
    paths they are in the same nodes.
    """

    loops: tuple[Loop, ...]
    position: int
    place: int

    def stored(self, a: ScheduledStage, tensor: object) -> tuple[int, ...]:
        """Around how many loops each storage of a tensor lies that both are inside of; `a` is one
        of them."""
        return tuple([depth for place, depth, _ in a.stored(tensor) if place < self.place])


def meeting(a: ScheduledStage, b: ScheduledStage) -> Meeting:
    """Where two stages part."""
    place, position = 0, 0
    for i, j in zip(a.positions, b.positions, strict=False):
        if i != j:
            position = i - j
            break
        place += 1
    return Meeting(a.loops[: a.depth_at(place)], position, place)


def runs_before(a: ScheduledStage, b: ScheduledStage) -> bool:
    """Whether all of one stage is over before anything of another one runs: no loop is around
    both."""
    met = meeting(a, b)
    return not met.loops and met.position < 0


def unordered(
    a: ScheduledStage, b: ScheduledStage, kind: str, tensor: object, *, relaxed: bool = False
) -> Map:
    """{ x of a -> y of b : nothing makes x run before y }, for a dependence of a kind.

    Args:
        tensor: what the dependence is on: storage of its own in each iteration keeps iterations
            of parallel loops apart.
        relaxed: x and y may run in any order, but not concurrently: they accumulate.
    """
    return unordered_runs(a.run, b.run, common(a, b, tensor), kind, relaxed=relaxed)


@dataclass(frozen=True)
class Common:
    """The relative place of two stages in a tree, as far as dependences on one tensor depend on it.

    Attributes:
        kinds: those of the loops around both.
        position: inside of these the first one comes before (-1) or behind (1) the second one; 0
            if both are one.
        stored: around how many loops lies storage of the tensor that both are inside of.
        fresh: around how many loops it is computed anew for each iteration; None if it is not.
        is_one_copy: whether what one computes of it then is ever what the other one uses.
    """

    kinds: tuple[Kind, ...]
    position: int
    stored: tuple[int, ...]
    fresh: int | None
    is_one_copy: bool


def common(a: ScheduledStage, b: ScheduledStage, tensor: object) -> Common:
    """How two stages stand to each other."""
    met, fresh = meeting(a, b), fresh_depth(a, b, tensor)
    return Common(
        tuple(loop.kind for loop in met.loops),
        (met.position > 0) - (met.position < 0),
        met.stored(a, tensor),
        fresh,
        fresh is None or _same_copy(a, b, tensor, fresh, met),
    )


def unordered_runs(a: Run, b: Run, met: Common, kind: str, *, relaxed: bool = False) -> Map:
    """{ x of a -> y of b : nothing makes x run before y }, given the relative place of the two in a
    tree."""
    if not met.is_one_copy:
        return Map.empty(_space(a, b))
    own = met.fresh
    if own is None:
        own = 0 if kind == "flow" else _depth_in_order(met)
    together = list(range(own))
    lanes = [k for k, of in enumerate(met.kinds) if of == "vector"]
    ordering = [k for k in range(own, len(met.kinds)) if k not in lanes]
    result = Map.empty(_space(a, b))
    if not relaxed:
        if ordering:
            result = result.union(_related(a, b, together, ordering))
        if met.position > 0 or (met.position == 0 and (kind != "anti" or not lanes)):
            result = result.union(_related(a, b, [*together, *ordering]))
    for k in range(own, len(met.kinds)):
        if met.kinds[k] == "parallel" and not _is_private(met, k, kind):
            outside = list(range(k))
            result = result.union(_related(a, b, outside, [k]))
            result = result.union(_related(b, a, outside, [k]).reverse())
    return result


def fresh_depth(a: ScheduledStage, b: ScheduledStage, tensor: object) -> int | None:
    """The depth of fresh values: around how many loops a tensor is computed anew for each
    iteration; None if it is not."""
    node = a.producer(tensor) or b.producer(tensor)
    return None if node is None else node.fresh_depth


def same_copy(a: ScheduledStage, b: ScheduledStage, tensor: object, fresh: int) -> bool:
    """Whether what one stage computes of a tensor is ever what another one uses: parts of a loop
    that was taken apart compute it each for itself."""
    return _same_copy(a, b, tensor, fresh)


def _same_copy(
    a: ScheduledStage, b: ScheduledStage, tensor: object, fresh: int, met: Meeting | None = None
) -> bool:
    first, second = a.stored(tensor), b.stored(tensor)
    same = len(first) == len(second) and all(map(is_, _nodes(first), _nodes(second)))
    return same and len((met or meeting(a, b)).loops) >= fresh


def _nodes(storage: Sequence[Storage]) -> list[Alloc]:
    return [node for _, _, node in storage]


def alike(a: ScheduledStage, b: ScheduledStage, loops: int) -> Map:
    """{ x of a -> y of b : in the same iteration of the outermost loops }"""
    return alike_runs(a.run, b.run, loops)


def alike_runs(a: Run, b: Run, loops: int) -> Map:
    """{ x of a -> y of b : in the same iteration of the outermost loops }"""
    return _related(a, b, range(loops))


def _depth_in_order(met: Common) -> int:
    """Around how many loops a Func is stored anew in each iteration, and all of one iteration is
    over before the next one begins (or has storage of its own): lanes are not."""
    depth = met.stored[0] if met.stored else 0
    return 0 if "vector" in met.kinds[:depth] else depth


def _is_private(met: Common, loop: int, kind: str) -> bool:
    """Whether each iteration of a loop has a copy of a Func: flow between them is none then."""
    return kind != "flow" and any(depth > loop for depth in met.stored)


def _related(a: Run, b: Run, equal: Sequence[int], later: Sequence[int] | None = None) -> Map:
    """{ x of a -> y of b : their coordinates are equal at some loops, and at others, if these are
    given, those of x come after those of y }"""
    key = a, b, tuple(equal), None if later is None else tuple(later)
    known = a.statement.orders  # the dependences between two stages ask for the same few
    found = known.get(key)
    if found is None:
        if len(known) >= _MOST_ORDERS:
            known.clear()
        found = known[key] = _found_related(a, b, equal, later)
    return found


_MOST_ORDERS = 512
"""Relations that are kept of a statement: a search tries thousands of schedules of one program."""


def _found_related(a: Run, b: Run, equal: Sequence[int], later: Sequence[int] | None) -> Map:
    chosen = independent_loops(a, b, [*equal, *(later or ())])
    first, second = a.at(chosen), b.at(chosen)
    # A relation of loop iterations, not of instances, which would have many more pieces.
    order = Map.universe(first.get_space().range().map_from_set())
    for at in (chosen.index(k) for k in equal if k in chosen):
        order = order.equate(_IN, at, _OUT, at)
    if later is not None:
        same, order = order, Map.empty(order.get_space())
        for at in (chosen.index(k) for k in later if k in chosen):
            order = order.union(same.order_gt(_IN, at, _OUT, at))
            same = same.equate(_IN, at, _OUT, at)
    return first.apply_range(order).apply_range(second.reverse())


def independent_loops(a: Run, b: Run, loops: Sequence[int]) -> list[int]:
    """The loops that suffice to compare the iterations of two stages. The coordinates of the other
    loops are functions of these, the same functions in both stages, so they agree where these do.
    In deep nests most loops have one iteration, and are determined."""
    chosen = set(loops)

    def is_determined(loop: int) -> bool:
        found = a.determined.get(loop)
        return found is not None and found == b.determined.get(loop) and found.others <= chosen

    return [k for k in sorted(chosen) if not is_determined(k)]


def _space(a: Run, b: Run) -> isl.Space:
    first, second = a.at([]), b.at([])
    return first.apply_range(second.reverse()).get_space()
