"""What pages say of benchmarks below their goals: also which memory their arrays are in."""

from __future__ import annotations

import pytest
from limits import behind
from measure import Measured
from runs import Line

CACHES = (32 << 10, 1 << 20, 32 << 20)


def line(nbytes: float, ours: float) -> Line:
    found = {
        x: Measured(x, times=[s], medians=[s]) for x, s in (("polysched", ours), ("numpy", 1.0))
    }
    return Line("layer norm", "networks", "", 1.0, "f32", nbytes, found)


@pytest.mark.parametrize(
    ("nbytes", "told"),
    [
        (3 << 18, "take 0.75 MiB, and stay in cache 2 of 1 MiB."),
        (20 << 20, "take 20 MiB, and stay in cache 3 of 32 MiB."),
        (32 << 20, "take 32 MiB, about as much as the last cache of 32 MiB holds: some of it is "
                   "read from memory."),
        (64 << 20, "take 64 MiB, more than the last cache of 32 MiB holds, and are read from "
                   "memory."),
    ],
)  # fmt: skip
def test_each_is_told_where_its_arrays_are(nbytes: int, told: str) -> None:
    (text,) = behind([line(nbytes, 2.0)], CACHES)
    assert text.endswith(told)


def test_nothing_is_told_of_caches_that_are_not_known() -> None:
    (text,) = behind([line(1 << 20, 2.0)])
    assert "MiB" not in text


def test_what_reaches_its_goal_is_not_told_of() -> None:
    assert not list(behind([line(64 << 20, 0.5)], CACHES))
