"""The directives that a plan stands for, in the order that is accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from ...lang.errors.errors import LanguageError, ScheduleError
from ...lang.tensors.tensors import Func
from ...poly.schedule.schedule import Schedule
from ...poly.schedule.stages import StageHandle
from ..facts.facts import StatementFacts
from ..plans.plan import NONE, Place
from ..plans.planned import Nest, PlannedLoop
from ..search.decided import Decided, Refused
from .part_results import begin_and_end, give_copies, loop_of, take_apart
from .splits import factor_of, splits
from .step_directives import block_steps, run_along_diagonals, tile_steps


def realise(
    s: Schedule,
    funcs: Sequence[Decided],
    statements: Mapping[str, Sequence[StatementFacts]],
    reasons: Mapping[str, str] = MappingProxyType({}),
    threads: int = 2,
    terms: int = 1,
) -> None:
    """Gives a schedule the directives of a plan, and proves them together.

    Args:
        funcs: consumers before producers.
        statements: by Func.
        reasons: by Func, comments on what becomes of it.
        threads: how many a call shall use.
        terms: of a sum in one iteration, where tiles meet panels.

    Raises:
        Refused: a directive is refused; with the decision that it belongs to.
    """
    made = _Realisation(s, statements, threads, terms)
    owners: dict[str, Decided] = {}
    left = dict(reasons)
    try:
        with s.batch():
            for step in made.steps:
                for d in funcs:
                    before, said = len(s.directives), s.comments
                    if d.plan.func in left:
                        s.comment(left[d.plan.func])
                    try:
                        step(d)
                    except (LanguageError, ScheduleError) as error:
                        raise Refused(d, error) from None
                    if len(s.directives) > before:
                        left.pop(d.plan.func, None)
                    else:
                        s.comments = said
                    owners.update((x.text(), d) for x in s.directives[before:])
    except ScheduleError as error:
        raise Refused(owners.get(error.directive or ""), error) from None


class _Realisation:
    """A plan on its way to a schedule.

    Attributes:
        steps: what is done for each Func, one after the other: what sums in common loops need not
            wait for is put off while all is at the root; reductions are taken apart before anything
            moves; consumers have their loops before producers are computed there; sums are
            accumulated in registers when all loops are what they shall be.
    """

    def __init__(
        self,
        s: Schedule,
        statements: Mapping[str, Sequence[StatementFacts]],
        threads: int,
        terms: int,
    ) -> None:
        self.s, self.statements, self.threads, self.terms = s, statements, threads, terms
        self._partial: dict[str, Func] = {}
        self._parts: dict[str, Func] = {}
        self._rests: dict[str, StageHandle] = {}
        self._put_off: set[str] = set()

    @property
    def steps(self) -> Sequence[Callable[[Decided], None]]:
        # Not kept: methods of an object in it are a cycle, and all that was proven hangs on this.
        return (
            self.put_off, self.take_apart, self.place, self.mark, self.accumulate, self.share,
        )  # fmt: skip

    def _stage(self, what: str | Func) -> StageHandle:
        """A stage by its own name, which may also be what several Funcs are called; that of parts
        in place of one that has them, and what is left of one behind pivots."""
        if isinstance(what, str) and what in self._parts:
            return self.s[self._parts[what]].update(0)
        if isinstance(what, str) and what in self._rests:
            return self._rests[what]
        return StageHandle(self.s, what) if isinstance(what, str) else self.s[what]

    def _loop(self, place: Place) -> tuple[StageHandle, str]:
        return self._stage(place[0]), place[1]

    def put_off(self, d: Decided) -> None:
        """Moves what needs a sum behind the one in whose loops that is computed: to what needs it
        in turn, or to the end."""
        for func in reversed(d.plan.put_off):
            if func not in self._put_off:
                self._put_off.add(func)
                self._stage(self.statements[func][0].name).compute_root()

    def take_apart(self, d: Decided) -> None:
        """Gives each lane of a vector a partial result, which is a Func of its own: its loops over
        lanes are innermost, and so is the axis of lanes in memory. Before that, what threads share
        of a reduction."""
        for statement, nest in self._pairs(d):
            if nest.parts is not None:
                stage = StageHandle(self.s, statement.name)
                self._parts[statement.name] = take_apart(stage, statement, nest)
        for statement, nest in self._pairs(d):
            if nest.plan.template != "lanes":
                continue
            stage = self._stage(statement.name)
            width = nest.plan.number("lanes") * nest.plan.number("columns")
            if statement.kind == "float reduction" and nest.parts is None:
                stage.reassociate()
            across = nest.plan.number("vector")
            by = factor_of(nest, statement, across, width)
            _, lane = stage.split(loop_of(nest, statement, across), by)
            made = self._partial[d.plan.func] = stage.rfactor(lane)
            if made.ndim > 1:
                part = self.s[made]
                part.reorder_storage(*range(1, made.ndim), 0)
                part.reorder(*(x.name for x in part.loops[1:]), lane)

    def place(self, d: Decided) -> None:
        """Splits and orders loops, and computes a Func in a loop of a consumer."""
        statements = self.statements[d.plan.func]
        first = self._stage(statements[0].name)
        is_inside = "." in d.plan.func and not any(x.is_shared for x in statements[0].loops)
        if d.plan.at is None and is_inside and len(first.loops) > len(statements[0].loops):
            first.compute_root()  # a reduction in an expression has moved with what it is in
        self._compute_at(statements[0].name, d)
        for statement, nest in self._pairs(d):
            self._give_loops(d, statement, nest)
            if nest.plan.host is not None:
                self._stage(statement.name).compute_with(*self._loop(nest.plan.host))
        begin = d.spots[0]
        if begin is not d.spot and begin.at is not None:
            self._stage(statements[0].name).compute_at(*self._own_loop(d, begin.at))
        for statement, nest in self._pairs(d):
            if nest.parts is not None:
                stage = StageHandle(self.s, statement.name)
                begin_and_end(self.s, self._parts[statement.name], stage, nest)
                if nest.copies is not None:
                    give_copies(self.s, self._parts[statement.name], statement, nest)

    def _give_loops(self, d: Decided, statement: StatementFacts, nest: Nest) -> None:
        """Gives a statement the loops of a nest."""
        own = self.statements[d.plan.func]
        if nest.packed is not None:
            self._panels(statement, nest)
        elif nest.plan.template == "lanes":
            self._compute_partial_results(d, statement)
        elif nest.plan.template == "wave":
            self._wave(own, statement, nest)
        elif nest.block is not None:
            self._tile_steps(own, statement, nest)
        elif nest.plan.template != "leave" and nest.copies is None:
            self._arrange(own, statement, nest)

    def _compute_at(self, stage: str | Func, d: Decided) -> None:
        if d.plan.at is None:
            return
        handle, at = self._stage(stage), self._loop(d.plan.at)
        if d.plan.stored is None:
            handle.compute_at(*at)
            return
        with self.s._builder.putting_off():
            handle.compute_at(*at)
        handle.store_at(*self._loop(d.plan.stored))

    def _compute_partial_results(self, d: Decided, statement: StatementFacts) -> None:
        """Row by row, so that they are in registers; that of the only row where it is added up."""
        made, stage = self._partial[d.plan.func], self._stage(statement.name)
        if made.ndim > 1:
            self.s[made].compute_at(stage, stage.loops[-2].name)
        else:
            self._compute_at(made, d)

    def _own_loop(self, d: Decided, place: Place) -> tuple[StageHandle, str]:
        """A loop of the last statement of a Func, as it is called now: those of a host have names
        of their own."""
        (stage, name), nest = self._loop(place), d.nests[-1]
        if d.plan.host is None:
            return stage, name
        return stage, stage.loops[nest.depth(name) - len(nest.loops)].name

    def _arrange(
        self, own: Sequence[StatementFacts], statement: StatementFacts, nest: Nest
    ) -> None:
        stage = self._stage(statement.name)
        is_alone = self._apart(own, statement, nest.plan.number("jam"))
        if nest.turned is not None:
            self._turn(stage, statement, nest, nest.turned)
        if nest.row is not None:
            outer, inner = (x.name for x in statement.loops[-2:])
            stage.fuse(outer, inner, nest.row)
        _split(stage, statement, nest)
        written = sorted(nest.loops, key=lambda x: (x.loop, -x.step))
        order, before = (_own(x, statement, is_alone) for x in (nest.loops, written))
        if order != before:
            stage.reorder(*order)

    def _wave(self, own: Sequence[StatementFacts], statement: StatementFacts, nest: Nest) -> None:
        """Rows side by side, each behind the one before, apart from what shares their loop."""
        stage, jam = self._stage(statement.name), nest.plan.number("jam")
        rows, behind = (statement.loops[k].name for k in (jam, jam + 1))
        self._apart(own, statement, jam)
        stage.skew(rows, behind, nest.skew)
        _split(stage, statement, nest)
        stage.reorder(*(x.name for x in nest.loops[jam:]))

    def _apart(self, own: Sequence[StatementFacts], statement: StatementFacts, jam: int) -> bool:
        """Takes the loop of rows apart from what shares it, if that is so."""
        if jam == NONE or not statement.loops[jam].is_shared:
            return False
        before = self._stage(own[-2].name)
        before.fission(statement.loops[jam].name, after=own[-2].name)
        return True

    def _tile_steps(
        self, own: Sequence[StatementFacts], statement: StatementFacts, nest: Nest
    ) -> None:
        """Tiles of several steps, apart from what shares their loop."""
        stage = self._stage(statement.name)
        if nest.plan.template == "steps":
            sharing = [self._stage(x.name) for x in own[:-1] if x.loops and x.loops[0].is_shared]
            tile_steps(stage, sharing, statement, nest)
        else:
            self._rests[statement.name] = block_steps(stage, statement, nest)

    def _turn(self, stage: StageHandle, statement: StatementFacts, nest: Nest, tensor: str) -> None:
        """Copies an operand at first, as a whole, with its axes in the order of the loops."""
        vector = nest.plan.number("vector")
        (read,) = (a for a in statement.accesses if a.tensor == tensor)
        along = [x.name for k, x in enumerate(statement.loops) if read.strides[k] and k != vector]
        across = statement.loops[vector].name
        made = stage.stage(tensor, at=statement.loops[0].name, layout=(*along, across))
        self.s[made].compute_root().vectorize(across, nest.plan.number("lanes"))

    def _panels(self, statement: StatementFacts, nest: Nest) -> None:
        """The loops of a product whose second operand is copied, panel by panel, to full tiles."""
        assert nest.accumulates_at is not None
        assert nest.packed is not None
        stage, vector = self._stage(statement.name), nest.plan.number("vector")
        width = nest.plan.number("lanes") * nest.plan.number("columns")
        parts = sorted((x for x in nest.loops if x.loop == vector), key=lambda x: -x.step)
        around = [x.name for x in parts if x.step >= width]
        inner = next(x.name for x in parts if x.step < width)
        for loop, by, *names in splits(nest, statement):
            if names[0] not in {x.name for x in parts}:
                stage.split(loop, by, names=(names[0], names[1]))
        whole, columns = statement.loops[vector].name, factor_of(nest, statement, vector, width)
        stage.split(whole, columns, tail="pad", names=(around[0], inner))
        if len(around) > 1:
            stage.split(around[0], nest.plan.number("panels"), names=(around[0], around[1]))
        order = [x for x in nest.loops if x.loop != vector or x.step >= width]
        stage.reorder(*_own(order, statement), inner)
        sums = [x.name for x in order if statement.loops[x.loop].is_reduction]
        layout = (*around[1:], *sums, inner)
        copy = self.s[stage.stage(nest.packed, at=around[0], layout=layout, pad=True)]
        self._lanes(copy.name, inner, nest)
        if width > nest.plan.number("lanes"):
            lanes = factor_of(nest, statement, vector, nest.plan.number("lanes"))
            stage.split(inner, lanes, names=(inner, parts[-1].name))

    def _lanes(self, stage: str, loop: str, nest: Nest) -> None:
        """A loop as wide as a tile, as vectors side by side."""
        handle, lanes = self._stage(stage), nest.plan.number("lanes")
        handle.vectorize(loop, lanes)
        if nest.plan.number("columns") > 1:
            handle.unroll(loop)

    def mark(self, d: Decided) -> None:
        """Says which loops are of vectors, and which are unrolled."""
        for statement, nest in self._pairs(d):
            if nest.plan.template == "lanes":
                made = self.s[self._partial[d.plan.func]]
                lane = self._stage(statement.name).loops[-1].name
                for part in (made.name, made.update(0).name):
                    self._lanes(part, lane, nest)
                if statement.values == 1:
                    self._stage(statement.name).vectorize(lane, nest.plan.number("lanes"))
                continue
            if nest.copies is not None:
                continue
            stage = self._stage(statement.name)
            if nest.streams:
                stage.stream()
            for x in reversed(nest.loops) if nest.plan.host is None else ():
                if x.kind == "vector":
                    stage.vectorize(x.name)
                elif x.kind == "unrolled":
                    stage.unroll(x.name)
                elif nest.packed and statement.loops[x.loop].is_reduction:
                    self._some_terms(stage, x)
                elif statement is self.statements[d.plan.func][0] and d.begins_rows(statement, x):
                    stage.unroll(x.name)

    def _some_terms(self, stage: StageHandle, of_sum: PlannedLoop) -> None:
        """Unrolls the loop of a sum by some of its terms."""
        if 1 < self.terms < of_sum.extent:
            stage.unroll(of_sum.name, self.terms)

    def accumulate(self, d: Decided) -> None:
        """Gives sums their accumulators, where these are not there yet."""
        for statement, nest in self._pairs(d):
            if nest.accumulates_at is not None:
                own = statement.name, nest.accumulates_at
                stage, loop = self._own_loop(d, own)
                stage.accumulate_at(loop)

    def share(self, d: Decided) -> None:
        """Says which loops threads share, if there are several."""
        for statement, nest in self._pairs(d) if self.threads > 1 else ():
            if nest.plan.template == "steps":
                run_along_diagonals(self._stage(statement.name), nest)
            for x in nest.loops if nest.plan.host is None else ():
                if x.kind == "parallel":
                    self._stage(statement.name).parallel(x.name)

    def _pairs(self, d: Decided) -> Iterable[tuple[StatementFacts, Nest]]:
        return zip(self.statements[d.plan.func], d.nests, strict=True)


def _split(stage: StageHandle, statement: StatementFacts, nest: Nest) -> None:
    """Splits the loops of a statement into the parts that a plan gives them."""
    for loop, by, outer, inner in splits(nest, statement):
        if outer != nest.parts:
            stage.split(loop, by, names=(outer, inner))


def _own(
    loops: Sequence[PlannedLoop], statement: StatementFacts, is_alone: bool = False
) -> list[str]:
    """Those of some loops that no other statement runs in."""
    return [x.name for x in loops if is_alone or not statement.loops[x.loop].is_shared]
