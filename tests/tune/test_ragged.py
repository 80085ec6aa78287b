"""Loops of which data say how many iterations they have."""

from __future__ import annotations

import numpy as np
import pytest
from gallery.execute import assert_same

import polysched as ps
from polysched.tune import auto as tune
from polysched.tune.plans.effort import QUICK

from .programs import i, j, m, n

nnz, width = ps.sizes("nnz width")
SIZES = {"n": 2000, "m": 2000, "nnz": 40_000, "width": 32}


def sparse(counts: bool = False, columns: bool = True) -> ps.Func:
    """A sparse matrix times a dense one, or a vector; its rows by where they start, or by how many
    entries they have."""
    bounds = ps.Input("bounds", ps.int32, (n + 1,), range=(0, nnz + 1))
    column = ps.Input("column", ps.int32, (nnz,), range=(0, m))
    entry = ps.Input("entry", ps.float64, (nnz,))
    first = 0 if counts else bounds[i]
    k = ps.RVar("k", first, bounds[i + 1])
    f = ps.Func("f", (n, width) if columns else (n,))
    if columns:
        u = ps.Input("u", ps.float64, (m, width))
        f[i, j] = ps.sum(entry[k] * u[column[k], j], k)
    else:
        f[i] = ps.sum(entry[k] * ps.Input("u", ps.float64, (m,))[column[k]], k)
    return f


def test_what_loops_depend_on() -> None:
    (s,) = (x for x in ps.facts(sparse(), SIZES).statements if x.kind == "float reduction")
    assert [(x.name, x.is_ragged, x.is_steering) for x in s.loops] == [
        ("i", False, True), ("j", False, False), ("k", True, False),
    ]  # fmt: skip


@pytest.mark.parametrize(("counts", "middle"), [(False, 20), (True, 40_000)])
def test_rows_share_what_data_give_both_ends_of(counts: bool, middle: int) -> None:
    (s,) = (x for x in ps.facts(sparse(counts), SIZES).statements if x.kind == "float reduction")
    assert s.loops[2].extent == SIZES["nnz"]
    assert s.loops[2].middle == middle


def test_columns_are_taken_in_vectors() -> None:
    s = ps.Schedule.auto(sparse(), sizes=SIZES, threads=2)
    of_update = {d.name for d in s.directives if "update" in d.stage}
    assert {"vectorize", "accumulate_at"} <= of_update


def test_rows_are_not() -> None:
    """Each lane would have a loop of its own."""
    sizes = {name: x for name, x in SIZES.items() if name != "width"}
    s = ps.Schedule.auto(sparse(columns=False), sizes=sizes, threads=2)
    assert not any(d.name == "vectorize" and "update" in d.stage for d in s.directives)


@pytest.mark.parametrize("rows", [1, 7, 60])
@pytest.mark.parametrize("columns", [1, 5, 33])
def test_the_bits_are_those_of_the_loops_as_written(rows: int, columns: int) -> None:
    rng = np.random.default_rng(rows * columns)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 6, rows))]).astype(np.int32)
    arrays = {
        "bounds": starts,
        "column": rng.integers(0, 9, starts[-1]).astype(np.int32),
        "entry": rng.standard_normal(starts[-1]),
        "u": rng.standard_normal((9, columns)),
    }
    found = tune.found_for_calls(ps.Schedule.default(sparse()), 2, SIZES, QUICK).schedule
    assert found.directives
    wanted = ps.Schedule.default(sparse()).compile()(**arrays)
    assert_same((found.compile()(**arrays),), (wanted,))
