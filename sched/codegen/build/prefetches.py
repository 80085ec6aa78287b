"""What loops fetch ahead: the elements that their later iterations read first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Read, Var, integer, postorder, replaced_all
from ...poly.nests import loop_program as lp
from ..ir.ir import Prefetch

if TYPE_CHECKING:
    from .build import ModuleBuilder


def prefetches(builder: ModuleBuilder, loop: lp.Loop) -> Iterator[Prefetch]:
    """What a loop fetches for its later iterations: where a stage inside of it begins then."""
    for hint in builder.hints.prefetches:
        if hint.loop == loop.name:
            at = ix.add(loop.var, integer(hint.distance * loop.step))
            for instance, point in _beginnings(loop.body, {loop.var: at}):
                if hint.stage in instance.names:
                    yield from _fetches(builder, instance, hint.tensor, point)


def _fetches(
    builder: ModuleBuilder, instance: lp.Instance, tensor: str, point: Mapping[Node, Node]
) -> Iterator[Prefetch]:
    """The elements of a tensor that a stage reads at a point, if their indices do not depend on
    data and they have been computed by then."""
    indices = dict.fromkeys(
        (builder.sources[read.tensor, read.component], index)
        for read, index in instance.reads
        if builder.names[read.tensor] == tensor
    )
    for buffer, index in indices:
        plain = not any(isinstance(n, Read) for n in postorder(*index))
        moves = any(isinstance(x, Var) for x in buffer.origin)
        if plain and (buffer in builder.alive or not moves):
            yield Prefetch(buffer, replaced_all(index, point))


def _beginnings(
    nest: lp.Nest, at: Mapping[Node, Node]
) -> Iterator[tuple[lp.Instance, Mapping[Node, Node]]]:
    """What runs in a nest, and where each is in the first iterations of the loops inside."""
    match nest:
        case lp.Loop(var=var, lo=lo, body=body):
            yield from _beginnings(body, {**at, var: replaced_all((lo,), at)[0]})
        case lp.Run(instance=instance, point=point):
            values = replaced_all(tuple(point.values()), at)
            yield instance, dict(zip(point, values, strict=True))
        case _:
            for part in lp.children(nest):
                yield from _beginnings(part, at)
