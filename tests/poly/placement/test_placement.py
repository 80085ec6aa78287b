"""compute_at, compute_root, store_at: what is computed where, how often, and what is kept."""

from __future__ import annotations

import pytest

import polysched as ps
from polysched.poly.tree.memory import Window

from ..directives.support import listed
from ..placing import blur, chain, i, j, kept, m, n, ran, right, row_sums, t


# rows -------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_in_each_iteration() -> None:
    """Three rows for each row of the output."""
    s = blur()
    assert s["bx"].compute_at("by", i).name == "bx"
    listed(
        s,
        """
          for i in [0, n):
            store bx[3, m]:
              for i.2 in [i, i + 3):
                for j in [0, m):
                  bx[i, j] = (x[i, j] + x[i, j + 1] + x[i, j + 2]) / 3.0
              for j in [0, m):
                by[i, j] = (bx[i, j] + bx[i + 1, j] + bx[i + 2, j]) / 3.0
        """,
    )
    right(s)
    assert kept(s, n=100, m=50) == {"bx": 3 * 50 * 4}
    found = ran(s, n=6, m=5)
    assert found.total == 6 * 5 + 6 * 3 * 5
    assert found.distinct == {"bx": 8 * 5, "by": 6 * 5}


def test_the_handle_of_a_loop() -> None:
    s, other = blur(), blur()
    s["bx"].compute_at(s["by"].loops[0])
    other["bx"].compute_at("by", i)
    assert str(s) == str(other)


@pytest.mark.slow
@pytest.mark.parametrize("store", ["root", "outer"])
def test_a_window_that_slides(store: str) -> None:
    """Each row once, and three are kept, where the storage outlives the iteration."""
    s = blur()
    if store == "outer":
        s["by"].split(i, 100, names=("block", "i"))
        s["bx"].compute_at("by", i).store_at("by", "block")
    else:
        s["bx"].compute_at("by", i).store_root()
    right(s)
    assert kept(s, n=100, m=50) == {"bx": 3 * 50 * 4}
    found = ran(s, n=6, m=5)
    assert found.distinct == {"bx": 8 * 5, "by": 6 * 5}
    assert found.again == 0
    assert found.total == 8 * 5 + 6 * 5


def test_the_listing_of_a_window_that_slides() -> None:
    s = blur()
    s["bx"].compute_at("by", i).store_root()
    listed(
        s,
        """
          for i in [-2, n):
            if n >= 1:
              for i.2 in [i + 2, i + 3):
                for j in [0, m):
                  bx[i, j] = (x[i, j] + x[i, j + 1] + x[i, j + 2]) / 3.0
            if i >= 0:
              for j in [0, m):
                by[i, j] = (bx[i, j] + bx[i + 1, j] + bx[i + 2, j]) / 3.0
          keeps 3 of bx
        """,
    )


@pytest.mark.slow
def test_a_parallel_loop_does_not_slide() -> None:
    """Its iterations have storage of their own, and compute all that they need."""
    s = blur()
    s["bx"].compute_at("by", i).store_root()
    s["by"].parallel(i)
    listed(
        s,
        """
          for i in [0, n) (parallel):
            store bx[3, m]:
              for i.2 in [i, i + 3):
                for j in [0, m):
                  bx[i, j] = (x[i, j] + x[i, j + 1] + x[i, j + 2]) / 3.0
              for j in [0, m):
                by[i, j] = (bx[i, j] + bx[i + 1, j] + bx[i + 2, j]) / 3.0
        """,
    )
    right(s)
    assert ran(s, n=6, m=5).total == 6 * 5 + 6 * 3 * 5


@pytest.mark.slow
def test_a_window_slides_over_loops_of_which_one_tells_another() -> None:
    """The row of f1 is the row of f2: f0 slides over these rows, and over the columns of f1."""
    x = ps.Input("x", ps.int64, (n + 3, m + 2))
    f0, f1, f2 = ps.Func("f0"), ps.Func("f1"), ps.Func("f2", (n, m))
    f0[i, j] = x[i, j] + x[i + 1, j]
    f1[i, j] = f0[i, j] + f0[i + 1, j] * 2 - f0[i + 2, j + 1] + f0[i, j + 2]
    f2[i, j] = f1[i, j] * 3
    s = ps.Schedule(f2)
    s["f1"].compute_at("f2", i)
    s["f0"].compute_at("f1", j).store_root()
    right(s)
    assert ran(s, n=6, m=5).again == 0


