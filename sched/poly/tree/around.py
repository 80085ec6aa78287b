"""The loops around what is computed at a loop: their names in there, and when they may change.

The stages of a `Produce` have the loops around as their first dimensions, `around`; `times` are the
coordinates at which they run, expressions over these. As long as the loops inside do not depend on
the loops around, both can be replaced. Loops inside that are skewed by those around, or run only in
some of their iterations, keep the loops around as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...lang.errors.errors import ScheduleError
from ...lang.nodes.nodes import Node, Var, postorder, replaced_all
from ...records import replace
from ..sets.coordinates import coordinate_map
from ..sets.isl import Frame
from .edits import Coordinates, map_children, own_stages
from .looptree import Loop, Produce, Tree, loops_as_vars
from .stage import Stage


def renewed(node: Produce, loops: tuple[Loop, ...]) -> Produce:
    """The `Produce` with the present loops around it, if directives have changed these since."""
    times = _own(node).coordinates[: len(loops)]
    if times == node.times:
        return node
    if has_own_loops(replace(node, times=times)):
        around = as_dimensions(node, loops)
        return with_times(node, around, around)
    if not coordinate_map(Frame((), node.names), times).is_injective():
        raise are_fixed(node)
    return replace(node, times=times)


def _own(node: Produce) -> Stage:
    """The first stage that computes one of the Funcs."""
    own = (s for child in node.body for s in own_stages(child))
    return next(s for s in own if s.statement.func in node.funcs)


def has_own_loops(node: Produce) -> bool:
    """Whether the loops inside have nothing to do with those around."""
    inside = [s for child in node.body for s in own_stages(child)]
    own = {x for s in inside for x in postorder(*s.coordinates[len(node.times) :])}
    return not own & set(node.around) and all(s.where is None and not s.padding for s in inside)


def are_fixed(node: Produce) -> ScheduleError:
    return ScheduleError(
        f"the loops around {_own(node).name} cannot change any more: its own ones are made of them",
        hint="change the loops of the consumer first",
    )


def as_dimensions(node: Produce, loops: Sequence[Loop]) -> tuple[Var, ...]:
    return loops_as_vars(node.around[0].name.rpartition(".")[0], loops)


def with_times(node: Produce, around: tuple[Var, ...], times: tuple[Node, ...]) -> Produce:
    """The `Produce` with other coordinates in the loops around. A `Produce` inside of it is adapted
    when its region is derived anew."""
    return _changed(node, around, times, lambda own: (*times, *own[len(times) :]))


def as_beside(node: Produce, other: Produce) -> Produce:
    """A `Produce` that runs in the same iterations as another one, with the same names for the
    loops around.

    Raises:
        ScheduleError: its own loops are made of those around.
    """
    around, times = other.around, other.times
    if (node.around, node.times) == (around, times):
        return node
    if len(node.around) == len(around):
        named: dict[Node, Node] = dict(zip(node.around, around, strict=True))
        if replaced_all(node.times, named) == times:
            return _changed(node, around, times, lambda own: replaced_all(own, named))
    if not has_own_loops(node):
        raise are_fixed(node)
    return with_times(node, around, times)


def _changed(
    node: Produce,
    around: tuple[Var, ...],
    times: tuple[Node, ...],
    change: Callable[[Coordinates], Coordinates],
) -> Produce:
    """The `Produce` with the coordinates of its stages changed, without those in a `Produce`
    inside."""

    def changed(tree: Tree) -> Tree:
        if isinstance(tree, Stage):
            return replace(tree, coordinates=change(tree.coordinates))
        if isinstance(tree, Produce):
            return tree
        return map_children(tree, changed)

    body = tuple(map(changed, node.body))
    return replace(node, around=around, times=times, body=body, demand=None)
