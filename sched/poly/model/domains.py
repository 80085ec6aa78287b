"""Statements: the exact domain of each definition, and what it accesses there.

A statement's dimensions are the loops of the blocks around it, then the Vars of its left side,
then its RVars in running order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ...lang.errors.errors import LanguageError, Span
from ...lang.nodes import index as ix
from ...lang.nodes.guards import conjunction, guards
from ...lang.nodes.nodes import Node, Read, RVar, Var, postorder
from ...lang.nodes.printer import expr_text, index_text
from ...lang.nodes.tensor import Tensor
from ...lang.program.intervals import is_near
from ...lang.tensors.blocks import Sequential
from ...lang.tensors.definitions import Definition
from ...lang.tensors.tensors import Func
from ..sets.affine import Relation, access_relation, affine_value, why_not_affine
from ..sets.affine_conditions import condition
from ..sets.isl import Frame, Map, PwAff, Set, coalesced, existentials, is_bounded, isl
from ..sets.missing_ranges import affine_fault, missing_ranges
from ..sets.projections import by_outer
from .needed import bounds_along, needed_instances, with_few_existentials, within_bounds
from .space import OWN_SIZE
from .statements import Access, Statement

if TYPE_CHECKING:
    from .model import Model


class Domains:
    """Makes the statements of a model."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def loops(self, block: Sequential, frame: Frame) -> Set:
        """Where the loops of a block and of those around it run."""
        domain = frame.universe
        for b in block.chain:
            if b.loop is None:
                continue
            _check_near(b.loop, b.span)
            x = frame.dim(b.loop.name)
            lo, hi = (_affine_bound(b, bound, frame) for bound in (b.loop.lo, b.loop.hi))
            domain = domain.intersect(x.ge_set(lo)).intersect(x.lt_set(hi))
            if b.phase is not None:
                domain = domain.intersect(condition(frame, b.phase).set)
        return domain

    def piece(self, d: Definition, number: int | None, own: Set) -> Statement:
        """A piece over `own`, a set of elements behind the loops around; constant coordinates are
        dropped."""
        around = len(d.loops)
        constants = [k for k, x in enumerate(d.lhs) if not isinstance(x, Var)]
        domain = own
        for k in reversed(constants):
            domain = domain.project_out(isl.dim_type.set, around + k, 1)
        frame = self.frame(d)
        name = self._name(d) + ("" if number is None else f".piece({number})")
        return self._statement(d, name, frame, domain, None)

    def extern(self, d: Definition, region: Set) -> Statement:
        """An extern stage: one instance an iteration of the loops around, which writes all of
        its region."""
        frame = Frame(self.model.params, tuple(r.name for r in d.loops))
        around = len(d.loops)
        domain = frame.universe if d.block is None else self.loops(d.block, frame)
        statement = Statement(d, self._name(d), frame, domain, None)
        assert d.opaque is not None
        for first, highs in d.opaque.regions:
            extended = frame.extended([f"#{k}" for k in range(len(highs))])
            box = extended.universe
            for k, (lo, hi) in enumerate(zip(first.index, highs, strict=True)):
                limits = [affine_value(extended, bound) for bound in (lo, hi)]
                if limits[0] is None or limits[1] is None:
                    raise LanguageError(
                        f"{d.name} reads {first.tensor.name} over "
                        f"[{expr_text(lo)}, {expr_text(hi)}), which "
                        + why_not_affine((lo, hi), "sizes"),
                        where=d.span,
                    )
                box = box.intersect(
                    extended.within(extended.dims[around + k], limits[0], limits[1])
                )
            statement.accesses.append(_region_access(statement, first.tensor, box, first, highs))
        statement.accesses.append(_region_access(statement, d.func, region, None))
        return statement

    def frame(self, d: Definition) -> Frame:
        return Frame(self.model.params, tuple(x.name for x in d.dims))

    def update(self, d: Definition, region: Set) -> Statement:
        """An update of a Func whose elements behind the loops around are `region`."""
        frame = self.frame(d)
        domain = frame.universe if d.block is None else self.loops(d.block, frame)
        limit = self.model.limits.get(d.func)
        alone = d.is_pointwise if limit is None else d.is_local
        known = False
        if alone and not self.model.is_fixed(d.func):
            home = d.func.history.home
            element = (*(() if home is None else home.loops), *d.lhs)
            touched = access_relation(frame, element)
            domain = domain.intersect(needed_instances(touched.map, region, limit))
            known = not touched.may
        if not known:  # else the Vars run just where elements of the region are touched
            for v in d.vars:
                domain = domain.intersect(self._var_range(d, v, frame, region))
        self._check_vars_bounded(d, domain)
        return self.update_at(d, domain)

    def update_at(self, d: Definition, domain: Set) -> Statement:
        """An update wherever its Vars and the loops around are in `domain`."""
        frame = self.frame(d)
        read: dict[Node, Set] = {}
        data: set[Node] = set()
        for r in d.rvars:
            unknown = [x for x in (r.lo, r.hi) if affine_value(frame, x) is None]
            # They are read where the loop begins, whether it runs or not, and whether that matters.
            read.update((bound, domain) for bound in (r.lo, r.hi))
            pieces = _pieces(r, frame, domain) if unknown else None
            if pieces is None:
                data.update(unknown)
                pieces = self._rvar_range(d, r, frame, domain)
            domain = domain.intersect(pieces)
        guard: Node | None = None
        for where in d.where:
            found = condition(frame, where, domain)
            domain = domain.intersect(found.set)
            if not found.exact:
                guard = conjunction(guard, where)
        self._check_bounds_last(d, frame, domain)
        domain = with_few_existentials(coalesced(domain))
        return self._statement(d, self._name(d), frame, domain, guard, data, read)

    def _check_bounds_last(self, d: Definition, frame: Frame, domain: Set) -> None:
        """Refuses bounds that are read from what the update itself may change before the loop
        between them ends: each instance would see other ones.

        { x -> y : x and y are in one run of the loop over r, and y writes what its bounds read }
        """
        for r in d.rvars:
            for n in postorder(r.lo, r.hi):
                if isinstance(n, Read) and n.tensor is d.func:
                    run = Map.universe(frame.space.map_from_set())
                    for k in range(frame.dims.index(r.name)):
                        run = run.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
                    read, written = (
                        access_relation(frame, x).map.intersect_domain(domain)
                        for x in (n.index, d.lhs)
                    )
                    met = read.apply_range(written.reverse()).intersect(run)
                    if not met.intersect_params(self.model.context).is_empty():
                        raise LanguageError(
                            f"the bounds of {r.name} read {expr_text(n)}, which {self._name(d)} "
                            f"may change before the loop over {r.name} ends",
                            where=d.span,
                            hint="read a copy: another Func, or .initial of an InOut",
                        )

    def _rvar_range(self, d: Definition, r: RVar, frame: Frame, outer: Set) -> Set:
        """{ lo <= r < hi }, for all values that bounds read from data may have."""
        x = frame.dim(r.name)
        lo = self._bound(d, r, r.lo, frame, outer, smallest=True)
        hi = self._bound(d, r, r.hi, frame, outer, smallest=False)
        _check_near(r, d.span)
        return x.ge_set(lo).intersect(x.lt_set(hi))

    def _bound(
        self, d: Definition, r: RVar, bound: Node, frame: Frame, outer: Set, smallest: bool
    ) -> PwAff:
        """A bound, or the most that it may be where it is read within `outer`."""
        exact = affine_value(frame, bound)
        if exact is not None:
            return exact
        found = access_relation(frame, (bound,)).map.intersect_domain(outer)
        values = found.range().remove_divs()
        has_end = values.dim_has_lower_bound if smallest else values.dim_has_upper_bound
        if not has_end(isl.dim_type.set, 0):
            raise _unbounded(d, r, bound, frame)
        return found.dim_min(0) if smallest else found.dim_max(0)

    def _var_range(self, d: Definition, v: Var, frame: Frame, region: Set) -> Set:
        """The range of a Var of an update: the extent of the axes whose coordinate is this Var;
        else all values at which the coordinates that contain it lie inside of the region."""
        axes = [k for k, x in enumerate(d.lhs) if x is v]
        result = frame.universe
        for k in axes:
            result = result.intersect(self._along(d.func, k, frame.dim(v.name), frame, region))
        if axes:
            return result
        for k, coordinate in enumerate(d.lhs):
            symbols = list(postorder(coordinate))
            moving = any(isinstance(n, (RVar, Read)) and n not in d.loops for n in symbols)
            if v in symbols and not moving:
                value = affine_value(frame, coordinate)
                if value is not None:
                    result = result.intersect(self._along(d.func, k, value, frame, region))
        return result

    def _along(self, func: Func, axis: int, value: PwAff, frame: Frame, region: Set) -> Set:
        """Where a value lies within the bounds of a region along an axis; of a box, also where
        other axes are empty."""
        if self.model.is_fixed(func):
            extent = self.model.extent(func, axis, frame)
            return value.ge_set(frame.constant(0)).intersect(value.lt_set(extent))
        home = func.history.home
        around = 0 if home is None else len(home.loops)
        if region.n_basic_set() > 1 or existentials(region):
            return within_bounds(region, around, axis, value, frame)
        lo, hi = bounds_along(region, around, axis, frame)
        return value.ge_set(lo).intersect(value.le_set(hi))

    def _check_vars_bounded(self, d: Definition, domain: Set) -> None:
        for at, v in enumerate(d.vars, len(d.loops)):
            if not is_bounded(domain, at):
                raise LanguageError(
                    f"nothing says where the Var {v.name} of {d.name} runs: on the left it stands "
                    "only together with RVars or data",
                    where=d.span,
                    hint=f"make it an RVar, which has bounds: ps.RVar({v.name!r}, lo, hi)",
                )

    def _name(self, d: Definition) -> str:
        """How schedules call a definition: its own name, if no other Func has that."""
        return self.model.program.names[d.func] + d.name.removeprefix(d.func.name)

    def _statement(
        self,
        d: Definition,
        name: str,
        frame: Frame,
        domain: Set,
        guard: Node | None,
        bounds: Collection[Node] = (),
        read: Mapping[Node, Set] | None = None,
    ) -> Statement:
        """A statement with its accesses; `bounds` are those that data decide, and `read` says where
        those of all RVars are evaluated."""
        statement = Statement(d, name, frame, domain, guard, frozenset(bounds))
        conditions = guards([*d.lhs, *d.values, *([] if guard is None else [guard])])
        for bound, where in (read or {}).items():
            for node in guards([bound]):
                if isinstance(node, Read):
                    statement.accesses.append(_read(statement, node, where, exact=True))
        for node, needed in conditions.items():
            if isinstance(node, Read):
                where, exact = domain, not bounds and (guard is None or node in postorder(guard))
                if needed is not None:
                    found = condition(frame, needed, domain)
                    where, exact = coalesced(domain.intersect(found.set)), exact and found.exact
                statement.accesses.append(_read(statement, node, where, exact))
        written = access_relation(frame, d.lhs).within(domain)
        must = guard is None and not bounds and not written.may
        statement.accesses.append(Access(statement, d.func, d.lhs, written, domain, must, None))
        return statement


