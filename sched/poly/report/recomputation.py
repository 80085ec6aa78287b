"""How often a Func that is computed at a loop runs each of its instances, counted at small sizes.

With S the instances that run, the loops around as their first dimensions, and I those of the
algorithm: |S| / |I|, where I is S without these dimensions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...records import dataclass
from ..model.statements import Statement
from ..sets.isl import Set, isl, union_sets, val
from ..tree.stage import Stage
from .idle_iterations import LEAST, Uncountable, sizes_from

_SET, _PARAM = isl.dim_type.set, isl.dim_type.param

MOST = 1_000_000
"""So many instances are counted at most, as far as a box around them says."""


@dataclass(frozen=True)
class Recomputation:
    """`total` runs of `distinct` instances."""

    total: int
    distinct: int
    sizes: Mapping[str, int]

    def ratio(self, what: str = "") -> str:
        """`1.13 times (153 for 135, at n=24)`"""
        at = ", ".join(f"{k}={v}" for k, v in self.sizes.items())
        counted = f"{self.total} for {self.distinct}" + (f", at {at}" if at else "")
        return f"{self.total / self.distinct:.2f} times{what and ' '}{what} ({counted})"

    def __str__(self) -> str:
        """`runs each instance 1.13 times (153 for 135, at n=24)`"""
        if self.total == self.distinct:
            return "runs each instance once"
        return f"runs each instance {self.ratio()}"


def recomputation(stages: Iterable[Stage], context: Set) -> Recomputation | None:
    """How often stages run their instances; None if there are too many to count, or none.

    Args:
        context: the sizes that a call accepts.
    """
    total: list[Set] = []
    own: dict[Statement, list[Set]] = {}
    for stage in stages:
        statement, where = stage.statement, stage.instances.intersect_params(context)
        total.append(where)
        alone = where.project_out(_SET, 0, len(statement.around))
        own.setdefault(statement.base, []).append(alone)
    return counted(total, [union_sets(found[1:], found[0]) for found in own.values()], context)


def counted(total: list[Set], distinct: list[Set], context: Set) -> Recomputation | None:
    """How many points there are in sets, for those of others, at small sizes."""
    names = _sizes_of([*total, *distinct])
    for least in LEAST:
        try:
            sizes = sizes_from(least, names, context)
        except Uncountable:
            return None
        here = [_at(where, sizes) for where in total]
        if sum(map(_box, here)) <= MOST:
            among = sum(_count(_at(where, sizes)) for where in distinct)
            shown = {k: sizes[k] for k in names}
            return Recomputation(sum(map(_count, here)), among, shown) if among else None
    return None


def instances_at(stages: Iterable[Stage], sizes: Mapping[str, int]) -> int:
    """How many instances run at some sizes, as far as boxes around them say."""
    return sum(_box(_at(stage.instances, sizes)) for stage in stages)


def _sizes_of(sets: list[Set]) -> list[str]:
    """The sizes and Params on which sets depend."""
    return list(
        dict.fromkeys(
            str(where.get_dim_name(_PARAM, k))
            for where in sets
            for k in range(int(where.dim(_PARAM)))
            if where.involves_dims(_PARAM, k, 1)
        )
    )


def _at(where: Set, sizes: Mapping[str, int]) -> Set:
    """A set at some sizes."""
    for k in range(int(where.dim(_PARAM))):
        name = str(where.get_dim_name(_PARAM, k))
        if name in sizes:
            where = where.fix_val(_PARAM, k, val(sizes[name]))
    return where.project_out(_PARAM, 0, int(where.dim(_PARAM)))


def _box(where: Set) -> int:
    """The number of points of the box around a set."""
    count = 1
    for k in range(int(where.dim(_SET))):
        lo, hi = where.dim_min_val(k), where.dim_max_val(k)
        if not (lo.is_int() and hi.is_int()):
            return 0  # it is empty
        count *= int(hi.to_python()) - int(lo.to_python()) + 1
    return count


def _count(where: Set) -> int:
    return int(where.count_val().to_python())
