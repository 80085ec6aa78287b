"""How often what is inlined is evaluated for each of its elements.

An element `e` of an inlined Func is evaluated by the instances `{ i : index(i) = e }` of each
consumer, for each index that it reads. Where that is a box along some loops, for all elements the
same, it is the product of these loops; else it is counted at small sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ...cached import cached_property
from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, postorder
from ...lang.nodes.printer import expr_text
from ...lang.tensors.tensors import Func
from ...records import dataclass
from ..model.statements import Statement
from ..program.inline import undetermined
from ..sets.affine import Relation, access_relation
from ..sets.budget import BudgetExceeded, attempt
from ..sets.expressions import Translator
from ..sets.isl import PwAff, Set, isl, union_sets
from .recomputation import counted

if TYPE_CHECKING:
    from .analysis import Analysis

OPERATIONS = 2_000_000
"""So much work may isl put into how often a Func is evaluated."""

_SET, _IN = isl.dim_type.set, isl.dim_type.in_


@dataclass(frozen=True)
class Evaluation:
    """How often an inlined Func is evaluated.

    Attributes:
        times: as text; empty where no element is evaluated twice.
    """

    func: Func
    readers: tuple[str, ...]
    times: str = ""

    def __str__(self) -> str:
        """`inlined into o, evaluated m times for each element`"""
        into = " and ".join(self.readers) or "what reads it"
        return f"inlined into {into}" + (f", evaluated {self.times}" if self.times else "")


def evaluations(a: Analysis) -> Iterator[Evaluation]:
    """How often the elements of each inlined Func are evaluated."""
    statements = {x.definition.serial: x for x in a.model.statements}
    for func in (f for f in a.program.funcs if f not in a.model.regions):
        reads = [
            _Point(a, func, statements[d.serial], index)
            for d, found in a.rewritten.uses.get(func, {}).items()
            if d.serial in statements
            for index in dict.fromkeys(r.index for r in found)
        ]
        readers = tuple(dict.fromkeys(x.statement.name for x in reads))
        times = "several times for each element"
        with suppress(BudgetExceeded), attempt(OPERATIONS):
            times = _times(a, reads)
        yield Evaluation(func, readers, times)


def _times(a: Analysis, reads: Sequence[_Point]) -> str:
    """`m times for each element`, `2.00 times for each element (6 for 3, at n=3)`"""
    factors = [x.factor for x in reads]
    total: Node = ix.ZERO
    for factor in factors:
        if factor is None:
            return _counted(a, reads)
        total = ix.add(total, factor)
    if ix.constant(total) in (0, 1):
        return ""
    first, *others = reads
    exact = first.is_box and all(x.is_box and x.elements.is_equal(first.elements) for x in others)
    return f"{'' if exact else 'up to '}{expr_text(total)} times for each element"


def _counted(a: Analysis, reads: Sequence[_Point]) -> str:
    if any(x.relation.may for x in reads):
        return "wherever it is read"
    elements = union_sets([x.elements for x in reads[1:]], reads[0].elements)
    found = counted([x.domain for x in reads], [elements], a.accepted)
    return "several times for each element" if found is None else found.ratio("for each element")


@dataclass(frozen=True)
class _Point:
    """One index at which a statement reads an inlined Func."""

    a: Analysis
    func: Func
    statement: Statement
    index: tuple[Node, ...]

    @cached_property
    def domain(self) -> Set:
        """The instances that read it; all of them, whatever is tested first."""
        return self.statement.domain.intersect_params(self.a.accepted)

    @cached_property
    def relation(self) -> Relation:
        """{ instance -> element }"""
        return access_relation(self.statement.frame, self.index)

    @cached_property
    def elements(self) -> Set:
        return self.relation.map.intersect_domain(self.domain).range()

    @cached_property
    def loops(self) -> list[int]:
        """The dimensions that do not follow from the element, by position."""
        free = undetermined(self.func, self.statement.definition, self.index)
        return [self.statement.frame.dims.index(x.name) for x in free]

    @cached_property
    def factor(self) -> Node | None:
        """How many instances read an element, at most, over sizes; None where it is no box."""
        free = undetermined(self.func, self.statement.definition, self.index)
        if not free.isdisjoint(postorder(*self.index)):
            return None
        names = Translator(self.a.parameters)
        sizes = self.domain.params()
        total: Node = ix.ONE
        for axis in self.loops:
            lo, hi = self._axis_bounds(axis)
            extent = hi.sub(lo).add_constant_val(isl.Val(1)).gist(sizes)
            total = ix.mul(total, names.pw_aff(extent, ix.ZERO))
        return total

    @cached_property
    def is_box(self) -> bool:
        """Whether as many instances read every element."""
        others = self.domain
        for axis in self.loops:
            others = others.project_out(_SET, axis, 1).insert_dims(_SET, axis, 1)
        frame = self.statement.frame
        for axis in self.loops:
            lo, hi = (self._everywhere(end) for end in self._axis_bounds(axis))
            x = frame.dim(frame.dims[axis])
            others = others.intersect(x.ge_set(lo)).intersect(x.le_set(hi))
        return others.is_subset(self.domain)

    def _axis_bounds(self, axis: int) -> tuple[PwAff, PwAff]:
        return self.domain.dim_min(axis), self.domain.dim_max(axis)

    def _everywhere(self, value: PwAff) -> PwAff:
        """A value over sizes as one over instances."""
        dims = len(self.statement.frame.dims)
        return value.insert_dims(_IN, 0, dims)
