"""Private accumulators; elements that begin inside of their update."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from gallery.dynamic import shortest_paths_in_place
from polybench.solvers import lu_right_looking

import polysched as ps
from polysched.checking.execute import Path, Write
from polysched.checking.instance_checker import InstanceChecker
from polysched.poly.schedule.stages import StageHandle

from ..schedule.test_serial import survives
from .cases import gauss_seidel
from .kernels import histogram, i, j, m, n, norms, product
from .support import judged, listed, refused, same, stored

ODD = (0, 1, 3, 7, 9)


def tiled(dtype: ps.DType = ps.float32) -> tuple[ps.Schedule, StageHandle]:
    """A matrix product by tiles of 4 by 8, the sum innermost but for the tile."""
    s = ps.Schedule(product(dtype))
    u = s["C"].update(0)
    io, jo, ii, ji = u.tile(i, j, 4, 8)
    u.reorder(io, jo, "k", ii, ji)
    return s, u


# accumulate_at ------------------------------------------------------------------------------------
@pytest.mark.slow
def test_a_tile_is_kept() -> None:
    s, u = tiled()
    u.accumulate_at("jo")
    fix = 's["C"].compute_at("C.update(0)", "jo")'
    listed(s, f"""
        for i in [0, n):  # writes C in a pass of its own, or in its tiles with {fix}
          for j in [0, m):
            C[i, j] = 0.0
        for io in [0, (n - 1) // 4 + 1):
          for jo in [0, (m - 1) // 8 + 1):
            keep C[4, 8]:
              for k in [0, l):
                for ii in [0, min(n - io * 4, 4)):
                  for ji in [0, min(m - jo * 8, 8)):
                    C[i, j] = fma(A[i, k], B[k, j], C[i, j])  # i = io * 4 + ii, j = jo * 8 + ji
    """)  # fmt: skip
    assert stored(s, n=100, m=100, l=9) == {"C.update(0).kept": (4, 8)}
    judged(s, n=5, m=9, l=3)
    same(s, over=ODD)


def traffic(s: ps.Schedule, patch: pytest.MonkeyPatch, **sizes: int) -> tuple[Counter, Counter]:
    """How often each buffer is read and written."""
    reads: Counter[str] = Counter()
    writes: Counter[str] = Counter()
    joint = InstanceChecker.joint

    def counted(self: InstanceChecker, path: Path, made: list[Write]) -> None:
        writes.update(w.to.buffer.name for w in made)
        reads.update(r.buffer.name for w in made for r in w.reads)
        joint(self, path, made)

    patch.setattr(InstanceChecker, "joint", counted)
    judged(s, **sizes)
    return reads, writes


def test_it_is_copied_in_and_back_once(monkeypatch: pytest.MonkeyPatch) -> None:
    s, u = tiled(ps.int32)
    u.accumulate_at("jo")
    reads, writes = traffic(s, monkeypatch, n=5, m=9, l=7)
    assert (reads["C"], writes["C"]) == (45, 45 + 45)
    assert writes["C.update(0).kept"] == 45 + 45 * 7


def test_what_begins_inside_is_only_written_back(monkeypatch: pytest.MonkeyPatch) -> None:
    s, u = tiled(ps.int32)
    u.accumulate_at("jo")
    s["C"].compute_at(u, "jo")
    reads, writes = traffic(s, monkeypatch, n=5, m=9, l=7)
    assert (reads["C"], writes["C"]) == (0, 45)


@pytest.mark.slow
def test_threads_vectors_and_unrolled_loops_around_and_inside() -> None:
    s, u = tiled()
    u.accumulate_at("jo")
    u.parallel("io").vectorize("ji").unroll("ii")
    assert stored(s, n=50, m=50, l=3) == {"C.update(0).kept": (4, 8)}
    judged(s, n=5, m=9, l=3)
    same(s, over=ODD)


@pytest.mark.slow
def test_inside_of_the_sum_it_goes_in_and_out_each_time() -> None:
    s, u = tiled()
    u.split("k", 4)
    u.reorder("ko", "io", "jo", "ki", "ii", "ji")
    u.accumulate_at("jo")
    judged(s, n=5, m=9, l=6)
    same(s, over=ODD)


@pytest.mark.slow
def test_a_loop_taken_apart_keeps_in_each_part() -> None:
    s, u = tiled()
    u.accumulate_at("jo")
    u.peel("io", last=1)
    assert set(stored(s, n=9, m=9, l=2)) == {"C.update(0).kept"}
    judged(s, n=5, m=9, l=3)
    same(s, over=ODD)


@pytest.mark.slow
def test_both_halves_of_a_stage_share_what_is_kept() -> None:
    s, u = tiled()
    u.accumulate_at("jo")
    u.partition(i < j)
    judged(s, n=5, m=9, l=3)
    same(s, over=ODD)


@pytest.mark.slow
def test_a_part_of_a_stage_alone() -> None:
    s = ps.Schedule(product())
    s["C.update(0)"].peel(i, last=2)
    s["C.update(0).last"].accumulate_at(i)
    judged(s, n=5, m=4, l=3)
    same(s, over=ODD)


@pytest.mark.slow
def test_one_row_of_a_sum_of_columns() -> None:
    s = ps.Schedule(norms())
    u = s["b"].update(0)
    u.accumulate_at(i)
    assert stored(s, n=9, m=9)["b.update(0).kept"] == (1,)
    judged(s, n=4, m=3)
    same(s)


# a pure definition inside of its update -----------------------------------------------------------
@pytest.mark.slow
def test_elements_begin_where_they_are_updated_first() -> None:
    s, u = tiled()
    s["C"].compute_at(u, "jo")
    listed(s, """
        for io in [0, (n - 1) // 4 + 1):
          for jo in [0, (m - 1) // 8 + 1):
            for i in [io * 4, min(n, io * 4 + 4)):
              for j in [jo * 8, min(m, jo * 8 + 8)):
                C[i, j] = 0.0
            for k in [0, l):
              for ii in [0, min(n - io * 4, 4)):
                for ji in [0, min(m - jo * 8, 8)):
                  C[i, j] = fma(A[i, k], B[k, j], C[i, j])  # i = io * 4 + ii, j = jo * 8 + ji
    """)  # fmt: skip
    judged(s, n=5, m=9, l=0)
    judged(s, n=5, m=9, l=3)
    same(s, over=ODD)


@pytest.mark.slow
def test_what_has_begun_inside_is_not_copied_in() -> None:
    s, u = tiled()
    u.accumulate_at("jo")
    s["C"].compute_at(u, "jo")
    text = str(s)
    assert text.index("keep C[4, 8]") < text.index("C[i, j] = 0.0")
    report = judged(s, n=5, m=9, l=3)
    assert report.counts["instances"] == 5 * 9 * 4
    same(s, over=ODD)


@pytest.mark.slow
def test_in_the_first_block_of_a_sum() -> None:
    """Only where ko is 0 elements begin; the other blocks take what is there."""
    s, u = tiled()
    u.split("k", 4)
    u.reorder("ko", "io", "jo", "ki", "ii", "ji")
    s["C"].compute_at(u, "jo")
    u.accumulate_at("jo")
    judged(s, n=5, m=9, l=6)
    judged(s, n=5, m=9, l=0)
    same(s, over=ODD)


@pytest.mark.slow
def test_a_pure_definition_is_scheduled_there() -> None:
    s, u = tiled()
    s["C"].compute_at(u, "jo")
    s["C"].vectorize(j, 4)
    u.parallel("io")
    judged(s, n=5, m=9, l=3)
    same(s, over=ODD)


@pytest.mark.slow
def test_written_down_and_read_back() -> None:
    s, u = tiled()
    u.accumulate_at("jo")
    s["C"].compute_at(u, "jo")
    v = s.specialize(m >= 64)
    v["C.update(0)"].vectorize("ji")
    survives(s)
    assert s.copy() == s


def eliminated(block: int = 4) -> tuple[ps.Schedule, StageHandle]:
    """LU by blocks of columns, and what changes the rows and columns behind these, by tiles."""
    s = ps.Schedule(lu_right_looking())
    columns, behind = s["A.update(1)"].partition(j < (ps.vars("k") // block + 1) * block)
    columns.fission("j").fission("i")
    s["A.update(0)"].split("k", block, names=("ko", "k"))
    columns.fission("k")
    behind.reorder("i", "k", "j").peel("i", first=block - 1)
    behind.tile("i", "j", 2, block)
    behind.reorder("io", "jo", "k", "ii", "ji")
    return s, behind


@pytest.mark.slow
def test_elements_determined_by_rvars_beside_others_that_are_read() -> None:
    """A tile of the matrix is kept; the rows and columns that change it are read where they are."""
    s, behind = eliminated()
    behind.accumulate_at("jo").parallel("io").vectorize("ji").unroll("ii")
    assert stored(s, n=100) == {"A.update(1)[1].kept": (2, 4)}
    judged(s, n=11)
    same(s, over=(0, 1, 3, 4, 5, 8, 9, 13))


@pytest.mark.slow
def test_only_the_tile_is_touched_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    s, behind = eliminated()
    before, _ = traffic(s, monkeypatch, n=16)
    behind.accumulate_at("jo")
    after, writes = traffic(s, monkeypatch, n=16)
    assert after["A.update(1)[1].kept"] == 5 * elements_behind(16, 4)
    assert after["A"] < before["A"]
    assert writes["A.update(1)[1].kept"] == 5 * elements_behind(16, 4)


def elements_behind(n: int, block: int) -> int:
    """The elements behind all blocks of columns, each counted once for a block."""
    return sum((n - b) ** 2 for b in range(block, n, block))


@pytest.mark.slow
def test_shortest_paths_by_blocks() -> None:
    """The rows of a block of steps, then its columns, then everything else, tile by tile."""
    block = 4
    s = ps.Schedule(shortest_paths_in_place())
    k, q, r, c = ps.vars("k q r c")
    own, others = s["column.update(0)"].partition(q // block == k // block)
    pivots, rest = s["d.update(0)"].partition(r // block == k // block)
    own.fission("q")
    pivots.fission("c").fission("r")
    columns, rest = rest.partition(c // block == k // block)
    columns.fission("c").fission("r")
    pivots.compute_with(own, "q")
    columns.compute_with(others, "q")
    with refused(s, "would run after the second", kind="flow"):
        pivots.fission("k")  # all steps, and not those of a block
    s["row.update(0)"].split("k", block, names=("ko", "k"))
    pivots.fission("k")
    columns.fission("k").reorder("q", "k")
    rest.tile("r", "c", 2, block)
    rest.reorder("ro", "co", "k", "ri", "ci").accumulate_at("co")
    rest.vectorize("ci").unroll("ri").parallel("ro")
    columns.parallel("q")
    judged(s, n=10)
    same(s, over=(0, 1, 3, 4, 5, 8, 9, 13))


def test_an_element_that_another_update_reads_elsewhere() -> None:
    x, a = ps.Input("x", ps.int64, (n, m)), ps.Func("a", (n, m), ps.int64)
    r, c, q = ps.RVar("r", 1, n), ps.RVar("c", 0, m), ps.RVar("q", 0, m)
    a[i, j] = x[i, j]
    a[r, c] += a[r - 1, q]
    s = ps.Schedule(a)
    s["a.update(0)"].accumulate_at("c")
    judged(s, n=4, m=3)
    same(s, over=(1, 2, 5))


# refused ------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_refuses_to_keep_what_is_read_beside() -> None:
    """One loop further outside, the rows that change others are among those that change."""
    s, behind = eliminated()
    with refused(s, "A.update(0) reads A[i, k] inside of the loop too"):
        behind.accumulate_at("ko")
    x, a = ps.Input("x", ps.int64, (n, m)), ps.Func("a", (n, m), ps.int64)
    r, c, q = ps.RVar("r", 1, n), ps.RVar("c", 0, m), ps.RVar("q", 0, m)
    a[i, j] = x[i, j]
    a[r, c] += a[r - 1, q]
    s = ps.Schedule(a)
    s["a.update(0)"].split("r", 4)
    with refused(s, "a.update(0) reads a[r - 1, q]", hint="a loop further inside"):
        s["a.update(0)"].accumulate_at("ro")
    s["a.update(0)"].accumulate_at("ri")
    judged(s, n=7, m=3)


def test_refuses_what_does_not_accumulate_at_its_vars() -> None:
    s = ps.Schedule(product())
    with refused(s, "C does not accumulate at the element of its Vars", status="malformed"):
        s["C"].accumulate_at(i)
    s = ps.Schedule(histogram())
    with refused(s, "H.update(0) does not accumulate", hint="C[i, j] += ..."):
        s["H.update(0)"].accumulate_at("q")
    s = ps.Schedule(gauss_seidel())
    with refused(s, "a.update(0) does not accumulate"):
        s["a.update(0)"].accumulate_at("r")


def test_refuses_where_another_stage_uses_the_elements() -> None:
    x, a, b = ps.Input("x", ps.int64, (n, m)), ps.Func("a", (n,), ps.int64), ps.Func("b", (n,))
    r = ps.RVar("r", 0, m)
    a[i] = 0
    a[i] += x[i, r]
    b[i] = a[i] * 2
    s = ps.Schedule((a, b))
    s["b"].compute_with("a.update(0)", i)
    with refused(
        s,
        "b reads a[i] inside of the loop too, which may be",
        hint="a loop further inside, fission",
    ):
        s["a.update(0)"].accumulate_at(i)
    s["a.update(0)"].accumulate_at("r")
    judged(s, n=3, m=4)


def test_refuses_who_comes_later_too() -> None:
    x, a, r = ps.Input("x", ps.int64, (n, m)), ps.Func("a", (n,), ps.int64), ps.RVar("r", 0, m)
    a[i] = 0
    a[i] += x[i, r]
    a[i] += 2 * x[i, r]
    s = ps.Schedule(a)
    s["a.update(0)"].accumulate_at(i)
    with refused(s, "a.update(1) reads a[i]", "of the private accumulator of a.update(0)"):
        s["a.update(1)"].compute_with("a.update(0)", "r")


def test_refuses_it_twice_and_in_lanes() -> None:
    s, u = tiled()
    u.accumulate_at("jo")
    with refused(s, "C.update(0) has a private accumulator already"):
        u.accumulate_at("k")
    with refused(
        s, "the lanes of ioi would share the private accumulator of C.update(0)", status="malformed"
    ):
        u.vectorize("io", 4)


def test_refuses_to_shift_only_who_accumulates() -> None:
    """It would accumulate in another iteration than that in which the element began."""
    s, u = tiled()
    s["C"].compute_at(u, "io")
    u.accumulate_at("io")
    with refused(s, "C begins elements in other iterations than those in which C.update(0)"):
        u.shift("io", 1)


def test_refuses_partial_results_of_what_is_kept() -> None:
    s, u = tiled(ps.int32)
    u.accumulate_at("jo")
    with refused(s, "has a private accumulator", hint="rfactor first"):
        u.rfactor("k")


def test_refuses_to_begin_inside_of_what_is_no_update() -> None:
    s = ps.Schedule(product())
    with refused(s, "is no pure definition of C", status="malformed"):
        s["C.update(0)"].compute_at(s["C.update(0)"], i)
    with refused(s, "C belongs to C itself"):
        s["C"].compute_at(s["C"], i)


def test_refuses_to_begin_twice() -> None:
    s, u = tiled()
    s["C"].compute_at(u, "io")
    with refused(s, "C shares the loop io with C.update(0)", status="malformed"):
        s["C"].compute_at(u, "jo")


def test_refuses_to_begin_where_a_sum_has_begun() -> None:
    """At k each block would begin the element anew: only the first one does, and that is known
    of an RVar with fixed bounds; a histogram's elements are anywhere."""
    s = ps.Schedule(histogram())
    with refused(s, "H.update(0) writes H at more than its Vars", hint="C[i, j] += ..."):
        s["H"].compute_at("H.update(0)", "r")


def test_refuses_to_begin_in_a_later_update() -> None:
    x, a, r = ps.Input("x", ps.int64, (n, m)), ps.Func("a", (n,), ps.int64), ps.RVar("r", 0, m)
    a[i] = 0
    a[i] += x[i, r]
    a[i] += 2 * x[i, r]
    s = ps.Schedule(a)
    with refused(
        s, "a[i=0] writes a[0], a.update(0)[i=0, r=0] reads it, at n=1, m=1",
        status="violation", kind="flow", tensor="a",
    ):  # fmt: skip
        s["a"].compute_at("a.update(1)", i)


def test_refuses_to_begin_at_a_loop_around_the_whole_func() -> None:
    """All of it is computed there; storage that begins elsewhere than it is would get lost."""
    x, f, r = ps.Input("x", ps.int32, (n, m)), ps.Func("f", (n,), ps.int32), ps.RVar("r", 0, m)
    f[i] = x[i, 0] + ps.sum(x[i, r], r)
    s = ps.Schedule(f)
    s["f"].split("i", 4)
    s["f.sum0"].compute_at("f", "ii")
    with refused(s, "f.sum0 is computed inside of the loop ii already", status="malformed"):
        s["f.sum0"].compute_at(s["f.sum0.update(0)"], "ii")
    s["f.sum0"].compute_at(s["f.sum0.update(0)"], "i")
    judged(s, n=3, m=4)


def test_a_part_is_laid_out_on_its_own() -> None:
    """The copies of a tile are about all parts of the loop."""
    for early in (True, False):
        s = ps.Schedule(product(ps.int32))
        u = s["C"].update(0)
        u.reorder(j, "k", i)
        if early:
            u.accumulate_at(j)
        u.peel(i, first=2)
        s["C.update(0).first"].vectorize(i)
        if not early:
            u.accumulate_at(j)
        judged(s, n=5, m=3, l=2)


def test_elements_begin_where_they_are_kept_behind_copies() -> None:
    s, u = tiled(ps.int32)
    u.accumulate_at("io").stage("A", at="io")
    u.stage("B", at="io")
    s["C"].compute_at(u, "io")
    text = str(s)
    assert text.index("B.io[x0, x1] =") < text.index("keep C") < text.index("C[i, j] = 0")
    judged(s, n=5, m=9, l=2)


def columns() -> tuple[ps.Schedule, StageHandle]:
    """Sums of columns, a part of the rows after the other."""
    x, c = ps.Input("x", ps.int32, (m, n)), ps.Func("c", (n,), ps.int32)
    c[i] = 0
    c[i] += x[ps.RVar("k", 0, m), i]
    s = ps.Schedule(c)
    u = s["c"].update(0)
    u.split("k", 2)
    return s, u.reorder("ko", "ki", i)


@pytest.mark.parametrize("partitioned", [False, True])
def test_refuses_concurrent_iterations_with_non_atomic_copies(partitioned: bool) -> None:
    """Adding is atomic, but not writing back."""
    s, u = columns()
    u.accumulate_at("ko")
    part = u.partition(i < 2)[0] if partitioned else u
    part.atomic()
    with refused(s, "two iterations would run concurrently", kind="race"):
        part.parallel("ko")


def rows_from_data() -> tuple[ps.Schedule, StageHandle]:
    """Elements [ends[k], ends[k + 1]) are row k's."""
    ends = ps.Input("ends", ps.int32, (n + 1,), range=(0, m + 1))
    x, c = ps.Input("x", ps.int64, (n, m)), ps.InOut("c", ps.int64, (m,))
    k = ps.RVar("k", 0, n)
    r, q = ps.RVar("r", ends[k], ends[k + 1]), ps.RVar("q", 0, n)
    c[r] += x[q, r]
    s = ps.Schedule(c)
    return s, s["c.update(0)"]


def test_refuses_to_write_back_what_data_give_to_others() -> None:
    """Rows are apart, but what may be of a row is all."""
    wanted = "iterations of the parallel loop k would write back all that c.update(0) may"
    s, u = rows_from_data()
    with s.trust("rows are apart"):
        u.parallel("k")
    with refused(s, wanted, hint="a serial loop", status="malformed"):
        u.accumulate_at("k")
    s, u = rows_from_data()
    u.accumulate_at("k")
    with refused(s, wanted, status="malformed"), s.trust("rows are apart"):
        u.parallel("k")


def sparse_rows() -> tuple[ps.Schedule, StageHandle]:
    """Rows of a sparse matrix times a dense one: rows of results are apart, whatever data say."""
    nnz = ps.sizes("nnz")
    start = ps.Input("start", ps.int32, (n + 1,), range=(0, nnz + 1))
    column = ps.Input("column", ps.int32, (nnz,), range=(0, m))
    entry, u = ps.Input("entry", ps.int64, (nnz,)), ps.Input("u", ps.int64, (m, m))
    k, f = ps.RVar("k", start[i], start[i + 1]), ps.Func("f", (n, m))
    f[i, j] = 0
    f[i, j] += entry[k] * u[column[k], j]
    s = ps.Schedule(f)
    return s, s[f].update(0)


@pytest.mark.parametrize("first", ["parallel", "accumulate"])
def test_writes_back_concurrently_what_data_cannot_give_to_others(first: str) -> None:
    s, update = sparse_rows()
    update.split("j", 4, names=("jo", "ji"))
    update.reorder(i, "jo", "k", "ji").vectorize("ji")
    steps = [lambda: update.parallel(i), lambda: update.accumulate_at("jo")]
    for step in steps if first == "parallel" else steps[::-1]:
        step()
    start = np.array([0, 3, 3, 4, 9], np.int32)
    column, entry = np.array([0, 2, 5, 1, 0, 1, 2, 3, 4], np.int32), np.arange(9)
    u = np.arange(36).reshape(6, 6)
    wanted = np.array(
        [
            sum(entry[k] * u[column[k]] for k in range(*start[r : r + 2])) + u[0] * 0
            for r in range(4)
        ]
    )
    got = s.compile()(start=start, column=column, entry=entry, u=u)
    assert got.tolist() == wanted.tolist()


def bands(outer: int) -> tuple[ps.Schedule, StageHandle]:
    """Each p adds to f[p] or to f[p + 1], as data say."""
    x, g = ps.Input("x", ps.float64, (m,)), ps.Input("g", ps.int64, (n,))
    f = ps.InOut("f", ps.float64, (outer, n + 1))
    q, _, r, k = ps.rdom(
        "q p r k", (0, outer), (0, n), (0, n + 1), (0, m),
        where=lambda q, p, r, k: (r >= p) & (r <= p + 1) & (r - p == g[p]),
    )  # fmt: skip
    f[q, r] += x[k]
    s = ps.Schedule(f)
    return s, s[f].update(0)


def test_refuses_to_write_back_what_another_part_may_have() -> None:
    s, u = bands(1)
    first, _ = u.partition(ps.vars("r") <= ps.vars("p"))
    with s.trust("g is the same everywhere"):
        first.parallel("p")
    with refused(s, "iterations of the parallel loop p would write back all that"):
        first.accumulate_at("p")


@pytest.mark.parametrize("outer", [1, 2])
def test_refuses_to_write_back_in_inner_parallel_loops(outer: int) -> None:
    s, u = bands(outer)
    with s.trust("g is the same everywhere"):
        u.parallel("p")
    u.parallel("q")
    with refused(s, "iterations of the parallel loop p would write back all that"):
        u.accumulate_at("p")


def test_refuses_to_begin_at_a_loop_of_a_consumer_of_a_consumer() -> None:
    """The column of h tells that of g, so that g's loops around are fewer than there are."""
    x = ps.Input("x", ps.int64, (n, n))
    c, g, h = ps.Func("c"), ps.Func("g"), ps.Func("h", (n, n))
    c[i] = 0
    c[i] += x[i, ps.RVar("k", 0, n)]
    g[i, j] = c[i] + x[i, j]
    h[i, j] = g[i, j] + g[i, 0]
    s = ps.Schedule(h)
    s[g].compute_at(h, i)
    s[c].compute_at(g, j)
    with refused(s, "c is computed inside of the loop j already", status="malformed"):
        s[c].compute_at("c.update(0)", j)
    s[h].split(i, 2)
    judged(s, n=3)


@pytest.mark.parametrize("loop", ["ko", "ki"])
def test_refuses_to_begin_where_data_say(loop: str) -> None:
    ends = ps.Input("ends", ps.int32, (n + 1,), range=(0, m + 1))
    x, c = ps.Input("x", ps.int64, (m,)), ps.Func("c", (n,))
    c[i] = 0
    c[i] += x[ps.RVar("k", ends[i], ends[i + 1])]
    s = ps.Schedule(c)
    u = s["c"].update(0)
    u.split("k", 4)
    with refused(
        s, f"an iteration of {loop} is not about elements of c alone",
        hint="or over an RVar with fixed bounds", status="malformed",
    ):  # fmt: skip
        s[c].compute_at(u, loop)
    s[c].compute_at(u, i)
    judged(s, n=3, m=4)


def test_refuses_to_keep_what_is_stored_inside() -> None:
    """In loops that never run nothing else is wrong."""
    x, f = ps.Input("x", ps.int64, (n, m)), ps.Func("f", (n, m))
    f[i, j] = ps.sum(x[i, ps.RVar("k", 0, m)] + j, ps.RVar("k", 0, m))
    s = ps.Schedule(f)
    s["f.sum0"].compute_at("f", j)
    s["f"].peel(i, last=1)
    s["f.last"].split(i, 3, tail="peel")
    with refused(
        s, "of f.sum0.update(0).last would be around the storage of f.sum0",
        hint="a loop inside of where f.sum0 is stored", status="malformed",
    ):  # fmt: skip
        s["f.sum0.update(0).last"].accumulate_at("ii")