@pytest.mark.slow
def test_a_window_slides_inside_of_parallel_blocks() -> None:
    """The two rows between blocks of four are computed by both."""
    s = blur()
    s["by"].split(i, 4)
    s["bx"].compute_at("by", "ii").store_root()
    s["by"].parallel("io")
    right(s)
    assert ran(s, n=8, m=5).total == 8 * 5 + 2 * 6 * 5
    assert kept(s, n=100, m=50) == {"bx": 3 * 50 * 4}


@pytest.mark.slow
def test_a_window_of_many_planes() -> None:
    """A block of sixteen rows reads eighteen, two of which are there."""
    s = chain(2)
    s["f1"].split(i, 16)
    s["f0"].compute_at("f1", "io").store_root()
    right(s, over=(0, 1, 16, 40))
    assert ran(s, n=40, m=2).again == 0
    assert kept(s, n=100, m=10) == {"f0": 18 * 10 * 8}


@pytest.mark.slow
def test_more_planes_than_are_needed() -> None:
    s = blur()
    s["bx"].compute_at("by", i).store_root().fold_storage(0, 4)
    right(s)
    assert kept(s, n=100, m=50) == {"bx": 4 * 50 * 4}


@pytest.mark.slow
def test_back_to_the_root() -> None:
    s, plain = blur(), blur()
    s["bx"].compute_at("by", i).store_root()
    s["bx"].compute_root()
    assert str(s).replace("\n  note: no loop is vectorised", "") == str(plain)
    right(s)
    assert not s.windows


# tiles ------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_overlapped_tiles() -> None:
    """Each tile of 4 by 4 computes the 6 by 4 elements that it reads, all tiles at once."""
    s = blur()
    s["by"].tile(i, j, 4, 4)
    s["bx"].compute_at("by", "jo")
    s["by"].parallel("io").parallel("jo")
    right(s)
    found = ran(s, n=8, m=8)
    assert found.total == 8 * 8 + 4 * 6 * 4
    assert found.distinct["bx"] == 10 * 8
    assert kept(s, n=100, m=100) == {"bx": 6 * 4 * 4}


@pytest.mark.slow
def test_sums_of_rows_in_tiles_with_storage_of_their_own() -> None:
    s = row_sums(2)
    s["f"].split(i, 4)
    s["c"].compute_at("f", "io")
    s["f"].parallel("io")
    right(s)
    assert ran(s, n=8, m=5).total == 8 * 5 + 2 * 6 * (5 + 4)


@pytest.mark.slow
def test_sums_of_rows_share_a_buffer_where_no_two_tiles_need_a_row() -> None:
    s = row_sums(0)
    s["f"].split(i, 4)
    s["c"].compute_at("f", "io").store_root()
    s["f"].parallel("io")
    right(s)
    assert ran(s, n=8, m=5).again == 0


@pytest.mark.slow
def test_sums_of_rows_do_not_slide() -> None:
    """An update that is not of one element runs anew in each tile, in the same four rows."""
    s = row_sums(2)
    s["f"].split(i, 4)
    s["c"].compute_at("f", "io").store_root()
    right(s)
    assert ran(s, n=8, m=5).total == 8 * 5 + 2 * 6 * (5 + 4)
    assert kept(s, n=100, m=50) == {"c": 6 * 50 * 8}


# shapes -----------------------------------------------------------------------------------------
@pytest.mark.slow
def test_a_triangle() -> None:
    """Row i of the triangle, and column i: 2 * i + 1 elements."""
    x, f, g = ps.Input("x", ps.int64, (n, n)), ps.Func("f"), ps.Func("g", (n,), ps.int64)
    r = ps.RVar("r", 0, i + 1)
    f[i, j] = x[i, j] * 2
    g[i] = 0
    g[i] += f[i, r] * f[r, i]
    s = ps.Schedule(g)
    s["f"].compute_at("g.update(0)", i)
    right(s)
    found = ran(s, n=6)
    assert found.total == 6 + 21 + sum(2 * k + 1 for k in range(6))
    assert found.distinct["f"] == 36
    s["f"].store_root()
    assert ran(s, n=6).total == 6 + 21 + 36
    right(s)


@pytest.mark.slow
def test_a_triangle_by_a_condition() -> None:
    x, f, g = ps.Input("x", ps.int64, (n, n)), ps.Func("f"), ps.Func("g", (n,), ps.int64)
    r = ps.RVar("r", 0, n)
    f[i, j] = x[i, j] * 2
    g[i] = 0
    g[i] += ps.select(r <= i, f[i, r] * f[r, i], 0)
    s = ps.Schedule(g)
    s["f"].compute_at("g.update(0)", i)
    right(s)
    assert ran(s, n=6).total == 6 + 36 + sum(2 * k + 1 for k in range(6))