def _read(statement: Statement, node: Read, where: Set, exact: bool) -> Access:
    """A read that happens within `where`; everywhere there, if `exact`."""
    relation = access_relation(statement.frame, node.index).within(where)
    must = exact and not relation.may
    return Access(statement, node.tensor, node.index, relation, where, must, node)


def _region_access(
    statement: Statement,
    tensor: Tensor,
    region: Set,
    node: Read | None,
    region_end: tuple[Node, ...] | None = None,
) -> Access:
    """An access to all of a region, given as { (loops, element) }."""
    around = len(statement.frame.dims)
    touched = by_outer(region, around)
    relation = Relation(touched, False, touched)
    index = node.index if node is not None else statement.definition.lhs
    return Access(statement, tensor, index, relation, statement.domain, True, node, region_end)


def _affine_bound(b: Sequential, bound: Node, frame: Frame) -> PwAff:
    value = affine_value(frame, bound)
    if value is None:
        over = "sizes, Params and the loops around it"
        reason, hint = affine_fault(frame, bound, over, OWN_SIZE)
        raise LanguageError(
            f"the bound {expr_text(bound)} of {b!r} {reason}", where=b.span, hint=hint
        )
    return value


def _pieces(r: RVar, frame: Frame, outer: Set) -> Set | None:
    """{ lo <= r < hi } for bounds that are affine by pieces within `outer`; None for others."""
    inside = conjunction(ix.compare("ge", r, r.lo), ix.compare("lt", r, r.hi))
    assert inside is not None
    found = condition(frame, inside, outer)
    return found.set if found.exact else None


