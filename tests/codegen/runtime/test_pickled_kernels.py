"""Kernels as pickles, in other processes, and as values."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.kernels import AutoKernel, default_kernel
from polysched.targets.known import named

n = ps.sizes("n")
i = ps.vars("i")


def doubled(name: str = "f", scale: float = 2.0) -> ps.Func:
    x = ps.Input("x", ps.float32, (n,))
    f = ps.Func(name, (n,))
    f[i] = x[i] * scale
    return f


def scheduled() -> ps.Schedule:
    s = ps.Schedule(doubled())
    s["f"].vectorize(i, 8)
    return s


def travelled(what: Any) -> Any:
    return pickle.loads(pickle.dumps(what))


def test_a_kernel_is_compiled_where_it_is_read() -> None:
    kernel = scheduled().compile()
    again = travelled(kernel)
    assert again is not kernel
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert (again.signature, again.llvm) == (kernel.signature, kernel.llvm)
    a = np.arange(11, dtype=np.float32)
    np.testing.assert_array_equal(again(a), kernel(a))


def test_kernels_are_equal_by_content() -> None:
    kernel = scheduled().compile()
    assert kernel == scheduled().compile()
    different = [
        ps.Schedule(doubled()).compile(),
        ps.Schedule(doubled("g")).compile(),
        ps.Schedule(doubled(scale=3.0)).compile(),
        scheduled().compile(checks=True),
        scheduled().compile(n=8),
        default_kernel(doubled()),
        "kernel",
    ]
    assert all(kernel != other for other in different)
    assert len({kernel, *different, scheduled().compile()}) == 1 + len(different)


@pytest.mark.parametrize("options", [{"checks": True}, {"n": 8}, {"checks": True, "n": 8}])
def test_options_travel(options: dict[str, Any]) -> None:
    kernel = scheduled().compile(**options)
    again = travelled(kernel)
    assert again == kernel
    assert again.conditions == kernel.conditions


def test_the_target_travels() -> None:
    s = scheduled()
    target = named("x86-64-v3", s.target.system)
    kernel = ps.Kernel(s.proven_copy(), target=target)
    assert travelled(target) == target
    assert travelled(kernel) == kernel
    assert travelled(kernel) != s.compile() or target == s.target


def test_bare_kernels_travel() -> None:
    kernel = default_kernel(doubled())
    again = travelled(kernel)
    assert type(again) is AutoKernel
    assert again == kernel
    np.testing.assert_array_equal(again(np.ones(3, np.float32)), [2, 2, 2])


def test_copies_of_kernels_are_the_kernel() -> None:
    kernel = scheduled().compile()
    assert copy.copy(kernel) is kernel
    assert copy.deepcopy([kernel])[0] is kernel


@pytest.mark.slow
def test_kernels_and_funcs_in_other_processes() -> None:
    a = [np.full(5, k, np.float32) for k in range(3)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for what in (scheduled().compile(), doubled()):
            for given, found in zip(a, pool.map(what, a), strict=True):
                np.testing.assert_array_equal(found, 2 * given)


@pytest.mark.slow
def test_kernels_with_joblib() -> None:
    joblib = pytest.importorskip("joblib")
    kernel = scheduled().compile()
    a = np.ones(5, np.float32)
    (found,) = joblib.Parallel(n_jobs=2)([joblib.delayed(kernel)(a)])
    np.testing.assert_array_equal(found, 2 * a)
    assert joblib.hash(kernel) == joblib.hash(kernel)


def test_a_kernel_with_passes_of_its_own_is_refused() -> None:
    kernel = ps.Kernel(scheduled().proven_copy(), first=(lambda module: module,))
    with pytest.raises(ps.LanguageError, match="has passes of its own, which are code"):
        pickle.dumps(kernel)


def test_a_kernel_that_calls_a_lambda_is_refused() -> None:
    x = ps.Input("x", ps.float32, (n,))
    f = ps.extern("f", lambda a: a, [x], (n,), ps.float32)
    with pytest.raises(ps.LanguageError, match="use a module-level function"):
        pickle.dumps(ps.Schedule(f).compile())
