"""The polyhedral model of a program: statements with exact domains, and what they access.

A statement is one definition. Its dimensions are the Vars of its left side, then its RVars in
running order; its domain is exact, over sizes and integer Params. Regions flow from the outputs
back to the inputs: a Func without a declared shape is computed exactly where it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..lang.define import Definition
from ..lang.errors import LanguageError
from ..lang.guards import conjunction, guards
from ..lang.nodes import Node, Read, RVar, Size, Var, postorder
from ..lang.printer import expr_text, index_text
from ..lang.program import Program
from ..lang.tensors import Func, Tensor
from .affine import access_relation, affine_value, condition
from .intervals import declared_range
from .isl import Frame, PwAff, Set, filled, is_bounded, isl, union_sets
from .pieces import share
from .statements import Access, Statement


class Model:
    """Statements, regions and the context of a program.

    Args:
        program: what is computed.
        definitions: by Func, the typed definitions to use (with other Funcs inlined, say).
        exact: whether regions are exactly what is needed; else a union of pieces may be filled
            up to its hull by a few corner points, which makes loops simpler.
    """

    def __init__(
        self,
        program: Program,
        definitions: dict[Func, tuple[Definition, ...]] | None = None,
        exact: bool = True,
    ) -> None:
        self.program = program
        self.exact = exact
        self.definitions = definitions or {f: program.definitions_of(f) for f in program.funcs}
        self.params = tuple(
            [*program.sizes, *(n for n, p in program.params.items() if p.info.dtype.is_int)]
            + [s.name for f in program.outputs for s in output_sizes(program, f)]
        )
        self.parameters = Frame(self.params, ())
        self.context = self._context()
        self.boxes: dict[Tensor, Set] = {}
        self.regions: dict[Func, Set] = {}
        self.statements: list[Statement] = []
        self._demand: dict[Func, list[Set]] = {f: [] for f in self.definitions}
        made = {f: self._func(f) for f in program.demand_order if f in self.definitions}
        for func in program.funcs:
            self.statements += made.get(func, [])

    # context ----------------------------------------------------------------------------------
    def _context(self) -> Set:
        frame = self.parameters
        result = frame.universe
        for name in self.params:
            x, param = frame.param(name), self.program.params.get(name)
            lo, hi = (0, None) if param is None else declared_range(param)
            result = result.intersect(x.ge_set(frame.constant(lo)))
            if hi is not None:
                result = result.intersect(x.le_set(frame.constant(hi)))
        for requirement in self.program.requirements:
            result = result.intersect(condition(frame, requirement.condition).set)
        return result.params().coalesce()

    def extent(self, tensor: Tensor, axis: int, frame: Frame) -> PwAff:
        """The extent of an axis, over a frame with the model's parameters."""
        extents = tensor.extents
        assert extents is not None
        value = affine_value(frame, extents[axis])
        if value is None:
            raise LanguageError(
                f"the extent {expr_text(extents[axis])} of {tensor.name} is not affine in sizes",
                where=tensor.span,
                hint="make it a size of its own: nz = ps.size('nz', default=...)",
            )
        return value

    def box(self, tensor: Tensor) -> Set:
        """{ index : 0 <= index < extents }; the region where a Func has no declared shape."""
        if tensor not in self.boxes:
            if tensor.extents is None:
                assert isinstance(tensor, Func)
                if tensor not in self.program.outputs:
                    return self.regions[tensor]
                self.boxes[tensor] = self._output_box(tensor)
            else:
                frame = self._element_frame(tensor)
                result = frame.universe
                for k, name in enumerate(frame.dims):
                    extent = self.extent(tensor, k, frame)
                    result = result.intersect(frame.within(name, frame.constant(0), extent))
                self.boxes[tensor] = result
        return self.boxes[tensor]

    def _element_frame(self, tensor: Tensor) -> Frame:
        return Frame(self.params, tuple(f"x{k}" for k in range(tensor.ndim)))

    def _output_box(self, func: Func) -> Set:
        frame = self._element_frame(func)
        result = frame.universe
        for size, name in zip(output_sizes(self.program, func), frame.dims, strict=True):
            result = result.intersect(frame.within(name, frame.constant(0), frame.param(size.name)))
        return result

    # regions ----------------------------------------------------------------------------------
    def _func(self, func: Func) -> list[Statement]:
        """The statements of a Func, all of whose consumers have been visited."""
        definitions = self.definitions[func]
        pieces = [d for d in definitions if not d.is_update]
        updates = [d for d in definitions if d.is_update]
        fixed = self.program.is_fixed(func)
        if fixed:
            region = self.box(func)
        else:
            empty = self._element_frame(func).empty
            region = filled(union_sets(self._demand[func], empty), self.context, self.exact)
            self._check_bounded(func, region)
        made: list[Statement] = []
        for d in reversed(updates):
            statement = self._update(d, region)
            made.append(statement)
            if not fixed:
                region = self._touched(statement, region)
        self.regions[func] = region
        made += reversed(self._pieces(func, pieces, region))
        made.reverse()
        for statement in made:
            for access in statement.reads:
                if isinstance(access.tensor, Func) and access.tensor is not func:
                    self._demand[access.tensor].append(access.map.range())
        return made

    def _check_bounded(self, func: Func, region: Set) -> None:
        for k in range(func.ndim):
            if not is_bounded(region, k):
                raise LanguageError(
                    f"the region of {func.name} that is needed has no bounds along axis {k}: "
                    "an index that depends on data reaches it",
                    where=func.history.recorded[0].span,
                    hint=f"clamp the index, or declare a shape: ps.Func({func.name!r}, (n, m))",
                )

    def _touched(self, statement: Statement, region: Set) -> Set:
        own = [a.map.range() for a in statement.accesses if a.tensor is statement.func]
        return union_sets([region, *own], region)

    def _pieces(self, func: Func, pieces: list[Definition], region: Set) -> list[Statement]:
        """The pieces of the pure definition; a more specific one takes its points from others."""
        shares = share(func, pieces, self._element_frame(func), region, self.context)
        several = len(pieces) > 1
        return [
            self._piece(d, k if several else None, own)
            for k, (d, own) in enumerate(zip(pieces, shares, strict=True))
        ]

    # statements -------------------------------------------------------------------------------
    def _piece(self, d: Definition, number: int | None, own: Set) -> Statement:
        """A piece over `own`, a set of elements; constant coordinates are dropped."""
        constants = [k for k, x in enumerate(d.lhs) if not isinstance(x, Var)]
        domain = own
        for k in reversed(constants):
            domain = domain.project_out(isl.dim_type.set, k, 1)
        frame = Frame(self.params, tuple(v.name for v in d.vars))
        name = d.name if number is None else f"{d.name}.piece({number})"
        return self._statement(d, name, frame, domain, None)

    def _update(self, d: Definition, region: Set) -> Statement:
        loops: tuple[Var | RVar, ...] = (*d.vars, *d.rvars)
        frame = Frame(self.params, tuple(v.name for v in loops))
        domain = frame.universe
        for v in d.vars:
            domain = domain.intersect(self._var_range(d, v, frame, region))
        self._check_vars_bounded(d, domain)
        data: dict[Node, Set] = {}
        for r in d.rvars:
            for bound in (r.lo, r.hi):
                if affine_value(frame, bound) is None:
                    data[bound] = domain  # read where the loop begins, whether it runs or not
            domain = domain.intersect(self._rvar_range(d, r, frame, domain))
        guard: Node | None = None
        for where in d.where:
            found = condition(frame, where)
            domain = domain.intersect(found.set)
            if not found.exact:
                guard = conjunction(guard, where)
        return self._statement(d, d.name, frame, domain.coalesce(), guard, data)

    def _rvar_range(self, d: Definition, r: RVar, frame: Frame, outer: Set) -> Set:
        """{ lo <= r < hi }, for all values that bounds read from data may have."""
        x = frame.dim(r.name)
        lo = self._bound(d, r, r.lo, frame, outer, smallest=True)
        hi = self._bound(d, r, r.hi, frame, outer, smallest=False)
        return x.ge_set(lo).intersect(x.lt_set(hi))

    def _bound(
        self, d: Definition, r: RVar, bound: Node, frame: Frame, outer: Set, smallest: bool
    ) -> PwAff:
        """A bound, or the most that it may be where it is read within `outer`."""
        exact = affine_value(frame, bound)
        if exact is not None:
            return exact
        found = access_relation(frame, (bound,)).map.intersect_domain(outer)
        if not is_bounded(found.range(), 0):
            raise _unbounded(d, r, bound)
        return found.dim_min(0) if smallest else found.dim_max(0)

    def _var_range(self, d: Definition, v: Var, frame: Frame, region: Set) -> Set:
        """Where a Var of an update runs: the extent of the axes at which it stands plainly, else
        wherever the coordinates it is in lie inside the region."""
        axes = [k for k, x in enumerate(d.lhs) if x is v]
        result = frame.universe
        for k in axes:
            result = result.intersect(self._along(d.func, k, frame.dim(v.name), frame, region))
        if axes:
            return result
        for k, coordinate in enumerate(d.lhs):
            symbols = list(postorder(coordinate))
            if v in symbols and not any(isinstance(n, (RVar, Read)) for n in symbols):
                value = affine_value(frame, coordinate)
                if value is not None:
                    result = result.intersect(self._along(d.func, k, value, frame, region))
        return result

    def _along(self, func: Func, axis: int, value: PwAff, frame: Frame, region: Set) -> Set:
        """Where a value lies in an axis of a region; in a box, however long the other axes are."""
        if func.extents is not None or func in self.program.outputs:
            given = output_sizes(self.program, func)
            extent = frame.param(given[axis].name) if given else self.extent(func, axis, frame)
            return value.ge_set(frame.constant(0)).intersect(value.lt_set(extent))
        lo, hi = _ends(region, axis, frame)
        return value.ge_set(lo).intersect(value.le_set(hi))

    def _check_vars_bounded(self, d: Definition, domain: Set) -> None:
        for at, v in enumerate(d.vars):
            if not is_bounded(domain, at):
                raise LanguageError(
                    f"nothing says where the Var {v.name} of {d.name} runs: on the left it stands "
                    "only together with RVars or data",
                    where=d.span,
                    hint=f"make it an RVar, which has bounds: ps.RVar({v.name!r}, lo, hi)",
                )

    def _statement(
        self,
        d: Definition,
        name: str,
        frame: Frame,
        domain: Set,
        guard: Node | None,
        data: Mapping[Node, Set] | None = None,
    ) -> Statement:
        """A statement with its accesses; `data` are bounds that are read, and where they are."""
        bounds = dict(data or {})
        statement = Statement(d, name, frame, domain, guard, frozenset(bounds))
        conditions = guards([*d.lhs, *d.values, *([] if guard is None else [guard])])
        for bound, where in bounds.items():
            for node in guards([bound]):
                if isinstance(node, Read):
                    statement.accesses.append(_read(statement, node, where, exact=True))
        for node, needed in conditions.items():
            if isinstance(node, Read):
                where, exact = domain, not bounds and (guard is None or node in postorder(guard))
                if needed is not None:
                    found = condition(frame, needed)
                    where, exact = domain.intersect(found.set).coalesce(), exact and found.exact
                statement.accesses.append(_read(statement, node, where, exact))
        written = access_relation(frame, d.lhs)
        must = guard is None and not bounds and not written.may
        statement.accesses.append(Access(statement, d.func, d.lhs, written, domain, must, None))
        return statement


