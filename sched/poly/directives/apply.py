"""A directive carried out: from a state of a schedule to the next one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...records import replace
from ..placement.placement import with_demands
from ..state.editing import Editing
from ..state.record import Directive
from ..state.state import Edit
from ..tree.edits import changed
from ..tree.looptree import Seq, loops_of, produced
from . import invariants


def applied(e: Editing, puts_off: bool = False) -> Edit:
    """The state behind the directive that is about to be carried out.

    Args:
        puts_off: whether Funcs are placed, and the tree is looked at, behind the next directive
            alone, if this one leaves the definitions as they are.

    Raises:
        ScheduleError: it means nothing.
    """
    made = e.directive.edit(e)
    if puts_off and e.model is e.state.rewritten.model:
        return Edit(replace(e.state, tree=e.tree, gone=_gone(e), complete=e.before), made)
    invariants.check_reach(e)
    invariants.check_bounds_known(e)
    if produced(e.tree):
        before = e.before if e.model is e.state.rewritten.model else Seq(())
        e.tree = with_demands(e.model, e.tree, before)
    invariants.check_kinds(e)
    invariants.check_private(e)
    invariants.check_lanes(e)
    state = replace(e.state, rewritten=e.rewritten, tree=e.tree, gone=_gone(e), complete=None)
    return Edit(state, made)


def _gone(e: Editing) -> Mapping[tuple[str, str], Directive]:
    """The loops that are no longer there, by stage and name, each with what replaced it."""
    before, after = _names(e.state.tree, e.tree), _names(e.tree, e.state.tree)
    if before == after:
        return e.state.gone
    gone = dict(e.state.gone)
    for stage in {**before, **after}:
        old, new = before.get(stage, ()), after.get(stage, ())
        if old != new:
            gone |= {(stage, name): e.directive for name in old if name not in new}
            for name in new:
                gone.pop((stage, name), None)
    return gone


def _names(tree: Seq, other: Seq) -> Mapping[str, Sequence[str]]:
    """By stage, the names of the loops around it, outermost first, in those nests that another
    tree does not have."""
    return {
        stage.name: [loop.name for loop in loops_of(path)] for path, stage in changed(tree, other)
    }
