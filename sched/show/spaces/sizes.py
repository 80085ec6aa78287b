"""Sizes at which pictures are drawn: small ones that a call accepts, at which each loop has at
least two iterations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

from ...lang.errors.errors import LanguageTypeError, ScheduleError
from ...poly.report import facts
from ...poly.report.executed import at_sizes, ranges
from ...poly.schedule.schedule import Schedule
from ...poly.sets.isl import Set, isl, val
from ...poly.sets.smallest import smallest_point
from ...poly.tree.stage import Stage
from ...records import dataclass

LEAST = (5, 4, 3, 2, 1)
"""How many values each coordinate of a stage shall have; fewer where there are too many points."""

ENOUGH = 600
"""Points: so many at most where sizes are not given."""

_TRIED = (*range(1, 10), 12, 16, 17, 20, 24, 28, 33, 40, 48, 65, 80, 96, 129, 192, 257)
_SET, _PARAM = isl.dim_type.set, isl.dim_type.param


@dataclass(frozen=True)
class Chosen:
    """Sizes, and what is to be said about them."""

    sizes: dict[str, int]
    notes: tuple[str, ...] = ()


def chosen(
    s: Schedule, stages: Sequence[Stage], given: Mapping[str, int], least: Sequence[int] = LEAST
) -> Chosen:
    """The sizes that a user gives, with small ones for the others; `least` as `LEAST`.

    Raises:
        LanguageTypeError: one is none of the program.
        ScheduleError: a call does not accept them, or it accepts no small ones.
    """
    names = list(s.parameters)
    for name, value in given.items():
        if name not in names:
            have = ", ".join(names) or "none"
            raise LanguageTypeError(f"{name} is no size of this program", hint=f"they are {have}")
        facts.check_size(name, value)
    accepted = at_sizes(s.accepted, given)
    if accepted.is_empty():
        shown = ", ".join(f"{k}={v}" for k, v in given.items())
        conditions = "; ".join(s.conditions) or "it has no sizes that a call accepts"
        raise ScheduleError(
            f"no call accepts {shown or 'any sizes'}", hint=f"a call requires: {conditions}"
        )
    found = _Search(accepted, stages, dict(given)).found(least)
    return Chosen({x: found.sizes[x] for x in names if x in found.sizes}, found.notes)


class _Search:
    """Looks for sizes at which there is enough to see, and not too much."""

    def __init__(self, accepted: Set, stages: Sequence[Stage], given: dict[str, int]) -> None:
        self.accepted, self.given = accepted, given
        every = {str(accepted.get_dim_name(_PARAM, k)) for k in range(accepted.dim(_PARAM))}
        self.free = sorted(every - given.keys())
        self.maps = [x.run.at(range(len(x.coordinates))) for x in stages]
        self.most = self._spans(self._near(_TRIED[-1]) or {})

    def found(self, several: Sequence[int]) -> Chosen:
        if not self.free:
            return Chosen(self.given)
        for least in several:
            sizes = self._with_each(least)
            if sizes is not None and self._count(sizes) <= ENOUGH:
                return Chosen(sizes)
        notes = ("At sizes that are small enough to be drawn, some loops have one iteration.",)
        for value in reversed(_TRIED):
            sizes = self._near(value)
            if sizes is not None and self._count(sizes) <= ENOUGH:
                return Chosen(sizes, notes)
        raise ScheduleError(
            "no sizes were found at which this is small enough to be drawn",
            hint=f"give sizes: {', '.join(f'{x}=...' for x in self.free)}",
        )

    def _with_each(self, least: int) -> dict[str, int] | None:
        """Small sizes at which each coordinate has so many values, and each loop two iterations."""
        tried = (self._near(value) for value in _TRIED)
        sizes = next((x for x in tried if x is not None and self._is_full(x, least)), None)
        if sizes is None:
            return None
        for name in self.free:
            for value in _TRIED:
                smaller = {**sizes, name: value}
                if value >= sizes[name]:
                    break
                if self._is_accepted(smaller) and self._is_full(smaller, least):
                    sizes = smaller
                    break
        return sizes

    def _near(self, value: int) -> dict[str, int] | None:
        """The smallest sizes that are accepted, the free ones of which are at least as large."""
        where = self.accepted
        for name in self.free:
            k = where.find_dim_by_name(_PARAM, name)
            where = where.lower_bound_val(_PARAM, k, val(value))
        point = smallest_point(where.from_params())
        return None if point is None else {**self.given, **point[0]}

    def _is_accepted(self, sizes: Mapping[str, int]) -> bool:
        return not at_sizes(self.accepted, sizes).is_empty()

    def _is_full(self, sizes: Mapping[str, int], least: int) -> bool:
        for (own, loops), (most, largest) in zip(self._spans(sizes), self.most, strict=True):
            if any(a < min(least, b) for a, b in zip(own, most, strict=True)):
                return False
            if any(a < min(2, b) for a, b in zip(loops, largest, strict=True)):
                return False
        return True

    def _count(self, sizes: Mapping[str, int]) -> int:
        """About how many points there are."""
        return sum(prod(own) for own, _ in self._spans(sizes))

    def _spans(self, sizes: Mapping[str, int]) -> list[tuple[list[int], list[int]]]:
        """By stage, how many values its coordinates have at some sizes, and its loops."""
        found = []
        for every in self.maps:
            there = at_sizes(every, sizes)
            found.append((_lengths(there.domain()), _lengths(there.range())))
        return found


def _lengths(where: Set) -> list[int]:
    if where.is_empty():
        return [0] * int(where.dim(_SET))
    return [_MUCH if r is None else r[1] - r[0] + 1 for r in ranges(where)]


_MUCH = 1 << 20


def shown(sizes: Mapping[str, int], only: Collection[str] = ()) -> str:
    """`n=4, m=5`"""
    return ", ".join(f"{k}={v}" for k, v in sizes.items() if not only or k in only)
