"""Placements and other directives, in any order: peeled, split and cut loops, and long chains."""

from __future__ import annotations

import pytest
from counting import calls

import polysched as ps
from polysched.poly.sets.budget import counted

from ..directives.support import listed
from ..placing import blur, chain, i, j, kept, m, n, ran, right, row_sums

TAILS = pytest.mark.parametrize("tail", ["auto", "guard", "peel", "shift"])


# loops of consumers -----------------------------------------------------------------------------
@pytest.mark.slow
@TAILS
def test_a_loop_that_is_split_afterwards(tail: str) -> None:
    """f1 slides over the rows, however they are split; f0 is computed for each row of f1."""
    s = chain(3)
    s["f1"].compute_at("f2", i).store_root()
    s["f0"].compute_at("f1", i)
    s["f2"].split(i, 4, tail=tail)
    right(s, over=(0, 1, 3, 5, 9))
    # A last loop of its own has a window of its own: two rows of f1 are computed again, or, where
    # it runs rows again, as many as these need.
    rows = {"auto": 11, "guard": 11, "peel": 13, "shift": 16}[tail]
    last = {"shift": 12}.get(tail, 9)
    assert ran(s, n=9, m=1).total == last + rows + 3 * rows


@pytest.mark.slow
@TAILS
def test_windows_of_windows_in_a_loop_that_is_split_afterwards(tail: str) -> None:
    s = chain(3)
    s["f1"].compute_at("f2", i).store_root()
    s["f0"].compute_at("f2", i).store_root()
    s["f2"].split(i, 4, tail=tail)
    right(s, over=(0, 1, 3, 5, 9))
    s["f2"].parallel("io")
    right(s, over=(0, 1, 3, 5, 9))


@pytest.mark.slow
@pytest.mark.parametrize("tail", ["auto", "guard"])
def test_a_loop_that_was_split_before(tail: str) -> None:
    s = chain(2)
    s["f1"].split(i, 4, tail=tail)
    s["f0"].compute_at("f1", "io").store_root()
    right(s)
    assert ran(s, n=9, m=1).total == 9 + 11
    assert kept(s, n=100, m=10) == {"f0": 6 * 10 * 8}


@pytest.mark.slow
def test_a_loop_that_is_peeled() -> None:
    """Each part has a window of its own: two rows are computed again behind each cut."""
    s = chain(2)
    s["f0"].compute_at("f1", i).store_root()
    s["f1"].peel(i, first=1, last=2)
    right(s)
    # Two rows behind each cut are computed again.
    assert ran(s, n=9, m=1).total == 9 + 11 + 2 + 2


def test_the_listing_of_a_loop_that_is_peeled() -> None:
    s = chain(2)
    s["f0"].compute_at("f1", i).store_root()
    s["f1"].peel(i, first=1)
    listed(
        s,
        """
          if n >= 1:
            store f0[3, m]:
              for i in [0, 1):
                for i.2 in [0, 3):
                  for j in [0, m):
                    f0[i, j] = x[i, j] + x[i + 1, j] * 2 - x[i + 2, j]
                for j in [0, m):
                  f1[i, j] = f0[i, j] + f0[i + 1, j] * 2 - f0[i + 2, j]
          store f0[n + 1, m]:
            for i in [-1, n):
              if n >= 2:
                for i.2 in [i + 2, i + 3):
                  for j in [0, m):
                    f0[i, j] = x[i, j] + x[i + 1, j] * 2 - x[i + 2, j]
              if i >= 1:
                for j in [0, m):
                  f1[i, j] = f0[i, j] + f0[i + 1, j] * 2 - f0[i + 2, j]
          keeps 3 of f0
        """,
    )


@pytest.mark.slow
def test_one_part_of_a_loop_is_made_parallel() -> None:
    """Its iterations have storage of their own, that of the other parts is kept once."""
    s = chain(2)
    s["f0"].compute_at("f1", i).store_root()
    s["f1"].split(i, 4, tail="peel")
    s["f1"].parallel("io")
    right(s, over=(0, 1, 3, 5, 9))
    assert ran(s, n=9, m=1).total == 9 + 2 * 6 + 3
    assert kept(s, n=100, m=10) == {"f0": 3 * 10 * 8}


@pytest.mark.slow
def test_a_consumer_in_two_parts() -> None:
    s = chain(3)
    s["f1"].compute_at("f2", i).store_root()
    s["f0"].compute_at("f2", i).store_root()
    first, _ = s["f2"].partition(2 * j < m)
    first.fission(j)
    right(s)
    assert ran(s, n=6, m=3).again == 0


