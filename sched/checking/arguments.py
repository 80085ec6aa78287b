"""Random arguments for a program at given sizes, with values for which a confusion of elements or
of orders changes results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..lang.arithmetic.extents import extent_of
from ..lang.nodes.dtypes import DType
from ..lang.program.program import Program
from ..lang.tensors.tensors import Input


def random_arguments(program: Program, sizes: Mapping[str, int], seed: int = 0) -> dict[str, Any]:
    """Random keyword arguments of a call.

    Args:
        sizes: values of sizes and integer Params of the program; others are derived or drawn.
    """
    rng = np.random.default_rng(seed)
    values: dict[str, Any] = {}
    for name, param in program.params.items():
        low, high = param.info.min, param.info.max
        lo, hi = -2 if low is None else int(low), 3 if high is None else int(high)
        drawn = rng.integers(lo, max(lo, hi), endpoint=True)
        dtype = param.info.dtype
        values[name] = sizes.get(name, drawn.item() if dtype.is_int else dtype.scalar(drawn))
        if dtype.is_bool:
            values[name] = bool(drawn % 2)
    known = {**values, **sizes}
    arrays = {n: _array(i, known, rng) for i, n in program.argument_names.items()}
    shapes = {
        program.names[f]: tuple(known[f"{program.names[f]}.shape[{k}]"] for k in range(f.ndim))
        for f in program.outputs
        if f.extents is None and f.ndim
    }
    wanted = program.call_signature().parameters
    free = {k: v for k, v in sizes.items() if k in wanted}
    shape = {"shape": shapes} if shapes else {}
    return {**free, **values, **arrays, **shape}


def _array(source: Input, known: Mapping[str, Any], rng: np.random.Generator) -> Any:
    assert source.extents is not None
    shape = tuple(extent_of(e).value(known) for e in source.extents)
    dtype = source.dtypes[0]
    if source.range is not None:
        lo, hi = (extent_of(e).value(known) for e in source.range)
        return rng.integers(lo, max(hi, lo + 1), shape).astype(dtype.numpy)
    return values(dtype, shape, rng)


def values(dtype: DType, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """An array of random small integers, or of random floats whose sums are rounded."""
    if dtype.is_bool:
        return rng.integers(0, 2, shape).astype(dtype.numpy)
    if dtype.is_float:
        return dtype.array(rng.standard_normal(shape))
    return rng.integers(-3 if dtype.kind == "i" else 0, 8, shape).astype(dtype.numpy)
