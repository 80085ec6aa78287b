"""Schedules that are found by the model, and proven."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import ceil

from ..codegen.runtime.threads import get_num_threads
from ..garbage import uncollected
from ..lang.errors.errors import LanguageTypeError, ScheduleError
from ..lang.program.program import Args
from ..poly.schedule.schedule import Outputs, Schedule
from ..records import dataclass, replace
from ..targets.facts import machine
from ..targets.target import Target
from .facts.facts import Facts, facts_of
from .model.model import Model
from .plans.effort import THOROUGH, Effort
from .realise.realise import realise
from .realise.reasons import heading, reason, second
from .search.decided import Partial, Refusals, Refused
from .search.inlining import chosen
from .search.search import Search
from .search.variants import STATEMENTS, Case, worthwhile

EAGER, WORTH, MOST_CALLS = 20, 0.1, 1000
"""How many more calls of a Func are expected than there were; which part of its time has to be
saved to look for a better schedule, and after how many calls that is not done any more."""

UNPROVED = 1
"""So many of them may be refused for want of a proof, which takes seconds, and another be tried."""


@uncollected()
def auto(
    outputs: Outputs,
    args: Args | None,
    sizes: Mapping[str, int] | None,
    threads: int | None,
    target: Target | str | None,
    reassociate: bool,
) -> Schedule:
    """A schedule that the model finds best: see `Schedule.auto`."""
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int)):
        raise LanguageTypeError(f"threads={threads!r} is no number of threads", hint="threads=2")
    if not isinstance(reassociate, bool):
        raise LanguageTypeError(f"reassociate={reassociate!r} is neither True nor False")
    if threads is not None and threads < 1:
        raise ScheduleError(f"threads={threads}: a call uses one thread or more")
    s = Schedule(outputs, args, target)
    s = _inlined(s)
    model = Model(machine(s.target), threads or get_num_threads())
    return _with_variants(s, model, sizes, reassociate)


@dataclass(frozen=True, slots=True)
class ForCalls:
    """A schedule for calls of about the same sizes.

    Attributes:
        schedule: what can be had while a call waits.
        pays_after: after so many calls a better one, of the same effort unhurried, is worth what it
            takes to get it; None where there is none, or it never is.
    """

    schedule: Schedule
    pays_after: int | None


@uncollected()
def found_for_calls(
    s: Schedule, threads: int, usual: Mapping[str, int], effort: Effort
) -> ForCalls:
    """What calls of a Func run: the schedule that the model finds best, and whether another one is
    worth a wait later. It changes no bits.

    Args:
        s: one without directives.
        threads: how many a call shall use.
        usual: what sizes count as, or the nearest numbers that the program accepts.
        effort: how much is looked at.
    """
    s = _inlined(s)
    model = Model(machine(s.target), threads)
    planned = _planned(s, facts_of(s.rewritten, None, usual), model, False, effort)
    return ForCalls(planned.schedule, _pays_after(planned))


def _pays_after(planned: _Planned) -> int | None:
    """After how many calls a plan is worth its while that takes longer to get than a call waits.
    Who has called a Func so often is taken to call it `EAGER` times as often again."""
    if planned.search is None:
        return None
    best = planned.search.unhurried
    saved = planned.seconds - best.seconds
    if not planned.search.effort.waits or saved < WORTH * planned.seconds:
        return None
    calls = ceil(planned.search.build_seconds(best) / saved / EAGER)
    return calls if calls <= MOST_CALLS else None


def _with_variants(
    s: Schedule, model: Model, sizes: Mapping[str, int] | None, reassociate: bool
) -> Schedule:
    """The schedule for some sizes, with variants where sizes that nobody gave are of another kind,
    and another schedule is much faster."""
    rewritten, names = s.rewritten, _outputs(s)

    def facts_at(usual: Mapping[str, int]) -> Facts:
        return facts_of(rewritten, sizes, usual)

    def search_of(facts: Facts, effort: Effort = THOROUGH) -> Search:
        return Search(facts, model, names, reassociates=reassociate, effort=effort)

    facts = facts_at({})
    ranked = search_of(facts).ranked()
    free = [x for x in s.program.sizes if x not in (sizes or {})]
    if len(facts.statements) <= STATEMENTS:
        for case, others in worthwhile(ranked[0], free, facts_at, search_of):
            with suppress(ScheduleError):  # no sizes meet the condition and those of the program
                planned = partial(
                    _planned, facts=others, model=model, reassociate=reassociate, effort=THOROUGH
                )
                _add_variant(s, case, planned)
    return _planned(s, facts, model, reassociate, THOROUGH, ranked).schedule


def _add_variant(s: Schedule, case: Case, planned: Callable[[Schedule], _Planned]) -> None:
    """Gives a schedule a variant, unless nothing is found for it."""
    before = s.variants
    begun = s.specialize(case.condition(s.program.sizes))
    made = planned(begun).schedule
    (condition, _) = s.variants[-1]
    s.variants = before if made is begun else (*before, (condition, made))


def _outputs(s: Schedule) -> set[str]:
    return {s.program.names[func] for func in s.program.outputs}


def several(
    s: Schedule, threads: int, *, sizes: Mapping[str, int], most: int = 8
) -> Iterator[tuple[float, Schedule]]:
    """The schedules of the best plans, the best one first, and that of the loops as written, each
    with the seconds that the model expects: what measurements choose from. Plans that are refused
    are left out.

    Args:
        s: one without directives.
        most: plans beside the one as written.
    """
    s = _inlined(s)
    model = Model(machine(s.target), threads)
    search = Search(facts_of(s.rewritten, sizes), model, _outputs(s))
    for plan in (*search.ranked()[:most], search.as_written()):
        made = s.copy()
        with suppress(Refused):
            funcs = list(plan.funcs.values())
            realise(made, funcs, search.statements, threads=threads, terms=THOROUGH.terms)
            made.chosen = len(made.directives)
            yield plan.seconds, made


def _inlined(s: Schedule) -> Schedule:
    """A schedule with the Funcs inlined that are better computed where they are read."""
    inline, keep = chosen(s.program, s.rule, s.rewritten.memo)
    made = s.copy()
    try:
        with made.batch():
            if keep:
                made.comment("Stored, as more than one element of them is read each time.")
            with made._builder.choosing(keep):
                for func in keep:
                    made[func].compute_root()
            if inline:
                made.comment("Computed where they are read, which takes little more than a load.")
            with made._builder.choosing(inline):
                for func in inline:
                    made[func].compute_inline()
    except ScheduleError:
        return s
    made.chosen = len(made.directives)
    return made


@dataclass(frozen=True, slots=True)
class _Planned:
    """A schedule with a plan, the seconds that a call takes with it, and the search that found it;
    without a search, a schedule for which no plan was found that it accepts."""

    schedule: Schedule
    seconds: float = 0.0
    search: Search | None = None


def _planned(
    s: Schedule,
    facts: Facts,
    model: Model,
    reassociate: bool,
    effort: Effort,
    ranked: Sequence[Partial] = (),
) -> _Planned:
    """A schedule with the best plan that it accepts.

    Args:
        ranked: the plans to begin with, where they are known.
    """
    names = _outputs(s)
    refusals, unproved = Refusals(), 0
    none = _Planned(s)
    for _ in range(effort.tries):
        search = Search(facts, model, names, refusals, reassociate, effort)
        best, *others = ranked or search.ranked()
        ranked = ()
        made = s.copy()
        made.comment(heading(facts, model))
        why = {
            f: reason(d, search.statements[f], best.costs, model.threads)
            for f, d in best.funcs.items()
        }
        try:
            funcs, terms = list(best.funcs.values()), effort.terms
            realise(made, funcs, search.statements, why, model.threads, terms)
        except Refused as refused:
            unproved += refused.status == "unproved"
            is_known = refused.decided is not None and not refused.decided.plan.is_as_written
            if not is_known or unproved > UNPROVED:
                return none
            refusals = _learned(refusals, refused)
        else:
            is_as_it_was = len(made.directives) == len(s.directives)
            made.chosen = len(made.directives)
            if not is_as_it_was:
                made.comment(second(best, others[0] if others else None))
            return _Planned(s if is_as_it_was else made, best.seconds, search)
    return none


def _learned(known: Refusals, refused: Refused) -> Refusals:
    """What is known with one refusal more. What means nothing may do so as a loop has no constant
    extent, and is tried again without counting on that; otherwise the Func is computed elsewhere,
    or in other loops."""
    assert refused.decided is not None
    plan = refused.decided.plan
    if plan.host is not None:
        return replace(known, alone=known.alone | {plan.func})
    if any(nest.block is not None for nest in refused.decided.nests):
        return replace(known, in_tiles=known.in_tiles | {plan.func})
    places = {(plan.func, spot.at) for spot in refused.decided.spots}
    if refused.status == "malformed" and not places <= known.varying:
        return replace(known, varying=known.varying | places)
    if plan.at is None:
        return replace(known, plans=known.plans | {plan})
    return replace(known, places=known.places | {(plan.func, plan.at)})
