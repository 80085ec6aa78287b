"""Programs that have known answers: which directives must be accepted, and which must not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps

from .cases import (
    cholesky,
    floyd_warshall,
    gauss_seidel,
    i,
    j,
    jacobi,
    lstm,
    lu,
    m,
    n,
    nussinov,
    product,
    running,
    seidel_2d,
    t,
)
from .support import refused, same, witness

SOME = (2, 3, 5, 9)


# stencils ---------------------------------------------------------------------------------------
def test_gauss_seidel_may_be_interchanged() -> None:
    s = ps.Schedule(gauss_seidel())
    s["a"].reorder("c", "r")
    same(s, over=SOME)


def test_gauss_seidel_may_be_tiled() -> None:
    s = ps.Schedule(gauss_seidel())
    s["a"].tile("r", "c", 4, 2)
    same(s, over=SOME)


@pytest.mark.parametrize(
    ("loop", "found"),
    [("r", ({"n": 3, "m": 3}, (1, 1), (2, 1))), ("c", ({"n": 2, "m": 4}, (1, 1), (1, 2)))],
)
def test_no_loop_of_gauss_seidel_is_parallel(loop: str, found: object) -> None:
    s = ps.Schedule(gauss_seidel())
    with refused(s, "parallel", hint="wavefront", kind="race", tensor="a") as errors:
        s["a"].parallel(loop)
    assert witness(errors[0]) == found


def test_a_wave_of_gauss_seidel_is_parallel() -> None:
    s = ps.Schedule(gauss_seidel())
    _, c = s["a"].wavefront("r", "c")
    s["a"].parallel(c)
    same(s, over=SOME)


def test_the_wave_itself_is_not() -> None:
    s = ps.Schedule(gauss_seidel())
    wave, _ = s["a"].wavefront("r", "c")
    with refused(s, "parallel", kind="race"):
        s["a"].parallel(wave)


@pytest.mark.slow
def test_a_neighbour_above_on_the_right_needs_a_skew_before_tiles() -> None:
    s = ps.Schedule(gauss_seidel(north_east=True))
    with refused(s, "tile('r', 'c', 4, 4)", hint='skew("r", "c", 1)', kind="flow"):
        s["a"].tile("r", "c", 4, 4)
    s["a"].skew("r", "c", 1)
    s["a"].tile("r", "c", 4, 4)
    same(s, over=SOME)


def test_jacobi_may_not_be_interchanged() -> None:
    s = ps.Schedule(jacobi())
    with refused(s, "reorder('i', 't')", "f[t=0, i=1] writes f[0, 1]", kind="flow") as errors:
        s["f"].reorder(i, t)
    assert witness(errors[0]) == ({"T": 2, "n": 2}, (0, 1), (1, 0))


@pytest.mark.slow
def test_space_inside_of_time_is_parallel_and_a_vector() -> None:
    s = ps.Schedule(jacobi())
    s["f"].parallel(i, 8).vectorize("ii", 4)
    same(s, over=(1, 2, 3, 5, 9, 17))


def test_time_is_neither() -> None:
    s = ps.Schedule(jacobi())
    with refused(s, "parallel", kind="race"):
        s["f"].parallel(t)
    with refused(s, "vectorize", kind="lane"):
        s["f"].vectorize(t, 4)


def seidel(values: Callable[..., object], *, tiled: bool) -> ps.Schedule:
    s = ps.Schedule(seidel_2d())
    s["a"].transform(("t", "i", "j"), values, names=("t", "x", "y"))
    if tiled:
        s["a"].tile("t", "x", "y", 8, 8, 8)
    return s


@pytest.mark.slow
def test_seidel_is_tiled_after_two_skews_and_its_wave_of_tiles_is_parallel() -> None:
    s = seidel(lambda t, i, j: (t, t + i, 2 * t + i + j), tiled=True)
    _, xo, _ = s["a"].wavefront("to", "xo", "yo")
    s["a"].parallel(xo)
    same(s, over=(2, 3, 9, 12))


def test_seidel_may_not_swap_time_and_rows() -> None:
    s = ps.Schedule(seidel_2d())
    with refused(s, "reorder('i', 't')", kind="flow") as errors:
        s["a"].reorder("i", "t")
    assert witness(errors[0])[0] == {"n": 4, "T": 2}


def test_seidel_may_not_be_tiled_as_it_is() -> None:
    s = ps.Schedule(seidel_2d())
    with refused(s, "tile('t', 'i', 'j', 8, 8, 8)", kind="flow") as errors:
        s["a"].tile("t", "i", "j", 8, 8, 8)
    assert witness(errors[0])[0] == {"n": 10, "T": 1}


def tiles_of(t: int, i: int, j: int) -> tuple[int, ...]:
    coordinates = (t, t + i, t + i + j)
    return (*(x // 8 for x in coordinates), *(x % 8 for x in coordinates))


def smallest_of_seidel() -> tuple[int, dict[str, int], tuple[int, ...], tuple[int, ...]]:
    """By enumeration: the first pair that touches one element, and runs the wrong way round."""
    for total in range(2, 12):
        for steps in range(total):
            size = total - steps
            inner = range(1, size - 1)
            order = [(t, i, j) for t in range(steps) for i in inner for j in inner]
            last: dict[tuple[int, int], tuple[int, ...]] = {}
            wrong = []
            for sink in order:
                near = [(sink[1] + a, sink[2] + b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
                sources = {last[e] for e in near if e in last}
                # What it overwrites has been read by points before it.
                sources |= {x for x in order if x < sink and _near(x, sink)}
                wrong += [(x, sink) for x in sources if tiles_of(*x) >= tiles_of(*sink)]
                last[sink[1], sink[2]] = sink
            if wrong:
                return total, {"n": size, "T": steps}, *min(wrong)
    raise AssertionError("there is none")


def _near(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return abs(a[1] - b[1]) <= 1 and abs(a[2] - b[2]) <= 1


def test_one_skew_of_seidel_is_too_few_and_the_witness_is_the_smallest() -> None:
    s = seidel(lambda t, i, j: (t, t + i, t + i + j), tiled=False)
    with refused(s, "tile", tensor="a") as errors:
        s["a"].tile("t", "x", "y", 8, 8, 8)
    assert errors[0].hint is None  # one more skew of these loops is not enough
    total, sizes, source, sink = smallest_of_seidel()
    found = witness(errors[0])
    assert sum(found[0].values()) == total
    assert found == (sizes, source, sink)


# networks ---------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("name", ["c.sum0", "c.sum1.update(0)", "c.piece(1)", "h.piece(1)"])
def test_the_units_of_an_lstm_are_parallel_and_vectors(name: str) -> None:
    s = ps.Schedule(lstm())
    stage = s[name]
    outer = stage.loops[1]
    stage.split(outer, 8, names=("jo", "ji"))
    if len(stage.loops) == 4:
        stage.reorder("jo", "k", "ji")
    stage.vectorize("ji").parallel("jo")
    same(s, over=(0, 1, 3, 9))


@pytest.mark.parametrize("directive", ["parallel", "vectorize"])
def test_the_steps_of_an_lstm_are_not(directive: str) -> None:
    s = ps.Schedule(lstm())
    with refused(s, directive):
        if directive == "parallel":
            s["h.piece(1)"].parallel(t)
        else:
            s["h.piece(1)"].vectorize(t, 4)


# lanes ------------------------------------------------------------------------------------------
def test_lanes_run_inside_of_serial_loops() -> None:
    """for i vector: for k in [0, 2): A[i] += A[i + 1]: lane 0 reads, at k = 1, what lane 1 wrote
    at k = 0."""
    A = ps.InOut("A", ps.int64, (9,))
    with ps.sequential("i", 0, 8) as x, ps.sequential("k", 0, 2):
        A[x] += A[x + 1]
    s = ps.Schedule(A)
    with refused(s, "vectorize('i')", kind="lane", sizes={}) as errors:
        s["A"].vectorize("i")
    assert witness(errors[0]) == ({}, (0, 1), (1, 0))


def test_without_the_inner_loop_lanes_read_before_they_write() -> None:
    A = ps.InOut("A", ps.int64, (9,))
    with ps.sequential("i", 0, 8) as x:
        A[x] += A[x + 1]
    s = ps.Schedule(A)
    s["A"].vectorize("i")
    same(s)


def shared() -> ps.Schedule:
    """Z[r] = X[r]; Y[r] = Z[r + 1] in one loop: Y reads what Z held before."""
    X, Z = ps.Input("X", ps.int64, (n,)), ps.InOut("Z", ps.int64, (n + 1,))
    Y = ps.InOut("Y", ps.int64, (n,))
    with ps.sequential("r", 0, n) as r:
        Z[r] = X[r]
        Y[r] = Z[r + 1]
    return ps.Schedule((Z, Y))


def test_lanes_of_one_statement_write_before_the_next_one_reads() -> None:
    s = shared()
    with refused(s, "vectorize('r', 8)", kind="lane", tensor="Z") as errors:
        s["Z"].vectorize("r", 8)
    assert witness(errors[0]) == ({"n": 2}, (0,), (1,))


def test_the_same_made_by_compute_with() -> None:
    X, Z, Y = ps.Input("X", ps.int64, (n + 1,)), ps.Func("Z", (n + 1,)), ps.Func("Y", (n,))
    Z[i] = X[i]
    Y[i] = Z[i + 1]
    s = ps.Schedule((Z, Y))
    with refused(s, "compute_with('Z', 'i', shift=0) in a batch", kind="flow"), s.batch():
        s[Y].compute_with(Z, i)
        s[Z].vectorize(i, 8)


@pytest.mark.parametrize(
    ("distance", "lanes", "legal"),
    [(-2, 8, True), (8, 8, True), (8, 16, False), (16, 16, True), (1, 2, False), (3, 4, False)],
)
def test_a_distance_of_the_width_is_not_carried(distance: int, lanes: int, legal: bool) -> None:
    """A[r] = A[r + 2] + A[r] reads ahead, A[r] = A[r - 8] + A[r] behind."""
    s = ps.Schedule(running(distance))
    if legal:
        s["A"].vectorize("r", lanes)
        same(s, over=(16, 17, 24, 40))
        return
    with refused(s, "two lanes would run concurrently", kind="lane", tensor="A") as errors:
        s["A"].vectorize("r", lanes)
    sizes, source, sink = witness(errors[0])
    assert sink[0] - source[0] == distance
    assert source[0] // lanes == sink[0] // lanes
    assert sizes == {"n": sink[0] + 1}


# factorizations and tables ----------------------------------------------------------------------
@pytest.mark.slow
def test_what_lu_updates_may_be_tiled() -> None:
    s = ps.Schedule(lu())
    s["a.update(1)"].tile("r", "c", 4, 4)
    s["a.update(1)"].parallel("ro")
    same(s, over=(0, 1, 2, 5, 9))


def test_the_steps_of_lu_may_not_be_taken_apart() -> None:
    s = ps.Schedule(lu())
    with refused(s, "fission('k', after='a.update(0)')", kind="flow"):
        s["a.update(0)"].fission("k")
    with refused(s, "parallel('k')", kind="race"):
        s["a.update(1)"].parallel("k")


@pytest.mark.slow
def test_lu_by_rows_may_be_tiled_one_way() -> None:
    s = ps.Schedule(lu(by_rows=True))
    other = s.copy()
    s["a"].tile("k", "r", 4, 4)
    same(s, over=(0, 1, 2, 5, 9))
    other["a"].transform(("r",), lambda r: -r)
    with refused(other, "tile('k', 'r', 4, 4)", kind="flow"):
        other["a"].tile("k", "r", 4, 4)


@pytest.mark.slow
def test_right_looking_lu_is_split_into_a_panel_and_the_rest() -> None:
    k, c = ps.vars("k c")
    s = ps.Schedule(lu())
    panel, rest = s["a.update(1)"].partition(c <= k + 1)
    panel.fission("c")
    panel.fission("r")
    panel.parallel("r")
    rest.tile("r", "c", 4, 8)
    rest.parallel("ro").vectorize("ci")
    assert [x.kind for x in panel.loops] == ["serial", "parallel", "serial"]
    assert [x.name for x in rest.loops] == ["k", "ro", "co", "ri", "ci"]
    same(s, over=(0, 1, 2, 5, 9, 18))


@pytest.mark.slow
def test_what_cholesky_updates_may_be_tiled() -> None:
    s = ps.Schedule(cholesky())
    s["a.update(2)"].tile("q", "c", 4, 4)
    same(s, over=(0, 1, 2, 5, 9))
    with refused(s, "fission", kind="flow"):
        s["a.update(1)"].fission("k")


@pytest.mark.slow
def test_floyd_warshall_is_tiled_inside_of_its_steps_only() -> None:
    s = ps.Schedule(floyd_warshall())
    other = s.copy()
    s["d"].tile("r", "c", 4, 4)
    same(s, over=(0, 1, 2, 5, 9))
    with refused(other, "tile('k', 'r', 'c', 4, 4, 4)") as errors:
        other["d"].tile("k", "r", "c", 4, 4, 4)
    assert witness(errors[0])[0] == {"n": 5}
    with refused(other, "reorder('r', 'k')", kind="flow"):
        other["d"].reorder("r", "k")
    with refused(other, "parallel('r')", kind="race"):
        other["d"].parallel("r")


@pytest.mark.slow
def test_nussinov_is_tiled_along_its_diagonals() -> None:
    s = ps.Schedule(nussinov())
    s["N"].tile("i.down", "j", 4, 4)
    _, jo = s["N"].wavefront("i.downo", "jo")
    s["N"].parallel(jo)
    same(s, over=(1, 2, 5, 9, 17))


def test_nussinov_skewed_the_other_way_is_not() -> None:
    s = ps.Schedule(nussinov())
    s["N"].skew("i.down", "j", -1)
    with refused(s, "tile('i.down', 'j', 4, 4)", kind="flow"):
        s["N"].tile("i.down", "j", 4, 4)


# sums -------------------------------------------------------------------------------------------
def test_a_float_sum_keeps_its_order_until_it_is_told_otherwise() -> None:
    s = ps.Schedule(product(ps.float32))
    u = s["C"].update(0)
    with refused(s, "vectorize('k', 8)", hint="reassociate()", kind="lane"):
        u.vectorize("k", 8)
    assert s.bit_exact
    u.reassociate()
    u.vectorize("k", 8)
    assert not s.bit_exact
    a, b = (np.ones((3, 20), np.float32), np.ones((20, 4), np.float32))
    np.testing.assert_array_equal(s.compile()(A=a, B=b), a @ b)  # whole numbers: exact


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [ps.int8, ps.int32, ps.uint64])
def test_an_integer_sum_needs_no_permission(dtype: ps.DType) -> None:
    s = ps.Schedule(product(dtype))
    s["C"].update(0).reorder("k", i, j).vectorize("k", 8)
    assert s.bit_exact
    same(s, over=(0, 1, 9))


@pytest.mark.parametrize("dtype", [ps.int32, ps.float32])
def test_no_sum_is_parallel(dtype: ps.DType) -> None:
    s = ps.Schedule(product(dtype))
    if not dtype.is_int:
        s["C"].update(0).reassociate()
    with refused(s, "parallel('k')", hint="add to the same element", kind="race"):
        s["C"].update(0).parallel("k")


def test_what_reads_a_sum_waits_for_all_of_its_terms() -> None:
    """Backwards, the last term comes first: it is no sign that the sum is done."""
    A, C, D = ps.Input("A", ps.int64, (n, m)), ps.Func("C", (n,)), ps.Func("D", (n, m))
    k = ps.RVar("k", 0, m)
    C[i] = 0
    C[i] += A[i, k]
    D[i, j] = C[i] + j
    s = ps.Schedule((C, D))
    s[C].update(0).transform((k,), lambda k: -k)
    s[D].transform((j,), lambda j: -j)
    with refused(s, "compute_with", "C.update(0)[i=0, k=0] writes C[0]", kind="flow"):
        s[D].compute_with(s[C].update(0), k)


# conditions -------------------------------------------------------------------------------------
@pytest.mark.parametrize("odd", [False, True])
def test_a_where_decides(odd: bool) -> None:
    """A[r] = A[r - 1] where r is odd: no iteration needs another. Everywhere: each the last."""
    A = ps.InOut("A", ps.int64, (n,))
    r = ps.RVar("r", 1, n, where=(lambda r: r % 2 == 1) if odd else None)
    A[r] = A[r - 1]
    s = ps.Schedule(A)
    if odd:
        s["A"].parallel("r")
        same(s)
        return
    with refused(s, "parallel", kind="race"):
        s["A"].parallel("r")


@pytest.mark.parametrize("guarded", [False, True])
def test_a_select_decides(guarded: bool) -> None:
    """Three places ahead is another iteration's, unless it is past all of them."""
    A = ps.InOut("A", ps.int64, (n + 3,))
    r = ps.RVar("r", 0, n)
    A[r] = ps.select(r + 3 >= n, A[r + 3], 0) if guarded else A[r + 3]
    s = ps.Schedule(A)
    if guarded:
        s["A"].parallel("r")
        same(s)
        return
    with refused(s, "parallel", kind="race"):
        s["A"].parallel("r")


