"""What becomes of the best plan of a beam: it was found Func by Func, and each was decided before
those that it reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .beside import beside
from .decided import Decided, Partial
from .facts.facts import main_of
from .places import ROOT

if TYPE_CHECKING:
    from .search import Search

ROUNDS = 3
"""How often all Funcs are looked at again."""

GAIN = 0.9
"""What is left of the time of a Func where other loops are taken for better: the model does not see
smaller differences."""


class Refinement:
    """Makes plans better, or quicker to compile, by other loops of one Func at a time."""

    def __init__(self, search: Search) -> None:
        self.search = search

    def descended(self, p: Partial) -> Partial:
        """A plan in which no Func would be better with other loops at its place, also with
        numbers of rows, columns and panels beside those that a beam begins with."""
        for _ in range(ROUNDS):
            before = p.seconds
            for func in list(p.funcs):
                p = self._step(p, p.funcs[func])
            if p.seconds >= before:
                break
        return p

    def _step(self, p: Partial, d: Decided) -> Partial:
        """A plan with better loops of a Func, as long as there are some."""
        while not self._hosts(p, d):
            made = min(self._beside(p, d), key=lambda x: self.search.own_seconds(p, x), default=d)
            if self.search.own_seconds(p, made) > GAIN * self.search.own_seconds(p, d):
                break
            p, d = self.search.decide(p, made), made
        return p

    def _beside(self, p: Partial, d: Decided) -> Iterator[Decided]:
        """A Func at its place, in other loops."""
        search = self.search
        own, candidates = search.statements[d.plan.func], search.candidates
        main = main_of(own)
        templates, plan = candidates.templates(main, d.spot), d.nests[own.index(main)].plan
        near = beside(main, templates, plan, candidates.target, search.effort)
        nests = (*candidates.of(main, d.spot), *near)
        for made in search.with_nests(p, d.plan.func, d.spot, nests):
            if made.plan not in search.refusals.plans:
                yield made

    def in_time(self, p: Partial, most: float) -> Partial:
        """A plan that does not take longer to be proven and compiled: of each Func something
        simpler is taken, where least is lost for what that saves."""
        build_seconds = self.search.build_seconds
        while (before := build_seconds(p)) > most:
            p = min(
                (made for d in p.funcs.values() for made in self._simpler(p, d)),
                key=lambda q: (q.seconds - p.seconds) / (before - build_seconds(q)),
            )
        return p

    def _simpler(self, p: Partial, d: Decided) -> Iterator[Partial]:
        """A plan with a Func as it is written, and that with the loops of it that lose least for
        what is saved, unless others are computed in them."""
        search, func = self.search, d.plan.func
        now = search.own_build_seconds(d)
        if not now or self._hosts(p, d):
            return
        yield search.decide(p, search.func_as_written(func))
        for spot in dict.fromkeys((d.spot, ROOT)):
            nests = search.candidates.of(main_of(search.statements[func]), spot)
            made = (x for x in search.with_nests(p, func, spot, nests) if x.plan != d.plan)
            made = (x for x in made if x.plan not in search.refusals.plans)
            found = [x for x in made if search.own_build_seconds(x) < now]
            if found:
                yield search.decide(p, min(found, key=lambda x: self._lost(p, d, x)))

    def _lost(self, p: Partial, before: Decided, made: Decided) -> float:
        """By how much a Func takes longer for each second that is saved."""
        lost = self.search.own_seconds(p, made) - self.search.own_seconds(p, before)
        saved = self.search.own_build_seconds(before) - self.search.own_build_seconds(made)
        return lost / saved

    def _hosts(self, p: Partial, d: Decided) -> bool:
        """Whether other Funcs are computed in the loops of a Func."""
        own = {s.name for s in self.search.statements[d.plan.func]}
        return any(x.plan.at is not None and x.plan.at[0] in own for x in p.funcs.values())
