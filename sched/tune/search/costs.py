"""What statements cost at places, in the nests that they may have there, each found once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf
from types import MappingProxyType

from ...records import replace
from ..facts.facts import StatementFacts
from ..model.cost import Cost
from ..model.model import Model, Work
from ..model.work import Site
from ..plans.alike import Alike, alike, kept
from ..plans.candidates import Candidates
from ..plans.places import Spot
from ..plans.planned import Nest
from ..plans.steps import skewed
from .decided import Partial

UNEVEN, SKEWED = 2.5, 1.6
"""How much longer loops take whose bounds are not simple, and those that run askew."""

Key = tuple[object, ...]
"""A template with its knobs."""


class Known:
    """What was found of nests of statements that are alike.

    Attributes:
        costs: of those that were looked at.
        begun: of the others what the model is told of them, and what computing takes alone.
    """

    def __init__(self) -> None:
        self.costs: dict[Key, Cost] = {}
        self.begun: dict[Key, tuple[Work, float]] = {}


class Costs:
    """Costs of statements. Those that are alike but for names, as the levels of a pyramid or the
    gates of a network, have them in common.

    Args:
        outputs: the names of Funcs that stay at the root.
        few_planes: Funcs of which few elements along an axis are kept, with that axis.
    """

    def __init__(
        self,
        model: Model,
        statements: Mapping[str, Sequence[StatementFacts]],
        outputs: Collection[str],
        candidates: Candidates,
        few_planes: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.few_planes = few_planes
        self.model, self.outputs, self.candidates = model, outputs, candidates
        self._accesses: dict[str, Alike] = {}
        self._tensors: dict[str, tuple[str, ...]] = {}
        self._numbers: dict[object, int] = {}
        self._contents: dict[str, int] = {}
        for own in statements.values():
            for s in own:
                self._add(s)
        self._at: dict[object, CostsAt] = {}
        self._known: dict[object, Known] = {}

    def _add(self, s: StatementFacts) -> None:
        """Looks what a statement accesses, and whether there is one that is alike."""
        self._accesses[s.name] = alike(s)
        self._tensors[s.name] = tuple(dict.fromkeys(a.tensor for a in s.accesses))
        content, numbers = _content(s, s.func in self.outputs, self._steps(s)), self._numbers
        self._contents[s.name] = numbers.setdefault(content, len(numbers))

    def _steps(self, s: StatementFacts) -> int | None:
        """The loop of a statement along which few elements of its Func are kept, if any."""
        axis = self.few_planes.get(s.func)
        return s.axes.index(axis) if axis is not None and axis in s.axes else None

    def at(self, p: Partial, s: StatementFacts, spot: Spot) -> CostsAt:
        """The costs of a statement at a place, where what it touches is stored as a plan says."""
        if s.name not in self._tensors:
            self._add(s)
        stored = tuple(
            [
                len(spot.outer) if tensor == s.func else p.stored_in(tensor)
                for tensor in self._tensors[s.name]
            ]
        )
        key = s.name, spot, stored
        found = self._at.get(key)
        if found is None:
            found = self._at[key] = self._made(s, spot, stored)
        return found

    def _made(self, s: StatementFacts, spot: Spot, stored: tuple[int, ...]) -> CostsAt:
        templates = self.candidates.templates(s, spot)
        around = tuple([(o.extent, o.kind, o.moves) for o in spot.outer])
        place = around, spot.region, spot.stored, spot.again, spot.uneven, spot.at is None
        key = self._contents[s.name], place, templates.extents, templates.short, stored
        depths = dict(zip(self._tensors[s.name], stored, strict=True))
        known = self._known.setdefault(key, Known())
        folds, accesses = s.func not in self.outputs, self._accesses[s.name]
        return CostsAt(self.model, s, spot, depths, accesses, folds, known, self._steps(s))


class CostsAt:
    """Costs of a statement at a place.

    Args:
        stored: by tensor, how many loops around use the same storage of it in each iteration.
        accesses: of the statement, by `alike`.
        folds: whether as much of its results is stored as is read again, where rows run askew.
        known: what was found for this and for what is alike.
        steps: the loop along which only few elements are kept in any case; None for none.

    Attributes:
        best: of all nests that it may have there, where somebody has looked for that.
        ways: those in which producers may be computed, likewise.
    """

    def __init__(
        self,
        model: Model,
        s: StatementFacts,
        spot: Spot,
        stored: Mapping[str, int],
        accesses: Alike,
        folds: bool,
        known: Known,
        steps: int | None = None,
    ) -> None:
        self.model, self.statement, self.spot, self.stored = model, s, spot, stored
        self.folds, self.known = folds, known
        self.accesses = accesses if steps is None else kept(accesses, s, steps)
        self.best: Nest | None = None
        self.ways: list[Nest] | None = None
        self._site: Site | None = None

    def of(self, nest: Nest) -> Cost:
        """What a nest costs."""
        return self._of(nest, _key(nest))

    def _of(self, nest: Nest, key: Key) -> Cost:
        found = self.known.costs.get(key)
        if found is None:
            found = self.known.costs[key] = self._found(nest, key)
            self.known.begun.pop(key, None)
        return found

    def seconds(self, nest: Nest) -> float:
        """The same in seconds."""
        return self.of(nest).seconds

    def cheapest(
        self, nests: Sequence[Nest], most: int, kind: Callable[[Nest], object] = lambda nest: None
    ) -> list[Nest]:
        """The best nest of each kind, of so many kinds at most, the best one first; of equal ones
        the first. What takes longer to compute than these take in all is looked at no further.
        """
        best: dict[object, tuple[float, int]] = {}
        limit = inf
        keys = [_key(n) for n in nests]
        for least, k in sorted([(self._least(n, keys[k]), k) for k, n in enumerate(nests)]):
            if least > limit:
                break
            of = kind(nests[k])
            if of in best and least > best[of][0]:
                continue
            found = self._of(nests[k], keys[k]).seconds, k
            best[of] = min(found, best.get(of, found))
            if len(best) >= most:
                limit = sorted(best.values())[most - 1][0]
        return [nests[k] for _, k in sorted(best.values())[:most]]

    def _least(self, nest: Nest, key: Key) -> float:
        """What a nest takes at least."""
        found = self.known.costs.get(key)
        return self.model.least(*self._begun(nest, key)) if found is None else found.seconds

    def _begun(self, nest: Nest, key: Key) -> tuple[Work, float]:
        """What the model is told of a nest, and what computing takes."""
        found = self.known.begun.get(key)
        if found is None:
            work = self._site_of(nest).work(nest)
            found = self.known.begun[key] = work, self.model.compute(work)
        return found

    def _site_of(self, nest: Nest) -> Site:
        s, spot = self.statement, self.spot
        if nest.skew and self.folds:
            folded = kept(self.accesses, s, nest.plan.number("jam"))
            return Site(s, spot, self.stored, folded)
        if nest.block is not None and nest.block.skews:
            askew = skewed(self.accesses, nest.block)
            return Site(s, spot, self.stored, askew)
        self._site = self._site or Site(s, spot, self.stored, self.accesses)
        return self._site

    def _found(self, nest: Nest, key: Key) -> Cost:
        found = self.model.cost(*self._begun(nest, key))
        if nest.block is not None and nest.block.near is not None:
            near = self._site_of(nest).work(nest.block.near)
            found = found.plus(self.model.cost(near), nest.block.share)
        longer = (UNEVEN if self.spot.uneven else 1.0) * (SKEWED if nest.skew else 1.0)
        return replace(found, compute=longer * found.compute) if longer > 1 else found


def _key(nest: Nest) -> Key:
    """All that tells a nest from others of a statement at a place."""
    return nest.plan.template, nest.plan.knobs


def _content(s: StatementFacts, is_output: bool, steps: int | None) -> tuple[object, ...]:
    """All that is known of a statement but for names."""
    numbers = {s.func: 0}
    accesses = [
        (numbers.setdefault(a.tensor, len(numbers)), replace(a, tensor="")) for a in s.accesses
    ]
    loops = tuple(replace(x, name="") for x in s.loops)
    own = tuple((d.source == s.name, d.sink == s.name, d.spans) for d in s.distances)
    operations = tuple(s.operations.items())
    known = s.kind, s.is_exact, loops, s.axes, operations, s.varying, tuple(accesses), own
    return (*known, s.waiting, is_output, steps)
