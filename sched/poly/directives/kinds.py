"""Directives on how the iterations of a loop run: parallel, vectorize, unroll."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...lang.errors.errors import Span
from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Op
from ...later import later
from ...records import dataclass, replace
from ..sets.memo import Same
from ..state.fields import loop_name
from ..state.record import Directive
from ..tree.edits import At, loops_around, put, stages
from ..tree.kinds import Kind
from ..tree.looptree import Seq

if TYPE_CHECKING:
    from ..state.editing import Editing
    from ..tree import extents
else:
    extents = later("..tree.extents", __package__)


MOST_COPIES: Mapping[Kind, int] = {"vector": 64, "unrolled": 256}
"""How many iterations a loop has at most that are laid out one by one."""


@dataclass(frozen=True)
class Parallel(Directive, name="parallel", of="loops"):
    """for i   ->   for all i concurrently, on several threads

    Legal: no two iterations i != i' touch one element, one of them writing it.
    """

    loop: str = loop_name()

    def edit(self, e: Editing) -> tuple[str, ...]:
        return _say(e, self.loop, "parallel")


@dataclass(frozen=True)
class Vectorize(Directive, name="vectorize", of="loops"):
    """for i   ->   for all i concurrently, statement by statement

    Legal: each dependence x -> y with i(x) != i(y), in one iteration of the loops around, goes from
    a statement, or an iteration of the loops inside, to a later one.
    """

    loop: str = loop_name()

    def edit(self, e: Editing) -> tuple[str, ...]:
        at = e.at(self.loop)
        for stage in stages(at.loop):
            if stage.statement.definition.opaque is not None:
                raise e.malformed(
                    f"the extern stage {stage.name} is inside of the loop {self.loop}",
                    "a function over arrays has no lanes: vectorise another loop",
                )
        return _say(e, self.loop, "vector")


@dataclass(frozen=True)
class Unroll(Directive, name="unroll", of="loops"):
    """The body of a loop, once for each iteration. Legal: always."""

    loop: str = loop_name()

    def edit(self, e: Editing) -> tuple[str, ...]:
        return _say(e, self.loop, "unrolled")


def _say(e: Editing, loop: str, kind: Kind) -> tuple[str, ...]:
    """The loop is of a kind from now on."""
    at = e.at(loop)
    _check_one_kind(e, at, kind)
    e.tree = set_kind(e.tree, at, kind, e.span)
    check_count(e, e.at(loop))
    return ()


def _check_one_kind(e: Editing, at: At, kind: str) -> None:
    """Refuses to replace the kind of a loop. A parallel loop inside of a parallel loop runs in
    order anyway, so its kind may be replaced."""
    old = at.loop.kind
    outside = loops_around(e.tree, next(stages(at.loop)).name)[: at.depth]
    nested = old == "parallel" and any(a.loop.kind == "parallel" for a in outside)
    if old in ("serial", kind) or nested:
        return
    said = f" ({at.loop.span})" if at.loop.span else ""
    raise e.malformed(
        f"the loop {at.loop.name} is {old} already{said}, and a loop is of one kind",
        f"split it before it is made {old}, and say one of each part"
        + (f"; or say it of {outside[-1].loop.name}, outside of it" if outside else ""),
    )


def check_count(e: Editing, at: At) -> None:
    """A loop whose iterations are laid out has a constant number of them, and few."""
    name, most = at.loop.name, MOST_COPIES.get(at.loop.kind)
    if most is None:
        return
    count = count_of(at, e, most)
    if count is None or count > most:
        how = "no constant extent" if count is None else f"{count} iterations"
        verb = "vectorize" if at.loop.kind == "vector" else "unroll"
        own = e.directive.name == verb
        raise e.malformed(
            f"the loop {name} {'has' if own else 'would have'} {how}, and at most {most} "
            + ("are lanes of a vector" if verb == "vectorize" else "are unrolled"),
            f'{verb}("{name}", 8) splits first' if own else f"{verb} it afterwards",
        )


def set_kind(tree: Seq, at: At, kind: Kind, span: Span | None = None) -> Seq:
    """The loop with another kind."""
    return put(tree, at.place, replace(at.loop, kind=kind, span=span))


def count_of(at: At, e: Editing, most: int) -> int | None:
    """How many iterations a loop has at most, if that is a constant; or a number of up to `most`
    that are enough."""
    inside = list(stages(at.loop))
    factors = [split_factor(s.coordinates[at.depth]) for s in inside]
    if all(0 < factor <= most for factor in factors):  # as it was split: isl may take minutes
        return max(factors)
    # What is done to the loops inside makes no difference.
    count = at.depth + 1
    runs = [(s.statement, s.coordinates[:count], Same(s.where), s.padding) for s in inside]
    key = ("extent", tuple(runs), count, Same(e.context))
    return e.model.memo.of(key, lambda: extents.constant_extent(inside, at.depth, e.context))


def split_factor(coordinate: Node) -> int:
    """The factor of the split whose inner loop has a coordinate; 0 if it is no such coordinate."""
    match coordinate:
        case Op(op="mod", operands=(_, divisor)):
            return ix.constant(divisor) or 0
    return 0