@pytest.mark.slow
def test_a_consumer_in_two_loops_of_rows() -> None:
    """The second loop finds all that it reads where the first one has left it."""
    s = chain(2)
    s["f0"].compute_at("f1", i).store_root()
    first, _ = s["f1"].partition(2 * j < m)
    first.fission(j)
    right(s)
    assert ran(s, n=6, m=3).again == 0


@pytest.mark.slow
def test_tiled_after_and_before() -> None:
    """compute_at, then split what is inside; or tile, then compute_at: the same instances."""
    s, other = blur(), blur()
    s["by"].split(i, 4)
    s["bx"].compute_at("by", "io")
    s["by"].split(j, 4)
    other["by"].split(i, 4)
    other["by"].split(j, 4)
    other["bx"].compute_at("by", "io")
    assert str(s) == str(other)
    right(s)
    assert ran(s, n=8, m=8) == ran(other, n=8, m=8)


def test_tiles_of_tiles_need_no_more_than_tiles() -> None:
    """Blocks in blocks along both axes: those around determine the quotients in them."""
    s = blur()
    by = s["by"]
    with s.batch():
        outer = by.split(i, 8, names=("ib", "it"), tail="guard")
        across = by.split(j, 12, names=("jb", "jt"), tail="guard")
        rows = by.split(outer[1], 4, names=("io", "ii"), tail="guard")
        columns = by.split(across[1], 3, names=("jo", "ji"), tail="guard")
        by.reorder(outer[0], across[0], rows[0], columns[0], rows[1], columns[1])
        s["bx"].compute_at("by", "jo")
    assert "store bx[6, 3]" in str(s)
    right(s)


@pytest.mark.slow
def test_inner_loops_that_are_reordered() -> None:
    s = blur()
    s["bx"].compute_at("by", i).store_root()
    s["by"].split(j, 4)
    s["by"].reorder("ji", "jo")
    right(s)
    assert ran(s, n=6, m=5).again == 0


@pytest.mark.slow
def test_storage_at_a_loop_made_later() -> None:
    """f1 is stored for blocks of three rows, and slides in them."""
    s = chain(3)
    s["f1"].compute_at("f2", i)
    s["f2"].split(i, 3)
    s["f0"].compute_at("f1", j)
    s["f1"].store_at("f2", "io")
    right(s)
    assert ran(s, n=6, m=1).total == 6 + 2 * 5 + 2 * 5 * 3
    assert kept(s, n=100, m=10) == {"f0": 3 * 8, "f1": 3 * 10 * 8}


# loops of producers -----------------------------------------------------------------------------
@pytest.mark.slow
@TAILS
@pytest.mark.parametrize("before", [False, True])
def test_loops_of_the_producer_that_are_split(tail: str, before: bool) -> None:
    s = chain(2)
    s["f1"].split(i, 4)
    if before:
        s["f0"].split(i, 4, tail=tail)
    s["f0"].compute_at("f1", "io")
    if not before:
        s["f0"].split(i, 4, tail=tail)
    right(s, over=(0, 1, 3, 5, 9))
    assert kept(s, n=100, m=10) == {"f0": 6 * 10 * 8}


@pytest.mark.slow
def test_a_producer_in_two_parts() -> None:
    s = chain(3)
    s["f1"].compute_at("f2", i).store_root()
    s["f0"].compute_at("f2", i).store_root()
    s["f0"].partition(2 * j < m)
    right(s)
    assert ran(s, n=6, m=3).again == 0


@pytest.mark.slow
def test_a_producer_in_two_parts_that_moves() -> None:
    s = chain(2)
    s["f0"].partition(2 * j < m)
    s["f0[0]"].compute_at("f1", i).store_root()
    right(s)
    assert ran(s, n=6, m=3).again == 0
    s["f0[1]"].compute_root()
    right(s)
    assert ran(s, n=6, m=3).total == 3 * (6 + 8)


@pytest.mark.slow
def test_a_reduction_in_two_parts_that_moves_twice() -> None:
    """It moves with what it is computed for, out of two loops, and then to the new one itself."""
    x, f, g = ps.Input("x", ps.int64, (n, m)), ps.Func("f", (n,)), ps.Func("g", (n,))
    r = ps.RVar("r", 0, m)
    f[i] = ps.sum(x[i, r], r)
    g[i] = f[n - 1 - i]
    s = ps.Schedule(g)
    s["f"].compute_root()
    s["f.sum0"].partition(i < 2)
    s["f"].split(i, 3)
    s["f.sum0[0]"].compute_at("f", "ii")
    s["f"].compute_at("g", i)
    right(s)


