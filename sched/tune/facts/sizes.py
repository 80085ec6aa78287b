"""Numbers for the sizes of a program, where facts are asked for that depend on them."""

from __future__ import annotations

from collections.abc import Mapping

from ...lang.errors.errors import LanguageTypeError, ScheduleError
from ...poly.model.space import ProgramSpace
from ...poly.report.facts import check_size
from ...poly.sets.isl import Set, isl, val

_PARAM, _SET = isl.dim_type.param, isl.dim_type.set

USUAL = 1024
"""What a size counts as that nobody gives a number for."""


def chosen_sizes(
    space: ProgramSpace, given: Mapping[str, object] | None, usual: Mapping[str, int] = {}
) -> dict[str, int]:
    """A number for each size, and for each integer Param: the one given, else what is usual for
    it, `USUAL` if that is not said, or the nearest number that the program accepts beside the
    others: the largest one below, if there is any.

    Raises:
        LanguageTypeError: this is no mapping, or a name is no size of the program.
        ScheduleError: a number is no size, or the program does not accept these together.
    """
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise LanguageTypeError(f"sizes={given!r} is no mapping", hint='sizes={"n": 1000}')
    names = space.params
    for name in given:
        if name not in names:
            have = ", ".join(names) or "none"
            raise LanguageTypeError(f"{name} is no size of this program", hint=f"they are {have}")
    accepted = Set.from_params(space.context).move_dims(_SET, 0, _PARAM, 0, len(names))
    for k, name in enumerate(names):
        if name in given:
            accepted = accepted.fix_val(_SET, k, val(check_size(name, given[name])))
    if accepted.is_empty():
        numbers = ", ".join(f"{name}={given[name]}" for name in given) or "any sizes"
        raise ScheduleError(
            f"the program accepts no call with {numbers}",
            hint="ps.Schedule(f).conditions are what sizes must meet",
        )
    found: dict[str, int] = {}
    for k, name in enumerate(names):
        found[name] = _near(accepted, k, usual.get(name, USUAL))
        accepted = accepted.fix_val(_SET, k, val(found[name]))
    return found


def _near(accepted: Set, k: int, number: int) -> int:
    """The largest number up to a given one that a size may have, else the least one beyond."""
    below = accepted.upper_bound_val(_SET, k, val(number))
    found = accepted.dim_min_val(k) if below.is_empty() else below.dim_max_val(k)
    return int(found.to_python())
