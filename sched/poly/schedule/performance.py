"""Warnings of schedules that are likely to be slow, given when they are compiled."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from ...lang.errors.errors import Span, user_span
from ...lang.errors.performance import warn
from ...later import later
from ...targets.facts import machine
from ..state.record import Directive
from .schedule import Schedule

if TYPE_CHECKING:
    from ..report import cost, costs
    from ..report.cost import Cost
else:
    cost = later("..report.cost", __package__)
    costs = later("..report.costs", __package__)


MOST = 3
"""Things that are said of one cause and line, as of a loop in Python over all stages; of further
ones only their number."""


def warn_of(s: Schedule) -> None:
    """Warns of what directives of the user's make slow, once a cause and line.

    Nothing is said of directives that were found and not written, and so of what a bare call runs.
    """
    found: dict[tuple[str, Span], list[Cost]] = {}
    for part in _parts(s):
        names = {d.name for d in part._builder.said[part.chosen :]}
        for cost in s.log.step("costs", partial(_costs, part)) if names - {"assume"} else ():
            own = [d for d in part.directives[part.chosen :] if d.name != "assume"]
            line = _blamed(cost, own)
            if line is not None:
                every = found.setdefault((cost.cause, line), [])
                every.append(cost)
    for (cause, line), every in found.items():
        warn(cause, _listed(x.what for x in every), _listed(x.fix for x in every), line)


def _listed(texts: Iterable[str]) -> str:
    said = list(dict.fromkeys(texts))
    more = [f"and {len(said) - MOST} more like these"] if len(said) > MOST + 1 else []
    return "; ".join([*(said[:MOST] if more else said), *more])


def _parts(s: Schedule) -> Iterator[Schedule]:
    """A schedule and all variants."""
    yield s
    for _, variant in s.variants:
        yield from _parts(variant)


def _costs(s: Schedule) -> list[Cost]:
    """What costs time: as it was found before, also in another process, or found now."""
    known = s._builder.known(
        ("costs",), lambda: [json.dumps(x.to_json()) for x in costs.costs(s.analysis)]
    )
    every = [cost.Cost.from_json(json.loads(x)) for x in known]
    if not any(x.cause == cost.FINE for x in every):
        return every
    wake = machine(s.target).wake
    return [x for x in every if x.cause != cost.FINE or x.seconds < wake]


def _blamed(cost: Cost, own: list[Directive]) -> Span | None:
    """The line of the directive to blame; None where the user has written none of its kind."""
    about = [d for d in own if d.stage in (cost.stage, cost.stage.partition(".")[0])]
    by_name = [d for d in about if d.name in cost.blamed]
    found = (by_name or about)[-1:]
    return (found[0].span or user_span()) if found else None
