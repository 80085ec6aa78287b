"""What runs at given sizes, instance by instance, in the order of a loop tree: for pictures.

All of it is enumerated from the sets and the coordinates that proofs use. Only small sizes can be:
what has more than `MOST` instances is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Literal, TypeVar

from ...lang.errors.errors import ScheduleError
from ...records import dataclass
from ..proof.dependences import Dependence
from ..sets.isl import Map, Set, dim_count, isl, val
from ..tree.kinds import Kind
from ..tree.looptree import Loop, Path, Tree, leaves
from ..tree.stage import Stage

MOST = 4096
"""So many points of one set are enumerated at most."""

_SET, _PARAM = isl.dim_type.set, isl.dim_type.param
Point = tuple[int, ...]
Box = tuple[tuple[int, int], ...]
"""The least and the largest value of each coordinate."""
Near = Mapping[str, Box]
"""By statement, the part of its instances that is enumerated; all of it, where it has no entry."""
NEAR_ALL: Near = {}
R = TypeVar("R", Map, Set)


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a time: a position among what stands one after the other ("seq"), or the kind of a
    loop and the coordinate of an iteration."""

    kind: Kind | Literal["seq"]
    at: int


@dataclass(frozen=True, slots=True)
class Execution:
    """One instance that runs, once.

    Attributes:
        stage: its stage, by name.
        statement: the statement of the algorithm, by name.
        point: its own coordinates, in the order of the statement's loops.
        around: where it is computed at a loop of its consumers, the iteration of these loops.
        loops: the coordinates of all loops around it, by name, outermost first.
        levels: when it runs, from the root to the leaf.
        step: executions that differ in nothing but lanes and parallel iterations have the same
            step, as if there were a thread for each iteration. From 0.
    """

    stage: str
    statement: str
    point: Point
    around: Point
    loops: Mapping[str, int]
    levels: tuple[Level, ...]
    step: int = 0

    def of_kind(self, kind: Kind) -> Point:
        """The coordinates of the loops of a kind."""
        return tuple(x.at for x in self.levels if x.kind == kind)


Order = Literal["before", "after", "threads", "lanes", "same"]


def order_of(a: Execution, b: Execution) -> Order:
    """How one execution runs to another one: "before" or "after" it, concurrently in different
    iterations of a parallel loop ("threads"), or as different "lanes"; "same" if it is that one.

    The lanes of a vector count as the innermost loop.
    """
    lanes = False
    for x, y in zip(a.levels, b.levels, strict=False):
        if x == y:
            continue
        if x.kind == "vector":
            lanes = True
        elif x.kind == "parallel":
            return "threads"
        else:
            return "before" if x.at < y.at else "after"
    return "lanes" if lanes else "same"


def executions(
    tree: Tree, names: Collection[str], sizes: Mapping[str, int], near: Near = NEAR_ALL
) -> list[Execution]:
    """All that runs of some statements of the algorithm, in an order in which one thread would run
    it, lanes one by one.

    Args:
        names: those of the statements.
        sizes: all of them, and the Params that bound loops.
        near: what is left out is as if it did not run; steps are counted without it.

    Raises:
        ScheduleError: there are too many, or data decide how many.
    """
    found: list[Execution] = []
    for path, stage in leaves(tree):
        if stage.statement.base.name in names:
            found += _of_stage(path, stage, sizes, near)
    found.sort(key=_in_turn)
    steps = {step: k for k, step in enumerate(sorted(set(map(_step, found))))}
    return [replace(x, step=steps[_step(x)]) for x in found]


def _in_turn(x: Execution) -> Point:
    return (*(v.at for v in x.levels if v.kind != "vector"), *x.of_kind("vector"))


def _step(x: Execution) -> Point:
    return tuple(v.at for v in x.levels if v.kind not in ("vector", "parallel"))


