"""What a nest of loops costs: the largest of what it computes and of what each cache lacks.

All is found from facts by arithmetic: no code is made, and nothing is asked of isl. The terms are
seconds of the slowest thread; `Cost` keeps each, so that a choice can be explained.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from ...lang.nodes.dtypes import float32
from ...records import dataclass
from ...targets.facts import Machine
from ..plans.planned import Kind
from .cost import Cost
from .footprint import JUMPS, Level, Sharing, Touch, Traffic
from .operators import EXTREMUM, SUM, latency, parts, slots_for
from .registers import loaded, needed

HERTZ = 3e9
"""A usual clock: latencies and what loops cost are counted in cycles of it."""

BETWEEN = 0.5
"""The part of the shorter one of what units take and of what a result waits for that is not hidden
behind the longer one: twice as many sums as there are waits for are not enough."""

ENTRY = 5.0
"""Cycles that it takes to begin a loop: bounds, and what is left over behind full vectors."""

MASK = 10.0
"""Cycles more where it is one of vectors, the last of which is not full."""

TURN = 1.0
"""Cycles that each iteration of a loop takes for itself."""

GATHER = 2.5
"""Cycles for each lane of a vector whose elements are loaded or stored one by one."""

LOOKED_UP = 1.0
"""The same where data say which element is loaded: one instruction loads those of all lanes."""

COPY = 0.2
"""Cycles for a byte of a panel that is copied, row by row."""

MISS = 1.0
"""Cycles for a line that is in the second cache, where many are asked for."""

WRITE_MISS = 14.0
"""The same for one that is written."""

ISSUE = 0.25
"""Cycles for an instance, whatever it does."""

START = 1e-6
"""Seconds to hand a loop to threads that are awake."""

ASKED = 0.05e-6
"""Seconds to find that a loop is not worth it."""

WORTHWHILE = 10e-6
"""Seconds below which a loop is not handed out."""

FULL = 0.8
"""The part of a cache that a nest can count on."""

SHARED_MEMORY = 1.5
"""How much more several cores read of memory than one."""


@dataclass(frozen=True, slots=True)
class Work:
    """A nest, as the model sees it.

    Attributes:
        extents: of the loops, outermost first.
        kinds: how their iterations run.
        touches: what an instance reads and writes.
        operations: of an instance: class and type, which loops change the operands, and how many.
        chained: which loops carry a dependence from one iteration to the next.
        waiting: the operations of an instance that one after it waits for.
        is_sum: whether only the last addition of an instance waits for the iteration before.
        widest: bytes of the widest element.
        is_held: whether results stay in registers in the innermost loop that has no vectors.
        lanes: of a vector at most; None for as many as a register has.
        copied: what is copied first, and how far elements lie from each other that are stored side
            by side; None where nothing is.
        partials: results of lanes that are put together, one by one.
        in_registers: whether what a block computes alone stays in registers.
    """

    extents: tuple[float, ...]
    kinds: tuple[Kind, ...]
    touches: tuple[Touch, ...]
    operations: tuple[tuple[str, tuple[bool, ...], int], ...]
    chained: tuple[bool, ...]
    waiting: tuple[tuple[str, int], ...]
    is_sum: bool
    widest: int
    is_held: bool
    lanes: int | None = None
    copied: Touch | None = None
    partials: float = 0.0
    in_registers: bool = False


LESS = 1 - 1e-9
"""What rounding may take from a quotient."""


class Model:
    """Costs on a machine.

    Args:
        threads: that calls may use.
    """

    def __init__(self, machine: Machine, threads: int) -> None:
        self.machine, self.threads = machine, threads
        lanes = machine.target.lanes(float32)
        self.slot = 2 * lanes / machine.peak(float32)
        self.scalar = min(self.slot, 0.5 / HERTZ)
        caches = machine.target.caches
        jumps = (*JUMPS[:1] * (len(caches) - 2), *JUMPS[-2:])[-len(caches) :]
        self.levels = [
            Level(FULL * c.bytes, machine.bandwidth(k + 2), jump, c is caches[-1], k == 0)
            for k, (c, jump) in enumerate(zip(caches, jumps, strict=True))
        ]
        self._bytes = machine.target.vector_bytes
        self._registers = machine.target.vector_registers

    def least(self, work: Work, compute: float) -> float:
        """What a nest takes at least: computing, which threads share at best evenly."""
        return LESS * compute / (self.threads if "parallel" in work.kinds else 1)

    def cost(self, work: Work, compute: float | None = None) -> Cost:
        """What a nest costs.

        Args:
            compute: what computing takes, where that is known.
        """
        compute = self.compute(work) if compute is None else compute
        moved = Traffic(work.touches, work.extents)
        memory = [moved.seconds(level) for level in self.levels]
        if "parallel" not in work.kinds or self.threads == 1:  # nothing is said of threads then
            return Cost(compute, tuple(memory), 0.0)
        at = work.kinds.index("parallel")
        starts, share = prod(work.extents[:at]), work.extents[at]
        at_once = min(self.threads, share)
        if at_once <= 1 or max(compute, *memory) / starts < WORTHWHILE:
            return Cost(compute, tuple(memory), starts * ASKED)
        speed = share / ceil(share / at_once)
        *caches, _ = memory
        last = moved.seconds(self.levels[-1], Sharing(at, at_once))
        memory = [x / speed for x in caches] + [last / min(speed, SHARED_MEMORY)]
        return Cost(compute / speed, tuple(memory), starts * START)

    # what is computed -----------------------------------------------------------------------
    def compute(self, work: Work) -> float:
        """Seconds that the units of a core take."""
        begin = len(work.extents)
        while begin and work.kinds[begin - 1] in ("vector", "unrolled"):
            begin -= 1
        around = begin - 1
        while around >= 0 and work.extents[around] == 1 and work.in_registers:
            around -= 1  # a loop of one iteration is none
        full = max(1, self._bytes // work.widest)
        lanes = min(full, work.lanes or full) if "vector" in work.kinds[begin:] else 1
        # Units that take two narrow vectors at a time take one that is wide.
        slot = max(self.slot * lanes / full, self.scalar) if lanes > 1 else self.scalar
        cycle = 1 / HERTZ
        moves, held = self._loads_and_stores(work, begin, around, lanes)
        total = max(self._slots_of(work, begin, around, lanes) * slot, moves * cycle)
        if held > self._registers:
            total *= 1.5
        if around >= 0 and work.chained[around]:
            waits = self._chain(work) * cycle
            total = max(total, waits) + BETWEEN * min(total, waits)
        for at in reversed(range(around + 1)):
            turn = TURN if at == around else ENTRY
            total = work.extents[at] * (total + turn * cycle)
            if lanes > 1 and at == begin - 1:
                total += MASK * cycle
        return total + (ENTRY + self._copying(work) + work.partials * self._chain(work)) * cycle

    def _loads_and_stores(
        self, work: Work, begin: int, around: int, lanes: int
    ) -> tuple[float, float]:
        """Cycles for the loads and stores of a block of vectors, and how many registers it takes.

        Args:
            around: the position of the innermost loop around it.
        """
        copies = 1.0
        for extent, kind in zip(work.extents[begin:], work.kinds[begin:], strict=True):
            copies *= ceil(extent / lanes) if kind == "vector" else extent
        turns = work.extents[around] if around >= 0 else 1.0
        moves = 0.0
        sums, loads = 0.0, [0.0, 0.0]
        for t in work.touches:
            cycles, count = self._moved(work, t, begin, lanes)
            is_invariant = around >= 0 and t.strides[around] == 0
            if not work.is_held and (t.is_write or t.is_own):
                is_invariant = False
            moves += cycles / turns if is_invariant else cycles
            if not is_invariant:
                loads.append(loaded(t, count, work.extents, work.kinds, begin))
            elif t.is_write:
                sums += count
        if any(k == "vector" and e < lanes for k, e in zip(work.kinds, work.extents, strict=True)):
            moves += MASK  # no vector is full
        return max(moves, self._conflicts(work, begin), copies * ISSUE), needed(sums, loads)

    def _slots_of(self, work: Work, begin: int, around: int, lanes: int) -> float:
        """Slots that the operators of a block of vectors take."""
        kinds = {varying for _, varying, _ in work.operations}
        times = {by: self._times(work, by, begin, around, lanes) for by in kinds}
        return sum(
            [count * slots_for(name, lanes) * times[by] for name, by, count in work.operations]
        )

    def _copying(self, work: Work) -> float:
        """Cycles for what is copied."""
        if work.copied is None:
            return 0.0
        each = COPY * work.copied.bytes if work.copied.strides == (1,) else GATHER
        return work.copied.elements * each

    def _times(
        self, work: Work, varying: Sequence[bool], begin: int, around: int, lanes: int
    ) -> float:
        """How often an operator is computed in a block of vectors; less than once where several
        blocks have it in common."""
        times = 1.0
        for at in range(begin, len(varying)):
            if varying[at]:
                is_vector = work.kinds[at] == "vector"
                times *= ceil(work.extents[at] / lanes) if is_vector else work.extents[at]
        if around >= 0 and not varying[around]:
            times /= work.extents[around]
        return times

    def _moved(self, work: Work, t: Touch, begin: int, lanes: int) -> tuple[float, float]:
        """Cycles for the loads or stores of a block of vectors, and how many there are."""
        count, each = float(t.count), 1.0 if t.is_write else 0.5
        together: dict[float | None, float] = {}
        for at in range(begin, len(work.extents)):
            stride, extent = t.strides[at], work.extents[at]
            if stride == 0:
                continue
            if t.gaps and t.gaps[at]:
                # Iterations side by side load once what several of them read.
                again = sum(max(0.0, extent - gap) for gap in t.gaps[at])
                count *= 1 - again / (t.count * extent)
            if work.kinds[at] != "vector":
                # Windows that overlap share what they load.
                before = together.get(stride, 1.0)
                together[stride] = before * extent if stride is None else before + extent - 1
                continue
            count *= ceil(extent / lanes)
            width = min(lanes, extent) * t.bytes
            each *= max(1.0, width / self.machine.unit_bytes)
            if stride is None or abs(stride) > 4:
                each = _gather(t, stride) * min(lanes, extent)
            elif abs(stride) != 1:
                # Elements between those of a vector are in the vectors of an unrolled loop, if any.
                each = (1.0 if self._interleaves(work, t, begin) else 2.0) * abs(stride)
        if None in t.strides[begin:] and "vector" in work.kinds:
            each = _gather(t, None) * lanes
        count *= prod(together.values())
        return count * each, count

    def _interleaves(self, work: Work, t: Touch, begin: int) -> bool:
        """Whether vectors side by side have all elements of those that they lie between."""
        own = list(zip(work.kinds, work.extents, t.strides, strict=True))[begin:]
        gaps = [stride for kind, _, stride in own if kind == "vector" and stride]
        return any(
            kind == "unrolled" and stride == 1 and extent in gaps for kind, extent, stride in own
        )

    def _conflicts(self, work: Work, begin: int) -> float:
        """Cycles for lines of a block that drive each other out of the nearest cache, since they
        lie a large power of two apart."""
        if "unrolled" not in work.kinds[begin:]:
            return 0.0
        nearest = self.machine.target.caches[0]
        period = nearest.bytes // nearest.ways
        lines, cycles = 0.0, 0.0
        for t in work.touches:
            if t.is_own and (work.is_held or not t.is_write):
                continue  # it is in registers, or in the lines that are written
            own = 1.0
            for at in range(begin, len(work.extents)):
                stride = t.strides[at]
                if stride and work.kinds[at] == "unrolled" and stride * t.bytes % period == 0:
                    own *= work.extents[at]
            if own > 1:
                lines += own
                cycles += own * (WRITE_MISS if t.is_write else MISS)
        return cycles if lines > nearest.ways else 0.0

    def _chain(self, work: Work) -> float:
        """Cycles from an instance to the next one that needs it."""
        if not work.is_sum:
            return sum(latency(n) * c for n, c in work.waiting)
        own = [n for n, _, _ in work.operations if parts(n)[1].is_float]
        if not own:
            return 1.0
        return SUM if any(n.startswith(("add", "multiply")) for n in own) else EXTREMUM


def _gather(t: Touch, stride: float | None) -> float:
    """Cycles for each lane whose element does not lie beside that of the lane before."""
    return LOOKED_UP if stride is None and not t.is_write else GATHER