def _check_near(r: RVar, span: Span) -> None:
    """Refuses a loop that may begin or end so far out that what is computed of it may wrap."""
    if not (is_near(r.lo) and is_near(r.hi)):
        raise LanguageError(
            f"the loop over {r.name} may begin or end beyond 2**44: [{index_text((r.lo, r.hi))})",
            where=span,
            hint="run from 0 on, and add the rest where values are computed; or declare which "
            "values bounds have that are read from data",
        )


def _unbounded(d: Definition, r: RVar, bound: Node, frame: Frame) -> LanguageError:
    """An RVar that could run over anything."""
    from_data = any(isinstance(n, Read) for n in postorder(bound))
    over = f"[{index_text((r.lo, r.hi))})"
    missing = missing_ranges(frame, (bound,))
    if missing is not None:
        what, hint = f"a bound of the RVar {r.name} over {over} {missing.reason}", missing.hint
    elif from_data:
        what = f"nothing bounds the RVar {r.name} over {over}: its bounds are read from data"
        hint = "declare the values of the Input: ps.Input(..., range=(0, n + 1))"
    else:
        what = f"the bounds of the RVar {r.name} are not affine in sizes, Vars and RVars: {over}"
        hint = (
            "run over an affine range and restrict it: "
            f"ps.RVar({r.name!r}, 0, n, where=lambda {r.name}: ...)"
        )
    return LanguageError(what, where=d.span, hint=hint)
