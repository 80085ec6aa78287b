"""Advice on parallel loops of which some thread has an iteration more than others."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.runtime.kernel import Kernel
from polysched.show.advice.causes import suspicions
from polysched.show.advice.nests import seen
from polysched.show.advice.predicted import Figures, hints
from polysched.show.advice.suspicion import Subject, Suspicion

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


@pytest.fixture
def s() -> ps.Schedule:
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = x[i, j] * 2
    s = ps.Schedule(f)
    s["f"].vectorize(j, 8)
    return s


def found(s: ps.Schedule, rows: int, threads: int = 2, columns: int = 1024) -> list[Suspicion]:
    stages = seen(s, {"n": rows, "m": columns})
    return [x for x in suspicions(Subject(s, stages, threads)) if x.cause == "uneven blocks"]


def test_as_many_blocks_as_threads_have_alike_and_a_quarter_are_tried(s: ps.Schedule) -> None:
    s["f"].parallel(i, 96)
    every = found(s, 1024)
    assert every[0].evidence == (
        "11 iterations of the parallel loop i on 2 threads, of which one has 6: threads wait for "
        "8% of their time"
    )
    splits = [x.change.made(s).extents(n=1024, m=1024)["f"]["i"] for x in every]
    assert splits == [12, 43]


@pytest.mark.parametrize(("rows", "threads"), [(1024, 1), (1152, 2), (96 * 25, 2), (0, 2)])
def test_even_shares_raise_no_suspicion(s: ps.Schedule, rows: int, threads: int) -> None:
    s["f"].parallel(i, 96)
    assert not found(s, rows, threads)


def test_little_work_raises_none(s: ps.Schedule) -> None:
    s["f"].parallel(i)
    assert found(s, 11)
    assert not found(s, 11, columns=64)


def test_another_loop_is_tried_where_there_are_no_blocks(s: ps.Schedule) -> None:
    s["f"].parallel(i)
    (only,) = found(s, 3, columns=40_000)
    text = """leave out s["f"].parallel('i'); s["f"].parallel('j')"""
    assert only.change.text() == text
    image = np.ones((3, 1024), np.float32)
    np.testing.assert_array_equal(only.change.made(s).compile()(image), image * 2)


def test_no_loop_over_terms_of_a_sum_is_tried() -> None:
    x, f, k = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n,)), ps.RVar("k", 0, m)
    f[i] = 0.0
    f[i] += x[i, k]
    s = ps.Schedule(f)
    s["f"].update(0).parallel(i)
    assert not found(s, 3, columns=40_000)


def test_a_hint_beside_a_profile_has_the_figures_of_its_threads(s: ps.Schedule) -> None:
    s["f"].parallel(i, 96)
    kernel = Kernel(s, later=True)
    figures = Figures({"f": 0.9}, {}, {("f", "i"): (0.9, 0.2)})
    (hint,) = hints(kernel, kernel, {"n": 1024, "m": 1024}, 2, figures)
    assert hint.cause == "uneven blocks"
    assert hint.evidence.endswith("its threads work 90% of the time, imbalance 20%")
