"""The preconditions of a schedule, which each call checks: sets become conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...lang.arguments.admission import LOOP_LIMIT, SIZE_LIMIT
from ...lang.errors.errors import LanguageError, ScheduleError, user_span
from ...lang.expr.expr import as_node
from ...lang.nodes.nodes import Node, Read, RVar, Var, postorder
from ...lang.nodes.printer import expr_text
from ...lang.nodes.typing import infer_condition
from ...lang.program.intervals import declared_range
from ..nests.wraps import free_params
from ..sets.expressions import Translator
from ..sets.isl import BasicSet, Set, coalesced, complement, dim_count, isl, val
from ..state.fields import in_terms_of
from ..tree.edits import stages
from .requirements import IndexCheck, Requirements, SizesNeeded

if TYPE_CHECKING:
    from .analysis import Analysis


def on_sizes(directive: str, condition: Any) -> Node:
    """The condition on sizes and Params that a directive is given, typed.

    Raises:
        LanguageError: it is about more than those.
    """
    span, what = user_span(), f"the condition of {directive}"
    node = in_terms_of(what, lambda: infer_condition(as_node(condition), span))
    for n in postorder(node):
        if isinstance(n, (Read, Var, RVar)):
            raise LanguageError(
                f"an assumption is about sizes and Params, and cannot contain {expr_text(n)}"
            )
    return node


def bounding(a: Analysis) -> frozenset[str]:
    """The Params by which the instances of a stage begin or end, so loops do: not those of which
    the loops need remainders, or quotients that are near themselves, alone."""
    found = _involved(a, (stage.instances for stage in stages(a.tree)))
    far = {
        name for name in found if max(map(abs, declared_range(a.program.params[name]))) > LOOP_LIMIT
    }
    far -= _involved(a, a.model.regions.values()) if far else set()
    with suppress(ScheduleError):  # what does not fit is refused when it is compiled
        nests = a.nests_if_known if far else None
        return frozenset(found if nests is None else found - free_params(nests, far))
    return frozenset(found)


def _involved(a: Analysis, sets: Iterable[Set]) -> set[str]:
    """The Params that sets depend on."""
    kind = isl.dim_type.param
    names = ((x, k, x.get_dim_name(kind, k)) for x in sets for k in range(x.dim(kind)))
    return {
        name for x, k, name in names if name in a.program.params and x.involves_dims(kind, k, 1)
    }


def reaches(a: Analysis) -> Iterator[tuple[Node, str]]:
    """What sizes must satisfy so that no Func is needed farther out than loops are taken to be,
    each with the Func's name: where its region follows from multiples of indices."""
    model, names = a.model, Translator(a.parameters)
    known = model.context
    for k in range(known.n_param()):  # what the call refuses anyway
        known = known.upper_bound_val(isl.dim_type.param, k, val(SIZE_LIMIT))
    for func, region in model.regions.items():
        if any(map(_has_multiples, region.get_basic_sets())):
            far = coalesced(_beyond(region, LOOP_LIMIT).intersect(known))
            needed = None if far.is_empty() else names.condition(complement(far.gist(known)))
            if needed is not None:
                yield needed, a.program.names[func]


def _beyond(region: Set, limit: int) -> Set:
    """The sizes at which some coordinate is that far from 0."""
    kind, far = isl.dim_type.set, Set.empty(region.get_space().params())
    for k in range(dim_count(region)):
        far = far.union(region.lower_bound_val(kind, k, val(limit)).params())
        far = far.union(region.upper_bound_val(kind, k, val(-limit)).params())
    return far


def _has_multiples(piece: BasicSet) -> bool:
    """Whether a coordinate could be far from 0 although all sizes are below 2**40."""
    kinds = (isl.dim_type.param, isl.dim_type.set, isl.dim_type.div)
    for c in piece.get_constraints():
        counts = [(kind, k) for kind in kinds for k in range(int(c.dim(kind)))]
        factors = (c.get_coefficient_val(kind, k) for kind, k in counts)
        total = sum(abs(int(v.to_python())) for v in factors)
        if total > _FEW or abs(int(c.get_constant_val().to_python())) > SIZE_LIMIT:
            return True
    return False


_FEW = 6
"""So many sizes in all, and a constant of one more, are within 2**43."""


def assumptions(a: Analysis) -> Iterator[tuple[Node, str]]:
    """The preconditions on sizes that directives add, each with its reason."""
    names = Translator(a.parameters)
    for assumed in a.state.assumptions:
        node = assumed.condition
        node = names.condition(assumed.allowed) if node is None else node
        if node is not None:
            yield node, assumed.text


def requirements(a: Analysis) -> Requirements:
    """The preconditions of a schedule."""
    names, proven = Translator(a.parameters), a.proven
    sizes = ((names.condition(c.allowed), c) for c in proven.sizes)
    return Requirements(
        tuple(SizesNeeded(node, c.problem, c.text) for node, c in sizes if node is not None),
        tuple(assumptions(a)),
        tuple(IndexCheck(x.source, x.tensor, x.axis) for x in proven.checked),
        tuple(sorted(bounding(a))),
        tuple(reaches(a)),
    )


def conditions(a: Analysis) -> Iterator[str]:
    """The preconditions as text, each with the access, message or directive that needs it."""
    found = a.requirements
    for needed in found.sizes:
        yield f"{expr_text(needed.condition)}: {needed.text}"
    for r in a.program.requirements:
        yield f"{expr_text(r.condition)}: {r.message}"
    for node, reason in found.assumed:
        text = expr_text(node)
        yield f"{text}: assumed" + ("" if reason == text else f", {reason}")
