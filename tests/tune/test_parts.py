"""Parts of reductions that threads share, each with results of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def counts() -> ps.Func:
    """How often each number of an image is there."""
    image = ps.Input("image", ps.uint8, (n, m))
    ry, rx = ps.RVar("ry", 0, n), ps.RVar("rx", 0, m)
    f = ps.Func("count", (256,))
    f[i] = ps.cast(ps.int32, 0)
    f[ps.cast(ps.int32, image[ry, rx])] += 1
    return f


def whole() -> ps.Func:
    """The sum of all elements."""
    x = ps.Input("image", ps.uint8, (n, m))
    ry, rx = ps.RVar("ry", 0, n), ps.RVar("rx", 0, m)
    f = ps.Func("whole", ())
    f[()] = ps.cast(ps.int32, 0)
    f[()] += ps.cast(ps.int32, x[ry, rx])
    return f


def columns(dtype: ps.DType = ps.int32) -> ps.Func:
    """The sum of each column."""
    x = ps.Input("image", ps.uint8, (n, m))
    ry = ps.RVar("ry", 0, n)
    f = ps.Func("columns", (m,))
    f[j] = ps.cast(dtype, 0)
    f[j] += ps.cast(dtype, x[ry, j])
    return f


def shared(s: ps.Schedule) -> list[str]:
    """The loops that threads share in stages of parts."""
    found = [d.text() for d in s.directives if d.name == "parallel"]
    return [text for text in found if ".by." in text]


SIZES = {"n": 4000, "m": 100}
REFERENCES = {
    counts: lambda x: np.bincount(x.ravel(), minlength=256),
    whole: lambda x: x.sum(dtype=np.int64),
    columns: lambda x: x.sum(axis=0, dtype=np.int64),
}


@pytest.mark.parametrize("program", REFERENCES)
def test_threads_share_parts_that_have_results_of_their_own(
    program: Callable[[], ps.Func],
) -> None:
    s = ps.Schedule.auto(program(), sizes=SIZES, threads=2)
    assert len(shared(s)) == 1
    kernel = s.compile()
    for rows, across in ((0, 3), (1, 1), (257, 5), (800, 67)):
        image = np.random.default_rng(0).integers(0, 256, (rows, across), np.uint8)
        assert np.array_equal(kernel(image=image), REFERENCES[program](image))


@pytest.mark.parametrize(
    ("program", "threads", "sizes"),
    [
        (counts, 1, SIZES),  # nobody else takes a part
        (counts, 2, {"n": 16, "m": 16}),  # little is done
        (columns, 2, {"n": 16, "m": 40_000}),  # there are as many results as terms
        (lambda: columns(ps.float32), 2, SIZES),  # another order gives other bits
    ],
)
def test_parts_are_left_where_they_gain_nothing_or_change_bits(
    program: Callable[[], ps.Func], threads: int, sizes: dict[str, int]
) -> None:
    s = ps.Schedule.auto(program(), sizes=sizes, threads=threads)
    assert not shared(s)
    assert s.bit_exact


def test_sums_of_floats_have_parts_where_any_order_is_allowed() -> None:
    program = columns(ps.float32)
    s = ps.Schedule.auto(program, sizes=SIZES, threads=2, reassociate=True)
    assert shared(s)
    assert not s.bit_exact


def test_only_small_results_are_copied_for_neighbours() -> None:
    small = ps.Schedule.auto(counts(), sizes=SIZES, threads=2)
    assert "count.by.ryo.by.rxi" in small.source()
    image = ps.Input("image", ps.uint16, (n, m))
    ry, rx = ps.RVar("ry", 0, n), ps.RVar("rx", 0, m)
    f = ps.Func("count", (65536,))
    f[i] = ps.cast(ps.int32, 0)
    f[ps.cast(ps.int32, image[ry, rx])] += 1
    large = ps.Schedule.auto(f, sizes={"n": 40_000, "m": 1000}, threads=2)
    assert len(shared(large)) == 1
    assert "rxi" not in large.source()
