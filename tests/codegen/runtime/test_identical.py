"""The same bits on any number of threads and with vectors of any width."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest
from gallery.case import Case
from gallery.execute import as_tuple, assert_same
from gallery.registry import find

import polysched as ps
from polysched.codegen.runtime import pool as pools
from polysched.poly.tree.edits import stages

THREADS = (1, 2, 3, 8)
WIDTHS = (4, 8, 16)
PROGRAMS = (
    "matmul", "blur", "unsharp_mask", "harris", "conv_relu", "depthwise_conv2d", "softmax",
    "layer_norm_rows", "multi_head_attention", "lstm_sequence", "smooth_image", "jacobi_2d",
    "heat_3d", "seidel_2d", "fdtd_2d", "floyd_warshall", "histogram",
    "bilateral_grid", "interpolate",
)  # fmt: skip


@pytest.fixture
def handed_out() -> Iterator[None]:
    """Every parallel loop goes to the pool, however short."""
    pool = pools.pool(max(THREADS))
    assert pool is not None
    pool.thresholds(0, 0, 0)
    yield
    pool.thresholds(pools.INLINE, pools.SHARE, pools.CHUNK)


def scheduled(program: ps.Schedule, lanes: int) -> ps.Schedule:
    """The innermost loop of each stage in lanes, and the first one that can be on threads."""
    s = program.copy()
    for name in [stage.name for stage in stages(s.tree)]:
        loops = [x.name for x in s[name].loops]
        for directive, order in (("vectorize", reversed(loops)), ("parallel", loops)):
            for loop in order:
                with suppress(ps.ScheduleError):
                    getattr(s[name], directive)(
                        loop, *([lanes] if directive == "vectorize" else [])
                    )
                    break
    return s


def uneven(case: Case) -> dict[str, int]:
    """The last sizes are the largest."""
    found = dict(zip(reversed(case.size_names), (37, 21, 11, 5, 3), strict=False))
    return {name: min(k, case.limits.get(name, k)) for name, k in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_threads_and_widths(name: str, handed_out: None) -> None:
    case = find(name)
    plain = ps.Schedule(case.build())
    given = case.arguments(uneven(case), np.random.default_rng(1))
    wanted = as_tuple(plain.compile()(**given))
    for lanes in WIDTHS:
        s = scheduled(plain, lanes)
        assert s.bit_exact
        text = str(s)
        assert "(vector)" in text or "(parallel)" in text
        kernel = s.compile()
        for threads in THREADS:
            with ps.threads(threads):
                for found, exact in zip(as_tuple(kernel(**given)), wanted, strict=True):
                    assert_same(found, exact)
