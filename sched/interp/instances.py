"""Every instance of a program at given sizes, in the order of the program as written.

Tests compare the instances that a schedule executes, and their order, with this enumeration.
Indices that depend on data are intervals with both ends included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..lang.arithmetic.extents import extent_of
from ..lang.nodes.tensor import Tensor
from ..lang.program.program import Program
from ..lang.program.steps import Block, Plain, Step
from ..lang.tensors.definitions import Definition
from ..lang.tensors.tensors import Const, Func
from ..records import dataclass
from .evaluate import Env, Symbols
from .footprint import Access, instance_point
from .intervals import Interval
from .may_instances import InstanceAccesses
from .regions import Regions

Index = tuple[int | Interval, ...]


@dataclass(frozen=True, slots=True)
class Instance:
    """One execution of a definition.

    Attributes:
        point: the values of its Vars and RVars by name.
        reads: (tensor, index) of every read that may happen.
        write: the element that is written.
    """

    definition: Definition
    point: Mapping[str, int | Interval]
    reads: tuple[tuple[Tensor, Index], ...]
    write: tuple[Func, Index]


def instances(
    program: Program,
    sizes: Mapping[str, int],
    *,
    params: Mapping[str, bool | int | float] | None = None,
    shapes: Mapping[Func, tuple[int, ...]] | None = None,
) -> Iterator[Instance]:
    """All instances: producers before consumers, updates in the order written, and the iterations
    of Vars and RVars in ascending order.

    Args:
        sizes: the value of every size of the program.
        params: the value of every Param.
        shapes: the shapes of outputs that declare none.

    Raises:
        LanguageError, CallValueError: as `interpret`, except for errors that depend on data.
    """
    values = {**sizes, **(params or {})}
    given: dict[Tensor, tuple[int, ...] | None] = dict.fromkeys(program.funcs)
    for func, shape in (shapes or {}).items():
        given[func] = shape
    for tensor in (*program.inputs, *program.funcs):
        if tensor.extents is not None:
            given[tensor] = tuple(extent_of(e).value(values) for e in tensor.extents)
    given.update((c, c.data.shape) for c in program.consts if isinstance(c, Const))
    regions = Regions(program, Symbols(sizes, params or {}), given, {})
    with np.errstate(all="ignore"):
        regions.compute()
        for step in program.steps:
            yield from _step(step, regions, {})


def _step(step: Step, regions: Regions, around: Env) -> Iterator[Instance]:
    if isinstance(step, Block):
        for env in regions.iterations(step, around):
            for inner in step.body:
                yield from _step(inner, regions, env)
        return
    for func in (step.func,) if isinstance(step, Plain) else step.funcs:
        pieces = {d for d in step.definitions if d.func is func and not d.is_update}
        if pieces:
            found = regions.pure(func, around)
            yield from (_instance(v) for v in found if v[0] in pieces)
        for d in step.definitions:
            if d.func is func and d.is_update:
                yield from map(_instance, regions.update(d, around))


def _instance(ran: InstanceAccesses) -> Instance:
    d, env, accesses = ran
    reads = tuple((a.tensor, _index(a, env)) for a in accesses if not a.is_write)
    write = next(_index(a, env) for a in accesses if a.is_write)
    return Instance(d, instance_point(d, env), reads, (d.func, write))


def _index(access: Access, env: Env) -> Index:
    index: Index = access.where(env)
    return index
