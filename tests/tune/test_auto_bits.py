"""Every program has the same bits under the schedule that is found for it, for a call that waits
for it; some also under what is found with more time."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from gallery.case import Case
from gallery.execute import as_tuple, assert_same, fresh, interpreted, outputs
from gallery.registry import CASES, find as program
from polybench.registry import CASES as POLYBENCH

import polysched as ps
from polysched.codegen.runtime.kernel import Kernel
from polysched.tune.auto import found_for_calls
from polysched.tune.plans.effort import QUICK


@cache
def kernel(case: Case) -> Kernel:
    s = ps.Schedule.default(outputs(case))
    return found_for_calls(s, 2, {}, QUICK).schedule.compile()


def _uneven(case: Case) -> dict[str, int]:
    return {
        name: min(5 + 6 * k, case.limits.get(name, 40)) for k, name in enumerate(case.size_names)
    }


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES, *POLYBENCH], ids=lambda case: case.name)
def test_the_bits_are_those_of_the_interpreter(case: Case) -> None:
    for sizes in (case.small_sizes(1), _uneven(case)):
        arguments = case.arguments(sizes, np.random.default_rng(7))
        found = as_tuple(kernel(case)(**fresh(case, arguments)))
        assert_same(found, interpreted(case, arguments))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("matmul", "matmul_bt", "batched_matmul", "conv2d", "harris", "interpolate", "softmax"),
        *("lstm", "sparse_matvec", "jacobi_2d", "histogram", "flash_attention"),
    ],
)
def test_larger_sizes_have_the_bits_of_a_bare_call(name: str) -> None:
    case = program(name)
    arguments = case.arguments(case.large_sizes(), np.random.default_rng(7))
    plain = ps.Schedule.default(outputs(case)).compile()
    thorough = ps.Schedule.auto(outputs(case), threads=2).compile()
    assert_same(
        as_tuple(thorough(**fresh(case, arguments))), as_tuple(plain(**fresh(case, arguments)))
    )
