"""The preconditions of a program on its sizes and data, under which every access is in bounds.

Each access is proven inside its tensor for all sizes, or turned into the weakest condition on the
sizes under which it is; an index that its type alone bounds, read from an Input, into a check of
that Input at the call. A program with an access that neither makes safe is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from ...cached import cached_property
from ...lang.errors.errors import LanguageError, Span
from ...lang.nodes.nodes import Read, postorder
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Func, Input
from ...records import dataclass
from ..sets.budget import BudgetExceeded, attempt
from ..sets.isl import Map, Set, coalesced, complement, existentials
from ..sets.memo import Same
from ..sets.missing_ranges import missing_ranges
from ..sets.smallest import smallest_point
from .checked_indices import CheckedIndex, axis_range, checked_indices, checked_inside
from .model import Model
from .statements import Access, Statement, elements

OPERATIONS = 250_000
"""So much work may isl put into whether a read needs a guard."""


@dataclass(frozen=True, eq=False)
class SizeCondition:
    """The sizes for which an access is in bounds. `text` says whose."""

    allowed: Set
    access: Access
    span: Span

    @property
    def is_about_emptiness(self) -> bool:
        """Whether a reduction needs a value, and not an access its bounds."""
        return self.access.is_write and self.access.tensor.nonempty

    @property
    def problem(self) -> str:
        """What is wrong where the condition fails."""
        return "an empty reduction" if self.is_about_emptiness else "out of bounds"

    @property
    def text(self) -> str:
        a = self.access
        if self.is_about_emptiness:
            return f"{a.tensor.written} has no value over an empty domain ({self.span})"
        verb = "writes" if a.is_write else "reads"
        return f"{a.statement.name} {verb} {a.text} ({self.span})"


@dataclass(frozen=True, eq=False)
class Conditions:
    """The preconditions of a program: conditions on sizes, and the indices that a call checks.

    Attributes:
        own: those of the model alone, where these hold also those of the program as written.
    """

    model: Model
    sizes: tuple[SizeCondition, ...]
    checked: tuple[CheckedIndex, ...]
    own: Conditions | None = None

    @cached_property
    def safe(self) -> frozenset[tuple[Statement, Read]]:
        """The accesses that need no guard to be safe to execute anywhere. Few of the rewritten
        programs of a schedule are compiled, so these accesses are found on demand."""
        if self.own is not None:
            return self.own.safe
        allowed = self.model.context
        for c in self.sizes:
            allowed = allowed.intersect(c.allowed)
        allowed = coalesced(allowed)
        found = set()
        for s in self.model.statements:
            for a in s.reads:
                with suppress(BudgetExceeded), attempt(OPERATIONS):  # else it keeps its guard
                    if a.node is not None and _is_safe(self.model, a, allowed, self.checked):
                        found.add((s, a.node))
        return frozenset(found)


def conditions(model: Model) -> Conditions:
    """Proves or conditions every access of a model; refuses the hopeless ones."""
    sizes: list[SizeCondition] = []
    checked: list[CheckedIndex] = []
    for access in (a for s in model.statements for a in s.accesses):
        needed, found = _known(model, access)
        checked += needed
        if found is not None and not any(found.allowed.is_equal(old.allowed) for old in sizes):
            sizes.append(found)
    sizes += [c for s in model.statements if (c := _not_empty(model, s)) is not None]
    sizes = _without_implied(model, sizes)
    _check_not_empty(model, sizes)
    return Conditions(model, tuple(sizes), tuple(checked))


def _known(model: Model, access: Access) -> tuple[Sequence[CheckedIndex], SizeCondition | None]:
    """`_check`, remembered for all rewritten programs, where it depends on nothing but the access
    and the context. An index that reads a Func does not: `checked_indices` looks up in all
    definitions what the Func is a copy of."""
    read = (n.tensor for n in postorder(*access.index) if isinstance(n, Read))
    if any(isinstance(tensor, Func) for tensor in read):
        return _check(model, access)
    box = Same(model.declared(access.tensor)) if _has_box(model, access.tensor) else None
    key = ("in bounds", access, box, Same(model.context))
    return model.memo.of(key, lambda: _check(model, access))


def _has_box(model: Model, tensor: Tensor) -> bool:
    """Whether the elements of a tensor are given by a shape, and not by what is accessed."""
    return not isinstance(tensor, Func) or tensor.extents is not None or model.is_fixed(tensor)


def _not_empty(model: Model, statement: Statement) -> SizeCondition | None:
    """A maximum needs at least one value at each point where it is needed."""
    d = statement.definition
    if not d.func.nonempty or not d.is_update:
        return None
    if statement.guard is not None or statement.data_bounds:
        raise LanguageError(
            f"{d.func.name} may have nothing to choose from: its RVars run as the data says",
            where=d.span,
            hint="say what it is then: initial=...",
        )
    computed = model.computed[d.func]
    key = ("not empty", statement, Same(computed), Same(model.context))
    return model.memo.of(key, lambda: _has_value(model, statement, computed))


def _has_value(model: Model, statement: Statement, computed: Set) -> SizeCondition | None:
    """The sizes for which each element that is computed gets a value."""
    d = statement.definition
    reached = elements(statement.write)
    bad = computed.subtract(reached).intersect_params(model.context)
    if bad.is_empty():
        return None
    allowed = _other_sizes(model, bad.params())
    return SizeCondition(allowed, statement.write, d.span)


def _other_sizes(model: Model, bad: Set) -> Set:
    """The sizes of a model without some of them, as a set of few constraints."""
    if existentials(bad):  # isl resolves existentials for each piece, so fewer pieces first
        bad = coalesced(bad)
    return coalesced(complement(bad.gist(model.context)).gist(model.context))


def together(model: Model, found: Conditions, as_written: Conditions) -> Conditions:
    """The preconditions of a model, `found`, and those of the program before any inlining."""
    sizes = _without_implied(model, [*as_written.sizes, *found.sizes])
    checked = {(s.source, s.tensor, s.axis): s for s in (*as_written.checked, *found.checked)}
    return Conditions(model, tuple(sizes), tuple(checked.values()), found)


def _without_implied(model: Model, sizes: list[SizeCondition]) -> list[SizeCondition]:
    """The conditions that do not follow from the others. One may be there twice, as one object,
    which the program as written and a rewritten one have in common."""
    kept = list({id(c): c for c in sizes}.values())
    for c in tuple(kept):
        rest = model.context
        for other in kept:
            if other is not c:
                rest = rest.intersect(other.allowed)
        if rest.is_subset(c.allowed):
            kept.remove(c)
    return kept


def outside(model: Model, access: Access, relation: Map, domain: Set) -> Map:
    """{ instance -> element } with the element outside of the tensor."""
    box = model.declared(access.tensor)
    return relation.intersect_domain(domain).subtract_range(box).intersect_params(model.context)


def _check(model: Model, access: Access) -> tuple[list[CheckedIndex], SizeCondition | None]:
    """What makes an access safe: the indices that a call checks, and the sizes that it accepts."""
    tensor = access.tensor
    if not _has_box(model, tensor):
        access.check_region()
        return [], None  # its region is made of what is accessed
    bad = outside(model, access, access.relation.map, access.domain)
    if bad.is_empty():
        return [], None
    checked = checked_indices(model, access)
    bad = checked_inside(model, checked, bad)
    if bad.is_empty():
        return checked, None
    span = access.statement.definition.span
    if access.relation.may:
        bad = checked_inside(model, checked, _without_types(model, access))
    allowed = _other_sizes(model, bad.params())
    if access.relation.may and access.domain.intersect_params(allowed).is_empty():
        raise _unprovable(access, span)
    if allowed.intersect(model.context).is_empty():
        raise _never(access, bad, span)
    return checked, SizeCondition(allowed, access, span)


def _without_types(model: Model, access: Access) -> Map:
    """{ instance -> element outside }: a type bounds an index for all sizes, or not at all."""
    box = model.declared(access.tensor)
    loose = outside(model, access, access.relation.unbounded, access.domain)
    touched = access.relation.map.intersect_domain(access.domain)
    reached = touched.intersect_params(model.context).range()
    for axis in range(access.tensor.ndim):
        inside = axis_range(box, axis)
        if reached.is_subset(inside):
            loose = loose.intersect_range(inside)
    return loose


def _unprovable(access: Access, span: Span) -> LanguageError:
    verb = "written" if access.is_write else "read"
    missing = missing_ranges(access.statement.frame, access.index)
    if missing is not None:
        return LanguageError(
            f"{access.text} is {verb} at an index that {missing.reason}",
            where=span,
            hint=missing.hint,
        )
    return LanguageError(
        f"{access.text} is {verb} at an index that depends on data and that "
        "nothing but its type bounds",
        where=span,
        hint="clamp it, ps.clip(x, 0, n - 1), or declare the values it is made from: "
        "ps.Input(..., range=(0, n)), ps.Param(..., min=, max=)",
    )


def _always_empty(c: SizeCondition) -> LanguageError:
    return LanguageError(
        f"{c.access.tensor.name} has no value where its domain is empty, as it is somewhere for "
        "all sizes",
        where=c.span,
        hint="say what it is there: initial=..., or let the RVar run over at least one value",
    )


def _never(access: Access, bad: Map, span: Span) -> LanguageError:
    found = smallest_point(bad.wrap())
    where = _point_text(access, found) if found is not None else ""
    verb = "written" if access.is_write else "read"
    said = f"may be {verb}" if access.relation.may else f"is {verb}"
    return LanguageError(
        f"{access.text} {said} out of bounds for all sizes{where}",
        where=span,
        hint="change the index, the region it is used in, or the shape" + _beyond(access),
    )


def _beyond(access: Access) -> str:
    """What else helps where an array is read that has no more elements."""
    name = access.tensor.name
    if access.is_write or access.region_end is not None or not isinstance(access.tensor, Input):
        return ""
    return f"; or read what a boundary has beyond the edges, as ps.boundary.repeat_edge({name})"


def _point_text(access: Access, found: tuple[dict[str, int], list[int]]) -> str:
    sizes, coordinates = found
    dims = access.statement.frame.dims
    instance = ", ".join(f"{n}={v}" for n, v in zip(dims, coordinates, strict=False))
    element = ", ".join(map(str, coordinates[len(dims) :]))
    at = ", ".join(f"{k}={v}" for k, v in sizes.items())
    touches = "may touch" if access.relation.may else "touches"
    text = f": {access.statement.name}[{instance}] {touches} {access.tensor.name}[{element}]"
    return text + (f", at {at}" if at else "")


def _check_not_empty(model: Model, sizes: list[SizeCondition]) -> None:
    """Refuses conditions that only empty outputs meet."""
    if not sizes:
        return
    outputs = [model.box(f) for f in model.program.outputs]
    nonempty = model.context
    for box in outputs:
        nonempty = nonempty.intersect(box.params())
    if nonempty.is_empty():
        return
    allowed = nonempty
    # Reductions come first: what is out of bounds wherever they have values is no fault of theirs.
    for c in sorted(sizes, key=lambda c: not c.is_about_emptiness):
        smaller = allowed.intersect(c.allowed)
        if smaller.is_empty():
            if c.is_about_emptiness:
                raise _always_empty(c)
            raise _hopeless(model, c, allowed)
        allowed = smaller


def _hopeless(model: Model, c: SizeCondition, sizes: Set) -> LanguageError:
    """For an access that is out of bounds at all of these sizes."""
    access = c.access
    if access.relation.may:
        loose = outside(model, access, access.relation.unbounded, access.domain)
        if not loose.intersect_params(sizes).range().is_bounded():
            return _unprovable(access, c.span)
    bad = outside(model, access, access.relation.map, access.domain)
    return _never(access, bad.intersect_params(sizes), c.span)


def _is_safe(model: Model, access: Access, allowed: Set, checked: Sequence[CheckedIndex]) -> bool:
    """Whether the read is in bounds at every instance, whatever its guard says."""
    domain = access.statement.domain.union(access.domain).intersect_params(allowed)
    own = [index for index in checked if index.access is access and not index.is_padded]
    reached = checked_inside(model, own, access.relation.map.intersect_domain(domain))
    return bool(reached.range().is_subset(model.box(access.tensor)))
