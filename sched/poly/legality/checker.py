"""The legality of a state: dependences, folded planes, padding, storage, and bounds of loops."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ...lang.errors.errors import InternalError, PolyschedError, ScheduleError
from ...lang.program.scalars import symbols_of
from ...records import dataclass
from ..model.statements import Statement
from ..nests.loop_nest import LoopNest
from ..nests.nests import loop_nests
from ..placement import accumulators, storage_placement
from ..placement.folding import Clobber, enough, fold_of, windows
from ..program.accumulation import accumulates, is_exact
from ..proof import padding
from ..proof.atomic_copies import non_atomic_copies
from ..proof.instance_pairs import InstancePair, smallest_pair
from ..proof.proof import Violation
from ..proof.sharing import shared
from ..sets.budget import BudgetExceeded, allowance, attempt, separate_budget
from ..sets.isl import Set, coalesced
from ..sets.memo import Same, same
from ..state.numbers import may_leave_64_bits
from ..state.record import Directive
from ..state.state import State
from ..tree.edits import stages
from ..tree.memory import Fault
from . import registers
from .advice import Helps
from .evidence import Evidence
from .refusals import Request, clobbered, refusal

F = TypeVar("F", Violation, Clobber)

FEW = 4
"""Bounds of loops over at most so many convex parts are known to be found, without a check."""

BOUNDS = 3
"""Budgets for the bounds of all loops of an accepted schedule: few bounds are found when a
directive is checked, so all of them may take more than one."""

SEARCH = 100_000
"""So much work may isl put into the search for a fault with a smaller pair of instances."""


@dataclass(frozen=True)
class Faults:
    """The clobbered planes and the violated dependences of a state."""

    clobbers: tuple[Clobber, ...]
    violations: tuple[Violation, ...]

    def beyond(self, known: Faults) -> Faults:
        """The faults without those pairs of instances that are among others."""
        return Faults(
            tuple(_beyond(self.clobbers, known.clobbers)),
            tuple(_beyond(self.violations, known.violations)),
        )


def _beyond(faults: Sequence[F], known: Sequence[F]) -> Iterator[F]:
    for fault in faults:
        pairs = fault.pairs
        for other in known:
            if other.subject == fault.subject:
                pairs = pairs.subtract(other.pairs)
        if not pairs.is_empty():
            yield replace(fault, pairs=pairs)


def _smallest(faults: Sequence[F]) -> tuple[F, InstancePair | None]:
    """The fault with the smallest pair of instances, or any where none is found; among those that
    are found soon, where there are several."""
    best: tuple[F, InstancePair | None] = (
        faults[0],
        smallest_pair(faults[0].pairs, *faults[0].statements),
    )
    with suppress(BudgetExceeded), attempt(SEARCH):
        for fault in faults[1:]:
            pair = smallest_pair(fault.pairs, *fault.statements)
            if pair is not None and (best[1] is None or pair.rank < best[1].rank):
                best = fault, pair
    return best


@dataclass(frozen=True)
class Change:
    """A request, and the states of the schedule before and after it."""

    request: Request
    before: State
    after: State

    @property
    def is_trusted(self) -> bool:
        return len(self.after.trusted) > len(self.before.trusted)


class LegalityChecker:
    """Decides whether states of schedules are legal."""

    def __init__(self) -> None:
        self._nests: tuple[State, tuple[LoopNest, ...]] | None = None

    def nests(self, state: State, budgets: int = BOUNDS) -> tuple[LoopNest, ...]:
        """The loops of a state with their bounds; those of the last state are kept.

        They have budgets of their own, so that the result does not depend on how much of another
        budget was left to whoever needed it first.
        """
        kept = self._nests
        if kept is None or kept[0] is not state:
            symbols = {**symbols_of(state.rewritten.program), **state.constants}
            with separate_budget(budgets * allowance(len(state.rewritten.model.statements))):
                kept = state, loop_nests(state.tree, symbols, self.callable(state))
            self._nests = kept
        return kept[1]

    def check_loops(self, state: State, directives: Iterable[Directive], budgets: int = 1) -> None:
        """Finds the bounds of loops that may be too intricate, or leave 64 bits: then the directive
        that makes them is refused, and not the print or the compilation that needs them.

        Args:
            directives: those that led to the state.
            budgets: how many of them the bounds of all loops may take.
        """
        pieces = (int(s.instances.n_basic_set()) for s in stages(state.tree))
        if may_leave_64_bits(directives) or any(n > FEW for n in pieces):
            self.nests(state, budgets)

    def callable(self, state: State) -> Set:
        """The sizes that a call accepts."""
        rewritten = state.rewritten
        allowed = [
            *(a.allowed for a in state.assumptions),
            *(c.allowed for c in rewritten.proven.sizes),
        ]

        def find() -> Set:
            context = rewritten.model.context
            for sizes in allowed:
                context = coalesced(context.intersect(sizes))
            return context

        return rewritten.memo.of(("callable", Same(rewritten.model.context), same(allowed)), find)

    def faults(self, state: State, only: Collection[Statement] | None = None) -> Faults:
        """The faults of a state, or those of some statements alone; and those of folds."""
        context = self.callable(state)

        known, proofs = state.rewritten.memo.of, state.rewritten.proofs

        def relaxed(s: Statement) -> bool:
            d = s.definition
            return known(("exact", d), partial(is_exact, d)) or (
                s.name in state.reassociated and accumulates(d)
            )

        lost = [
            c
            for func, window in state.folds
            for c in proofs.broken(
                fold_of(state.rewritten.model, state.tree, func, window), context
            )
            or ()
        ]
        # A statement of an earlier rewritten program is the one of the same definition here.
        serials = {s.definition.serial for s in only or ()}
        every = state.rewritten.model.statements
        chosen = None if only is None else [s for s in every if s.definition.serial in serials]

        def is_atomic(v: Violation) -> bool:
            own = v.source is v.sink and v.dependence.tensor is v.source.func
            return own and v.source.name in state.atomic and relaxed(v.source.base)

        broken = state.rewritten.prover.violations(state.tree, relaxed, context, chosen)
        left = (non_atomic_copies(state.tree, v) if is_atomic(v) else v for v in broken)
        found = [v for v in left if v is not None]
        return Faults(tuple(lost), (*found, *shared(state.tree, context, proofs)))

    def new_faults(self, changes: Sequence[Change]) -> Faults:
        """The faults behind some changes, without those before them, and without those that
        trusted changes among them have made."""
        first, last = changes[0].before, changes[-1].after
        found = self.faults(last)
        if not last.trusted:
            return found
        found = found.beyond(self.faults(first))
        for c in changes:
            if c.is_trusted:
                made = self.faults(c.after).beyond(self.faults(c.before))
                found = found.beyond(made)
        return found

    def _padded(self, state: State) -> Fault | None:
        """A padded tile that would change a result."""
        rewritten, context = state.rewritten, self.callable(state)
        return padding.fault(
            rewritten.model, state.tree, context, dict(state.folds), rewritten.memo
        )

    def _no_room(self, state: State) -> Fault | None:
        """What cannot be on the stack or in registers as `store_in` says."""
        model, memo = state.rewritten.model, state.rewritten.memo
        places = {f: m for f, m in state.memory.items() if f in model.regions}
        chosen = {f: m for f, m in places.items() if m.place in ("stack", "register")}
        if not chosen:
            return None
        symbols, context = symbols_of(state.rewritten.program), self.callable(state)
        # Windows have a budget of their own, so that they do not depend on what is left of another.
        with separate_budget(allowance(len(model.statements))):
            folds = windows(model, state.tree, memo, dict(state.folds), chosen)
        with separate_budget(BOUNDS * allowance(len(model.statements))):
            return registers.fault(state.tree, symbols, context, chosen, folds, memo)

    def _out_of_place(self, state: State) -> Fault | None:
        """A use outside of the storage, or a copy-out of elements of another iteration."""
        context = self.callable(state)
        copied = accumulators.fault(state.tree, context)
        return copied or storage_placement.fault(state.tree, context)

    def is_legal(self, changes: Sequence[Change]) -> bool:
        """Whether the state behind some changes is legal."""
        state = changes[-1].after
        if self._padded(state) or self._no_room(state):
            return False
        if state.rewritten.prover.uncovered(state.tree, self.callable(state)) is not None:
            return False
        found = self.new_faults(changes)
        return not (found.clobbers or found.violations or self._out_of_place(state))

    def check(self, changes: Sequence[Change], helps: Helps, *, is_trusted: bool) -> None:
        """Refuses changes behind which the state is not legal.

        Args:
            helps: whether a directive would be right with another one before it.
            is_trusted: whether the order of instances is left unproven. Memory is checked in any
                case: trust cannot make room for what has none.

        Raises:
            ScheduleError: says what cannot be stored as it would be, or names two instances and
                the change that put them out of order.
        """
        state, directive = changes[-1].after, changes[-1].request.directive
        assert state.complete is None
        _refuse(self._padded(state), directive, "PS0306")
        _refuse(self._no_room(state), directive, "PS0307")
        if not is_trusted:
            self._check_order(changes, helps)
        _refuse(self._out_of_place(state), directive, "PS0309")

    def _check_order(self, changes: Sequence[Change], helps: Helps) -> None:
        """Refuses changes that put instances out of order.

        Raises:
            ScheduleError: names two instances, and the change that did so.
        """
        state = changes[-1].after
        context = self.callable(state)
        missing = state.rewritten.prover.uncovered(state.tree, context)
        if missing is not None:
            raise self._left_out(missing, changes)
        found = self.new_faults(changes)
        if found.clobbers:
            func = found.clobbers[0].func
            lost, pair = _smallest([c for c in found.clobbers if c.func is func])
            window = dict(state.folds)[func]
            more = enough(state.rewritten.model, func, window, state.tree, context)
            error = clobbered(lost, pair, window, more, self._culprit(changes, lost, pair))
            error._evidence = Evidence(changes[0].before, state, pair, lost.pairs, "clobber")
            raise error
        if found.violations:
            broken, pair = _smallest(found.violations)
            error = refusal(broken, pair, self._culprit(changes, broken, pair), helps)
            error._evidence = Evidence(changes[0].before, state, pair, broken.pairs, broken.kind)
            raise error

    def _left_out(self, missing: Statement, changes: Sequence[Change]) -> PolyschedError:
        """Parts of a stage are some of the instances that it had when it was taken apart. In
        another rewritten program it may have more."""
        request = changes[-1].request
        if all(c.before.rewritten is c.after.rewritten for c in changes):
            text = request.directive.text()
            return InternalError(f"{text} leaves out instances of {missing.name}")
        return ScheduleError(
            f"{request.subject} is refused: {missing.name} would compute more than the parts that "
            "it was taken apart into",
            where=request.directive.span,
            hint="say this first, then peel or partition",
            directive=request.text,
        )

    def _culprit(
        self, changes: Sequence[Change], fault: Violation | Clobber, pair: InstancePair | None
    ) -> Request:
        """The first change behind which two instances are out of order, and stay so to the end."""
        pairs = fault.pairs if pair is None else pair.relation
        found = changes[-1]
        with suppress(BudgetExceeded), attempt():  # else any of them may be to blame
            for change in reversed(changes[:-1]):
                there = self.faults(change.after, {s.base for s in fault.statements})
                faults: tuple[Violation | Clobber, ...] = (*there.clobbers, *there.violations)
                same = [f.pairs.intersect(pairs) for f in faults if f.subject == fault.subject]
                if all(p.is_empty() for p in same):
                    break
                found = change
        return found.request


def _refuse(fault: Fault | None, directive: Directive, code: str) -> None:
    """Refuses a directive for a fault in storage, if there is one."""
    if fault is not None:
        (what, hint), text = fault, directive.text()
        raise ScheduleError(what, where=directive.span, hint=hint, directive=text, code=code)
