"""Every program of the gallery under random schedules, its arrays next to forbidden pages."""

from __future__ import annotations

import random

import numpy as np
import pytest
from fuzz.memory import random_layout, walled_input
from fuzz.scratch import walled_scratch

import polysched as ps
from gallery.case import Arguments, Case
from gallery.execute import as_tuple, assert_same, fresh, interpreted, outputs, schedule
from gallery.random_schedules import scramble
from gallery.registry import CASES, some
from polysched.codegen.passes.reverse_parallel import reverse_parallel
from polysched.codegen.runtime.kernel import Kernel

SIZES = (1, 5)
ATTEMPTS = 6
#: Compiling what random directives make of many stages takes long.
TOO_LARGE = 40


def _walled(case: Case, arguments: Arguments, rng: np.random.Generator) -> Arguments:
    updated = {f.name for f in outputs(case) if isinstance(f, ps.InOut)}
    return {
        k: walled_input(v, random_layout(rng, v.ndim), k in updated).array
        if isinstance(v, np.ndarray)
        else v
        for k, v in arguments.items()
    }


def _run(case: Case, seed: int) -> None:
    rng = random.Random(f"{case.name}{seed}")
    scheduled = schedule(case).copy()
    if len(scheduled.model.statements) > TOO_LARGE:
        pytest.skip("many stages")
    scramble(scheduled, rng, ATTEMPTS)
    # What is run is compiled: for arrays as they lie, which is seldom the code for contiguous ones.
    first = (reverse_parallel,) if seed % 2 else ()
    kernel = Kernel(scheduled.proven_copy(), first=first, later=True)
    for size in SIZES:
        arguments = case.arguments(size, np.random.default_rng(size))
        wanted = interpreted(case, arguments)
        given = _walled(case, fresh(case, arguments), np.random.default_rng(seed))
        with walled_scratch(kernel, separate=True):
            try:
                found = as_tuple(kernel(**given))
            except ps.CallValueError:
                assert scheduled.requirements.assumed, "a schedule may only ask for what it says"
                continue
        assert_same(found, wanted)


QUICK = some(24)


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_random_schedules(case: Case) -> None:
    _run(case, 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_more_random_schedules(case: Case, seed: int) -> None:
    _run(case, seed)
