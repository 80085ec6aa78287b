"""Is the program itself well-formed? An update must not depend on the order of its Vars.

For an update with domain D, writes W and reads R of its own tensor, all of

    { x -> y : x, y in D, W(x) = W(y) or W(x) = R(y) or R(x) = W(y), Vars(x) != Vars(y) }

must be empty, within each iteration of the blocks around. May-accesses take part with every
candidate element.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...lang.errors.errors import LanguageError
from ...lang.nodes.nodes import Var
from ...lang.tensors.definitions import Definition
from ..sets.isl import Map, Set, equal_dims
from ..sets.memo import Same
from ..sets.smallest import smallest_point
from .model import Model
from .statements import Access, Statement


def check_updates(model: Model) -> None:
    """Refuses updates that depend on the order of their Vars, with the two instances."""
    for statement in model.statements:
        if statement.definition.is_update and statement.definition.vars:
            key = ("order of Vars", statement, Same(model.context))
            model.memo.of(key, partial(_check, model, statement))


def _check(model: Model, statement: Statement) -> None:
    own = statement.accesses_of(statement.func)
    around, count = len(statement.definition.loops), len(statement.definition.vars)

    def conflict(a: Map, b: Map) -> Map:
        return _differ(a.apply_range(b.reverse()), around, count).intersect_params(model.context)

    for write in (a for a in own if a.is_write):
        for other in own:
            if _at_the_same(statement.definition.vars, write, other):
                continue
            if conflict(write.relation.map, other.relation.map).is_empty():
                continue  # wherever they run: domains of many pieces make isl slow
            found = conflict(write.map, other.map)
            if not found.is_empty():
                raise _refusal(statement, found, other.is_write)


def _at_the_same(vars: Sequence[Var], a: Access, b: Access) -> bool:
    """Whether each Var is a coordinate of both, on one axis: then equal elements have equal Vars.

    So it is in most updates, and regions of many pieces make isl slow to find it.
    """
    shared = {x for x, y in zip(a.index, b.index, strict=True) if x is y}
    return shared.issuperset(vars)


def _differ(pairs: Map, around: int, count: int) -> Map:
    """The pairs of one iteration of the loops around whose next `count` coordinates differ."""
    within = equal_dims(pairs, range(around))
    return within.subtract(equal_dims(within, range(around, around + count)))


def _refusal(statement: Statement, conflict: Map, both_write: bool) -> LanguageError:
    found = smallest_point(conflict.wrap())
    d = statement.definition
    text = ""
    if found is not None:
        sizes, coordinates = found
        text = ": " + _pair_text(statement, coordinates, sizes, both_write)
    names = ", ".join(v.name for v in d.vars)
    return LanguageError(
        f"{d.name} depends on the order of its Vars ({names}), which run in no order{text}",
        where=d.span,
        hint=f"{_in_order(d)}; or, for the values from before, read them from another Func, "
        "which copies them first",
    )


def _in_order(d: Definition) -> str:
    """How the Vars of an update run in order."""
    names = [v.name for v in d.vars]
    if len(names) == 1:
        (v,) = names
        return f"make {v} an RVar, which runs in order: {v} = ps.RVar({v!r}, lo, hi)"
    made = f"{', '.join(names)} = ps.rdom({' '.join(names)!r}, (lo, hi), ...)"
    return f"make {', '.join(names)} RVars, which run in order: {made}"


def _pair_text(
    statement: Statement, coordinates: list[int], sizes: dict[str, int], both_write: bool
) -> str:
    dims = statement.frame.dims
    first, second = coordinates[: len(dims)], coordinates[len(dims) :]
    a, b = (
        f"{statement.name}[{', '.join(f'{n}={x}' for n, x in zip(dims, point, strict=True))}]"
        for point in (first, second)
    )
    verb = "writes" if both_write else "reads"
    at = ", ".join(f"{k}={v}" for k, v in sizes.items())
    element = _element(statement, first, sizes)
    return f"{a} writes {element} and {b} {verb} it" + (f", at {at}" if at else "")


def _element(statement: Statement, point: list[int], sizes: dict[str, int]) -> str:
    """The element that an instance writes."""
    where: Set = statement.frame.universe
    for name, value in zip(statement.frame.dims, point, strict=True):
        frame = statement.frame
        where = where.intersect(frame.dim(name).eq_set(frame.constant(value)))
    for name, value in sizes.items():
        frame = statement.frame
        where = where.intersect(frame.param(name).eq_set(frame.constant(value)))
    image = where.apply(statement.write.map)
    found = smallest_point(image)
    inside = ", ".join(map(str, found[1])) if found is not None else "?"
    return f"{statement.func.name}[{inside}]"
