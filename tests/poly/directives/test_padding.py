"""Full tiles: what is beyond the end nobody reads, and it lies nowhere that matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.poly.proof import padding

from ..schedule.test_serial import survives
from .cases import gauss_seidel
from .kernels import blur, i, j, m, n, product
from .support import judged, listed, refused, same, stored

ODD = (0, 1, 3, 7, 9)


def full_tiles() -> ps.Schedule:
    """A matrix product of full tiles, at any size: both operands packed with zeros around."""
    s = ps.Schedule(product())
    u = s["C"].update(0)
    with s.batch():
        io, ii = u.split(i, 4, tail="pad")
        jo, ji = u.split(j, 8, tail="pad")
        u.reorder(io, jo, "k", ii, ji)
        s["C"].compute_at(u, jo)
        u.accumulate_at(jo)
        u.stage("B", at=jo, layout=("k", ji), pad=True)
        u.stage("A", at=io, layout=("k", ii), pad=True)
    return s


@pytest.mark.slow
def test_a_matrix_product_of_full_tiles() -> None:
    s = full_tiles()
    u = s["C.update(0)"]
    u.parallel("io").vectorize("ji").unroll("ii")
    s["B.jo"].vectorize("ji")
    listed(s, """
        for io in [0, (n - 1) // 4 + 1) (parallel):
          store A.io[1, l, 4]:
            if m >= 1:
              for io.2 in [io, io + 1):
                for k in [0, l):  # one element at a time
                  for ii in [0, 4):
                    A.io[io, k, ii] = select((io * 4 + ii >= 0) & (io * 4 + ii < n) & (k >= 0) & (k < l), A[io * 4 + ii, k], 0.0)
            for jo in [0, (m - 1) // 8 + 1):
              store B.jo[1, l, 8]:
                for jo.2 in [jo, jo + 1):
                  for k in [0, l):
                    for ji in [0, 8) (vector):
                      B.jo[jo, k, ji] = select((k >= 0) & (k < l) & (jo * 8 + ji >= 0) & (jo * 8 + ji < m), B[k, jo * 8 + ji], 0.0)
                keep C[4, 8]:
                  for i in [io * 4, min(n, io * 4 + 4)):
                    for j in [jo * 8, min(m, jo * 8 + 8)):  # one element at a time
                      C[i, j] = 0.0
                  for k in [0, l):
                    for ii in [0, 4) (unrolled):
                      for ji in [0, 8) (vector):
                        C[i, j] = fma(A.io[i // 4, k, i % 4], B.jo[j // 8, k, j % 8], C[i, j])  # i = io * 4 + ii, j = jo * 8 + ji
    """)  # noqa: E501  # fmt: skip
    kept = {"A.io": (1, 9, 4), "B.jo": (1, 9, 8), "C.update(0).kept": (4, 8)}
    assert stored(s, n=50, m=50, l=9) == kept
    same(s, over=ODD)


@pytest.mark.slow
def test_iterations_beyond_the_end_are_counted() -> None:
    """Two tiles of 4 by 8 for 5 by 7 elements, 3 terms each."""
    report = judged(full_tiles(), n=5, m=7, l=3)
    assert report.counts["instances"] == 5 * 7 * (1 + 3)
    assert report.counts["beyond"] == (2 * 4 * 1 * 8 - 5 * 7) * 3


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(1, 17, 5), (17, 1, 5), (1, 1, 1), (4, 8, 3), (5, 9, 0)])
def test_a_row_a_column_and_a_multiple(sizes: tuple[int, int, int]) -> None:
    s = full_tiles()
    rows, columns, terms = sizes
    judged(s, n=rows, m=columns, l=terms)
    same(s, n=rows, m=columns, l=terms)


@pytest.mark.slow
def test_in_blocks_of_the_sum() -> None:
    s = ps.Schedule(product())
    u = s["C"].update(0)
    with s.batch():
        u.split("k", 4)
        u.split(i, 2, tail="pad")
        u.split(j, 4, tail="pad")
        u.reorder("ko", "io", "jo", "ki", "ii", "ji")
        s["C"].compute_at(u, "jo")
        u.accumulate_at("jo")
        u.stage("A", at="io", layout=("ki", "ii"), pad=True)
        u.stage("B", at="jo", layout=("ki", "ji"), pad=True)
    judged(s, n=3, m=5, l=6)
    same(s, over=ODD)


@pytest.mark.slow
def test_what_lies_in_storage_of_the_kernel_needs_nothing_else() -> None:
    """The storage of g is a little larger then."""
    s = ps.Schedule(blur())
    with s.batch():
        s["g"].split(j, 4, tail="pad")
        s["g"].stage("x", at=i, layout=("jo", "ji"), pad=True)
    assert stored(s, n=3, m=4) == {"g": (4, 8), "x.i": (1, 2, 4)}
    judged(s, n=3, m=4)
    same(s)


@pytest.mark.parametrize("kind", ["serial", "vectorize", "unroll"])
def test_only_instances_count_divisions_and_are_traced(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What fills up a tile divides by the zeros of a copy."""
    a, b = (ps.Input(x, ps.int32, (n, m)) for x in "ab")
    c = ps.Func("c", (n,), ps.int32)
    c[i] = 0
    c[i] += ps.trace(a[i, 0] // b[i, 0], "quotient")
    s = ps.Schedule(c)
    u = s["c"].update(0)
    with s.batch():
        u.split(i, 4, tail="pad")
        u.accumulate_at("io")
        u.stage("a", at="io", layout=("ii",), pad=True)
        u.stage("b", at="io", layout=("ii",), pad=True)
    if kind != "serial":
        getattr(u, kind)("ii")
    kernel = s.compile(checks=True)
    ones = np.ones((5, 2), np.int32)
    assert kernel(a=ones, b=ones).tolist() == [1] * 5
    assert capsys.readouterr().out.count("quotient") == 5
    zeros = ones.copy()
    zeros[[1, 4]] = 0
    with pytest.raises(ps.CallError, match="2 integer divisions by zero"):
        kernel(a=ones, b=zeros)


@pytest.mark.slow
def test_written_down_and_read_back() -> None:
    s = full_tiles()
    v = s.specialize(m >= 64)
    v["C.update(0)"].vectorize("ji")
    survives(s)
    assert s.copy() == s


# refused ------------------------------------------------------------------------------------------
def test_refuses_to_write_beyond_an_output() -> None:
    s = ps.Schedule(product())
    with refused(
        s, "tail='pad' would write beyond the elements of C, which the caller owns",
        hint="accumulate_at(...) first",
    ):  # fmt: skip
        s["C"].update(0).split(i, 4, tail="pad")


def test_refuses_to_read_what_is_not_there() -> None:
    s = ps.Schedule(product())
    u = s["C"].update(0)
    with (
        refused(
            s, "tail='pad' would read A where there is nothing: A[i, k]",
            hint="stage(A, at=..., layout=(...), pad=True)",
        ),
        s.batch(),
    ):  # fmt: skip
        u.split(i, 4, tail="pad")
        u.accumulate_at("io")


def test_refuses_a_copy_that_is_not_padded() -> None:
    s = ps.Schedule(product())
    u = s["C"].update(0)
    with refused(s, "tail='pad' would read A.io where there is nothing"), s.batch():
        u.split(i, 4, tail="pad")
        u.accumulate_at("io")
        u.stage("A", at="io", layout=("ii", "k"))


def test_refuses_a_reduction_loop() -> None:
    s = ps.Schedule(product())
    with refused(
        s, "tail='pad' fills up tiles of a Var, and k of C.update(0) is none",
        hint="iterations of a reduction would be added",
    ):  # fmt: skip
        s["C"].update(0).split("k", 4, tail="pad")
    s = ps.Schedule(gauss_seidel())
    with refused(s, "tail='pad' fills up tiles of a Var"):
        s["a.update(0)"].split("r", 4, tail="pad")


def test_refuses_a_loop_that_counts_something_else() -> None:
    s = ps.Schedule(product())
    s["C"].update(0).skew(i, j, 1)
    with refused(s, "tail='pad' fills up tiles of a Var, and j of C.update(0) is none"):
        s["C"].update(0).split(j, 4, tail="pad")


def test_refuses_elements_that_are_needed() -> None:
    """Tiles of part of the rows would write over the others."""
    x, g, f = ps.Input("x", ps.int64, (n,)), ps.Func("g", (n,), ps.int64), ps.Func("f", (n,))
    g[i] = x[i] * 2
    f[i] = g[i] + g[n - 1 - i]
    s = ps.Schedule(f)
    a, _ = s["g"].partition(i < 6)
    with refused(s, "tail='pad' would run instances of g[0] twice, which other stages run"):
        a.split(i, 4, tail="pad")


def test_refuses_to_trust_memory_that_is_not_there() -> None:
    s = ps.Schedule(product())
    with refused(s, "would write beyond the elements of C"), s.trust("it is"):
        s["C"].update(0).split(i, 4, tail="pad")


def test_refuses_to_take_away_what_kept_it_apart() -> None:
    """A copy of a schedule inside of the batch is proven, too."""
    s = ps.Schedule(product())
    with refused(s, "would write beyond the elements of C"), s.batch():
        s["C"].update(0).split(i, 4, tail="pad")
        s.copy()


@pytest.mark.parametrize("column", [0, 1, 6])
def test_refuses_elements_of_other_pieces(column: int) -> None:
    """Tiles of all columns hold the one that another piece writes."""
    f, g = ps.Func("f", (n, 8), ps.int32), ps.Func("g", (n, 8))
    f[i, column] = i
    f[i, j] = 7
    g[i, j] = f[i, j] + 1
    s = ps.Schedule(g)
    s["f"].compute_root()
    with refused(s, "tail='pad' would change elements of f that are needed"):
        s["f.piece(1)"].split(j, 4, tail="pad")
    s["f.piece(1)"].split(i, 4, tail="pad")
    same(s, over=(0, 3, 5, 9))


def test_a_tile_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Directives that have nothing to do with it ask nothing about it."""
    asked: list[str] = []
    real = padding._fault

    def counted(model: Any, tree: Any, stage: Any, context: Any) -> Any:
        asked.append(stage.name)
        return real(model, tree, stage, context)

    monkeypatch.setattr(padding, "_fault", counted)
    f, g, h = ps.Func("f"), ps.Func("g", (n,)), ps.Func("h", (n,))
    f[i] = 2 * i
    h[i] = i
    g[i] = f[i] + h[i]
    s = ps.Schedule(g)
    s["f"].compute_root()
    s["h"].compute_root()
    s["f"].split(i, 8, tail="pad")
    assert asked == ["f"]
    s["h"].split(i, 4)
    s["h"].parallel("io")
    assert asked == ["f"]
    s["g"].split(i, 4)
    assert asked == ["f", "f"], "it reads f"
