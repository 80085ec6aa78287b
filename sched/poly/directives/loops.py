"""Directives that make, merge and move loops: split, fuse, rename, reorder, and kinds of loops.

Each takes a tree and gives a new one. A loop that several stages share is one loop: what is done
to it is done for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...lang import index as ix
from ...lang.errors import ScheduleError, Span
from ...lang.nodes import Node, Op, integer
from ..bounds import MANY, constant_extent, extent_from, fixed_start, small_sizes
from ..edits import At, Coordinates, Shared, node_at, put, recoordinate, stages
from ..isl import PwAff, Set, complement, isl, val
from ..looptree import Kind, Loop, Seq, Stage, Tree
from .bodies import by_outer, iterations_of
from .fields import choice, loop_name, loop_names, new_name, new_names, number
from .record import Directive
from .tails import TAILS

if TYPE_CHECKING:
    from ..editor import Editor

Symbols = Mapping[str, Node]
"""The sizes and Params by name."""


MOST_COPIES: Mapping[Kind, int] = {"vector": 64, "unrolled": 256}
"""How many iterations a loop has at most that are laid out one by one."""


def count_of(at: At, context: Set, most: int) -> int | None:
    """How many iterations a loop has at most, if that is a constant; or a number of up to `most`
    that are enough."""
    inside = list(stages(at.loop))
    factors = [_factor_of(s.coordinates[at.depth]) for s in inside]
    if all(0 < factor <= most for factor in factors):  # as it was split: isl may take minutes
        return max(factors)
    return constant_extent(inside, at.depth, context)


def _factor_of(coordinate: Node) -> int:
    """That of the split whose inner loop a coordinate is; 0 if it is none."""
    match coordinate:
        case Op(op="mod", operands=(_, divisor)):
            return ix.constant(divisor) or 0
    return 0


def multiples(at: At, factor: int) -> Set:
    """The sizes at which a loop begins and ends at multiples of a factor, wherever it runs."""
    first, last = _ends_of(at)
    bad = [
        end.mod_val(val(factor)).nonneg_set().subtract(end.mod_val(val(factor)).zero_set())
        for end in (first, last.add_constant_val(isl.Val(1)))
    ]
    return complement(bad[0].params().union(bad[1].params()).coalesce())


def spans(at: At, extent: int) -> Set:
    """The sizes at which a loop has that many iterations from the first to the last."""
    first, last = _ends_of(at)
    wrong = last.sub(first).add_constant_val(val(1 - extent))
    return complement(wrong.domain().subtract(wrong.zero_set()).params().coalesce())


def _ends_of(at: At) -> tuple[PwAff, PwAff]:
    """The first and the last iteration, over the outer loops."""
    visited = by_outer([iterations_of(s, at.depth + 1) for s in stages(at.loop)], at.depth)
    first = visited.lexmin_pw_multi_aff().get_pw_aff(0)
    return first, visited.lexmax_pw_multi_aff().get_pw_aff(0)


def split(tree: Seq, at: At, factor: int, names: tuple[str, str], span: Span | None = None) -> Seq:
    """for i in [0, n):   ->   for io in [0, ceil(n / f)):
             ...                    for ii in [0, min(f, n - f * io)): ...

    Counted from index 0, wherever the loop begins: tiles do not move with the loops around.
    """

    def change(c: Coordinates) -> Coordinates:
        x = c[at.depth]
        return (*c[: at.depth], ix.floordiv(x, factor), ix.mod(x, factor), *c[at.depth + 1 :])

    inner = replace(at.loop, name=names[1], whole=None, span=span)
    body = recoordinate(inner, change)
    return put(tree, at.place, replace(at.loop, name=names[0], body=(body,), whole=None, span=span))


def reorder(tree: Seq, order: Sequence[At], wanted: Sequence[At]) -> Seq:
    """The loops `order`, outermost first as they are, in the order `wanted`.

    Raises:
        ScheduleError: a loop between the first and the last one holds more than the next loop.
    """
    first, last = order[0], order[-1]
    check_perfect(tree, first, last)
    depths = [a.depth for a in order]
    moved = {old.depth: new.depth for old, new in zip(order, wanted, strict=True)}
    between = range(depths[0], depths[-1] + 1)

    def change(c: Coordinates) -> Coordinates:
        inside = tuple(c[moved.get(k, k)] for k in between)
        return (*c[: between.start], *inside, *c[between.stop :])

    node: Tree = node_at(tree, last.place)
    assert isinstance(node, Loop)
    chain: list[Loop] = []
    here: Tree = first.loop
    while True:
        assert isinstance(here, Loop)
        chain.append(here)
        if here is node:
            break
        here = here.body[0]
    by_depth = dict(zip(between, chain, strict=True))
    body = tuple(recoordinate(child, change) for child in node.body)
    for k in reversed(between):
        body = (replace(by_depth[moved.get(k, k)], body=body),)
    return put(tree, first.place, *body)


def check_perfect(tree: Seq, first: At, last: At) -> None:
    """Refuses loops between which something else stands."""
    here: Tree = first.loop
    while here is not last.loop:
        assert isinstance(here, Loop)
        if len(here.body) > 1 or not isinstance(here.body[0], Loop):
            names = ", ".join(dict.fromkeys(s.name for s in stages(here)))
            raise Shared(
                f"the loop {here.name} holds more than the loop inside of it ({names}), so it "
                f"cannot change places with {last.loop.name}",
                here,
            )
        here = here.body[0]


def set_kind(tree: Seq, at: At, kind: Kind, span: Span | None = None) -> Seq:
    """The loop with another kind."""
    return put(tree, at.place, replace(at.loop, kind=kind, span=span))


def rename(tree: Seq, at: At, name: str) -> Seq:
    """The loop with another name."""
    return put(tree, at.place, replace(at.loop, name=name))


def fuse(tree: Seq, outer: At, inner: At, name: str, symbols: Symbols, context: Set) -> Seq:
    """for i: for j in [lo, lo + e):   ->   for f, with i = f // e and j = lo + f % e

    Raises:
        ScheduleError: the inner extent is not a constant.
    """
    check_perfect(tree, outer, inner)
    if inner.depth != outer.depth + 1:
        raise ScheduleError(
            f"{inner.loop.name} is not directly inside of {outer.loop.name}",
            hint="reorder first",
        )
    below = list(stages(inner.loop))
    start = fixed_start(below, inner.depth, symbols)
    extent = extent_from(below, inner.depth, start, context)
    if extent is None or (extent > MANY and _is_of_types(below, inner.depth, start, context)):
        but = "" if extent is None else f", but for the {extent} values of the type of an index"
        raise ScheduleError(
            f"the loop {inner.loop.name} has no constant extent{but}: an index of {name} would be "
            "a product of sizes",
            hint=f"tile first, and fuse loops over tiles: split({inner.loop.name}, 8)",
        )

    def change(c: Coordinates) -> Coordinates:
        d = outer.depth
        fused = ix.add(ix.mul(c[d], integer(extent)), ix.sub(c[d + 1], start))
        return (*c[:d], fused, *c[d + 2 :])

    made = replace(outer.loop, name=name, body=inner.loop.body, whole=None)
    return put(tree, outer.place, recoordinate(made, change))


def _is_of_types(below: Sequence[Stage], depth: int, start: Node, context: Set) -> bool:
    """Whether an extent is a constant only because sizes may be larger than that."""
    if all(_factor_of(s.coordinates[depth]) for s in below):
        return False
    few = extent_from(below, depth, start, small_sizes(context))
    return few is not None and few <= MANY


@dataclass(frozen=True)
class Split(Directive, name="split"):
    """for i   ->   for io = i // factor: for ii = i % factor

    Legal: always, as (io, ii) is in the order of i; tail="shift" where no instance reads what it or
    another one of the stage writes.
    """

    loop: str = loop_name()
    factor: int = number("factor", least=1)
    names: tuple[str, str] | None = new_names(
        "a pair, of the outer and the inner loop", 2, hint='names=("io", "ii")', optional=True
    )
    tail: str = choice(TAILS, default="auto")

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.split(self.loop, self.factor, self.tail, self.names)

    @property
    def made(self) -> tuple[str, str]:
        """The names of the outer and of the inner loop."""
        return self.names or (f"{self.loop}o", f"{self.loop}i")


@dataclass(frozen=True)
class Rename(Directive, name="rename"):
    """for i   ->   for x. Legal: always."""

    loop: str = loop_name()
    new: str = new_name(called="name")

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.rename(self.loop, self.new)


@dataclass(frozen=True)
class Reorder(Directive, name="reorder"):
    """for a: for b   ->   for b: for a

    Legal: for each dependence x -> y, (b, a)(x) < (b, a)(y).
    """

    loops: tuple[str, ...] = loop_names()

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.reorder(self.loops)


@dataclass(frozen=True)
class Fuse(Directive, name="fuse"):
    """for i: for j in [lo, lo + e)   ->   for f = i * e + (j - lo)

    Legal: always, as f is in the order of (i, j); e is a constant.
    """

    outer: str = loop_name()
    inner: str = loop_name()
    new: str | None = new_name(called="name", optional=True)

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.fuse(self.outer, self.inner, self.new)


@dataclass(frozen=True)
class Parallel(Directive, name="parallel"):
    """for i   ->   for all i at once, on several threads

    Legal: no two iterations i != i' touch one element, one of them writing it.
    """

    loop: str = loop_name()

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.parallel(self.loop)


@dataclass(frozen=True)
class Vectorize(Directive, name="vectorize"):
    """for i   ->   for all i at once, statement by statement

    Legal: each dependence x -> y with i(x) != i(y), in one iteration of the loops around, goes from
    a statement, or an iteration of the loops inside, to a later one.
    """

    loop: str = loop_name()

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.vectorize(self.loop)


@dataclass(frozen=True)
class Unroll(Directive, name="unroll"):
    """The body of a loop, once for each iteration. Legal: always."""

    loop: str = loop_name()

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.unroll(self.loop)
