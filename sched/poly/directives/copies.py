"""Directives that add Funcs which copy: clone_in, stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Var, postorder
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Func
from ...later import later
from ...records import dataclass
from ..state.fields import flag, loop_name, loop_names, stage_name, tensor_name
from ..state.record import Directive
from ..tree.edits import At, loops_around, stages
from ..tree.stage import Stage
from .placing import compute_together, placeable
from .rewriting import add_rewrite, stored

if TYPE_CHECKING:
    from ..placement import layouts
    from ..program import rewrites
    from ..sets.isl import Map
    from ..state.editing import Editing
else:
    layouts = later("..placement.layouts", __package__)
    rewrites = later("..program.rewrites", __package__)


@dataclass(frozen=True)
class CloneIn(Directive, name="clone_in", of="func"):
    """F, read by C   ->   F.in.C with the definitions of F, read by C.

    Legal: F needs no values of itself.
    """

    consumer: str = stage_name()

    def edit(self, e: Editing) -> tuple[str, ...]:
        of = stored(e)
        placeable(e, of)
        if e.model.program.is_recurrence(of):
            raise e.malformed(f"{of.name} needs values of itself: it cannot be cloned")
        reader = e.statement(self.consumer)
        if reader.func is of or not reader.reads_from(of):
            raise e.malformed(
                f"{self.consumer} does not read {of.name}" if reader.func is not of
                else f"{self.consumer} is part of {of.name} itself",
                "a clone is for a stage of another Func that reads it",
            )  # fmt: skip
        name = f"{e.rewritten.program.names[of]}.in.{self.consumer}"
        return add_rewrite(e, rewrites.Clone(e.fresh_func(name, of), of, reader.definition.serial))


@dataclass(frozen=True)
class StageIn(Directive, name="stage", of="stage"):
    """T[e], read in each iteration of a loop   ->   T.loop[x], a copy of what it reads of T

    Legal: T does not change while the stage runs.
    """

    tensor: str = tensor_name()
    at: str = loop_name()
    layout: tuple[str, ...] | None = loop_names(optional=True)
    pad: bool = flag()

    def edit(self, e: Editing) -> tuple[str, ...]:
        loop, stage = e.at(self.at), e.own()
        e.check_serial(loop, self.stage)
        _check_whole(e, stage, loop)
        source, index = _operand(e, stage, self.tensor, self.layout is not None)
        dims: tuple[Var, ...] = tuple(Var(f"x{k}") for k in range(source.ndim))
        where, found = tuple[Node, ...](dims), None
        if self.layout is not None:
            dims, where, found = _layout(e, stage, loop, index, self.layout)
        valid = _valid(e, source, where) if self.pad else None
        func = e.fresh_func(f"{self.tensor}.{self.at}", source)
        tiles = tuple(_tiles_of(e, stage, dims)) if self.pad else ()
        serial = stage.statement.definition.serial
        span = self.span or stage.statement.definition.span
        staged = rewrites.Staged(
            func, source, serial, dims, where, index, found, valid, tiles, span
        )
        made = add_rewrite(e, staged)
        compute_together(e, (func,), e.at(self.at), self.stage)
        return made


def _check_whole(e: Editing, stage: Stage, at: At) -> None:
    """Refuses a copy for a part of a definition only: all its parts would read it."""
    inside = list(stages(at.loop))
    for other in _parts(e, stage):
        if not any(other is s for s in inside):
            raise e.malformed(
                f"{other.name} reads what {stage.name} reads, and is not inside of the loop "
                f"{at.loop.name}",
                "say stage(...) before the loop is divided, or at a loop around both",
            )


def _parts(e: Editing, stage: Stage) -> list[Stage]:
    """All stages of the definition of one."""
    serial = stage.statement.definition.serial
    return [s for s in stages(e.tree) if s.statement.definition.serial == serial]


def _operand(
    e: Editing, stage: Stage, tensor: str, only_one: bool
) -> tuple[Tensor, tuple[Node, ...]]:
    """A tensor that a stage reads, by name, and where."""
    names = e.rewritten.program.names
    reads = [a for a in stage.statement.reads if names[a.tensor] == tensor]
    if not reads or any(a.node is None or a.region_end is not None for a in reads):
        have = ", ".join(dict.fromkeys(names[a.tensor] for a in stage.statement.reads))
        raise e.malformed(f"{e.stage} does not read {tensor}", f"it reads {have}")
    d = stage.statement.definition
    if set(postorder(*d.lhs, *d.values)).isdisjoint(a.node for a in reads if a.node):
        raise e.malformed(
            f"{e.stage} reads {tensor} only to know where its loops begin and end",
            "there is nothing to copy: these are read once, before the loop runs",
        )
    source = reads[0].tensor
    if isinstance(source, Func) and (
        source is stage.statement.func
        or any(r.block is not None for r in source.history.recorded)
        or any(source in g and stage.statement.func in g for g in e.rewritten.program.recurrences)
    ):
        raise e.malformed(f"{tensor} changes while {e.stage} reads it: a copy would be out of date")
    if only_one and len({a.index for a in reads}) > 1:
        raise e.malformed(
            f"{e.stage} reads {tensor} at several places: no one layout describes them",
            "without layout= the copy has the axes of the tensor",
        )
    return source, reads[0].index


def _layout(
    e: Editing, stage: Stage, at: At, index: tuple[Node, ...], layout: tuple[str, ...]
) -> tuple[tuple[Var, ...], tuple[Node, ...], tuple[Node, ...]]:
    """The dimensions of a copy laid out by loops; where its elements are, over these; and
    where the stage finds them."""
    inner, _ = e.in_order(layout)
    early = next((a for a in inner if a.depth <= at.depth), None)
    if early is not None:
        raise e.malformed(
            f"the loop {early.loop.name} is not inside of {at.loop.name}",
            f"a layout is made of the loops inside of {at.loop.name}",
        )
    outer = [a for a in loops_around(e.tree, e.stage) if a.depth <= at.depth]
    parts = _parts(e, stage)

    def element(loops: Iterable[At]) -> Map | None:
        return layouts.element_of(stage, parts, [a.depth for a in loops], index)

    if element((*outer, *inner)) is None:
        raise e.malformed(
            f"the loops {', '.join(layout)} do not determine which element of it is read",
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
            raise e.malformed(
                f"the loop {a.loop.name} is one that {e.stage} is computed at, and "
                "determines which element is read",
                "a layout is made of the stage's own loops",
            )
    source = layouts.expressions(where, e.symbols, dims)
    return dims, source, tuple(stage.coordinates[a.depth] for a in loops)


def _tiles_of(e: Editing, stage: Stage, dims: tuple[Var, ...]) -> Iterator[tuple[int, int]]:
    """The axes of a copy that are loops over tiles of a constant size, and these."""
    around = {a.loop.name: a for a in loops_around(e.tree, stage.name)}
    for k, x in enumerate(dims):
        at = around.get(x.name)
        size = None if at is None else layouts.tile_of(stage, at.depth)
        if size is not None:
            yield k, size


def _valid(e: Editing, tensor: Tensor, where: tuple[Node, ...]) -> Node | None:
    """Whether an element is one that the tensor has."""
    if tensor.extents is None:
        raise e.malformed(
            f"{tensor.name} has no declared shape, so nothing says where it would be padded",
            f"ps.Func({tensor.name!r}, (n, m))",
        )
    tests = []
    for x, extent in zip(where, tensor.extents, strict=True):
        tests += [ix.compare("ge", x, ix.ZERO), ix.compare("lt", x, extent)]
    return ix.conjunction(tests)
