"""What a search has decided, and what it must not decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ...lang.errors.errors import LanguageError, ScheduleError
from ...records import dataclass
from ..facts.facts import StatementFacts
from ..model.cost import Cost, seconds_of
from ..plans.places import Spot
from ..plans.plan import FuncPlan, Place
from ..plans.planned import Nest, PlannedLoop
from ..plans.suited import SHORTEST


@dataclass(frozen=True, slots=True)
class Decided:
    """A Func of which all is decided.

    Attributes:
        plan: the same as plain data.
        spot: where it is computed.
        nests: of its statements.
        spots: of these: that of the Func, or for its pure definition a loop of its update.
    """

    plan: FuncPlan
    spot: Spot
    nests: tuple[Nest, ...]
    spots: tuple[Spot, ...]

    @property
    def stored_in(self) -> int:
        """How many loops around use the same storage in each iteration: where a window slides,
        that is folded to as much as is still read."""
        return len(self.spot.outer)

    def begins_rows(self, first: StatementFacts, loop: PlannedLoop) -> bool:
        """Whether a loop of its first statement goes through the rows of a tile in registers that
        begins there: unrolled, they are so at borders, too."""
        begin, few = self.spots[0], 1 < loop.extent <= SHORTEST
        return few and begin is not self.spot and begin.has_few(first)[loop.loop]


@dataclass(frozen=True, slots=True)
class Partial:
    """A plan for some of the Funcs.

    Attributes:
        funcs: by name, consumers before producers.
        costs: by statement.
        build_seconds: what it takes to be proven and compiled, beyond the program as it is written.
        sums: what the first statements take together, up to each; none where it is not known.
    """

    funcs: Mapping[str, Decided] = field(default_factory=dict)
    costs: Mapping[str, Cost] = field(default_factory=dict)
    build_seconds: float = 0.0
    sums: tuple[float, ...] = ()

    @property
    def seconds(self) -> float:
        """What it costs."""
        return self.sums[-1] if self.sums else seconds_of(self.costs)

    def stored_in(self, tensor: str) -> int:
        """How many loops around a Func use the same storage of it; none of what is at the root, of
        Inputs, and of what is not decided yet."""
        decided = self.funcs.get(tensor)
        return 0 if decided is None else decided.stored_in


@dataclass(frozen=True, slots=True)
class Refusals:
    """What a schedule is known not to accept.

    Attributes:
        plans: decisions of Funcs at the root.
        places: Funcs, each with a place that does not suit it.
        varying: Funcs, each with a place at which its loops are of no constant extent.
        alone: Funcs that are not computed in the loops of others.
        in_tiles: Funcs of which no tile computes several steps.
    """

    plans: frozenset[FuncPlan] = frozenset()
    places: frozenset[tuple[str, Place | None]] = frozenset()
    varying: frozenset[tuple[str, Place | None]] = frozenset()
    alone: frozenset[str] = frozenset()
    in_tiles: frozenset[str] = frozenset()

    def forbid(self, plan: FuncPlan) -> bool:
        """Whether a Func is known not to be computed so."""
        has_tiles = any(x.template in ("steps", "blocks") for x in plan.nests)
        return plan in self.plans or (has_tiles and plan.func in self.in_tiles)


NONE_KNOWN = Refusals()


class Refused(Exception):
    """A decision that a schedule does not accept.

    Attributes:
        decided: the decision; None where it is not known which one.
        error: what the schedule says.
    """

    def __init__(self, decided: Decided | None, error: LanguageError | ScheduleError) -> None:
        super().__init__(str(error))
        self.decided, self.error = decided, error

    @property
    def status(self) -> str:
        """What kind of refusal it is: see `ScheduleError`."""
        return self.error.status if isinstance(self.error, ScheduleError) else "malformed"
