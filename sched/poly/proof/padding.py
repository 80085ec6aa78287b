"""Full tiles: padding iterations, beyond the instances of a stage, must not change a result.

They may write only elements that no instance writes, in storage of the kernel's own. They may read
any values, but only elements that exist: inside of an argument, or computed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Func
from ..model.model import Model
from ..model.statements import Access
from ..sets.isl import Map, Set, relation, union_sets
from ..sets.memo import Memo, Same
from ..tree.looptree import Accumulator, Seq, leaves
from ..tree.memory import Fault
from ..tree.stage import Stage
from ..tree.times import ScheduledStage
from ..tree.uses import Uses


def fault(
    model: Model, tree: Seq, context: Set, folded: Collection[Func], memo: Memo
) -> Fault | None:
    """How padding iterations would change a result or leave memory; None if they do not.

    Args:
        folded: the Funcs whose elements share storage.
        memo: the answers for tensors whose uses are unchanged.
    """
    for _, stage in leaves(tree):
        if stage.padding:
            func = stage.statement.func
            if func in folded:
                return (
                    f"tail='pad' would overwrite elements of {func.name}, of which few are kept",
                    "fold_storage of padded storage is not possible",
                )
            uses = Uses(tree, stage.statement.tensors)
            # Regions and what is written follow from the statements, which are among the uses.
            key = ("padding", stage.name, stage.run, uses, Same(context))
            wrong = memo.of(key, partial(_fault, model, uses.tree, stage, context))
            if wrong is not None:
                return wrong
    return None


def _fault(model: Model, tree: Seq, stage: Stage, context: Set) -> Fault | None:
    """How padding iterations of one stage would change a result."""
    found = [ScheduledStage(path, x) for path, x in leaves(tree)]
    (p,) = (x for x in found if x.stage is stage)
    extra = stage.padded.subtract(stage.instances).intersect_params(context)
    return _written(model, p, extra) or _read(model, p, extra, found, context)


def _written(model: Model, p: ScheduledStage, extra: Set) -> Fault | None:
    stage, func = p.stage, p.stage.statement.func
    if not extra.intersect(stage.statement.domain).is_empty():
        return (
            f"tail='pad' would run instances of {stage.name} twice, which other stages run",
            "pad before it is divided",
        )
    is_private = any(isinstance(node, Accumulator) and node.is_of(stage) for _, node in p.path)
    if func in model.program.outputs and not is_private:
        return (
            f"tail='pad' would write beyond the elements of {func.name}, which the caller owns",
            "accumulate_at(...) first: a private accumulator can be padded",
        )
    more = extra.apply(stage.statement.write.relation.map)
    if not more.intersect(_real(model, func)).is_empty():
        return (
            f"tail='pad' would change elements of {func.name} that are needed",
            "tail='auto' or 'peel'",
        )
    return None


def _real(model: Model, func: Func) -> Set:
    """The elements that any definition of a Func writes."""
    written = [s.write.map.range() for s in model.statements if s.func is func]
    return union_sets(written[1:], written[0]).intersect(model.regions[func])


def _read(
    model: Model, p: ScheduledStage, extra: Set, found: Sequence[ScheduledStage], context: Set
) -> Fault | None:
    for access in p.stage.statement.reads:
        own = access.tensor is p.stage.statement.func
        if own and access.index == p.stage.statement.definition.lhs:
            continue  # what it has written itself
        touched = access.relation.map.intersect_domain(extra)
        missing = _missing(model, p, access, touched, found)
        if access.relation.may or not missing.intersect_params(context).is_empty():
            name = access.tensor.name
            return (
                f"tail='pad' would read {name} where there is nothing: {access.text}",
                f"a copy has full tiles: stage({name}, at=..., layout=(...), pad=True)",
            )
    return None


def _missing(
    model: Model, p: ScheduledStage, access: Access, touched: Map, found: Sequence[ScheduledStage]
) -> Map:
    """{ instance -> element } that is read and not there."""
    tensor = access.tensor
    makers = [q for q in found if q.stage.statement.func is tensor]
    node = makers[0].producer(tensor) if makers else None
    if node is None:
        return touched.subtract_range(_there(model, tensor, [q.stage for q in makers]))
    loops = list(range(node.fresh_depth))
    if len(p.loops) < node.fresh_depth:
        return touched
    here = _at(p, loops).flat_range_product(touched)
    for q in makers:
        write = q.stage.statement.write.relation.map.intersect_domain(q.stage.padded)
        here = here.subtract_range(_at(q, loops).flat_range_product(write).range())
    return here


def _at(p: ScheduledStage, loops: list[int]) -> Map:
    """{ instance or padding iteration -> loops }"""
    return relation([p.stage.values[k] for k in loops], p.stage.statement.frame).intersect_domain(
        p.stage.padded
    )


def _there(model: Model, tensor: Tensor, makers: Sequence[Stage]) -> Set:
    """The elements of a tensor that are stored."""
    if not isinstance(tensor, Func) or tensor in model.program.outputs:
        return model.declared(tensor)
    written = model.regions[tensor]
    for stage in makers:
        write = stage.statement.write.relation.map
        written = written.union(stage.padded.apply(write))
    return written
