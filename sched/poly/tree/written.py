"""The tree of a program as it is written: its definitions in their order, blocks as loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ...lang.nodes.dtypes import int64
from ...lang.nodes.nodes import Node, Op
from ...lang.program.steps import Block, Recurrence, Step
from ...lang.tensors.definitions import Definition
from ...lang.tensors.tensors import Func
from ..model.model import Model
from ..model.statements import Statement
from ..sets.memo import Same
from .edits import with_storage
from .looptree import Loop, Seq, Tree
from .stage import Stage

Shared = Callable[[Model, Sequence[Func]], Tree]
BySerial = Mapping[int, Statement]


def own_nest(statement: Statement) -> Tree:
    """A statement in loops of its own, over its dimensions as written; those of the blocks
    around it are not among them."""
    d = statement.definition
    loops = statement.loops[len(d.loops) :]
    nest: Tree = Stage(statement, (*block_coordinates(d), *loops))
    for loop in reversed(loops):
        nest = Loop(loop.name, (nest,))
    return nest


def block_coordinates(d: Definition) -> tuple[Node, ...]:
    """The coordinates of the loops around a definition: one that runs downwards is negated."""
    if d.block is None:
        return ()
    return tuple(
        b.loop if b.step > 0 else Op("neg", (b.loop,), int64)
        for b in d.block.chain
        if b.loop is not None
    )


def _block(block: Block, model: Model, known: BySerial, shared: Shared | None) -> list[Tree]:
    """The nests of a block, in its loop if it has one."""
    nests = (t for step in block.body for t in _step(step, model, known, shared))
    body: tuple[Tree, ...] = tuple(nests)
    fresh = {s.func for s in model.statements if s.func.history.home is block.sequential}
    body = with_storage([f for f in model.regions if f in fresh], body)
    loop = block.sequential.loop
    if loop is None or not body:
        return list(body)
    down = "" if block.sequential.step > 0 else ".down"
    return [Loop(f"{loop.name}{down}", body, span=block.sequential.span)]


def _step(step: Step, model: Model, known: BySerial, shared: Shared | None) -> list[Tree]:
    """The nests of one step, in order; none for what is inlined."""
    if isinstance(step, Block):
        return _block(step, model, known, shared)
    statements = [known[d.serial] for d in step.definitions if d.serial in known]
    if isinstance(step, Recurrence) and statements:
        assert shared is not None, "a recurrence needs an order"
        key = ("nest", *step.funcs, *statements, Same(model.context))
        return [model.memo.of(key, partial(shared, model, step.funcs))]
    return [model.memo.of(("nest", s), partial(own_nest, s)) for s in statements]


def as_written(model: Model, shared: Shared | None = None) -> Seq:
    """Each statement in a nest of its own, in the order of the program.

    Args:
        shared: makes the one nest of a recurrence.
    """
    known = {s.definition.serial: s for s in model.statements}
    nests: list[Tree] = []
    for step in model.program.steps:
        nests += _step(step, model, known, shared)
    outputs = model.program.outputs
    stored = [f for f in model.regions if f not in outputs and f.history.home is None]
    return Seq(with_storage(stored, tuple(nests)))
