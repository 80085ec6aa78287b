"""Directives that change what there is to run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...lang import index as ix
from ...lang.nodes import Node, RVar, Var, postorder
from ...lang.tensors import Func, Tensor
from .. import layouts
from ..edits import At, loops_around, stages
from ..isl import Map
from ..looptree import Stage
from ..proof import accumulates, is_exact
from ..rewrites import Clone, Factored, Staged
from .placement import PlacementEditor


class RewritingEditor(PlacementEditor):
    """clone_in, stage, rfactor."""

    def clone_in(self, consumer: str) -> tuple[str, ...]:
        of = self._stored()
        self._placeable(of)
        if self.model.program.is_recurrence(of):
            raise self._malformed(f"{of.name} needs values of itself: it cannot be cloned")
        reader = self._statement(consumer)
        if reader.func is of or not any(a.tensor is of for a in reader.reads):
            raise self._malformed(
                f"{consumer} does not read {of.name}" if reader.func is not of
                else f"{consumer} is part of {of.name} itself",
                "a clone is for a stage of another Func that reads it",
            )  # fmt: skip
        name = f"{self.form.program.names[of]}.in.{consumer}"
        return self._rewrite(Clone(self._fresh_func(name, of), of, reader.definition.serial))

    def stage_in(
        self, tensor: str, at: str, layout: tuple[str, ...] | None = None, pad: bool = False
    ) -> tuple[str, ...]:
        loop, stage = self.at(at), self._own()
        self._check_serial(loop, self.stage)
        self._check_whole(stage, loop)
        source, index = self._operand(stage, tensor, layout is not None)
        dims: tuple[Var, ...] = tuple(Var(f"x{k}") for k in range(source.ndim))
        where, found = tuple[Node, ...](dims), None
        if layout is not None:
            dims, where, found = self._layout(stage, loop, index, layout)
        valid = self._valid(source, where) if pad else None
        func = self._fresh_func(f"{tensor}.{at}", source)
        if pad:
            func.tiles = tuple(self._tiles_of(stage, dims))
        serial = stage.statement.definition.serial
        span = self.span or stage.statement.definition.span
        made = self._rewrite(Staged(func, source, serial, dims, where, index, found, valid, span))
        self._compute_at((func,), self.at(at), self.stage)
        return made

    def _check_whole(self, stage: Stage, at: At) -> None:
        """Refuses a copy for a part of a definition only: all its parts would read it."""
        inside = list(stages(at.loop))
        for other in self._parts(stage):
            if not any(other is s for s in inside):
                raise self._malformed(
                    f"{other.name} reads what {stage.name} reads, and is not inside of the loop "
                    f"{at.loop.name}",
                    "say stage(...) before the loop is divided, or at a loop around both",
                )

    def _parts(self, stage: Stage) -> list[Stage]:
        """All stages of the definition of one."""
        serial = stage.statement.definition.serial
        return [s for s in stages(self.tree) if s.statement.definition.serial == serial]

    def _operand(
        self, stage: Stage, tensor: str, only_one: bool
    ) -> tuple[Tensor, tuple[Node, ...]]:
        """A tensor that a stage reads, by name, and where."""
        names = self.form.program.names
        reads = [a for a in stage.statement.reads if names[a.tensor] == tensor]
        if not reads or any(a.node is None or a.ends is not None for a in reads):
            have = ", ".join(dict.fromkeys(names[a.tensor] for a in stage.statement.reads))
            raise self._malformed(f"{self.stage} does not read {tensor}", f"it reads {have}")
        d = stage.statement.definition
        if set(postorder(*d.lhs, *d.values)).isdisjoint(a.node for a in reads if a.node):
            raise self._malformed(
                f"{self.stage} reads {tensor} only to know where its loops begin and end",
                "there is nothing to copy: these are read once, before the loop runs",
            )
        source = reads[0].tensor
        if isinstance(source, Func) and (
            source is stage.statement.func
            or any(r.block is not None for r in source.history.recorded)
            or any(source in g and stage.statement.func in g for g in self._recurrences)
        ):
            raise self._malformed(
                f"{tensor} changes while {self.stage} reads it: a copy would be out of date"
            )
        if only_one and len({a.index for a in reads}) > 1:
            raise self._malformed(
                f"{self.stage} reads {tensor} at several places: no one layout describes them",
                "without layout= the copy has the axes of the tensor",
            )
        return source, reads[0].index

    @property
    def _recurrences(self) -> tuple[tuple[Func, ...], ...]:
        return self.form.program.recurrences

    def _layout(
        self, stage: Stage, at: At, index: tuple[Node, ...], layout: tuple[str, ...]
    ) -> tuple[tuple[Var, ...], tuple[Node, ...], tuple[Node, ...]]:
        """The dimensions of a copy laid out by loops; where its elements are, over these; and
        where the stage finds them."""
        inner, _ = self.in_order(layout)
        early = next((a for a in inner if a.depth <= at.depth), None)
        if early is not None:
            raise self._malformed(
                f"the loop {early.loop.name} is not inside of {at.loop.name}",
                f"a layout is made of the loops inside of {at.loop.name}",
            )
        outer = [a for a in loops_around(self.tree, self.stage) if a.depth <= at.depth]
        parts = self._parts(stage)

        def element(loops: Iterable[At]) -> Map | None:
            return layouts.element_of(stage, parts, [a.depth for a in loops], index)

        if element((*outer, *inner)) is None:
            raise self._malformed(
                f"the loops {', '.join(layout)} do not tell which element of it is read",
                "name all loops inside that the index depends on",
            )
        for a in list(outer):
            fewer = [x for x in outer if x is not a]
            if element((*fewer, *inner)) is not None:
                outer = fewer
        loops = [*outer, *inner]
        dims = tuple(Var(a.loop.name) for a in loops)
        where = element(loops)
        assert where is not None
        foreign = set(stage.statement.around)
        for a in loops:
            if not foreign.isdisjoint(postorder(stage.coordinates[a.depth])):
                raise self._malformed(
                    f"the loop {a.loop.name} is one that {self.stage} is computed at, and tells "
                    "which element is read",
                    "a layout is made of the stage's own loops",
                )
        source = layouts.expressions(where, self.symbols, dims)
        return dims, source, tuple(stage.coordinates[a.depth] for a in loops)

    def _tiles_of(self, stage: Stage, dims: tuple[Var, ...]) -> Iterator[tuple[int, int]]:
        """The axes of a copy that are loops over tiles of a constant size, and these."""
        around = {a.loop.name: a for a in loops_around(self.tree, stage.name)}
        for k, x in enumerate(dims):
            at = around.get(x.name)
            size = None if at is None else layouts.tile_of(stage, at.depth)
            if size is not None:
                yield k, size

    def _valid(self, tensor: Tensor, where: tuple[Node, ...]) -> Node | None:
        """Whether an element is one that the tensor has."""
        if tensor.extents is None:
            raise self._malformed(
                f"{tensor.name} has no declared shape, so nothing says where it would be padded",
                f"ps.Func({tensor.name!r}, (n, m))",
            )
        tests = []
        for x, extent in zip(where, tensor.extents, strict=True):
            tests += [ix.compare("ge", x, ix.ZERO), ix.compare("lt", x, extent)]
        return ix.conjunction(tests)

    def rfactor(self, loop: str) -> tuple[str, ...]:
        at, stage = self.at(loop), self._own()
        s = stage.statement
        d, of = s.definition, stage.coordinates[at.depth]
        is_arg = d.func.is_reduction and len(d.values) == 3
        if not (accumulates(d) or is_arg) or self.model.program.is_recurrence(d.func):
            raise self._malformed(
                f"{self.stage} is no reduction: it does not add to what an element was before",
                "an update does, C[i] += ..., also that of an inline reduction",
            )
        if not is_arg and not is_exact(d) and s.name not in self.state.reassociated:
            raise self._malformed(
                f"{self.stage} is a sum of floats: adding partial sums gives other bits",
                "reassociate() allows it",
            )
        if s.placed is not None or d.block is not None:
            raise self._malformed(
                f"{self.stage} is computed inside of the loops of others",
                "rfactor first, then say where it is computed",
            )
        if not any(isinstance(n, RVar) for n in postorder(of)):
            raise self._malformed(
                f"the loop {loop} runs over no RVar: its iterations write apart already"
            )
        if any(self._is_kept(x) for x in stages(self.tree) if x.statement is s):
            raise self._malformed(
                f"{self.stage} accumulates in storage of its own",
                "rfactor first, then accumulate_at",
            )
        span = layouts.ends(s, of, self.symbols, self.context)
        if span is None:
            raise self._malformed(f"nothing says where the loop {loop} begins and ends")
        name = f"{self.form.program.names[d.func]}.by.{loop}"
        func = self._fresh_func(name, d.func)
        made = self._rewrite(Factored(func, d.serial, of, loop, *span))
        if s.name in self.state.reassociated:
            partial = (x for x in self.model.statements if x.func is func)
            more = {x.name for x in partial if accumulates(x.definition)}
            named = self.state.reassociated | more
            self.state = replace(self.state, reassociated=frozenset(named))
        return made
