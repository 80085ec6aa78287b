"""Directives that make, merge and move loops: split, rename, reorder, fuse.

Each takes a tree and gives a new one. A loop that several stages share is one loop: what is done
to it is done for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...lang.errors.errors import ScheduleError, Span
from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, integer
from ...later import later
from ...records import dataclass, replace
from ..state.fields import choice, loop_name, loop_names, new_name, new_names, number
from ..state.record import Directive
from ..tree.edits import At, Coordinates, Shared, node_at, put, recoordinate, stages
from ..tree.looptree import Loop, Seq, Tree
from ..tree.stage import Stage
from . import tails
from .assumptions import multiples
from .kinds import split_factor
from .tails import TAILS

if TYPE_CHECKING:
    from ..sets import hulls
    from ..sets.isl import Set
    from ..state.editing import Editing, Symbols
    from ..tree import extents
else:
    hulls = later("..sets.hulls", __package__)
    extents = later("..tree.extents", __package__)


@dataclass(frozen=True)
class Split(Directive, name="split", of="loops"):
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

    def edit(self, e: Editing) -> tuple[str, ...]:
        at = e.at(self.loop)
        check_free(e, at, "split first, then say what it is", ("vector", "unrolled"))
        e.check_names(at, self.made, [self.loop])
        if self.tail == "round_up":
            e.assume(at, multiples(at, self.factor), f"{self.loop} is a multiple of {self.factor}")
        if self.tail == "pad":
            e.tree = tails.pad(e.tree, at, self.factor)
            at = e.at(self.loop)
        e.tree = split(e.tree, at, self.factor, self.made, self.span)
        outer = e.at(self.made[0])
        if self.tail in ("guard", "mask"):
            e.tree = tails.full(e.tree, outer, self.factor)
        elif self.tail in ("peel", "shift"):
            cut = tails.peel if self.tail == "peel" else tails.shift
            e.tree = cut(e.tree, outer, self.factor, e.context)
        return self.made

    @property
    def made(self) -> tuple[str, str]:
        """The names of the outer and of the inner loop."""
        return self.names or (f"{self.loop}o", f"{self.loop}i")


@dataclass(frozen=True)
class Rename(Directive, name="rename", of="loops"):
    """for i   ->   for x. Legal: always."""

    loop: str = loop_name()
    new: str = new_name(called="name")

    def edit(self, e: Editing) -> tuple[str, ...]:
        at = e.at(self.loop)
        e.check_names(at, [self.new], [self.loop])
        inside = {stage.name for stage in stages(at.loop)}
        hints = tuple(
            replace(p, loop=self.new) if p.loop == self.loop and p.stage in inside else p
            for p in e.state.prefetches
        )
        e.state = replace(e.state, prefetches=hints)
        e.tree = rename(e.tree, at, self.new)
        return ()


@dataclass(frozen=True)
class Reorder(Directive, name="reorder", of="loops"):
    """for a: for b   ->   for b: for a

    Legal: for each dependence x -> y, (b, a)(x) < (b, a)(y).
    """

    loops: tuple[str, ...] = loop_names()

    def edit(self, e: Editing) -> tuple[str, ...]:
        wanted, order = e.in_order(self.loops)
        e.tree = reorder(e.tree, order, wanted)
        return ()


@dataclass(frozen=True)
class Fuse(Directive, name="fuse", of="loops"):
    """for i: for j in [lo, lo + e)   ->   for f = i * e + (j - lo)

    Legal: always, as f is in the order of (i, j); e is a constant.
    """

    outer: str = loop_name()
    inner: str = loop_name()
    new: str | None = new_name(called="name", optional=True)

    def edit(self, e: Editing) -> tuple[str, ...]:
        a, b = e.at(self.outer), e.at(self.inner)
        if a.depth > b.depth:
            raise e.malformed(
                f"the loop {self.inner} is around {self.outer}, and the outer one comes first",
                f'fuse("{self.inner}", "{self.outer}")',
            )
        chosen = self.new or f"{self.outer}{self.inner}"
        e.check_names(a, [chosen], [self.outer, self.inner])
        for x in (a, b):
            check_free(e, x, "fuse first, then say what the loop is", ("vector", "unrolled"))
        if a.loop.kind == "serial":
            check_free(e, b, "say it of the loop that they become", ("parallel",))
        e.tree = fuse(e.tree, a, b, chosen, e.symbols, e.context)
        return (chosen,)


KINDS = ("parallel", "vector", "unrolled")
"""What loops are said to be."""


def check_free(e: Editing, at: At, hint: str, taken: Sequence[str] = KINDS) -> None:
    """Refuses a loop of a kind that the edit would drop."""
    if at.loop.kind in taken:
        raise e.malformed(f"the loop {at.loop.name} is {at.loop.kind} already", hint)


def split(tree: Seq, at: At, factor: int, names: tuple[str, str], span: Span | None = None) -> Seq:
    """for i in [0, n):   ->   for io in [0, ceil(n / f)):
             ...                    for ii in [0, min(f, n - f * io)): ...

    Counted from index 0, wherever the loop begins: tiles do not move with the loops around.
    """

    def change(c: Coordinates) -> Coordinates:
        x = c[at.depth]
        return (*c[: at.depth], ix.floordiv(x, factor), ix.mod(x, factor), *c[at.depth + 1 :])

    inner = replace(at.loop, name=names[1], full_tile=None, span=span)
    body = recoordinate(inner, change)
    return put(
        tree, at.place, replace(at.loop, name=names[0], body=(body,), full_tile=None, span=span)
    )


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
    start = extents.fixed_start(below, inner.depth, symbols)
    extent = extents.extent_from(below, inner.depth, start, context)
    if extent is None or (extent > hulls.MANY and _is_of_types(below, inner.depth, start, context)):
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

    made = replace(outer.loop, name=name, body=inner.loop.body, full_tile=None)
    return put(tree, outer.place, recoordinate(made, change))


def _is_of_types(below: Sequence[Stage], depth: int, start: Node, context: Set) -> bool:
    """Whether an extent is a constant only because sizes may be larger than that."""
    if all(split_factor(s.coordinates[depth]) for s in below):
        return False
    few = extents.extent_from(below, depth, start, hulls.small_sizes(context))
    return few is not None and few <= hulls.MANY
