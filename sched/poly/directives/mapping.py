"""Directives that change coordinates: skew, shift, reverse, transform."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from inspect import signature
from typing import TYPE_CHECKING, Any

from ...lang.errors.errors import LanguageTypeError, ScheduleError, Span
from ...lang.errors.words import counted
from ...lang.expr.expr import Expr, as_node
from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Const, Node, Op, Read, RVar, Var, integer, postorder, substitute
from ...lang.nodes.printer import expr_text
from ...lang.nodes.typing import typed_index
from ...later import later
from ...records import dataclass, replace
from ..state.fields import indices, loop_name, loop_names, new_name, new_names, number
from ..state.record import NO_FUNCS, Directive, map_text
from ..tree.edits import At, Coordinates, map_stages, put, recoordinate, stages
from ..tree.looptree import Loop, Seq, Tree
from ..tree.stage import Stage
from .kinds import split_factor
from .loops import check_free, check_perfect

if TYPE_CHECKING:
    from ..sets import affine, isl as sets
    from ..state.editing import Editing
else:
    affine = later("..sets.affine", __package__)
    sets = later("..sets.isl", __package__)


@dataclass(frozen=True)
class Skew(Directive, name="skew", of="loops"):
    """for t: for i   ->   for t: for i + f * t

    Legal: always, as (t, i + f * t) is in the order of (t, i).
    """

    outer: str = loop_name()
    inner: str = loop_name()
    factor: int = number("factor")
    new: str | None = new_name(called="name", optional=True)

    def edit(self, e: Editing) -> tuple[str, ...]:
        a, b = e.at(self.outer), e.at(self.inner)
        if a.depth >= b.depth:
            raise e.malformed(f"{self.inner} is not inside of {self.outer}", "reorder first")
        chosen = self.new or self.inner
        e.check_names(b, [chosen], [self.inner])
        e.tree = skew(e.tree, a, b, self.factor, chosen, self.span)
        return (chosen,)


@dataclass(frozen=True)
class Shift(Directive, name="shift", of="stage"):
    """The instances of one stage of a loop at i + by.

    Legal: for each dependence x -> y between stages of the loop, i'(x) <= i'(y), and where these
    are equal x stands before y.
    """

    loop: str = loop_name()
    by: int = number("distance")

    def edit(self, e: Editing) -> tuple[str, ...]:
        at = e.at(self.loop)
        if at.depth < e.depth_of_consumer(self.stage):
            raise e.malformed(
                f"{self.stage} is computed inside of the loop {self.loop}, in the iterations that "
                "need it: it runs no earlier, and no later",
                "shift what reads it, or a loop of its own",
            )
        e.tree = shift(e.tree, at, self.stage, self.by)
        return (self.loop,)


@dataclass(frozen=True)
class Reverse(Directive, name="reverse", of="loops"):
    """for i = first, ..., last   ->   for i = last, ..., first

    Legal: for each dependence x -> y with c(x) = c(y) in the loops c around, i(y) <= i(x); where
    these are equal, x stays before y.
    """

    loop: str = loop_name()

    def edit(self, e: Editing) -> tuple[str, ...]:
        at = e.at(self.loop)
        check_free(e, at, "reverse first, then say what it is")
        e.tree = reverse(e.tree, at, self.span)
        return ()


@dataclass(frozen=True)
class Transform(Directive, name="transform", of="loops"):
    """for x   ->   for y = A x + b

    Legal: where the map is one-to-one, and y(x1) < y(x2) for each dependence x1 -> x2.
    """

    loops: tuple[str, ...] = loop_names()
    values: tuple[Node, ...] = indices()
    names: tuple[str, ...] = new_names("the names of loops")

    def edit(self, e: Editing) -> tuple[str, ...]:
        wanted, order = e.in_order(self.loops)
        for a in order:
            check_free(e, a, "change coordinates first, then say what the loop is")
        old = placeholders(len(order))
        new: dict[Node, Node] = {old[k]: old[order.index(a)] for k, a in enumerate(wanted)}
        moved = [substitute(v, new) for v in self.values]
        e.check_names(order[0], self.names, self.loops)
        e.tree = transform(e.tree, order, self.names, moved, self.span)
        return self.names

    def arguments(self, funcs: Mapping[str, str] = NO_FUNCS) -> list[str]:
        return [
            _names_text(self.loops),
            map_text(self.loops, self.values),
            f"names={_names_text(self.names)}",
        ]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not len(self.loops) == len(self.values) == len(self.names):
            raise ScheduleError(
                f"transform of {counted(len(self.loops), 'loop')} gives "
                f"{counted(len(self.values), 'coordinate')} and {len(self.names)} names",
                where=self.span,
                hint="as many as there are loops",
            )
        own = placeholders(len(self.loops))
        for x in postorder(*self.values):
            if isinstance(x, (Var, RVar, Read)) and x not in own:
                self.mistyped(
                    f"the values of transform are of the old coordinates, not of {expr_text(x)}",
                    hint=_EXAMPLE,
                )


def skew(tree: Seq, outer: At, inner: At, factor: int, name: str, span: Span | None) -> Seq:
    """The inner loop counts i + f * t instead of i: for t: for i   ->   for t: for i + f * t"""

    def change(c: Coordinates) -> Coordinates:
        moved = ix.add(c[inner.depth], ix.mul(c[outer.depth], integer(factor)))
        return (*c[: inner.depth], moved, *c[inner.depth + 1 :])

    return put(
        tree,
        inner.place,
        recoordinate(replace(inner.loop, name=name, full_tile=None, span=span), change),
    )


def shift(tree: Seq, at: At, stage: str, by: int) -> Seq:
    """One stage of a loop runs `by` iterations later than the others."""

    def change(s: Stage) -> Stage:
        if s.name != stage:
            return s
        c, d = s.coordinates, at.depth
        return replace(s, coordinates=(*c[:d], ix.add(c[d], integer(by)), *c[d + 1 :]))

    return put(tree, at.place, map_stages(replace(at.loop, full_tile=None), change))


def reverse(tree: Seq, at: At, span: Span | None) -> Seq:
    """The loop counts -1 - i instead of i, or f - 1 - i where it is the inner one of a split by f.

    Of all mirrors this one keeps tiles: -1 - i is in tile -1 - i // f, at place f - 1 - i % f. It
    undoes itself.
    """
    found = {_places(s.coordinates[at.depth]) for s in stages(at.loop)}
    about = (at.loop.full_tile or (found.pop() if len(found) == 1 else 0)) - 1

    def change(c: Coordinates) -> Coordinates:
        return (*c[: at.depth], _mirrored(c[at.depth], about), *c[at.depth + 1 :])

    return put(tree, at.place, recoordinate(replace(at.loop, span=span), change))


def _places(x: Node) -> int:
    """The extent of the tile in which a coordinate is the position, counted up or down; 0 if it is
    no position in a tile."""
    match x:
        case Op(op="sub", operands=(Const(value=last), place)):
            return factor if (factor := split_factor(place)) == int(last) + 1 else 0
    return split_factor(x)


def _mirrored(x: Node, about: int) -> Node:
    """about - x, simplified where x is such a difference itself."""
    base, offset = ix.parted(x)
    match base:
        case Op(op="neg", operands=(inner,)):
            return ix.add(inner, ix.wrapped(about - offset))
        case Op(op="sub", operands=(Const(value=value), inner)):
            return ix.add(inner, ix.wrapped(about - offset - int(value)))
    return ix.sub(ix.wrapped(about - offset), base)


def transform(
    tree: Seq, order: Sequence[At], names: Sequence[str], values: Sequence[Node], span: Span | None
) -> Seq:
    """Loops directly inside each other get other coordinates, over `placeholders`.

    Raises:
        ScheduleError: two iterations would become one, or a coordinate is not affine.
    """
    first, last = order[0], order[-1]
    check_perfect(tree, first, last)
    for outer, inner in itertools.pairwise(order):
        if inner.depth != outer.depth + 1:
            raise ScheduleError(
                f"{inner.loop.name} is not directly inside of {outer.loop.name}",
                hint="reorder first, or name the loops between them too",
            )
    _check_injective([a.loop.name for a in order], values)
    d, count = first.depth, len(order)
    old = placeholders(count)

    def change(c: Coordinates) -> Coordinates:
        given: dict[Node, Node] = dict(zip(old, c[d : d + count], strict=True))
        return (*c[:d], *(substitute(v, given) for v in values), *c[d + count :])

    body: tuple[Tree, ...] = last.loop.body
    for name in reversed(names):
        body = (Loop(name, body, span=span),)
    return put(tree, first.place, recoordinate(body[0], change))


def placeholders(count: int) -> tuple[Var, ...]:
    """What a map of coordinates is written over."""
    return tuple(Var(f"#{k}") for k in range(count))


_EXAMPLE = "lambda t, i: (t, t + i), with an argument and a value for each loop"


def mapped(map: Callable[..., Any], count: int, span: Span) -> list[Node]:
    """The coordinates that a user's function gives for the old ones."""
    if isinstance(map, Expr) or not callable(map):
        raise LanguageTypeError(f"it is a function, not {map!r}", hint=_EXAMPLE)
    wrong = _misfit(map, count)
    if wrong is not None:
        raise LanguageTypeError(
            f"it is called with {counted(count, 'coordinate')}: {wrong}", hint=_EXAMPLE
        )
    given = map(*(Expr(v) for v in placeholders(count)))
    values = given if isinstance(given, (tuple, list)) else (given,)
    return [typed_index(as_node(v), {}, span) for v in values]


def _misfit(map: Callable[..., Any], count: int) -> str | None:
    """Why a function does not take so many arguments, as far as it tells."""
    with suppress(ValueError):
        try:
            signature(map).bind(*range(count))
        except TypeError as error:
            return str(error)
    return None


def _check_injective(loops: Sequence[str], values: Sequence[Node]) -> None:
    old = placeholders(len(loops))
    frame = sets.Frame((), tuple(x.name for x in old))
    exact = affine.affine_values(frame, values)
    if exact is None:
        named: dict[Node, Node] = {x: Var(name) for x, name in zip(old, loops, strict=True)}
        shown = [substitute(v, named) for v in values]
        raise ScheduleError(
            f"one of the new coordinates {affine.why_not_affine(shown, 'the old ones')}",
            hint="sums, and multiples by small constants: lambda t, i: (t, t + i)",
        )
    if not sets.relation(exact, frame).is_injective():
        raise ScheduleError(
            "two iterations would get the same coordinates",
            hint="as many independent coordinates as there are loops: lambda t, i: (t, t + i)",
        )


def _names_text(names: tuple[str, ...]) -> str:
    return f"({', '.join(map(repr, names))}{',' if len(names) == 1 else ''})"
