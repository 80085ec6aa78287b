"""The leaf of a LoopTree: instances of one statement, and their coordinates in the loops around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...cached import cached_property
from ...lang.nodes.nodes import Node, Var
from ...later import later
from ...records import dataclass
from ..sets.memo import Same

if TYPE_CHECKING:
    from ..model.statements import Statement
    from ..sets import coordinates as coordinate_maps, isl as sets
    from ..sets.coordinates import Determined
    from ..sets.isl import Map, PwAff, Set
else:
    coordinate_maps = later("..sets.coordinates", __package__)
    sets = later("..sets.isl", __package__)


@dataclass(frozen=True, eq=False)
class Stage:
    """Instances of one statement. `coordinates` has one expression a loop of its path.

    `where` are the instances, all if it is None; `part` tells the stages of one statement apart.
    Along the Vars of `padding` full tiles run, also iterations that are no instances.
    """

    statement: Statement
    coordinates: tuple[Node, ...]
    where: Set | None = None
    part: str = ""
    padding: tuple[tuple[Var, int], ...] = ()

    @cached_property
    def name(self) -> str:
        """How schedules call it."""
        return self.statement.name + self.part

    @cached_property
    def instances(self) -> Set:
        """The instances that run here."""
        domain = self.statement.domain
        return domain if self.where is None else domain.intersect(self.where)

    @cached_property
    def values(self) -> list[PwAff]:
        """The coordinates over the statement's frame."""
        return coordinate_maps.coordinate_values(self.statement.frame, self.coordinates)

    @cached_property
    def determined(self) -> dict[int, Determined]:
        """By loop, its coordinate where those of loops around it determine it: i + 1, say."""
        same = coordinate_maps.beside(self.coordinates)
        rest = [k for k in range(len(self.coordinates)) if k not in same]
        return coordinate_maps.determined(self.padded.apply(loop_map(self, rest)), rest, same)

    @cached_property
    def run(self) -> Run:
        """The instances and coordinates of the stage, as a key of proofs."""
        return Run(self)

    @cached_property
    def loops(self) -> Map:
        """{ instance of the statement -> loop coordinates }"""
        return _loop_map(self, range(len(self.coordinates)))

    @cached_property
    def padded(self) -> Set:
        """The instances, and the iterations that fill up their tiles."""
        found, frame = self.instances, self.statement.frame
        for var, factor in self.padding:
            at = frame.dims.index(var.name)
            tile = frame.dim(var.name).scale_down_val(sets.val(factor)).floor()
            others = [frame.dim(name) for k, name in enumerate(frame.dims) if k != at]
            tiles = sets.relation([*others, tile], frame)
            found = sets.coalesced(found.apply(tiles).apply(tiles.reverse()))
        return found


class Run:
    """The instances of a stage and their coordinates, without its name and its place in the tree:
    what proofs about it depend on. Two are equal if they are made of the same parts."""

    __slots__ = ("_hash", "_key", "_maps", "_stage")

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._maps: dict[tuple[int, ...], Map] = {}
        self._key = (stage.statement, stage.coordinates, Same(stage.where), stage.padding)
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Run) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    @property
    def statement(self) -> Statement:
        return self._stage.statement

    @property
    def instances(self) -> Set:
        return self._stage.instances

    @property
    def determined(self) -> Mapping[int, Determined]:
        return self._stage.determined

    def at(self, chosen: Sequence[int]) -> Map:
        """{ instance -> some of its coordinates }, found once: most proofs ask for the same."""
        key = tuple(chosen)
        if key not in self._maps:
            self._maps[key] = loop_map(self._stage, chosen).intersect_domain(self.instances)
        return self._maps[key]


def loop_map(stage: Stage, chosen: Sequence[int] | None = None) -> Map:
    """{ instance -> loop coordinates }, or some of them"""
    if chosen is None or [*chosen] == [*range(len(stage.coordinates))]:
        return stage.loops
    return _loop_map(stage, chosen)


def _loop_map(stage: Stage, chosen: Sequence[int]) -> Map:
    frame = stage.statement.frame
    plain = coordinate_maps.plain_dims(frame, [stage.coordinates[k] for k in chosen])
    return coordinate_maps.joined(frame, plain, [stage.values[k] for k in chosen[len(plain) :]])


def iterations(stage: Stage, context: Set | None = None) -> Set:
    """The coordinates that the loops around a stage must visit for it, at some sizes."""
    found = stage.padded.apply(loop_map(stage))
    return sets.coalesced(found if context is None else found.intersect_params(context))