def _read(statement: Statement, node: Read, where: Set, exact: bool) -> Access:
    """A read that happens within `where`; everywhere there, if `exact`."""
    relation = access_relation(statement.frame, node.index)
    must = exact and not relation.may
    return Access(statement, node.tensor, node.index, relation, where, must, node)


def output_sizes(program: Program, func: Func) -> tuple[Size, ...]:
    """The symbolic extents of an output that has no declared shape: a call gives them."""
    if func.extents is not None:
        return ()
    return tuple(Size(f"{program.names[func]}.shape[{k}]", None) for k in range(func.ndim))


def _ends(region: Set, axis: int, frame: Frame) -> tuple[PwAff, PwAff]:
    """The smallest and the largest coordinate along an axis, over a frame."""
    lo, hi = region.dim_min(axis), region.dim_max(axis)
    return lo.insert_domain(frame.space), hi.insert_domain(frame.space)


def _unbounded(d: Definition, r: RVar, bound: Node) -> LanguageError:
    """An RVar that could run over anything."""
    from_data = any(isinstance(n, Read) for n in postorder(bound))
    over = f"[{index_text((r.lo, r.hi))})"
    if from_data:
        what = f"nothing bounds the RVar {r.name} over {over}: its bounds are read from data"
        hint = "declare the values of the Input: ps.Input(..., range=(0, n + 1))"
    else:
        what = f"the bounds of the RVar {r.name} are not affine in sizes, Vars and RVars: {over}"
        hint = (
            "run over an affine range and restrict it: "
            f"ps.RVar({r.name!r}, 0, n, where=lambda {r.name}: ...)"
        )
    return LanguageError(what, where=d.span, hint=hint)
