"""The directives that give parts of a reduction results of their own."""

from __future__ import annotations

from ...lang.tensors.tensors import Func
from ...poly.schedule.schedule import Schedule
from ...poly.schedule.stages import StageHandle
from ..facts.facts import StatementFacts
from ..plans.planned import Nest
from .splits import splits


def loop_of(nest: Nest, statement: StatementFacts, loop: int) -> str:
    """The name of a loop as written, or of what is left of it in a part."""
    for _, _, outer, inner in splits(nest, statement):
        if outer == nest.parts and any(x.name == outer and x.loop == loop for x in nest.loops):
            return inner
    return statement.loops[loop].name


def take_apart(stage: StageHandle, statement: StatementFacts, nest: Nest) -> Func:
    """Gives parts of a reduction results of their own, a Func of its own, of which the statement
    adds up what they have in the end."""
    if not statement.is_exact:
        stage.reassociate()
    for loop, by, outer, inner in splits(nest, statement):
        if outer == nest.parts:
            stage.split(loop, by, names=(outer, inner))
    assert nest.parts is not None
    return stage.rfactor(nest.parts)


def begin_and_end(s: Schedule, part: Func, stage: StageHandle, nest: Nest) -> None:
    """Begins the results of all parts, and adds them up one part after the other, both by vectors
    of results."""
    assert nest.parts is not None
    lanes = nest.plan.number("lanes")
    own = [x.name for x in stage.loops if x.name != nest.parts]
    if not own:
        return
    stage.reorder(nest.parts, *own)
    for made, loop in ((s[part], s[part].loops[-1].name), (stage, own[-1])):
        made.vectorize(loop, lanes)


def give_copies(s: Schedule, part: Func, statement: StatementFacts, nest: Nest) -> None:
    """Gives neighbours in a part results of their own, which the part adds up at once."""
    assert nest.parts is not None
    assert nest.copies is not None
    whole = s[part].update(0)
    lanes, copied = nest.plan.number("lanes"), nest.plan.number("jam")
    name = loop_of(nest, statement, copied)
    for loop, by, outer, inner in splits(nest, statement):
        if inner == nest.copies and loop == name:
            whole.split(loop, by, names=(outer, inner))
    made = whole.rfactor(nest.copies)
    own = s[made]
    own.reorder_storage(1, 0, *range(2, made.ndim))
    own.update(0).unroll(nest.copies)
    axes = [x.name for x in whole.loops if x.name not in (nest.parts, nest.copies)]
    whole.reorder(nest.parts, nest.copies, *axes)
    for stage in (s[part], own):
        stage.compute_at(whole, nest.parts)
    for stage in (own, whole):
        stage.vectorize(stage.loops[-1].name, lanes)
