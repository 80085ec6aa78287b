"""Directives on what stands inside of loops."""

from __future__ import annotations

from ...lang.nodes import Node
from ..around import as_beside
from ..directives import bodies, placing
from ..edits import At, loops_around, stages
from ..looptree import Produce, leaves, loops_of, produced, producer
from .base import BaseEditor


class BodyEditor(BaseEditor):
    """fission, compute_with, partition, peel."""

    def fission(self, loop: str, after: str) -> tuple[str, ...]:
        at = self.at(loop)
        self.at(loop, after)
        self._touch(at)
        self.tree = bodies.fission(self.tree, at, after)
        return ()

    def compute_with(self, other: str, loop: str, shift: int = 0) -> tuple[str, ...]:
        at = self.at(loop, other)
        if any(s.name == self.stage for s in stages(at.loop)):
            raise self._malformed(f"{self.stage} is inside of the loop {loop} of {other} already")
        self._own()
        mine, others = (self._produced_by(name) for name in (self.stage, other))
        if (mine is None) != (others is None) or (
            mine and others and not self._beside(mine, others)
        ):
            raise self._malformed(
                f"{self.stage} and {other} are not computed at the same loop",
                "compute_at the same loop first, or both at root",
            )
        self._check_kinds_kept(other, at)
        self._touch(at)
        self.edited.update(s.statement for s in stages(self.tree) if s.name == self.stage)
        if mine is not None and others is not None and mine is not others:
            # All of a Func stays together: what is computed when is told of all its stages.
            self.tree = placing.merged(self.tree, as_beside(mine, others), mine, others)
            at = self.at(loop, other)
        self.tree = bodies.compute_with(self.tree, self.stage, at, shift)
        return ()

    def _check_kinds_kept(self, other: str, at: At) -> None:
        """Refuses to lose what was said of the loops that become those of another stage."""
        theirs = (*loops_around(self.tree, other)[: at.depth], at)
        for old, new in zip(loops_around(self.tree, self.stage), theirs, strict=False):
            if old.loop.kind not in ("serial", new.loop.kind):
                raise self._malformed(
                    f"the {old.loop.kind} loop {old.loop.name} of {self.stage} would become the "
                    f"{new.loop.kind} loop {new.loop.name} of {other}",
                    f"say it of {other}, or behind compute_with",
                )

    def _produced_by(self, stage: str) -> Produce | None:
        """Where on the way to a stage its Func is computed for a consumer, if it is."""
        for path, found in leaves(self.tree):
            if found.name == stage:
                return producer(path, found.statement.func)
        return None

    def _beside(self, a: Produce, b: Produce) -> bool:
        """Whether two are computed in one iteration of one loop."""
        loops = [loops_of(p) for p, node in produced(self.tree) if node is a or node is b]
        return a is b or [id(x) for x in loops[0]] == [id(x) for x in loops[1]]

    def partition(self, condition: Node) -> tuple[str, ...]:
        stage = self._own()
        where = self._condition(stage, condition)
        names = (f"{stage.part}[0]", f"{stage.part}[1]")
        self.edited.add(stage.statement)
        self.tree = bodies.partition(self.tree, self.stage, where, names)
        return tuple(stage.statement.name + n for n in names)

    def peel(self, loop: str, first: int = 0, last: int = 0) -> tuple[str, ...]:
        if not first + last:
            raise self._malformed("peel takes at least one iteration", "first=1, or last=1")
        at = self.at(loop)
        if at.loop.kind == "vector":
            raise self._malformed(
                f"the lanes of the vector loop {loop} run together",
                "peel first, then vectorize what is between",
            )
        self._touch_lanes(at)
        self.tree = bodies.peel(self.tree, at, first, last)
        return ()
