"""The calls of a program: sizes, data, and where the arrays lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polysched.lang.nodes.dtypes import as_dtype
from polysched.lang.program.program import Program

from .data import Array, evaluate, scalar, values
from .memory import Walled, random_layout, walled_input
from .programs import Case


@dataclass(frozen=True)
class Arguments:
    """What a kernel is called with, and the walled memory of it."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: tuple[Walled, ...]

    def is_intact(self) -> bool:
        """Whether nothing was written beside the elements of the outputs."""
        return all(o.is_intact() for o in self.outputs)

    @property
    def layouts(self) -> str:
        return ", ".join(f"{o.array.shape} {o.array.strides}" for o in self.outputs)


@dataclass(frozen=True)
class Call:
    """One call. `results` are the dtypes and the shape of each output by name, but for those
    that are `changed` in place. Sizes and Params that are `omitted` are what they are by default.
    """

    sizes: dict[str, int]
    scalars: dict[str, Any]
    arrays: dict[str, Array]
    shapes: dict[str, tuple[int, ...]]
    changed: frozenset[str]
    results: dict[str, tuple[tuple[np.dtype[Any], ...], tuple[int, ...]]]
    seed: tuple[int, ...]
    omitted: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        return ", ".join(f"{k}={v}" for k, v in {**self.sizes, **self.scalars}.items())

    @property
    def is_empty(self) -> bool:
        """Whether no output has any element."""
        changed = (self.arrays[name].shape for name in self.changed)
        return all(0 in shape for shape in (*changed, *(s for _, s in self.results.values())))

    def plain(self) -> dict[str, Any]:
        """The arguments by name, as ordinary arrays."""
        shape = {"shape": self.shapes} if self.shapes else {}
        arrays = {k: a.copy() if k in self.changed else a for k, a in self.arrays.items()}
        return {**self.sizes, **self.scalars, **arrays, **shape}

    def walled(self) -> Arguments:
        """The same in walled memory, each array in a layout of its own."""
        rng = np.random.default_rng(self.seed)
        given = {
            name: walled_input(a, random_layout(rng, a.ndim), name in self.changed)
            for name, a in self.arrays.items()
        }
        inputs = {name: walled.array for name, walled in given.items()}
        inplace = tuple(given[name] for name in self.changed)
        positional = rng.random() < 0.2
        args = tuple(inputs.values()) if positional else ()
        named = {**self.sizes, **self.scalars}
        if self.omitted and rng.random() < 0.7:
            named = {k: v for k, v in named.items() if k not in self.omitted}
        kwargs = {**named, **({} if positional else inputs)}
        if rng.random() < 0.2:
            return Arguments(
                args, {**kwargs, **({"shape": self.shapes} if self.shapes else {})}, inplace
            )
        made = {
            name: tuple(Walled(t, shape, random_layout(rng, len(shape))) for t in types)
            for name, (types, shape) in self.results.items()
        }
        out = {
            name: tuple(w.array for w in walls) if len(walls) > 1 else walls[0].array
            for name, walls in made.items()
        }
        walls = (*inplace, *(w for ws in made.values() for w in ws))
        return Arguments(args, {**kwargs, **({"out": out} if out else {})}, walls)


def make_calls(case: Case, program: Program) -> list[Call]:
    """The calls of a case, each with data of its own."""
    return [_call(case, program, k) for k in range(len(case.sizes))]


def _call(case: Case, program: Program, number: int) -> Call:
    given = case.sizes[number]
    rng = np.random.default_rng((case.seed, number))
    wild = rng.random() < 0.08  # indices read from Inputs may be wrong
    specs = {i.name: i for i in case.inputs}
    arrays = {}
    for source in program.inputs:
        spec = specs[source.name]
        shape = tuple(evaluate(e, given) for e in spec.extents)
        limits = None
        if spec.lo is not None and spec.hi is not None and not wild:
            limits = evaluate(spec.lo, given), evaluate(spec.hi, given)
        arrays[source.name] = values(rng, as_dtype(spec.dtype).numpy, shape, limits)
    scalars = {
        p.name: scalar(rng, np.dtype(p.dtype), p.lo, p.hi)
        for p in case.params
        if p.name in program.params
    }
    scalars |= {k: int(v) for k, v in case.defaults.items() if k in scalars and number % 2}
    results = {}
    changed = frozenset(f.name for f in program.inouts)
    for func in program.outputs:
        if func.name in changed:
            continue
        extents = case.shapes.get(func.name)
        if extents is None:
            shape = tuple(evaluate(repr(e), given) for e in func.shape)
        else:
            shape = tuple(evaluate(e, given) for e in extents)
        results[func.name] = (tuple(t.numpy for t in func.dtypes), shape)
    return Call(
        {s: v for s, v in given.items() if s in program.sizes},
        scalars,
        arrays,
        {name: results[name][1] for name in case.shapes if name in results},
        changed,
        results,
        (case.seed, number, 1),
        frozenset(k for k, v in {**given, **scalars}.items() if _is_default(case, k, v, given)),
    )


def _is_default(case: Case, name: str, value: Any, sizes: dict[str, int]) -> bool:
    default = case.defaults.get(name)
    return default is not None and evaluate(default, sizes) == value
