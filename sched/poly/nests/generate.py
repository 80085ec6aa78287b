"""From loop nests with isl sets to the loop program, which has none: sets become expressions over
sizes and loops."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from ...lang.nodes.nodes import Read, integer
from ...lang.tensors.tensors import Func
from ..model.conditions import Conditions
from ..model.model import Model
from ..model.statements import Statement
from ..sets.isl import Set
from ..tree.looptree import Accumulator
from ..tree.memory import Window
from ..tree.stage import Stage
from . import loop_program as lp
from .boxes import box
from .decided import decisions
from .lane_axes import axes_of_lanes
from .loop_nest import (
    DataBounds,
    LoopNest,
    NestAccumulator,
    NestAlloc,
    NestIf,
    NestLoop,
    NestSeq,
    NestStage,
    walk,
)
from .rooms import local_box


class Generator:
    """Makes nests without sets. A stage of the tree becomes one `Instance`, wherever it runs.

    Args:
        context: what is known of the sizes.
        local: the Funcs whose storage lives inside of loops. An access that is in bounds of the
            region of one may be outside of what is stored in an iteration.
    """

    def __init__(self, conditions: Conditions, context: Set, local: Collection[Func]) -> None:
        self.context = context
        self._instances: dict[Stage, lp.Instance] = {}
        self._safe: dict[Statement, set[Read]] = {}
        for statement, read in conditions.safe:
            if read.tensor not in local:
                self._safe.setdefault(statement, set()).add(read)

    def nest(self, nest: LoopNest) -> lp.Nest:
        match nest:
            case NestLoop(loop=loop, var=var, lo=lo, hi=hi, step=step, body=body, count=count):
                data = None if nest.data is None else self._data_range(nest.data)
                inside = self.nest(body)
                return lp.Loop(loop.name, loop.kind, var, lo, hi, step, inside, data, count)
            case NestIf(condition=condition, body=body):
                return lp.If(condition, self.nest(body))
            case NestSeq(parts=parts):
                return lp.Seq(tuple(map(self.nest, parts)))
            case NestAlloc(func=func, origin=origin, extents=extents, body=body):
                return lp.Alloc(func, origin, extents, self.nest(body))
            case NestAccumulator(accumulator=node, origin=origin, extents=extents):
                around = map(self.nest, (nest.copy_in, nest.body, nest.copy_out))
                users, lanes = self._users(node, nest.body), axes_of_lanes(nest)
                return lp.Accumulator(node.stage, node.func, origin, extents, users, lanes, *around)
            case NestStage():
                return self._run(nest)

    def _run(self, leaf: NestStage) -> lp.Run:
        return lp.Run(self._instance(leaf.stage), leaf.point, leaf.real)

    def _data_range(self, data: DataBounds) -> lp.DataRange:
        return lp.DataRange(self._run(data.stage), data.lo, data.hi, data.covers)

    def _users(self, node: Accumulator, body: LoopNest) -> frozenset[lp.Instance]:
        """What begins or accumulates elements in a private accumulator."""
        inside = (x.stage for x in walk(body) if isinstance(x, NestStage))
        return frozenset(self._instance(s) for s in inside if node.holds(s, s.statement.write))

    def _instance(self, stage: Stage) -> lp.Instance:
        if stage not in self._instances:
            self._instances[stage] = self._made(stage)
        return self._instances[stage]

    def _made(self, stage: Stage) -> lp.Instance:
        statement, d = stage.statement, stage.statement.definition
        made = lp.Instance(
            stage.name,
            statement.name,
            d,
            statement.guard,
            statement.data_bounds,
            {},
            frozenset(self._safe.get(statement.base, ())),
            tuple((a.node, a.index) for a in statement.reads if isinstance(a.node, Read)),
        )
        if d.opaque is not None:
            return made
        tests = (*made.tests(frozenset()), *(() if made.guard is None else (made.guard,)))
        found = decisions(stage, self.context, (*d.lhs, *d.values, *tests))
        return replace(made, decided=found)


def boxes(
    model: Model, nests: tuple[LoopNest, ...], windows: Mapping[Func, Window]
) -> dict[Func, lp.Box]:
    """Room for each Func that is stored between inputs and outputs, producers first."""
    program, parts = model.program, list(walk(*nests))
    local: dict[Func, list[NestAlloc]] = {}
    for x in parts:
        if isinstance(x, NestAlloc):
            local.setdefault(x.func, []).append(x)
    padded = [x.stage for x in parts if isinstance(x, NestStage) and x.stage.padding]
    found = {}
    for func in model.regions:
        if func not in program.outputs:
            inside = local.get(func)
            where = local_box(inside, program.names[func]) if inside else box(model, func, padded)
            origin, extents = where
            window = windows.get(func)
            if window is not None:
                kept = integer(window.planes)
                extents = (*extents[: window.axis], kept, *extents[window.axis + 1 :])
            found[func] = lp.Box(origin, extents)
    return found
