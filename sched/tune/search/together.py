"""Funcs that are computed together: in the loops of the last one of a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...records import replace
from ..facts.facts import Facts, StatementFacts, main_of
from ..facts.operations import Varying
from ..facts.sweeps import Sweep, is_by_element
from ..model.cost import Cost
from ..plans.places import ROOT, Spot
from ..plans.planned import Nest
from .decided import Decided, Partial

if TYPE_CHECKING:
    from .search import Search


class Together:
    """What is computed in whose loops.

    Args:
        statements: by Func.
    """

    def __init__(self, facts: Facts, statements: Mapping[str, list[StatementFacts]]) -> None:
        self._by_name = {s.name: s for s in facts.statements}
        self._sweeps: dict[str, Sweep] = {}
        for sweep in facts.sweeps:
            own = [self._by_name[x] for x in sweep.statements]
            if all(_is_alone(s, statements[s.func]) for s in own):
                self._sweeps |= {s.func: sweep for s in own}
        self._joint: dict[tuple[str, ...], StatementFacts] = {}

    def host(self, p: Partial, func: str) -> Decided | None:
        """The Func in whose loops another one can be computed, where all sums between them are,
        and what needs it can be put off: what is decided of it. None where there is no such."""
        names = self._funcs(func)
        if not names or func == names[-1]:
            return None
        host = p.funcs.get(names[-1])
        if host is None or not _can_hold(host.nests[-1]):
            return None
        between = names[names.index(func) + 1 : -1]
        joined = (x in p.funcs and self.host_of(p.funcs[x]) == names[-1] for x in between)
        stays = (x in p.funcs and p.funcs[x].spot == ROOT for x in self.put_off(func))
        return host if all(joined) and all(stays) else None

    def left_out(self, found: Sequence[Partial], kept: Sequence[Partial]) -> list[Partial]:
        """The best partial plans in which sums that are not decided yet can be computed in loops of
        others, of those where they can in none that is kept."""
        made: list[Partial] = []
        for sweep in dict.fromkeys(self._sweeps.values()):
            names = [self._by_name[x].func for x in sweep.statements]
            for name, put_off in zip(names, sweep.put_off, strict=True):
                if name in found[0].funcs or names[-1] not in found[0].funcs:
                    continue
                if any(self._is_open(p, names[-1], put_off) for p in (*kept, *made)):
                    continue
                made += next(([p] for p in found if self._is_open(p, names[-1], put_off)), [])
        return sorted(made, key=lambda p: p.seconds)

    def _is_open(self, p: Partial, host: str, put_off: Sequence[str]) -> bool:
        """Whether a sum can be computed in the loops of another one, as far as all is decided."""
        d = p.funcs[host]
        stays = (p.funcs[x].spot == ROOT for x in put_off if x in p.funcs)
        return d.spot == ROOT and _can_hold(d.nests[-1]) and all(stays)

    def put_off(self, func: str) -> tuple[str, ...]:
        """The Funcs that need another one and come before its host as written."""
        sweep = self._sweeps[func]
        return sweep.put_off[self._funcs(func).index(func)]

    def host_of(self, d: Decided) -> str | None:
        """The Func in whose loops one is computed."""
        return None if d.plan.host is None else self._by_name[d.plan.host[0]].func

    def others(self, p: Partial, func: str) -> list[str]:
        """The Funcs that are computed in the loops of one."""
        names = self._funcs(func)
        if not names or func != names[-1]:
            return []
        decided = [p.funcs[x] for x in names[:-1] if x in p.funcs]
        return [d.plan.func for d in decided if self.host_of(d) == func]

    def joint(self, p: Partial, s: StatementFacts) -> StatementFacts | None:
        """A statement with all that is computed in its loops; None for one that is computed in
        those of another one."""
        if s.func not in self._sweeps or s.name not in self._sweeps[s.func].statements:
            return s
        decided = p.funcs.get(s.func)
        if decided is not None and decided.plan.host is not None:
            return None
        others = self.others(p, s.func)
        if not others:
            return s
        key = (s.name, *others)
        if key not in self._joint:
            self._joint[key] = self._made(s, key)
        return self._joint[key]

    def _made(self, s: StatementFacts, key: tuple[str, ...]) -> StatementFacts:
        """A statement with what others compute that it does not, and what they access."""
        sweep = self._sweeps[s.func]
        varying = dict(zip(sweep.statements, sweep.varying, strict=True))
        accesses, added = list(s.accesses), list(s.varying)
        operations = dict(s.operations)
        for name in sweep.statements[:-1]:
            other = self._by_name[name]
            if other.func in key:
                accesses += [a for a in other.accesses if a not in accesses]
                added += varying[name]
                operations |= other.operations  # which ones, not how many
        found = tuple(accesses), _added_up(added)
        return replace(
            s, name=" ".join(key), operations=operations, accesses=found[0], varying=found[1]
        )

    def _funcs(self, func: str) -> list[str]:
        """The Funcs of a sweep, in the order in which they run as written."""
        sweep = self._sweeps.get(func)
        return [] if sweep is None else [self._by_name[x].func for x in sweep.statements]


def _is_alone(s: StatementFacts, own: list[StatementFacts]) -> bool:
    """Whether a Func is a reduction, and how it begins; or has no other statement."""
    return (len(own) == 2 or is_by_element(s)) and s is own[-1] and s is main_of(own)


def _can_hold(nest: Nest) -> bool:
    """Whether other statements can be computed in loops: nothing is copied for them, and no
    iteration has results of its own."""
    is_plain = nest.packed is None and nest.turned is None and nest.parts is None
    return is_plain and nest.row is None and nest.plan.template in ("leave", "rows", "tile")


def joint_cost(
    search: Search,
    p: Partial,
    one_and_all: tuple[StatementFacts, StatementFacts],
    spot: Spot,
    nest: Nest,
) -> Cost:
    """What a statement costs with all that is computed in its loops. What is too much for the last
    cache together is not found there one after the other either, though each is by itself.

    Args:
        one_and_all: the statement, and the same with all others.
    """
    one, whole = one_and_all
    cost = search.costs.at(p, whole, spot).of(nest)
    if one is whole:
        return cost
    alone = search.costs.at(p, one, spot).of(nest).memory[-1]
    for d in [p.funcs[x] for x in search.together.others(p, one.func)]:
        s = search.statements[d.plan.func][-1]
        alone += search.costs.at(p, s, d.spots[-1]).of(d.nests[-1]).memory[-1]
    *nearer, last = cost.memory
    return replace(cost, memory=(*nearer, min(last, alone)))


def hosted(search: Search, p: Partial, func: str) -> Iterator[Decided]:
    """A Func in the loops of another one that the same sweep computes."""
    host = search.together.host(p, func)
    if host is None or func in search.refusals.alone:
        return
    own = search.statements[func]
    for spot in search.spots_of(p, func):
        if (spot.at, spot.stored_at) != (host.plan.at, host.plan.stored):
            continue
        pairs = zip(own, host.nests, strict=True)
        found = [_in_loops_of(search, s, nest, spot) for s, nest in pairs]
        first, main = found[0], found[-1]
        if main is None or (first is None and spot.at is not None):
            continue
        for made in search.with_nests(p, func, spot, [main]):
            # In a loop of others, what begins behind its host would come too late.
            begin = made.nests[0] if spot.at is None or first is None else first
            put_off = search.together.put_off(func)
            nests = (begin, main)[-len(own) :]
            plans = tuple(x.plan for x in nests)
            plan = replace(made.plan, nests=plans, put_off=put_off)
            yield replace(made, plan=plan, nests=nests)


def _in_loops_of(search: Search, s: StatementFacts, host: Nest, spot: Spot) -> Nest | None:
    """The loops of a statement in those of another one; None where they are not the same."""
    if not host.loops or not _can_hold(host):
        return None
    if host.streams and not search.candidates.streams(s, spot):
        return None
    place = host.plan.statement, host.loops[-1].name
    plan = replace(host.plan, statement=s.name, host=place)
    made = search.candidates.templates(s, spot).nest(plan)
    return made if made is not None and _matches(made, host) else None


def _matches(nest: Nest, host: Nest) -> bool:
    """Whether two statements over the same points have the same loops."""
    own, theirs = ([(x.loop, x.extent, x.step, x.kind) for x in n.loops] for n in (nest, host))
    return own == theirs


def _added_up(varying: list[tuple[str, tuple[bool, ...], int]]) -> Varying:
    counts: dict[tuple[str, tuple[bool, ...]], int] = {}
    for name, by, count in varying:
        counts[name, by] = counts.get((name, by), 0) + count
    return tuple((name, by, count) for (name, by), count in sorted(counts.items()))
