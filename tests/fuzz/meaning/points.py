"""What an update runs over: its Vars, and the loops over its RVars."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import Outside
from .symbols import Extended, Extern
from .tensors import Definition, Func, RVar, Tensor, is_var
from .trees import Tree

if TYPE_CHECKING:
    from .program import Run

Element = tuple[Any, ...]
Index = tuple[int, ...]
Elements = dict[Index, Element]
Visible = Mapping[Func, Elements]
"""The Funcs whose current values are seen, not the final ones."""

REACH = 70
"""How far from zero Vars are tried that stand inside of coordinates."""


def var_values(
    run: Run, func: Func, update: Definition, around: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """A Var alone runs over its axis, any other where its coordinates are inside."""
    shape = run.shape(func)
    assert shape is not None
    alone = {x.extra[0]: n for x, n in zip(update.left, shape, strict=True) if is_var(x)}
    names = update.vars
    compound = [
        (x, n, {v.extra[0] for v in x.walk() if is_var(v)})
        for x, n in zip(update.left, shape, strict=True)
        if not is_var(x)
    ]

    def fits(symbols: dict[str, int], about: list[tuple[Tree, int, set[str]]]) -> bool:
        point = run.point({**around, **symbols})
        return all(0 <= point.index(x) < n for x, n, _ in about)

    def values_of(name: str) -> list[int]:
        found = range(alone[name]) if name in alone else range(-REACH, REACH)
        about = [c for c in compound if c[2] == {name}]
        return [v for v in found if fits({name: v}, about)]

    ranges = [values_of(v) for v in names]
    several = [c for c in compound if len(c[2]) > 1]
    for values in itertools.product(*ranges):
        symbols = dict(zip(names, values, strict=True))
        if fits(symbols, several):
            yield {**around, **symbols}


def rvar_values(
    run: Run, rvars: tuple[RVar, ...], symbols: dict[Any, Any], visible: Visible, done: int = 0
) -> Iterator[dict[Any, Any]]:
    """The RVars in order, the first one outermost. Conditions are tested in each iteration,
    and before inner loops begin, whose bounds may rely on them."""
    point = run.point(symbols, visible)
    begun = rvars[:done]
    known = [r for r in begun if not any(x.domain is r.domain for x in rvars[done:])]
    try:
        if not all(point.value(w) for r in known if (w := r.domain.where) is not None):
            return
    except Outside:
        if done == len(rvars):
            raise
    if done == len(rvars):
        yield symbols
        return
    r = rvars[done]
    for x in range(point.index(r.lo), point.index(r.hi)):
        yield from rvar_values(run, rvars, {**symbols, r.name: x}, visible, done + 1)


def reached(outputs: Iterable[Tensor]) -> set[Tensor]:
    """The outputs, and all that they are made of."""
    found: set[Tensor] = set()
    stack = list(outputs)
    while stack:
        tensor = stack.pop()
        if tensor in found:
            continue
        found.add(tensor)
        match tensor:
            case Extended():
                stack.append(tensor.tensor)
            case Extern():
                stack += tensor.reads
            case Func():
                trees = [
                    x for d in tensor.definitions for root in d.everything for x in root.walk()
                ]
                stack += [x.extra[0] for x in trees if x.op == "read"]
    return found
