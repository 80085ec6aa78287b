"""What statements cost at places, in the nests that they may have there, each found once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from .alike import Alike, alike, kept
from .candidates import Candidates
from .cost import Cost
from .decided import Partial
from .facts.facts import StatementFacts
from .model import Model
from .places import Spot
from .planned import Nest
from .steps import skewed
from .work import Site

UNEVEN, SKEWED = 2.5, 1.6
"""How much longer loops take whose bounds are not simple, and those that run askew."""

Known = dict[tuple[object, ...], Cost]
"""Costs by template and knobs."""


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
        known = self._known.setdefault(key, {})
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
        self._site: Site | None = None

    def of(self, nest: Nest) -> Cost:
        """What a nest costs."""
        key = nest.plan.template, nest.plan.knobs
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._found(nest)
        return found

    def seconds(self, nest: Nest) -> float:
        """The same in seconds."""
        return self.of(nest).seconds

    def _found(self, nest: Nest) -> Cost:
        s, spot = self.statement, self.spot
        if nest.skew and self.folds:
            folded = kept(self.accesses, s, nest.plan.number("jam"))
            site = Site(s, spot, self.stored, folded)
        elif nest.block is not None and nest.block.skews:
            askew = skewed(self.accesses, nest.block)
            site = Site(s, spot, self.stored, askew)
        else:
            site = self._site = self._site or Site(s, spot, self.stored, self.accesses)
        found = self.model.cost(site.work(nest))
        if nest.block is not None and nest.block.near is not None:
            found = found.plus(self.model.cost(site.work(nest.block.near)), nest.block.share)
        longer = (UNEVEN if spot.uneven else 1.0) * (SKEWED if nest.skew else 1.0)
        return replace(found, compute=longer * found.compute) if longer > 1 else found


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