@pytest.mark.parametrize("scattered", [False, True])
def test_an_index_from_data_decides(scattered: bool) -> None:
    """A gather is free; a scatter may meet itself: nothing is known, so nothing is assumed."""
    x = ps.Input("x", ps.int64, (n,), range=(0, n))
    A, B = ps.InOut("A", ps.int64, (n,)), ps.Input("B", ps.int64, (n,))
    r = ps.RVar("r", 0, n)
    if scattered:
        A[x[r]] = B[r]
    else:
        A[r] = B[x[r]]
    s = ps.Schedule(A)
    if not scattered:
        s["A"].parallel("r")
        return
    with refused(
        s, "A.update(0)[r=0] may write A[0], A.update(0)[r=1] may write it, at n=2",
        hint="depends on data", status="unproved", kind="race", tensor="A",
    ):  # fmt: skip
        s["A"].parallel("r")


# later directives and calls ---------------------------------------------------------------------
def test_the_line_that_breaks_a_parallel_loop_is_refused() -> None:
    """i is parallel inside of t; outside of it, it is not."""
    s = ps.Schedule(jacobi())
    s["f"].parallel(i)
    with refused(s, "reorder('i', 't') is refused", directive="""s["f"].reorder('i', 't')"""):
        s["f"].reorder(i, t)


def test_a_parallel_loop_moved_outwards() -> None:
    """Each row is a running sum: columns are parallel inside of a row, rows outside."""
    A = ps.InOut("A", ps.int64, (n, m))
    r, c = ps.rdom("r c", (1, n), (0, m))
    A[r, c] = A[r, c] + A[r - 1, ps.minimum(c + 1, m - 1)]
    s = ps.Schedule(A)
    s["A"].parallel("c")
    with refused(s, "reorder('c', 'r')"):
        s["A"].reorder("c", "r")


def test_aliased_arguments() -> None:
    """Legality is of the program's arrays: a call that lets two of them overlap is refused."""
    x, f = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,))
    f[i] = x[ps.minimum(i + 1, n - 1)]
    s = ps.Schedule(f)
    s[f].parallel(i)
    kernel, a = s.compile(), np.arange(8)
    with pytest.raises(ps.CallError, match="shares memory"):
        kernel(a, out=a)
    np.testing.assert_array_equal(kernel(a, out=np.empty_like(a)), [1, 2, 3, 4, 5, 6, 7, 7])