def test_a_stride() -> None:
    """Of three elements two are read."""
    x, f, g = ps.Input("x", ps.int64, (3 * n,)), ps.Func("f"), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = f[3 * i] + f[3 * i + 1]
    s = ps.Schedule(g)
    s["g"].split(i, 4)
    s["f"].compute_at("g", "io")
    right(s)
    found = ran(s, n=6)
    assert found.total == 6 + 12
    assert kept(s, n=100) == {"f": 11 * 8}


def test_a_stride_of_a_func_with_a_shape() -> None:
    """What nothing reads is not computed, though the Func has it."""
    x, f, g = ps.Input("x", ps.int64, (3 * n,)), ps.Func("f", (3 * n,)), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = f[3 * i] + f[3 * i + 1]
    s = ps.Schedule(g)
    s["f"].compute_at("g", i)
    right(s)
    assert ran(s, n=6).distinct["f"] == 12


@pytest.mark.parametrize("store", [False, True])
def test_a_border_by_clamping(store: bool) -> None:
    x, f, g = ps.Input("x", ps.int64, (n,)), ps.Func("f"), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = f[ps.clip(i - 1, 0, n - 1)] + f[ps.clip(i + 1, 0, n - 1)]
    s = ps.Schedule(g)
    s["g"].split(i, 4)
    s["f"].compute_at("g", "io")
    if store:
        s["f"].store_root()
    right(s)
    # Elements 0 to 4, 3 to 8 and 7 to 9; or each once.
    assert ran(s, n=10).total == 10 + (10 if store else 5 + 6 + 3)


def test_a_border_by_selecting() -> None:
    """Two neighbours and what is between them; nothing for what is outside."""
    x, f, g = ps.Input("x", ps.int64, (n,)), ps.Func("f"), ps.Func("g", (n,))
    f[i] = x[i] * 2
    left = ps.select(i > 0, f[ps.maximum(i - 1, 0)], 7)
    g[i] = left + ps.select(i + 1 < n, f[ps.minimum(i + 1, n - 1)], 7)
    s = ps.Schedule(g)
    s["f"].compute_at("g", i)
    right(s)
    assert ran(s, n=6).total == 6 + 3 * 6 - 2


# recurrences ------------------------------------------------------------------------------------
def jacobi() -> ps.Schedule:
    """The third step of a stencil of two points."""
    x, f, g = ps.Input("x", ps.int64, (n,)), ps.Func("f", (4, n)), ps.Func("g", (n,))
    f[0, i] = x[i]
    f[t, i] = f[t - 1, ps.clip(i - 1, 0, n - 1)] + f[t - 1, ps.clip(i + 1, 0, n - 1)]
    g[i] = f[3, i]
    return ps.Schedule(g)


@pytest.mark.slow
def test_all_steps_of_a_block() -> None:
    """Each block of four computes 10, 8, 6 and 4 elements, fewer at the ends."""
    s = jacobi()
    s["g"].split(i, 4)
    s["f"].compute_at("g", "io")
    s["g"].parallel("io")
    right(s)
    assert ran(s, n=12).distinct["g"] == 12
    assert ran(s, n=12).total == 12 + (10 + 8 + 6 + 4) + 2 * (7 + 6 + 5 + 4)
    assert kept(s, n=100) == {"f": 2 * 10 * 8}


def running_maximum() -> ps.Schedule:
    x, f, g = ps.Input("x", ps.int64, (n, m)), ps.Func("f", (n, m)), ps.Func("g", (n, m))
    f[0, j] = x[0, j]
    f[i, j] = ps.maximum(f[i - 1, j], x[i, j])
    g[i, j] = f[i, j] - x[i, j]
    return ps.Schedule(g)


@pytest.mark.slow
def test_a_running_maximum_slides() -> None:
    s = running_maximum()
    s["f"].compute_at("g", i).store_root()
    right(s)
    assert ran(s, n=6, m=3).total == 2 * 6 * 3
    assert next(iter(s.windows.values())) == Window(0, 1)
    assert kept(s, n=100, m=10) == {"f": 10 * 8}


@pytest.mark.slow
def test_a_running_maximum_from_the_beginning_in_each_iteration() -> None:
    s = running_maximum()
    s["f"].compute_at("g", i).store_root()
    s["g"].parallel(i)
    right(s)
    assert ran(s, n=6, m=3).total == 6 * 3 + 21 * 3
    assert kept(s, n=100, m=10) == {"f": 10 * 8}


