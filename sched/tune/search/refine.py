"""What becomes of the best plan of a beam: it was found Func by Func, and each was decided before
those that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...records import dataclass
from ..facts.facts import main_of
from ..plans.beside import beside
from ..plans.places import ROOT, Spot
from ..plans.planned import Nest
from .decided import Decided, Partial

if TYPE_CHECKING:
    from .search import Search

ROUNDS = 3
"""How often all Funcs are looked at again."""

GAIN = 0.9
"""What is left of the time of a Func where other loops are taken for better: the model does not see
smaller differences."""

LEAST = 1e-9
"""Seconds that are worth being saved."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Something simpler for a Func.

    Attributes:
        made: what is decided instead.
        lost: seconds that a call takes longer.
        saved: seconds in which it is proven and compiled sooner.
    """

    made: Decided
    lost: float
    saved: float


class Refinement:
    """Makes plans better, or quicker to compile, by other loops of one Func at a time."""

    def __init__(self, search: Search) -> None:
        self.search = search
        facts = search.facts
        self._read: dict[str, set[str]] = {func: set() for func in search.statements}
        for w in facts.windows:
            self._read[facts.statement(w.consumer).func].add(w.producer)
        for func, read in self._read.items():
            read.discard(func)

    def descended(self, p: Partial) -> Partial:
        """A plan in which few Funcs would be much better with other loops at their places, also
        with numbers of rows, columns and panels beside those that a beam begins with. Funcs in
        whose loops others are computed stay as they are."""
        for _ in range(ROUNDS):
            before = p.seconds
            for func in list(p.funcs):
                p = self._step(p, p.funcs[func])
            if p.seconds >= before:
                break
        return p

    def _step(self, p: Partial, d: Decided) -> Partial:
        """A plan with better loops of a Func, as long as there are some."""
        while d.plan.host is None and not self._hosts(p, d):
            most = GAIN * self.search.own_seconds(p, d)
            found = self._beside(p, d, most)
            made = min(found, key=lambda x: self.search.own_seconds(p, x), default=d)
            if not self.search.own_seconds(p, made) < most:
                break
            p, d = self.search.decide(p, made), made
        return p

    def _beside(self, p: Partial, d: Decided, most: float) -> Iterator[Decided]:
        """A Func at its place, in other loops; but for those in which its main statement alone
        takes longer than so many seconds."""
        search = self.search
        own, candidates = search.statements[d.plan.func], search.candidates
        main = main_of(own)
        templates, plan = candidates.templates(main, d.spot), d.nests[own.index(main)].plan
        near = beside(main, templates, plan, candidates.target, search.effort)
        seconds = search.costs.at(p, main, d.spot).seconds
        nests = [x for x in (*candidates.of(main, d.spot), *near) if seconds(x) < most]
        yield from self._allowed(p, d, d.spot, nests)

    def _allowed(
        self, p: Partial, d: Decided, spot: Spot, nests: Sequence[Nest]
    ) -> Iterator[Decided]:
        for made in self.search.with_nests(p, d.plan.func, spot, nests):
            if not self.search.refusals.forbid(made.plan):
                yield made

    def in_time(self, p: Partial, most: float) -> Partial:
        """A plan that does not take longer to be proven and compiled: something simpler is taken
        for one Func at a time, where least is lost for what that saves, until it is in time."""
        offers = {func: self._offers(p, func) for func in p.funcs}
        while self.search.build_seconds(p) > most:
            every = [offer for own in offers.values() for offer in own]
            if not every:
                return self.search.as_written()
            best = min(every, key=lambda x: x.lost / x.saved)
            func, before = best.made.plan.func, p.funcs[best.made.plan.func]
            p = self.search.decide(p, best.made)
            for other in self._affected(p, func, before):
                offers[other] = self._offers(p, other)
        return p

    def _affected(self, p: Partial, func: str, before: Decided) -> set[str]:
        """The Funcs that may be offered something else where one is decided in another way: those
        that it reads or that read it, and the one in whose loops it was computed."""
        found = {func, *self._read[func], *(x for x, read in self._read.items() if func in read)}
        for place in (before.plan.at, before.plan.host):
            if place is not None:
                found.add(self.search.facts.statement(place[0]).func)
        return found & set(p.funcs)

    def _offers(self, p: Partial, func: str) -> list[Offer]:
        """A Func as it is written, and with the loops of it that lose least for what is saved, in
        its place and outside of all others; nothing where others are computed in its loops."""
        search, d = self.search, p.funcs[func]
        now = search.own_build_seconds(d)
        if not now or self._hosts(p, d):
            return []
        found = []
        for spot in self._places(p, d) if d.plan.host is None else ():
            nests = search.candidates.of(main_of(search.statements[func]), spot)
            others = (x for x in self._allowed(p, d, spot, nests) if x.plan != d.plan)
            simpler = [x for x in others if now - search.own_build_seconds(x) > LEAST]
            if simpler:
                found.append(min(simpler, key=lambda x: self._lost(p, d, x)))
        if ROOT in self._places(p, d):
            found.append(search.func_as_written(func))
        return [
            Offer(x, search.decide(p, x).seconds - p.seconds, now - search.own_build_seconds(x))
            for x in found
        ]

    def _places(self, p: Partial, d: Decided) -> list[Spot]:
        """Where a Func may be computed: where it is, or outside of all loops, unless something that
        it reads is computed in loops around it."""
        stays = any(p.funcs[x].spot != ROOT for x in self._read[d.plan.func] if x in p.funcs)
        return [d.spot] if stays or d.spot == ROOT else [d.spot, ROOT]

    def _lost(self, p: Partial, before: Decided, made: Decided) -> float:
        """By how much a Func takes longer for each second that is saved."""
        lost = self.search.own_seconds(p, made) - self.search.own_seconds(p, before)
        saved = self.search.own_build_seconds(before) - self.search.own_build_seconds(made)
        return lost / saved

    def _hosts(self, p: Partial, d: Decided) -> bool:
        """Whether other Funcs are computed in the loops of a Func."""
        if self.search.together.others(p, d.plan.func):
            return True
        own = {s.name for s in self.search.statements[d.plan.func]}
        return any(x.plan.at is not None and x.plan.at[0] in own for x in p.funcs.values())
