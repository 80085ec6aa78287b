"""The polyhedral model of a program: statements with exact domains, and what they access.

A statement is one definition. Its dimensions are the Vars of its left side, then its RVars in
running order; its domain is exact, over sizes and integer Params. Regions flow from the outputs
back to the inputs: a Func without a declared shape is computed exactly where it is needed.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import partial

from ...cached import cached_property
from ...lang.errors.errors import InternalError, LanguageError
from ...lang.nodes.tensor import Tensor
from ...lang.program.program import Program
from ...lang.program.steps import Block, reads_itself
from ...lang.tensors.definitions import Definition
from ...lang.tensors.tensors import Func
from ...records import dataclass
from ..sets.hulls import PIECES_LIMIT, filled
from ..sets.isl import Frame, Set, coalesced, is_bounded, isl, union_sets
from ..sets.memo import Memo, Same, same
from ..sets.missing_ranges import missing_ranges
from .closure import Regions, closed_regions
from .domains import Domains
from .needed import simpler, with_few_existentials
from .pieces import share
from .space import ProgramSpace
from .statements import Statement, elements, elements_there, touched, touching


class Model(ProgramSpace):
    """Statements, regions and the context of a program.

    Args:
        program: what is computed.
        definitions: by Func, the typed definitions to use (with other Funcs inlined, say).
        exact: whether regions are exactly what is needed; else a union of pieces may be filled
            up to its hull by a few corner points, which makes loops simpler.
        memo: what other rewritten programs have found.
    """

    def __init__(
        self,
        program: Program,
        definitions: dict[Func, tuple[Definition, ...]] | None = None,
        exact: bool = True,
        memo: Memo | None = None,
    ) -> None:
        super().__init__(program, memo or Memo())
        self.exact = exact
        self.definitions = definitions or {f: program.definitions_of(f) for f in program.funcs}
        self._about = (*self._sizes_known, exact)
        #: Nothing is computed outside of these sets, even where a consumer reads it.
        self.limits: dict[Func, Set] = {}
        self.regions: dict[Func, Set] = {}
        #: What is computed: regions, for a Func that is fresh in each iteration of loops around
        #: with the iteration, { (loops, element) }.
        self.computed: dict[Func, Set] = {}
        self._demand: dict[Func, list[Set]] = {f: [] for f in self.definitions}
        #: Funcs whose regions are final: all their consumers are known.
        self._finished: set[Func] = set()
        self._by_serial = {d.serial: d for ds in self.definitions.values() for d in ds}
        self._made: dict[int, Statement] = {}
        for step in program.steps:
            if isinstance(step, Block):
                self._block(step)
        for group in program.demand_order:
            stored = [f for f in group if f in self.definitions]
            closed = self._closed(stored) if program.follows_itself(group) else {}
            for func in stored:
                self._func(func, closed.get(func))
            self._finished.update(stored)
        self.statements = [
            self._made[d.serial]
            for step in program.steps
            for d in step.definitions
            if d.serial in self._made
        ]

    @cached_property
    def touching(self) -> Mapping[Tensor, Sequence[Statement]]:
        """By tensor, the statements that touch it."""
        return touching(self.statements)

    @property
    def domains(self) -> Domains:
        """What makes its statements; not kept, as each holds the other one."""
        return Domains(self)

    def is_fixed(self, func: Func) -> bool:
        """Whether the region of a Func is given, and does not follow from what is read of it."""
        return func not in self.limits and self.program.is_fixed(func)

    def box(self, tensor: Tensor) -> Set:
        """All elements that there are: `declared`, or the region where that follows from use."""
        if isinstance(tensor, Func) and not self.is_fixed(tensor):
            return self.regions[tensor]
        return self.declared(tensor)

    # regions ----------------------------------------------------------------------------------
    def _closed(self, group: Sequence[Func]) -> Regions:
        """What is needed of Funcs whose regions follow from each other."""
        needed = tuple(same(self._demand[f]) for f in group)
        definitions = tuple(self.definitions[f] for f in group)
        key = ("closed", *group, definitions, needed, self._names(group), self._about)
        return self.memo.of(key, lambda: self._solved(group))

    def _solved(self, group: Sequence[Func]) -> Regions:
        demand = {f: union_sets(self._demand[f], self.element_frame(f).empty) for f in group}
        for func, region in demand.items():
            self._check_bounded(func, region, 0)
        return closed_regions(self, group, demand)

    def _func(self, func: Func, closed: Set | None) -> None:
        """The statements of a Func outside of blocks, all of whose consumers have been visited.

        Args:
            closed: its region, if that follows from itself.
        """
        # A Func with a shape is computed in full, whatever its readers need.
        needed = None if self.is_fixed(func) else same(self._demand[func])
        given = self.definitions[func], needed, Same(closed), self._names((func,))
        key = ("computed", func, given, self._about)
        found = self.memo.of(key, lambda: self._computed(func, closed))
        self.regions[func] = self.computed[func] = found.region
        for statement in found.statements:
            self._add(statement)

    def _computed(self, func: Func, closed: Set | None) -> _Computed:
        """How a Func outside of blocks is computed."""
        definitions = [d for d in self.definitions[func] if d.block is None]
        made: list[Statement] = []
        fixed = self.is_fixed(func)
        if fixed:
            region = self.box(func)
        elif closed is not None:
            region = self._clipped(func, closed) if func in self.limits else closed
        else:
            region = self._filled(func, self._together(func))
            region = self.memo.alike(func, self._clipped(func, self._tiles(func, region)))
            self._check_bounded(func, region, 0)
        for d in reversed([d for d in definitions if d.is_update]):
            statement = self._update(d, region)
            made.append(statement)
            if not fixed:
                region = union_sets([region, *touched(statement)], region)
                if region.n_basic_set() > PIECES_LIMIT:
                    region = filled(region, self.context, self.exact)
                region = self._clipped(func, region)
                region = self.memo.alike(func, with_few_existentials(region))
                for access in (statement.write, *statement.reads):
                    if access.tensor is func:  # the regions of the updates before it grow, too
                        access.check_region()
        return _Computed(region, (*made, *self._pieces(func, region)))

    def _together(self, func: Func) -> Set:
        """All that is needed of a Func."""
        demand = self._demand[func]
        key = ("together", func, same(demand), self._names((func,)), self._sizes_known)
        return self.memo.of(key, lambda: union_sets(demand, self.element_frame(func).empty))

    def _filled(self, func: Func, needed: Set) -> Set:
        """A simpler region that contains what is needed. That of a copy or a clone is cut to the
        elements of its source, since others cannot be read."""
        key = ("filled", Same(needed), self._about)
        region = self.memo.of(key, lambda: filled(needed, self.context, self.exact))
        there = elements_there(self.params, self.definitions[func][0])
        if there is None or region is needed:
            return region
        region = region.intersect(there)
        if self.definitions[func][0].copies is not None:  # a copy has zeros beyond its source
            region = region.union(needed.subtract(there).intersect_params(self.context))
        return coalesced(region)

    def _tiles(self, func: Func, region: Set) -> Set:
        """A region with full tiles along the axes of a copy that has some."""
        frame = self.element_frame(func)
        for k, extent in self.definitions[func][0].tiles:
            rest = region.project_out(isl.dim_type.set, k, 1).insert_dims(isl.dim_type.set, k, 1)
            name = frame.dims[k]
            region = rest.intersect(frame.within(name, frame.constant(0), frame.constant(extent)))
        return region

    def _clipped(self, func: Func, region: Set) -> Set:
        """The part of a region that lies inside the declared shape. That nothing else is accessed
        is checked apart from this; what depends on data may seem to reach further."""
        if func in self.limits:
            return coalesced(region.intersect(self.limits[func]))
        return region if func.extents is None else region.intersect(self.declared(func))

    def _pieces(self, func: Func, region: Set) -> list[Statement]:
        """The pieces of the pure definition over a region, loops around first."""
        key = ("pieces", func, self.definitions[func], Same(region), self._names((func,)))
        return self.memo.of((*key, self._sizes_known), lambda: self._shared_out(func, region))

    def _shared_out(self, func: Func, region: Set) -> list[Statement]:
        pieces = [d for d in self.definitions[func] if not d.is_update]
        if not pieces:
            return []  # an InOut is defined by the caller
        if pieces[0].opaque is not None:
            return [self.domains.extern(pieces[0], region)]
        frame = self.element_frame(func)
        frame = Frame(frame.params, (*(r.name for r in pieces[0].loops), *frame.dims))
        shares = share(func, pieces, frame, region, self.context)
        numbers = range(len(pieces)) if len(pieces) > 1 else [None]
        given = zip(pieces, numbers, shares, strict=True)
        return [self.domains.piece(d, number, own) for d, number, own in given]

    def _add(self, statement: Statement) -> None:
        """Takes note of a statement and of what it needs of other Funcs."""
        self._made[statement.definition.serial] = statement
        for func, needed in self.memo.of(("needs", statement), lambda: self._needs(statement)):
            if func in self._finished and not self.is_fixed(func):
                raise InternalError(f"{statement.name} reads {func.name}, whose region is known")
            self._demand[func].append(needed)

    def _needs(self, statement: Statement) -> list[tuple[Func, Set]]:
        """What a statement needs of other Funcs."""
        return [
            (a.tensor, self.memo.alike(a.tensor, elements(a)))
            for a in statement.reads
            if isinstance(a.tensor, Func) and a.tensor is not statement.func
        ]

    def _check_bounded(self, func: Func, region: Set, around: int) -> None:
        for k in range(func.ndim):
            key = ("bounded", Same(region), around + k)
            if not self.memo.of(key, partial(is_bounded, region, around + k)):
                raise self._boundless(func, k)

    def _boundless(self, func: Func, axis: int) -> LanguageError:
        """The error for a region without bounds along an axis."""
        reads = (a for s in self._made.values() for a in s.reads if a.tensor is func)
        why = "an index that depends on data reaches it"
        hint = f"clamp the index, or declare a shape: ps.Func({func.name!r}, (n, m))"
        for a in reads:
            missing = missing_ranges(a.statement.frame, a.index[axis : axis + 1])
            if missing is not None:
                why, hint = f"the index of {a.text} {missing.reason}", missing.hint
        return LanguageError(
            f"the region of {func.name} that is needed has no bounds along axis {axis}: {why}",
            where=func.history.recorded[0].span,
            hint=hint,
        )

    def part(self, params: Sequence[str], demand: Mapping[Func, Set]) -> list[Statement]:
        """The statements that compute no more of some Funcs than is demanded, for each value of
        more parameters: those that follow from each other, or a single one.

        Args:
            params: what the demand depends on, besides sizes.
            demand: elements, with these parameters.
        """
        local = copy.copy(self)
        local.params = (*self.params, *params)
        local.parameters = Frame(local.params, ())
        local.limits = {f: self.regions[f] for f in demand}
        local.memo = Memo()  # its statements are changed afterwards
        local.regions, local.computed, local._made = {}, {}, {}
        local._finished = set()
        local._demand = {f: [] for f in self.definitions}
        group = tuple(demand)
        closed: Regions = {}
        if self.program.follows_itself(group) or reads_itself(group[0]):
            closed = closed_regions(local, group, demand)
        for func in group:
            local._demand[func].append(demand[func])
            local._func(func, closed.get(func))
        order = {s.definition.serial: s for s in self.statements}
        # Updates that no region bounds would run for all values of the parameters.
        first, *others = (d.params() for d in demand.values())
        asked = union_sets(others, first)
        found = [local._made[serial] for serial in order if serial in local._made]
        for statement in found:
            base = statement.part_of = order[statement.definition.serial]
            domain = statement.domain.intersect_params(asked).intersect(base.domain)
            statement.domain = simpler(domain)
            statement.name = base.name
        return found

    # blocks -----------------------------------------------------------------------------------
    def _block(self, block: Block) -> None:
        """The statements of a block, last ones first: what is read of a Func that is fresh in
        each iteration is known when its own definitions are reached."""
        for step in reversed(block.body):
            if isinstance(step, Block):
                self._block(step)
                continue
            for written in reversed(step.definitions):
                d = self._by_serial.get(written.serial)
                if d is not None and d.func.history.home is None:
                    self._add(self._update(d, self.box(d.func)))
                elif d is not None:
                    self._fresh(d)

    def _fresh(self, d: Definition) -> None:
        """A definition of a Func that is fresh in each iteration of the loops around it.

        Its region is a set of (loops, element): what this very iteration needs.
        """
        func = d.func
        if d.is_update:
            statement = self._update(d, self._fresh_region(d))
            self._add(statement)
            self._demand[func] += self.memo.of(("touched", statement), lambda: self._own(statement))
        elif d.serial not in self._made:
            region = self._fresh_region(d)
            around = len(d.loops)
            self.computed[func] = region
            self.regions[func] = coalesced(region.project_out(isl.dim_type.set, 0, around))
            for statement in self._pieces(func, region):
                self._add(statement)

    def _own(self, statement: Statement) -> list[Set]:
        return [self.memo.alike(statement.func, x) for x in touched(statement)]

    def _update(self, d: Definition, region: Set) -> Statement:
        """An update of a Func over a region."""
        limit = self.is_fixed(d.func), Same(self.limits.get(d.func))
        key = ("update", d, Same(region), *limit, self._names((d.func,)), self._sizes_known)
        return self.memo.of(key, lambda: self.domains.update(d, region))

    def _fresh_region(self, d: Definition) -> Set:
        func, home = d.func, d.func.history.home
        given = func, home, same(self._demand[func]), self._names((func,))
        return self.memo.of(("fresh", *given, self._about), lambda: self._needed_fresh(func))

    def _needed_fresh(self, func: Func) -> Set:
        home = func.history.home
        assert home is not None
        names = tuple(r.name for r in home.loops)
        frame = Frame(self.params, (*names, *self.element_frame(func).dims))
        around = self.domains.loops(home, frame)
        if self.is_fixed(func):
            return around.intersect(self.box(func).insert_dims(isl.dim_type.set, 0, len(names)))
        needed = filled(union_sets(self._demand[func], frame.empty), self.context, self.exact)
        region = coalesced(needed.intersect(around))
        self._check_bounded(func, region, len(names))
        return region


@dataclass(frozen=True)
class _Computed:
    """How a Func is computed: where, and by which statements."""

    region: Set
    statements: tuple[Statement, ...]