# chains -----------------------------------------------------------------------------------------
@pytest.mark.slow
def test_each_at_a_loop_of_the_next() -> None:
    s = chain(3)
    s["f1"].compute_at("f2", i)
    s["f0"].compute_at("f1", i)
    right(s)
    assert ran(s, n=4, m=2).total == (4 + 4 * 3 + 4 * 3 * 3) * 2
    s["f1"].store_root()
    s["f0"].store_root()
    right(s)
    assert ran(s, n=4, m=2).total == (4 + 6 + 8) * 2
    assert kept(s, n=100, m=10) == {"f0": 3 * 10 * 8, "f1": 3 * 10 * 8}


@pytest.mark.slow
def test_all_at_blocks_of_the_last() -> None:
    s = chain(5)
    s["f4"].split(i, 4)
    for k in reversed(range(4)):
        s[f"f{k}"].compute_at("f4", "io")
    s["f2"].vectorize(j, 4)
    s["f1"].unroll(j, 2)
    s["f3"].split(i, 2, tail="peel")
    s["f4"].parallel("io")
    right(s, over=(0, 1, 5, 9))
    assert ran(s, n=8, m=5).total == 5 * (8 + 2 * (6 + 8 + 10 + 12))


@pytest.mark.slow
def test_in_different_blocks() -> None:
    """f0 in blocks of eight rows, f1 in blocks of four inside of them."""
    s = chain(3)
    s["f2"].split(i, 8, names=("a", "b"))
    s["f2"].split("b", 4, names=("b", "i"))
    s["f1"].compute_at("f2", "b")
    s["f0"].compute_at("f2", "a")
    right(s, over=(0, 1, 5, 9, 17))
    assert ran(s, n=16, m=2).total == 2 * (16 + 4 * 6 + 2 * 12)
    assert kept(s, n=100, m=10) == {"f0": 12 * 10 * 8, "f1": 6 * 10 * 8}


# outputs ----------------------------------------------------------------------------------------
def outputs() -> ps.Schedule:
    """An output that the last one reads, one that nothing reads, and what both are made of."""
    x, a = ps.Input("x", ps.int64, (n, m)), ps.Func("a", (n, m))
    f, g, h = (ps.Func(name, (n, m)) for name in "fgh")
    a[i, j] = x[i, j] * 2
    f[i, j] = a[i, j] + 1
    g[i, j] = a[i, j] + f[i, j]
    h[i, j] = f[i, j] * 3
    s = ps.Schedule((f, g, h))
    s["a"].compute_root()
    return s


def order(s: ps.Schedule) -> list[str]:
    """The Funcs as they are computed."""
    lines = (x.strip() for x in str(s).splitlines()[1:])
    return [x.split("[")[0] for x in lines if "] = " in x and not x.startswith("for ")]


def test_an_output_is_computed_before_what_reads_it_or_at_the_end() -> None:
    s = outputs()
    assert order(s) == ["a", "f", "g", "h"]
    s["g"].vectorize(j, 4).compute_root()
    assert order(s) == ["a", "f", "h", "g"]
    s["f"].compute_root()
    assert order(s) == ["a", "f", "h", "g"]
    right(s)
    right(ps.Schedule.from_json(tuple(s.program.outputs), s.to_json()))


def test_what_is_computed_for_an_output_goes_with_it() -> None:
    x, a = ps.Input("x", ps.int64, (n + 1, m)), ps.Func("a")
    f, g = ps.Func("f", (n, m)), ps.Func("g", (n, m))
    a[i, j] = x[i, j] * 2
    f[i, j] = a[i, j] + a[i + 1, j]
    g[i, j] = x[i, j] + 1
    s = ps.Schedule((f, g))
    s["a"].compute_at("f", i)
    s["f"].compute_root()
    assert order(s) == ["g", "a", "f"]
    right(s)


def test_an_output_of_a_recurrence_takes_the_others_along() -> None:
    x, f, g = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,)), ps.Func("g", (n,), ps.int64)
    h = ps.Func("h", (n,))
    f[i] = ps.select(i > 0, g[ps.maximum(i - 1, 0)], 0) + x[i]
    g[i] = f[i] * 2 + f[i]
    h[i] = x[i] + 1
    s = ps.Schedule((g, h))
    s["g"].compute_root()
    assert order(s) == ["h", "f", "g"]
    right(s)
