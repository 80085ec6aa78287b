"""Notes beside parallel loops of so few iterations that threads cannot have equally many."""

from __future__ import annotations

import pytest

import polysched as ps
from polysched.poly.report.share_notes import waiting

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def rows() -> ps.Schedule:
    """A pointwise program, for sizes that a test fixes."""
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = x[i, j] + 1
    return ps.Schedule(f)


def said(s: ps.Schedule, **sizes: int) -> str:
    """What is said of shares at sizes, or nothing."""
    lines = str(s.fixed(sizes)).splitlines()
    return next((x.partition("uneven blocks: ")[2] for x in lines if "uneven" in x), "")


@pytest.mark.parametrize(
    ("count", "threads", "share"),
    [(11, 2, 1 / 12), (12, 2, 0.0), (3, 2, 1 / 4), (1, 4, 3 / 4), (21, 2, 1 / 22), (0, 2, 0.0)],
)
def test_all_wait_for_the_thread_with_most(count: int, threads: int, share: float) -> None:
    assert waiting(count, threads) == pytest.approx(share)


def test_few_blocks_name_the_split_that_made_them() -> None:
    s = rows()
    s["f"].split(i, 96)
    s["f"].parallel("io")
    split = """s["f"].split('i', 96)"""
    waits = "the share of their time that threads wait is 8% of 2, 8% of 4, 31% of 8"
    assert said(s, n=1024, m=1024) == f"{waits}, and less with a smaller factor of {split}"


def test_a_chunk_is_a_split() -> None:
    s = rows()
    s["f"].parallel(i, 96)
    assert "a smaller factor of s[\"f\"].split('i', 96" in said(s, n=1024, m=1024)


def test_what_begins_in_a_block_does_not_hide_its_split() -> None:
    """Zeros come before the sums whose loop was split."""
    k, x, f = ps.RVar("k", 0, m), ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = 0
    f[i, j] += x[i, k] * x[k % n, j]
    s = ps.Schedule(f)
    u = s["f.update(0)"]
    u.split(i, 96, names=("io", "ii"))
    u.reorder("io", "ii", k, j).parallel("io")
    s["f"].compute_at(u, "io")
    assert """less with a smaller factor of s["f.update(0)"].split('i', 96""" in said(
        s, n=1024, m=64
    )


def test_a_loop_in_no_blocks_names_another_loop() -> None:
    s = rows()
    s["f"].parallel(i)
    found = said(s, n=5, m=4096)
    assert found.endswith("17% of 2, 38% of 4, and less with another loop on threads")


@pytest.mark.parametrize("size", [12 * 96, 31 * 96], ids=["even for two and four", "many"])
def test_shares_of_two_that_hardly_differ_need_no_word(size: int) -> None:
    s = rows()
    s["f"].parallel(i, 96)
    assert "of 2" not in said(s, n=size, m=1024)


def test_nothing_is_said_of_sizes_that_are_not_known() -> None:
    s = rows()
    s["f"].parallel(i, 96)
    assert "uneven" not in str(s)
    assert not said(s, m=1024)


def test_nothing_is_said_of_loops_that_one_thread_runs() -> None:
    s = rows()
    s["f"].split(i, 96)
    assert not said(s, n=1024, m=1024), "it is on no threads"
    s["f"].parallel(j).parallel("io")
    assert "'i', 96" in said(s, n=1024, m=1024)
    assert str(s.fixed({"n": 1024, "m": 11})).count("uneven") == 1, "j begins inside of io"


def test_little_work_is_not_worth_a_word() -> None:
    s = rows()
    s["f"].parallel(i)
    assert not said(s, n=11, m=64)
