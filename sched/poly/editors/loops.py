"""Directives on loops and their coordinates."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

from ...lang.nodes import Node, Read, RVar, postorder, substitute
from ...lang.printer import expr_text
from ...lang.tensors import Func
from ..coordinates import is_too_far
from ..directives import loops as nests, mapping, tails
from ..edits import At, loops_around, stages
from ..kept import copies
from ..looptree import Alloc, Keep, Loop, Stage, kinds, leaves, loops_of, produced
from .base import BaseEditor, leaves_of

KINDS = ("parallel", "vector", "unrolled")
"""What loops are said to be."""

_copied: WeakValueDictionary[int, Keep] = WeakValueDictionary()
"""What has been found to be copied in and back by loops. What is around a node is part of the
coordinates of its stages."""


class LoopEditor(BaseEditor):
    """split, fuse, reorder and their like; skew, shift, transform."""

    def split(
        self, loop: str, factor: int, tail: str = "auto", names: tuple[str, str] | None = None
    ) -> tuple[str, ...]:
        at = self.at(loop)
        self._check_free(at, "split first, then say what it is", ("vector", "unrolled"))
        chosen = names or (f"{loop}o", f"{loop}i")
        self._fresh(at, chosen, [loop])
        if tail == "round_up":
            self._assume(at, nests.multiples(at, factor), f"{loop} is a multiple of {factor}")
        if tail == "pad":
            self.tree = tails.pad(self.tree, at, factor)
            at = self.at(loop)
        self.tree = nests.split(self.tree, at, factor, chosen, self.span)
        outer = self.at(chosen[0])
        if tail in ("guard", "mask"):
            self.tree = tails.full(self.tree, outer, factor)
        elif tail in ("peel", "shift"):
            self._touch(outer)
            cut = tails.peel if tail == "peel" else tails.shift
            self.tree = cut(self.tree, outer, factor, self.context)
        return chosen

    def rename(self, loop: str, name: str) -> tuple[str, ...]:
        at = self.at(loop)
        self._fresh(at, [name], [loop])
        inside = {stage.name for stage in stages(at.loop)}
        hints = tuple(
            replace(p, loop=name) if p.loop == loop and p.stage in inside else p
            for p in self.state.prefetches
        )
        self.state = replace(self.state, prefetches=hints)
        self.tree = nests.rename(self.tree, at, name)
        return ()

    def reorder(self, loops: tuple[str, ...]) -> tuple[str, ...]:
        wanted, order = self.in_order(loops)
        self._touch(order[0])
        self.tree = nests.reorder(self.tree, order, wanted)
        return ()

    def fuse(self, outer: str, inner: str, name: str | None = None) -> tuple[str, ...]:
        a, b = self.at(outer), self.at(inner)
        chosen = name or f"{outer}{inner}"
        self._fresh(a, [chosen], [outer, inner])
        for x in (a, b):
            self._check_free(x, "fuse first, then say what the loop is", ("vector", "unrolled"))
        if a.loop.kind == "serial":
            self._check_free(b, "say it of the loop that they become", ("parallel",))
        if a.loop.kind == "parallel":
            self._touch(a)  # iterations of the inner loop would run at once, too
        self.tree = nests.fuse(self.tree, a, b, chosen, self.symbols, self.context)
        return (chosen,)

    def parallel(self, loop: str) -> tuple[str, ...]:
        return self._kind(loop, "parallel")

    def vectorize(self, loop: str) -> tuple[str, ...]:
        at = self.at(loop)
        for stage in stages(at.loop):
            if stage.statement.definition.opaque is not None:
                raise self._malformed(
                    f"the extern stage {stage.name} is inside of the loop {loop}",
                    "a function over arrays has no lanes: vectorise another loop",
                )
        return self._kind(loop, "vector")

    def unroll(self, loop: str) -> tuple[str, ...]:
        return self._kind(loop, "unrolled")

    def _kind(self, loop: str, kind: Any) -> tuple[str, ...]:
        at = self.at(loop)
        self._check_one_kind(at, kind)
        if kind != "unrolled":
            self._touch(at)
        self.tree = nests.set_kind(self.tree, at, kind, self.span)
        self._check_count(self.at(loop))
        return ()

    def _check_one_kind(self, at: At, kind: str) -> None:
        """Refuses to take back what was said of a loop. What is parallel inside of a parallel
        loop runs in order, and may become something else: nothing is lost."""
        old = at.loop.kind
        outside = loops_around(self.tree, next(stages(at.loop)).name)[: at.depth]
        nested = old == "parallel" and any(a.loop.kind == "parallel" for a in outside)
        if old in ("serial", kind) or nested:
            return
        said = f" ({at.loop.span})" if at.loop.span else ""
        raise self._malformed(
            f"the loop {at.loop.name} is {old} already{said}, and a loop is of one kind",
            f"split it before it is made {old}, and say one of each part"
            + (f"; or say it of {outside[-1].loop.name}, outside of it" if outside else ""),
        )

    def _check_free(self, at: At, hint: str, taken: Sequence[str] = KINDS) -> None:
        """Refuses a loop of one of some kinds, of which nothing could be kept."""
        if at.loop.kind in taken:
            raise self._malformed(f"the loop {at.loop.name} is {at.loop.kind} already", hint)

    def skew(self, outer: str, inner: str, factor: int, name: str | None = None) -> tuple[str, ...]:
        a, b = self.at(outer), self.at(inner)
        if a.depth >= b.depth:
            raise self._malformed(f"{inner} is not inside of {outer}", "reorder first")
        chosen = name or inner
        self._fresh(b, [chosen], [inner])
        self._touch_lanes(b)
        self.tree = mapping.skew(self.tree, a, b, factor, chosen, self.span)
        return (chosen,)

    def shift(self, loop: str, by: int) -> tuple[str, ...]:
        at = self.at(loop)
        if at.depth < self._depth_of_consumer(self.stage):
            raise self._malformed(
                f"{self.stage} is computed inside of the loop {loop}, in the iterations that need "
                "it: it runs no earlier, and no later",
                "shift what reads it, or a loop of its own",
            )
        self._touch(at)
        self.tree = mapping.shift(self.tree, at, self.stage, by)
        return (loop,)

    def transform(
        self, loops: tuple[str, ...], values: tuple[Node, ...], names: tuple[str, ...]
    ) -> tuple[str, ...]:
        wanted, order = self.in_order(loops)
        for a in order:
            self._check_free(a, "change coordinates first, then say what the loop is")
        old = mapping.placeholders(len(order))
        new: dict[Node, Node] = {old[k]: old[order.index(a)] for k, a in enumerate(wanted)}
        moved = [substitute(v, new) for v in values]
        self._fresh(order[0], names, loops)
        self._touch(order[0])
        self.tree = mapping.transform(self.tree, order, names, moved, self.span)
        return names

    def _coordinates(self) -> frozenset[Node]:
        """Those of all loops."""
        return frozenset(x for s in stages(self.tree) for x in s.coordinates)

    def _check_reach(self, before: Collection[Node]) -> None:
        """Whether the loops that count otherwise than before stay within 64 bits."""
        for path, stage in leaves(self.tree):
            for loop, x in zip(loops_of(path), stage.coordinates, strict=True):
                if x not in before and is_too_far(x):
                    raise self._malformed(
                        f"the loop {loop.name} of {stage.name} would count to {expr_text(x)}, "
                        "which may not fit in 64 bits: sizes are below 2**40, loops within 2**44",
                        "smaller factors, which can all be multiplied with such indices",
                    )

    def _check_kinds(self) -> None:
        """Whether the loops around what was edited can be of the kinds that they are."""
        for stage in leaves_of(self.tree, {s.base for s in self.edited}):
            around = loops_around(self.tree, stage.name)
            for at in around:
                self._check_count(at)
            lanes = [a for a in around if a.loop.kind == "vector"]
            below = [a for a in around if lanes and a.depth > lanes[0].depth]
            wrong = next((a for a in below if a.loop.kind in ("vector", "parallel")), None)
            if wrong is not None:
                raise self._malformed(
                    f"the {wrong.loop.kind} loop {wrong.loop.name} would be inside of the vector "
                    f"loop {lanes[0].loop.name}",
                    "reorder, so that the vector loop is inside",
                )

    def _check_lanes(self) -> None:
        """Whether lanes would compute Funcs: they share storage."""
        if "vector" not in kinds(self.tree):
            return
        for path, node in produced(self.tree):
            loop = next((x for x in loops_of(path) if x.kind == "vector"), None)
            if loop is not None:
                names = " and ".join(f.name for f in node.funcs)
                raise self._malformed(
                    f"{names} would be computed inside of the vector loop {loop.name}: its lanes "
                    "run together",
                    f"compute {names} at a loop outside of {loop.name} first",
                )

    def _check_bounds_known(self) -> None:
        """Whether the bounds of loops read nothing that is computed inside of these loops."""
        if not any(s.data_bounds for s in self.model.statements):
            return
        for path, node in produced(self.tree):
            around = loops_of(path)
            for stage in stages(around[-1]):
                r = _bounded_by(stage, node.funcs, len(around))
                if r is not None:
                    names = " and ".join(f.name for f in node.funcs)
                    raise self._malformed(
                        f"the bounds of {r.name} in {stage.name} read {names}, which would be "
                        f"computed inside of the loop {around[-1].name}",
                        f"compute {names} at a loop outside of {r.name}",
                    )

    def _check_kept(self) -> None:
        """Whether nothing else uses what a stage keeps to itself."""
        if not any(isinstance(node, Keep) for node in self._nodes()):
            return
        for path, stage in leaves(self.tree):
            kept = [node for _, node in path if isinstance(node, Keep)]
            if len({node.func for node in kept}) < len(kept):
                # One would begin with, and leave, what the other does not know of.
                raise self._malformed(
                    f"{stage.name} would be in storage of its own for {kept[-1].func.name} twice, "
                    "one inside of the other",
                    "accumulate at one loop",
                )
            holders = [node for _, node in path if isinstance(node, (Keep, Alloc))]
            for x, inner in itertools.combinations(holders, 2):
                if isinstance(x, Keep) and isinstance(inner, Alloc) and x.func is inner.func:
                    raise self._malformed(
                        f"{x.stage} would keep what is stored inside of that loop",
                        f"a loop inside of where {inner.func.name} is stored, or store it outside",
                    )
            depth = 0
            for _, node in path:
                lanes = [x for _, x in path if isinstance(x, Loop) and x.kind == "vector"]
                if isinstance(node, Keep) and lanes and depth > loops_of(path).index(lanes[0]):
                    raise self._malformed(
                        f"the lanes of {lanes[0].name} would share what {stage.name} keeps",
                        "vectorize a loop inside of where it is kept",
                    )
                fresh = isinstance(node, Keep) and _copied.get(id(node)) is not node
                if isinstance(node, Keep) and fresh and node.is_of(stage):
                    copies(node, depth, self.symbols, self.context)
                    _copied[id(node)] = node
                depth += isinstance(node, Loop)

    def _check_count(self, at: At) -> None:
        """A loop whose iterations are laid out has a constant number of them, and few."""
        name, most = at.loop.name, nests.MOST_COPIES.get(at.loop.kind)
        if most is None:
            return
        count = nests.count_of(at, self.context, most)
        if count is None or count > most:
            how = "no constant extent" if count is None else f"{count} iterations"
            verb = "vectorize" if at.loop.kind == "vector" else "unroll"
            own = self.directive.name == verb
            raise self._malformed(
                f"the loop {name} {'has' if own else 'would have'} {how}, and at most {most} "
                + ("are lanes of a vector" if verb == "vectorize" else "are unrolled"),
                f'{verb}("{name}", 8) splits first' if own else f"{verb} it afterwards",
            )


def _bounded_by(stage: Stage, funcs: Collection[Func], depth: int) -> RVar | None:
    """An RVar that one of the outermost loops of a stage runs over, and whose bounds read one of
    the Funcs."""
    over = set(postorder(*stage.coordinates[:depth]))
    for r in stage.statement.definition.rvars:
        bounds = {r.lo, r.hi} & stage.statement.data_bounds
        if r in over and any(isinstance(n, Read) and n.tensor in funcs for n in postorder(*bounds)):
            return r
    return None
