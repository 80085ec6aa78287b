"""PolyBench: native code, the interpreter and NumPy agree."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from gallery.case import Arguments, Array, Case
from gallery.execute import assert_close, assert_same, in_place, interpreted, native, outputs
from gallery.variants import VIEWS

import polysched as ps
from polybench.registry import CASES, KERNELS

SIZES = (0, 1, 2, 7)
STEPS = (0, 1, 2, 13)
LARGER = 19


def _small(case: Case) -> list[dict[str, int]]:
    """Equal sizes, each with every number of steps; and sizes that differ."""
    equal = [case.small_sizes(size) for size in SIZES]
    if "T" in case.size_names:
        equal = [sizes | {"T": T} for sizes in equal for T in STEPS]
    return [*equal, _uneven(case)]


def _uneven(case: Case) -> dict[str, int]:
    return {name: 3 + k for k, name in enumerate(case.size_names)}


def _call(case: Case, sizes: Mapping[str, int]) -> Any:
    marks = [pytest.mark.quick] if sizes == _uneven(case) else []
    slow = [pytest.mark.slow] if case.has("slow") and LARGER in sizes.values() else []
    name = f"{case.name}-{','.join(map(str, sizes.values()))}"
    return pytest.param(case, sizes, id=name, marks=[*marks, *slow])


def _calls() -> list[Any]:
    return [
        _call(case, sizes) for case in CASES for sizes in (*_small(case), case.small_sizes(LARGER))
    ]


def run(how: Any, case: Case, arguments: Arguments) -> tuple[Array, ...]:
    """The results for a copy of the arguments, as some are updated in place."""
    return tuple(np.copy(result) for result in how(case, copy.deepcopy(arguments)))


@pytest.mark.parametrize(("case", "sizes"), _calls())
def test_native_equals_interpreter(case: Case, sizes: Mapping[str, int]) -> None:
    arguments = case.arguments(sizes, np.random.default_rng(sum(sizes.values())))
    assert_same(run(native, case, arguments), run(interpreted, case, arguments))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_native_is_close_to_reference(case: Case) -> None:
    arguments = case.arguments(case.large_sizes(), np.random.default_rng(0))
    assert_close(run(native, case, arguments), case.reference(**arguments), case.tolerance)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("size", [2, 7])
def test_interpreter_is_close_to_reference(case: Case, size: int) -> None:
    arguments = case.arguments(size, np.random.default_rng(size))
    assert_close(run(interpreted, case, arguments), case.reference(**arguments), case.tolerance)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_only_arrays_in_place_are_changed(case: Case) -> None:
    """What the call returns is the caller's array, and Inputs are left alone."""
    arguments = case.arguments(7, np.random.default_rng(7))
    before = copy.deepcopy(arguments)
    results = dict(zip((f.name for f in outputs(case)), in_place(case, arguments), strict=True))
    for tensor in outputs(case):
        if isinstance(tensor, ps.InOut):
            assert results[tensor.name] is arguments.pop(tensor.name)
    for name, value in arguments.items():
        assert np.array_equal(value, before[name]), name


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_arrays_of_any_layout(case: Case) -> None:
    """Each array in another layout; writable ones where they are updated."""
    sizes = {name: 4 + k for k, name in enumerate(case.size_names)}
    arguments = case.arguments(sizes, np.random.default_rng(4))
    updated = {f.name for f in outputs(case) if isinstance(f, ps.InOut)}
    wanted = run(native, case, arguments)
    for first in range(len(VIEWS)):
        views = itertools.cycle(sorted(VIEWS)[first:] + sorted(VIEWS)[:first])
        given = copy.deepcopy(arguments)
        for name, value in given.items():
            view = next(v for v in views if not (v == "read-only" and name in updated))
            if isinstance(value, np.ndarray):
                given[name] = VIEWS[view](value)
        assert_same(in_place(case, given), wanted)


def test_all_kernels_are_there() -> None:
    names = {case.name for case in CASES}
    assert len(names) == len(CASES)
    assert names.issuperset(KERNELS)
    assert len(KERNELS) == 30