@pytest.mark.slow
def test_storage_for_two_loops_that_run_at_once() -> None:
    """Each has its own, and so has each of their iterations."""
    x, f = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,))
    f[i] = x[i]
    s = ps.Schedule(f)
    s["f"].stage("x", at="i", pad=True)
    s["f"].parallel("i").split("i", 8)
    s["f"].split("ii", 4, tail="shift")
    s["x.i.tail"].store_at(s["f.tail"], "io")
    assert str(s).count("store x.i[1]:") == 2
    right(s, over=(0, 1, 3, 5, 9))


@pytest.mark.slow
def test_an_update_in_other_loops_than_its_definition() -> None:
    x, f, g = ps.Input("x", ps.int64, (n + 2, m)), ps.Func("f"), ps.Func("g", (n, m))
    f[i, j] = x[i, j] * 2
    f[i, j] += x[i, j] * j
    g[i, j] = f[i, j] + f[i + 2, j]
    s = ps.Schedule(g)
    s["f"].compute_at("g", i).store_root().vectorize(j, 4)
    s["f"].update(0).parallel(j)
    right(s)
    assert ran(s, n=6, m=3).total == 3 * (6 + 8 + 8)
    assert kept(s, n=100, m=10) == {"f": 3 * 10 * 8}


@pytest.mark.slow
def test_a_product_in_tiles_of_its_consumer() -> None:
    A, B = ps.Input("A", ps.float32, (n, m)), ps.Input("B", ps.float32, (m, n))
    C, D, k = ps.Func("C", (n, n)), ps.Func("D", (n, n)), ps.RVar("k", 0, m)
    C[i, j] = 0.0
    C[i, j] += A[i, k] * B[k, j]
    D[i, j] = ps.maximum(C[i, j], 0) + C[i, j]
    s = ps.Schedule(D)
    s["D"].tile(i, j, 4, 8)
    s["C"].compute_at("D", "jo").vectorize(j, 8)
    s["C"].update(0).reorder(k, i, j).vectorize(j, 8)
    s["D"].parallel("io")
    right(s, over=(0, 1, 3, 9))
    assert kept(s, n=100, m=10) == {"C": 4 * 8 * 4}


# as values --------------------------------------------------------------------------------------
@pytest.mark.slow
def test_written_down_and_read_back() -> None:
    s = chain(3)
    s["f2"].split(i, 4)
    s["f1"].compute_at("f2", "ii").store_at("f2", "io")
    s["f0"].compute_at("f1", i).store_root()
    s["f2"].parallel("io")
    back = ps.Schedule.from_json(s.program.outputs[0], s.to_json())
    assert back == s
    assert str(back) == str(s)
    names = {"ps": ps, **{f.name: f for f in s.program.funcs}}
    exec(s.source(), names)
    assert names["s"] == s


@pytest.mark.slow
def test_a_variant_that_is_placed_by_itself() -> None:
    s = chain(2)
    s["f0"].compute_at("f1", i)
    wide = s.specialize(m >= 4)
    wide["f0"].store_root()
    right(s)
    assert "keeps 3 of f0" in str(wide)
    assert "keeps" not in str(s)


@pytest.mark.slow
def test_a_batch_is_proven_at_its_end() -> None:
    """Storage that would be written at once, until it is placed inside."""
    s = row_sums(2)
    with s.batch():
        s["f"].split(i, 4)
        s["f"].parallel("io")
        s["c"].compute_at("f", "io").store_root()
        s["c"].store_at("f", "io")
    right(s)


# depth ------------------------------------------------------------------------------------------
NESTED = pytest.mark.parametrize("nested", [False, True], ids=["of the last", "of the next"])


def sliding(count: int, nested: bool) -> ps.Schedule:
    """So many stages in the loop of the last one, or each in that of the next one."""
    s = chain(count)
    for k in reversed(range(count - 1)):
        s[f"f{k}"].compute_at(f"f{k + 1}" if nested else f"f{count - 1}", i).store_root()
    return s


@pytest.mark.slow
@NESTED
def test_a_hundred_stages_slide(nested: bool) -> None:
    """Each keeps three rows, as it begins some iterations early."""
    found = kept(sliding(100, nested), n=1000, m=10)
    assert found == {f"f{k}": 3 * 10 * 8 for k in range(99)}


@pytest.mark.slow
@NESTED
def test_twice_as_many_stages_take_about_twice_as_much(nested: bool) -> None:
    """isl's work grows with the stages, and so does the code; what Python does, not much faster."""
    few, many = (effort(count, nested) for count in (12, 24))
    for growth, first, second in zip((2.5, 4, 2.1), few, many, strict=True):
        assert second <= growth * first


def effort(count: int, nested: bool) -> tuple[int, int, int]:
    """Operations of isl, calls of functions, and lines of code for LLVM."""
    with counted() as tally, calls() as called:
        kernel = sliding(count, nested).compile()
    return tally.operations, called.count, len(kernel.llvm.splitlines())
