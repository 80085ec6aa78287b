"""Which plan the model finds best: a beam over Funcs, consumers before producers.

Nothing is proven here and no code is made; the same facts and the same machine give the same plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ...records import replace
from ..facts.facts import Facts, StatementFacts, main_of
from ..facts.windows import Window
from ..model.build_time import allowed, build_seconds
from ..model.cost import Cost, sums_of
from ..model.model import Model
from ..plans.candidates import Candidates
from ..plans.effort import MANY, MANY_CALLS, THOROUGH, Effort, of_large
from ..plans.places import ROOT, Reader, Spot, beginning, spots, with_past
from ..plans.plan import FuncPlan, Place
from ..plans.planned import BLOCK, Nest
from ..plans.steps import few_planes
from .costs import Costs
from .decided import NONE_KNOWN, Decided, Partial, Refusals
from .refine import Refinement
from .together import Together, hosted, joint_cost

KINDS = ("chunk", "rows", "columns")
"""Knobs by which nests are of different use to producers."""


NOTHING = Cost(0.0, (0.0,), 0.0)
"""What a statement costs of which another one's cost has all."""


class Search:
    """Looks for the best plan of a program.

    Args:
        outputs: the names of Funcs that stay at the root.
        refusals: what is left out.
        reassociates: whether sums of floats may be added in any order.
        effort: how much is looked at, unless the program is large.

    Attributes:
        unhurried: the best plan of those that were ranked last, whether or not a call can wait for
            it.
    """

    def __init__(
        self,
        facts: Facts,
        model: Model,
        outputs: Collection[str],
        refusals: Refusals = NONE_KNOWN,
        reassociates: bool = False,
        effort: Effort = THOROUGH,
    ) -> None:
        self.facts, self.model, self.outputs, self.refusals = facts, model, outputs, refusals
        self.statements: dict[str, list[StatementFacts]] = {}
        for s in facts.statements:
            self.statements.setdefault(s.func, []).append(s)
        self._windows: dict[str, list[Window]] = {}
        self._by_name = {s.name: s for s in facts.statements}
        for w in facts.windows:
            if self._by_name[w.consumer].func != w.producer:
                self._windows.setdefault(w.producer, []).append(w)
        self.effort = of_large(effort) if len(facts.statements) > MANY else effort
        self.candidates = Candidates(
            model.machine.target,
            self.statements,
            refusals.varying,
            self.effort,
            reassociates,
            [f for f in outputs if f not in self._windows],
            model.threads,
        )
        few = few_planes(self.statements, self._windows, outputs)
        self.costs = Costs(model, self.statements, outputs, self.candidates, few)
        self.together = Together(facts, self.statements)
        self._builds: dict[int, tuple[Decided, float]] = {}
        self._written: dict[str, Decided] = {}
        self.unhurried = Partial()

    def best(self) -> Partial:
        """The best plan that is found, with what it costs."""
        return self.ranked()[0]

    def ranked(self) -> list[Partial]:
        """The best plans that are found, the best one first."""
        found = self._beam()
        self.unhurried = min(found, key=lambda p: self._weighed(p, MANY_CALLS))
        refined = Refinement(self)
        if self.effort.waits:
            most = allowed(self.facts, self.as_written().seconds)
            in_time = (p for p in found[1:] if self.build_seconds(p) <= most)
            found = sorted((refined.in_time(found[0], most), *in_time), key=self._weighed)
        elif self.effort.descends:
            found[0] = refined.descended(found[0])
        kept: dict[tuple[FuncPlan, ...], Partial] = {}
        for p in found:
            kept.setdefault(tuple(d.plan for d in p.funcs.values()), p)
        return list(kept.values())

    def _beam(self) -> list[Partial]:
        """The best plans, where Funcs are decided one after the other."""
        beam = [Partial()]
        for func in reversed(self.statements):
            found = [made for p in beam for made in self._decisions(p, func)]
            found.sort(key=self._weighed)
            beam = _varied(found, func)[: self.effort.width]
            beam += self.together.left_out(found, beam)
        return beam

    def _weighed(self, p: Partial, calls: int | None = None) -> float:
        """What a call takes, and its share of what it takes to get there."""
        calls = self.effort.calls if calls is None else calls
        build = self.build_seconds(p) if calls or self.effort.price else 0.0
        return p.seconds * (1 + self.effort.price * build) + (build / calls if calls else 0.0)

    def build_seconds(self, p: Partial) -> float:
        """What a plan takes to be proven and compiled, beyond the program as it is written."""
        return p.build_seconds

    def own_build_seconds(self, d: Decided) -> float:
        """What a Func takes to be proven and compiled, beyond what it does as it is written."""
        found = self._builds.get(id(d))
        if found is None:
            moved = d.plan.at is not None
            pairs = zip(self.statements[d.plan.func], d.nests, strict=True)
            changed = ((s, n) for s, n in pairs if moved or not n.plan.is_as_written)
            # It is kept, too, so that no other one is found by its address.
            found = self._builds[id(d)] = d, sum(build_seconds(s, n) for s, n in changed)
        return found[1]

    def own_seconds(self, p: Partial, d: Decided) -> float:
        """What a Func costs, where all others are as in a plan."""
        own = zip(self.statements[d.plan.func], d.spots, d.nests, strict=True)
        return sum(self.costs.at(p, s, at).seconds(nest) for s, at, nest in own)

    def as_written(self) -> Partial:
        """The plan that leaves all as it is written."""
        p = Partial()
        for func in reversed(self.statements):
            p = self.decide(p, self.func_as_written(func))
        return p

    def decided(self, plans: Sequence[FuncPlan]) -> Partial | None:
        """A plan with its loops and places, and what it costs; None where facts do not allow
        them."""
        p = Partial()
        for plan in plans:
            own = self.statements.get(plan.func)
            if own is None or not _is_about(plan, own):
                return None
            made = self._planned(p, plan)
            if made is None:
                return None
            p = self.decide(p, made)
        return p

    def _planned(self, p: Partial, plan: FuncPlan) -> Decided | None:
        """What a plan decides of a Func: it need not be among the candidates."""
        own = self.statements[plan.func]
        for spot in self.spots_of(p, plan.func):
            if (spot.at, spot.stored_at) != (plan.at, plan.stored):
                continue
            main = main_of(own)
            first = self.candidates.templates(main, spot).nest(plan.nests[own.index(main)])
            if first is None:
                return None
            begin = beginning(own, main, first, spot)
            places = tuple(begin if s is own[0] else spot for s in own)
            nests: list[Nest] = []
            for s, nest, at in zip(own, plan.nests, places, strict=True):
                found = self.candidates.templates(s, at).nest(nest)
                if found is None:
                    return None
                nests.append(found)
            return Decided(plan, spot, tuple(nests), places)
        return None

    # one Func -------------------------------------------------------------------------------
    def _decisions(self, p: Partial, func: str) -> Iterator[Partial]:
        """A partial plan with each of what can be decided of a Func."""
        for spot in self.spots_of(p, func):
            for made in self._at(p, func, spot):
                if not self.refusals.forbid(made.plan):
                    yield self.decide(p, made)
        for made in hosted(self, p, func):
            yield self.decide(p, made)
        yield self.decide(p, self.func_as_written(func))

    def func_as_written(self, func: str) -> Decided:
        """A Func at the root, as it is written: what is always possible."""
        found = self._written.get(func)
        if found is None:
            nests = tuple(self.candidates.of(s, ROOT)[0] for s in self.statements[func])
            plan = FuncPlan(func, tuple(n.plan for n in nests))
            found = Decided(plan, ROOT, nests, tuple(ROOT for _ in nests))
            self._written[func] = found
        return found

    def spots_of(self, p: Partial, func: str) -> list[Spot]:
        """The places where a Func can be computed."""
        own, windows = self.statements[func], self._windows.get(func, [])
        if func in self.outputs or not windows or not self.effort.moves:
            return [ROOT]
        if any(s.kind == "extern" or any(x.is_shared for x in s.loops) for s in own):
            return [ROOT]
        readers = [r for w in windows if (r := self._reader(p, w)) is not None]
        if len(readers) < len(windows):
            return [ROOT]
        found = [x for x in spots(readers) if (func, x.at) not in self.refusals.places]
        # Only what is computed element by element slides.
        all_of = (with_past(own, x) for x in found if len(own) == 1 or not x.slides)
        return [ROOT, *(x for x in all_of if x is not None)]

    def _reader(self, p: Partial, w: Window) -> Reader | None:
        """A statement that reads a Func, in its loops; None where these are not decided."""
        s = self._by_name[w.consumer]
        decided = p.funcs.get(s.func)
        if decided is None:
            return None
        at = self.statements[s.func].index(s)
        return Reader(s, w, decided.spot, decided.nests[at])

    def _at(self, p: Partial, func: str, spot: Spot) -> Iterator[Decided]:
        """What can be decided of a Func at a place: its main statement in several ways, the others
        in the best one."""
        yield from self.with_nests(
            p, func, spot, self._ways(p, main_of(self.statements[func]), spot)
        )

    def with_nests(
        self, p: Partial, func: str, spot: Spot, nests_of_main: Sequence[Nest]
    ) -> Iterator[Decided]:
        """What can be decided of a Func at a place where its main statement has some nests."""
        own = self.statements[func]
        main = main_of(own)
        for nest in nests_of_main:
            begin = beginning(own, main, nest, spot)
            places = tuple(begin if s is own[0] else spot for s in own)
            nests = tuple(
                nest if s is main else self._one(p, s, at)
                for s, at in zip(own, places, strict=True)
            )
            plan = FuncPlan(func, tuple(n.plan for n in nests), spot.at, spot.stored_at)
            yield Decided(plan, spot, nests, places)

    def _one(self, p: Partial, s: StatementFacts, spot: Spot) -> Nest:
        """The best nest of a statement by itself."""
        at = self.costs.at(p, s, spot)
        if at.best is None:
            (at.best,) = at.cheapest(self.candidates.of(s, spot), 1)
        return at.best

    def _ways(self, p: Partial, s: StatementFacts, spot: Spot) -> list[Nest]:
        """Nests of a statement at a place: that as written, and the best for each kind of strips,
        and of tiles where these are wanted, in which producers may be computed."""
        at = self.costs.at(p, s, spot)
        if at.ways is None:
            written, *others = self.candidates.of(s, spot)
            shares_rows = self.candidates.shares_rows(s, spot)
            tiles = KINDS if self.candidates.wants_tiles(s) else KINDS[: 1 + shares_rows]

            def kind(nest: Nest) -> object:
                return tuple([nest.plan.knob(x) for x in tiles])

            at.ways = [written, *at.cheapest(others, self.effort.width, kind)]
        return at.ways

    # costs ----------------------------------------------------------------------------------
    def decide(self, p: Partial, made: Decided) -> Partial:
        """A plan with one decision more, or another one: readers find what they read where it
        is."""
        before = p.funcs.get(made.plan.func)
        is_elsewhere = made.spot != (ROOT if before is None else before.spot)
        changed, funcs = dict[str, Cost](), {**p.funcs, made.plan.func: made}
        if before is None:
            build = p.build_seconds + self.own_build_seconds(made)
        else:
            build = sum(map(self.own_build_seconds, funcs.values()))
        new = Partial(funcs)
        for s, nest, at in zip(
            self.statements[made.plan.func], made.nests, made.spots, strict=True
        ):
            changed[s.name] = self._cost(new, s, at, nest)
        for d in (before, made):
            self._count_joint(new, d, changed)
        for w in self._windows.get(made.plan.func, ()) if is_elsewhere else ():
            r = self._reader(new, w)
            if r is not None:
                changed[w.consumer] = self._cost(new, r.statement, r.spot, r.nest)
                self._count_joint(new, new.funcs[r.statement.func], changed)
        costs = {**p.costs, **changed}
        return Partial(funcs, costs, build, sums_of(costs, changed, p.costs, p.sums))

    def _cost(self, p: Partial, s: StatementFacts, spot: Spot, nest: Nest) -> Cost:
        """What a statement costs with all that is computed in its loops; nothing where it is
        computed in those of another one."""
        whole = self.together.joint(p, s)
        if whole is None:
            return NOTHING
        cost = joint_cost(self, p, (s, whole), spot, nest)
        is_beside = spot.at is not None and nest.is_block and self._is_in_block(p, spot.at)
        return replace(cost, within=spot.at[0]) if is_beside and spot.at is not None else cost

    def _is_in_block(self, p: Partial, place: Place) -> bool:
        """Whether a loop of a statement is the innermost one around a block of it."""
        statement, loop = place
        s = self._by_name[statement]
        decided = p.funcs[s.func]
        nest = decided.nests[self.statements[s.func].index(s)]
        return all(x.kind in BLOCK for x in nest.loops[nest.depth(loop) + 1 :])

    def _count_joint(self, p: Partial, hosted: Decided | None, costs: dict[str, Cost]) -> None:
        """Finds again what a Func costs in whose loops another one is computed, if any."""
        host = None if hosted is None else self.together.host_of(hosted)
        if host is not None:
            d, s = p.funcs[host], self.statements[host][-1]
            costs[s.name] = self._cost(p, s, d.spots[-1], d.nests[-1])


def _is_about(plan: FuncPlan, own: Sequence[StatementFacts]) -> bool:
    """Whether a plan names the statements of a Func, and loops that these have."""
    if [s.name for s in own] != [nest.statement for nest in plan.nests]:
        return False
    pairs = zip(own, plan.nests, strict=True)
    asked = ((s, nest.knob(x)) for s, nest in pairs for x in ("vector", "jam", "parallel"))
    named = ((s, number) for s, number in asked if number is not None)
    return all(number < len(s.loops) for s, number in named)


def _varied(found: Sequence[Partial], func: str) -> list[Partial]:
    """The best partial plans, and only the best of those that compute a Func alike."""
    best: dict[object, Partial] = {}
    for p in found:
        d = p.funcs[func]
        tiles = tuple(tuple(n.knob(x) for x in KINDS) for n in d.plan.nests)
        best.setdefault((d.spot.at, d.spot.stored, tiles), p)
    return list(best.values())