def _of_stage(
    path: Path, stage: Stage, sizes: Mapping[str, int], near: Near
) -> Iterator[Execution]:
    statement, outside = stage.statement, len(stage.statement.around)
    loops = [node for _, node in path if isinstance(node, Loop)]
    every = stage.run.at(range(len(loops)))
    count = len(statement.loops)
    there = inside(at_sizes(every, sizes).wrap(), outside, near.get(statement.base.name, ()))
    for row in points(there, f"instances of {stage.name}"):
        point, coordinates = row[:count], row[count:]
        yield Execution(
            stage.name,
            statement.base.name,
            point[outside:],
            point[:outside],
            {x.name: c for x, c in zip(loops, coordinates, strict=True)},
            tuple(_levels(path, coordinates)),
        )


def _levels(path: Path, coordinates: Point) -> Iterator[Level]:
    given = iter(coordinates)
    for position, node in path:
        yield Level("seq", position)
        if isinstance(node, Loop):
            yield Level(node.kind, next(given))


# pairs --------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Arrow:
    """Two instances, of which the second must run after the first.

    Attributes:
        kind: "flow", "anti" or "output".
        tensor: the tensor that both access, by name.
        source, sink: the statement of each, and the coordinates of the instance.
        exact: whether they access the same element, and not only may.
    """

    kind: str
    tensor: str
    source: tuple[str, Point]
    sink: tuple[str, Point]
    exact: bool


def arrows(
    found: Sequence[Dependence], sizes: Mapping[str, int], near: Near = NEAR_ALL
) -> list[Arrow]:
    """Dependences at some sizes, pair by pair.

    Raises:
        ScheduleError: there are too many.
    """
    made = []
    for d in found:
        count = len(d.source.loops)
        a, b = d.source.base.name, d.sink.base.name
        pairs = inside(at_sizes(d.map, sizes).wrap(), 0, near.get(a, ()))
        pairs = inside(pairs, count, near.get(b, ()))
        for row in points(pairs, f"dependences on {d.tensor.name}"):
            pair = (a, row[:count]), (b, row[count:])
            made.append(Arrow(d.kind, d.tensor.name, *pair, d.exact))
    return made


def at_sizes(relation: R, sizes: Mapping[str, int]) -> R:
    """A set or a relation where sizes have values."""
    for k in range(int(relation.dim(_PARAM))):
        name = str(relation.get_dim_name(_PARAM, k))
        if name in sizes:
            relation = relation.fix_val(_PARAM, k, val(sizes[name]))
    return relation


def inside(where: Set, first: int, box: Box) -> Set:
    """The points of a set whose coordinates, from one of them on, are in a box."""
    for k, (lo, hi) in enumerate(box, first):
        where = where.lower_bound_val(_SET, k, val(lo)).upper_bound_val(_SET, k, val(hi))
    return where


def points(where: Set, what: str) -> list[Point]:
    """The points of a set, in lexicographic order.

    Raises:
        ScheduleError: there are more than `MOST`, or the set has no end.
    """
    most = [] if where.is_empty() else ranges(where)
    if any(r is None for r in most):
        raise ScheduleError(f"the {what} cannot be counted: data decide how many there are")
    found: list[Point] = []
    box = prod(hi - lo + 1 for lo, hi in filter(None, most))
    if box > MOST * MOST or (box > MOST and int(where.count_val().to_python()) > MOST):
        raise ScheduleError(
            f"there are too many {what} to be drawn: more than {MOST}", hint="give smaller sizes"
        )
    count = dim_count(where)

    def visit(point: isl.Point) -> None:
        found.append(
            tuple(int(point.get_coordinate_val(_SET, k).to_python()) for k in range(count))
        )

    where.foreach_point(visit)
    return sorted(found)


def ranges(where: Set) -> list[tuple[int, int] | None]:
    """The least and the largest value of each coordinate; None where there is none."""
    found: list[tuple[int, int] | None] = []
    for k in range(dim_count(where)):
        lo, hi = where.dim_min_val(k), where.dim_max_val(k)
        whole = lo.is_int() and hi.is_int()
        found.append((int(lo.to_python()), int(hi.to_python())) if whole else None)
    return found


__all__ = [
    "MOST", "Arrow", "Box", "Execution", "Level", "Near", "Order", "Point", "arrows", "at_sizes",
    "executions", "inside", "order_of", "points", "ranges",
]  # fmt: skip
