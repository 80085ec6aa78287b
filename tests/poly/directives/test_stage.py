"""Copies of operands, by the coordinates of loops."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps

from ..schedule.test_serial import survives
from .cases import T, gauss_seidel, jacobi
from .kernels import blur, c, convolution, i, j, m, n, product
from .support import judged, listed, refused, same, stored

ODD = (0, 1, 3, 7, 9)


def packed() -> ps.Schedule:
    """Both operands of a matrix product, in panels of the tiles."""
    s = ps.Schedule(product())
    u = s["C"].update(0)
    io, jo, ii, ji = u.tile(i, j, 4, 8)
    u.reorder(io, jo, "k", ii, ji)
    u.stage("B", at=jo, layout=("k", ji))
    u.stage("A", at=io, layout=("k", ii))
    return s


@pytest.mark.slow
def test_both_operands_packed() -> None:
    s = packed()
    listed(s, """
        for i in [0, n):
          for j in [0, m):
            C[i, j] = 0.0
        for io in [0, (n - 1) // 4 + 1):
          store A.io[1, l, 4]:
            if m >= 1:
              for io.2 in [io, io + 1):
                for k in [0, l):
                  for ii in [0, min(n - io * 4, 4)):  # transposes A, in vectors with s["A.io"].unroll("ii").vectorize("k", ps.native)
                    A.io[io, k, ii] = A[io * 4 + ii, k]
            for jo in [0, (m - 1) // 8 + 1):
              store B.jo[1, l, 8]:
                for jo.2 in [jo, jo + 1):
                  for k in [0, l):
                    for ji in [0, min(m - jo * 8, 8)):
                      B.jo[jo, k, ji] = B[k, jo * 8 + ji]
                for k in [0, l):
                  for ii in [0, min(n - io * 4, 4)):
                    for ji in [0, min(m - jo * 8, 8)):
                      C[i, j] = fma(A.io[i // 4, k, i % 4], B.jo[j // 8, k, j % 8], C[i, j])  # i = io * 4 + ii, j = jo * 8 + ji
    """)  # noqa: E501  # fmt: skip
    assert stored(s, n=100, m=100, l=30) == {"A.io": (1, 30, 4), "B.jo": (1, 30, 8)}
    judged(s, n=5, m=9, l=3)
    same(s, over=ODD)


@pytest.mark.slow
def test_a_row_times_a_matrix() -> None:
    same(packed(), over=(1, 5, 17), n=1)


@pytest.mark.slow
def test_panels_are_scheduled_like_any_func() -> None:
    s = packed()
    s["B.jo"].vectorize("ji", 4)
    s["A.io"].reorder("ii", "k")
    s["C.update(0)"].parallel("io")
    judged(s, n=5, m=9, l=3)
    same(s, over=ODD)


@pytest.mark.slow
def test_filters_by_blocks_of_channels() -> None:
    """w[co][k][dy][dx][ci], as in NCHWc."""
    s = ps.Schedule(convolution())
    u = s["y"].update(0)
    co, ci = u.split(c, 4)
    u.reorder(co, "k", "dy", "dx", i, j, ci)
    u.stage("w", at=co, layout=("k", "dy", "dx", ci))
    assert stored(s, n=6, m=10, l=3) == {"w.co": (1, 3, 3, 3, 4)}
    judged(s, n=2, m=5, l=2)
    same(s, over=(0, 1, 3, 5))


@pytest.mark.slow
def test_without_a_layout_the_copy_has_the_axes_of_the_tensor() -> None:
    s = ps.Schedule(blur())
    s["f"].tile(i, j, 4, 4)
    s["f"].stage("g", at="jo")
    assert stored(s, n=9, m=9)["g.jo"] == (5, 6)
    judged(s, n=5, m=3)
    same(s)


@pytest.mark.slow
def test_a_copy_is_made_once_an_iteration() -> None:
    """Of what the iteration reads, not of all."""
    s = ps.Schedule(product(ps.int32))
    u = s["C"].update(0)
    u.reorder("k", i, j)
    u.stage("B", at="k")
    assert stored(s, n=7, m=9, l=5) == {"B.k": (1, 9)}
    judged(s, n=3, m=4, l=2)
    same(s, over=ODD)


@pytest.mark.slow
def test_a_layout_of_one_loop() -> None:
    """A is needed at one k only, which the loops around determine."""
    s = ps.Schedule(product())
    u = s["C"].update(0)
    u.reorder("k", i, j)
    u.stage("A", at="k", layout=(i,))
    assert stored(s, n=7, m=9, l=5) == {"A.k": (1, 7)}
    same(s, over=ODD)


@pytest.mark.slow
def test_a_copy_of_a_copy() -> None:
    s = packed()
    s["C.update(0)"].stage("B.jo", at="k")
    assert stored(s, n=7, m=9, l=5)["B.jo.k"] == (1, 1, 8)
    judged(s, n=5, m=9, l=3)
    same(s, over=ODD)


@pytest.mark.slow
def test_part_of_a_recurrence_can_be_copied_by_who_reads_it() -> None:
    f, last = jacobi(), ps.Func("last", (n,))
    last[i] = f[T - 1, i] + f[T - 1, n - 1 - i]
    ps.require(T >= 1, "a step", last)
    s = ps.Schedule(last)
    s["last"].split(i, 4)
    s["last"].stage("f", at="io")
    judged(s, n=5, T=3)
    same(s, over=(1, 2, 5, 7))


def test_of_a_tuple_all_parts_are_copied() -> None:
    x = ps.Input("x", ps.float32, (n,))
    p = ps.Func("p", (n,), (ps.float32, ps.int64))
    p[i] = (x[i] * 2, i)
    f = ps.Func("f", (n,))
    f[i] = p[i][0] + ps.cast(ps.float32, p[n - 1 - i][1])
    s = ps.Schedule(f)
    s["f"].split(i, 4)
    s["f"].stage(p, at="io")
    judged(s, n=6)
    same(s)


@pytest.mark.slow
def test_written_down_and_read_back() -> None:
    s = packed()
    v = s.specialize(m >= 64)
    v["B.jo"].vectorize("ji", 8)
    survives(s)
    assert s.copy() == s


# refused ------------------------------------------------------------------------------------------
def test_refuses_what_the_stage_updates_itself() -> None:
    s = ps.Schedule(product())
    with refused(s, "C changes while C.update(0) reads it", status="malformed"):
        s["C.update(0)"].stage("C", at=i)
    s = ps.Schedule(gauss_seidel())
    with refused(s, "a changes while a.update(0) reads it"):
        s["a.update(0)"].stage("a", at="r")


def test_refuses_what_it_does_not_read() -> None:
    s = ps.Schedule(product())
    with refused(s, "C does not read A", status="malformed"):
        s["C"].stage("A", at=i)
    with refused(s, "does not read"):
        s["C.update(0)"].stage(ps.Input("Z", ps.float32, (n,)), at=i)


@pytest.mark.parametrize("layout", [("ji",), ("k",), ("ji", "ji")])
def test_refuses_a_layout_that_does_not_determine_the_element(layout: tuple[str, ...]) -> None:
    s = ps.Schedule(product())
    u = s["C"].update(0)
    jo, _ = u.split(j, 8)
    u.reorder(jo, i, "k", "ji")
    what = (
        "a loop is named twice"
        if layout[0] == layout[-1] == "ji" and layout[1:]
        else "not determine"
    )
    with refused(s, what, status="malformed"):
        u.stage("B", at=jo, layout=layout)


def test_refuses_a_layout_of_loops_outside() -> None:
    s = ps.Schedule(product())
    with refused(
        s, "the loop i is not inside of j", hint="a layout is made of the loops inside of j"
    ):
        s["C.update(0)"].stage("A", at=j, layout=(i, "k"))


def test_refuses_a_layout_for_several_places() -> None:
    s = ps.Schedule(blur())
    with refused(
        s, "f reads g at several places: no one layout describes them", hint="without layout="
    ):
        s["f"].stage("g", at=i, layout=(j,))


def test_refuses_a_layout_by_the_loops_of_a_consumer() -> None:
    s = ps.Schedule(blur())
    s["f"].tile(i, j, 4, 4)
    s["g"].compute_at("f", "ii")
    with refused(s, "the loop jo is one that g is computed at", status="malformed"):
        s["g"].stage("x", at="io", layout=("jo", i, j))


def test_refuses_a_part_of_a_definition() -> None:
    """The rest of it would read the copy, too."""
    s = ps.Schedule(blur())
    s["f"].peel(i, first=1)
    with refused(
        s, "f.first reads what f reads, and is not inside of the loop i",
        hint="before the loop is divided", status="malformed",
    ):  # fmt: skip
        s["f"].stage("g", at=i)


def test_refuses_what_inlining_would_read_elsewhere() -> None:
    """Once g is inlined f would read x at another place than the copy describes."""
    x = ps.Input("x", ps.float32, (n + 1,))
    g, f = ps.Func("g"), ps.Func("f", (n,))
    g[i] = x[i + 1] * 2
    f[i] = g[i] + x[i]
    s = ps.Schedule(f)
    s["g"].compute_root()
    s["f"].split(i, 4)
    s["f"].stage(x, at="io", layout=("ii",))
    with refused(s, "f would read x at more than the place that the layout of x.io describes"):
        s["g"].compute_inline()


def read_in_a_block() -> ps.Func:
    """A block reads more of `b` than the definition outside of blocks does."""
    b, f, g = ps.Func("b"), ps.Func("f", (), dtype=ps.int64), ps.Func("g", (n,))
    b[i] = ps.select(i >= 0, i * 3, 7)
    f[()] = n
    with ps.sequential("t", 0, n) as t:
        r = ps.RVar("r", -1, 3)
        f[()] = f[()] * 2 + b[r + t]
    g[i] = b[2] + b[1] + f[()]
    return g


@pytest.mark.parametrize("loop", ["t", "r"])
def test_what_is_read_in_a_block_is_computed_whole(loop: str) -> None:
    s = ps.Schedule(read_in_a_block())
    s["f.update(0)"].stage("b", at=loop)
    same(s, over=ODD)


def test_a_clone_read_in_a_block_is_computed_whole() -> None:
    s = ps.Schedule(read_in_a_block())
    s["b"].clone_in("f.update(0)")
    same(s, over=ODD)


def test_refuses_what_a_sequential_computes() -> None:
    x, a = ps.Input("x", ps.int64, (n,)), ps.InOut("a", ps.int64, (n,))
    with ps.sequential("t", 0, n) as t:
        f = ps.Func("f", (n,), ps.int64)
        f[i] = 3 * x[i]
        r = ps.RVar("r", 0, n)
        a[r] -= f[t] + f[r]
    s = ps.Schedule(a)
    with refused(s, "f is computed inside of a sequential, x.t would be outside"):
        s["f"].stage(x, at="t")


def test_refuses_padding_of_what_has_no_shape() -> None:
    s = ps.Schedule(blur())
    with refused(
        s, "g has no declared shape, so nothing says where it would be padded",
        hint="ps.Func('g', (n, m))", status="malformed",
    ):  # fmt: skip
        s["f"].stage("g", at=i, pad=True)


def test_refuses_a_copy_for_each_lane() -> None:
    s = ps.Schedule(blur())
    s["f"].vectorize(j, 4)
    with refused(s, "ji is a vector loop: its lanes run together", hint="a loop outside of ji"):
        s["f"].stage("g", at="ji")


def test_refuses_no_loop() -> None:
    s = ps.Schedule(product())
    with refused(s, "C.update(0) has no loop io", hint="its loops are i, j, k"):
        s["C.update(0)"].stage("A", at="io")


def pixels() -> ps.Schedule:
    """A filter of one row, as a product over tiles of 2 by 3 pixels that lie together."""
    h, w, channels = ps.sizes("h w channels")
    image = ps.Input("image", ps.float32, (channels, h, w))
    weight = ps.Input("weight", ps.float32, (channels, 1))
    y, x = ps.vars("y x")
    r, ry = ps.rdom("r ry", (0, channels), (0, 1))
    f = ps.Func("f", (h, w), ps.float32)
    f[y, x] = 0.0
    f[y, x] += weight[r, ry] * image[r, y + ry, x]
    s = ps.Schedule(f)
    u = s["f"].update(0)
    with s.batch():
        u.split("y", 2, tail="pad", names=("yo", "yi"))
        u.split("x", 3, tail="pad", names=("xo", "xi"))
        u.reorder("yo", "xo", "r", "ry", "yi", "xi")
        u.fuse("yi", "xi", name="p")
        u.accumulate_at("xo")
        u.stage("image", at="xo", layout=("r", "p"), pad=True)
    return s


@pytest.mark.slow
def test_loops_that_were_fused_lay_out_whole_tiles() -> None:
    """Which row of the filter it is, no loop need determine: it has one."""
    s = pixels()
    assert "store image.xo[1, 1, channels, 6]" in str(s)
    judged(s, h=3, w=4, channels=2)
    same(s, over=ODD)


@pytest.mark.slow
def test_known_sizes_determine_an_element_too() -> None:
    s = pixels().fixed({"w": 3})
    same(s, over=(0, 1, 4), w=3)


def test_refuses_what_nothing_would_read() -> None:
    """f is inlined, and what it reads is copied for g."""
    x, f, g = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = f[i] + 1
    s = ps.Schedule(g)
    s[g].stage(x, at=i)
    with refused(
        s, "nothing would read x.i any more, which was made of what f reads where it is inlined",
        hint="say this first", status="malformed",
    ):  # fmt: skip
        s[f].compute_root()
    same(s)


def test_what_only_the_ends_of_loops_read() -> None:
    """Nothing would read the copy, which had no place then."""
    ptr = ps.Input("ptr", ps.int64, (n + 1,), range=(0, n))
    x, f = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,))
    r = ps.RVar("r", ptr[i], ptr[i + 1])
    f[i] = ps.sum(x[r], r)
    s = ps.Schedule(f)
    stage = s["f.sum0"].update(0)
    with refused(s, "reads ptr only to know where its loops begin", hint="nothing to copy"):
        stage.stage("ptr", at=i)
    weighted = ps.Func("weighted", (n,))
    weighted[i] = ps.sum(x[r] * ptr[r], r)
    s = ps.Schedule(weighted)
    s["weighted.sum0"].update(0).stage("ptr", at=i)
    ends = np.array([0, 2, 2, 3, 3])
    given = {"x": np.arange(4), "ptr": ends}
    assert np.array_equal(s.compile()(**given), ps.interpret(weighted, **given))


@pytest.mark.parametrize("dtype", [ps.uint8, ps.int16, ps.int32])
def test_a_copy_ends_where_its_source_does(dtype: ps.DType) -> None:
    """Whatever the type of an index could say: a call asked for 256 elements."""
    at, x = ps.Input("at", dtype, (n,)), ps.Input("x", ps.int64, (n + 1,))
    f = ps.Func("f", (n, n))
    f[i, j] = x[at[j]] + i
    s = ps.Schedule(f)
    s["f"].stage(x, at=i)
    kernel = s.compile()
    assert not any("requires" in line for line in str(s).splitlines())
    given = {"at": np.array([3, 0, 2], dtype.numpy), "x": np.arange(4)}
    np.testing.assert_array_equal(kernel(**given), ps.interpret(f, **given))
    given["at"][1] = 4
    with pytest.raises(ps.CallError, match=r"at\[1\] is 4, which is used as an index of x"):
        kernel(**given)


def test_what_is_an_index_may_have_zeros_around_it() -> None:
    """The values of the array are looked at, and not those that its type could have."""
    at, x = ps.Input("at", ps.uint8, (2 * m,)), ps.Input("x", ps.int64, (n,))
    f = ps.Func("f", (2 * m,))
    f[i] = x[at[i]] + 1
    s = ps.Schedule(f)
    s["f"].split(i, 4)
    s["f"].stage(at, at="io", pad=True)
    kernel = s.compile()
    assert not any("requires" in line for line in str(s).splitlines())
    given = {"at": np.array([0, 2, 1, 1, 0, 2], np.uint8), "x": np.arange(3)}
    np.testing.assert_array_equal(kernel(**given), ps.interpret(f, **given))
    assert kernel(at=np.zeros(0, np.uint8), x=np.zeros(0, np.int64)).shape == (0,)
    given["at"][3] = 3
    with pytest.raises(ps.CallError, match=r"at\[3\] is 3, which is used as an index of x"):
        kernel(**given)


def test_a_copy_asks_for_no_more_than_is_there() -> None:
    """What is read in turn lies apart, and all between within the array: whatever its size."""
    a, f = ps.Input("a", ps.int32, (n,)), ps.Func("f")
    far = a[ps.clip(ps.cast(ps.int8, i), 0, n - 1)]
    f[i] = ps.select(2 * i < n, a[2 * i], a[0] * far)
    s = ps.Schedule(f)
    (before,) = s.conditions
    s["f"].stage("a", at=i)
    (after,) = s.conditions
    assert after.split(":")[0] == before.split(":")[0] == "(n >= 1) | (f.shape[0] == 0)"
    given = np.arange(5, dtype=np.int32)
    np.testing.assert_array_equal(
        s.compile()(given, shape=(6,)), ps.interpret(f, given, shape=(6,))
    )
