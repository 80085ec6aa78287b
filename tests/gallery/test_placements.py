"""Pipelines under schedules such as one would write by hand: stages computed at loops of others.

Each is compared with the interpreter, with the bare call at sizes that are too large for it, and
instance by instance by `check`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

import polysched as ps
from gallery.case import Case
from gallery.execute import as_tuple, assert_same, interpreted, native, schedule as default
from gallery.pyramids import deep_pyramid
from gallery.registry import find
from polysched.checking.examine import check

Build = Callable[[ps.Schedule], object]


@dataclass(frozen=True, slots=True)
class PlacedCase:
    """A schedule of a program of the gallery.

    Attributes:
        large: sizes at which the interpreter would take long.
    """

    case: Case
    build: Build
    large: tuple[int, ...]

    def __repr__(self) -> str:
        return self.build.__name__


PLACEMENTS: list[PlacedCase] = []


@cache
def schedule(p: PlacedCase) -> ps.Schedule:
    s = default(p.case).copy()
    p.build(s)
    return s


def placement(case: Case | str, *large: int) -> Callable[[Build], Build]:
    def add(build: Build) -> Build:
        found = find(case) if isinstance(case, str) else case
        PLACEMENTS.append(PlacedCase(found, build, large))
        return build

    return add


LANES = 8


# images -----------------------------------------------------------------------------------------
@placement("blur", 67, 45)
def blur_in_tiles(s: ps.Schedule) -> None:
    f = s["blurred"]
    yo, xo, _, x = f.tile("y", "x", 4, 16)
    f.vectorize(x, LANES).parallel(yo)
    s["across"].compute_at(f, xo).vectorize("x", LANES)


@placement("blur", 67, 45)
def blur_in_strips(s: ps.Schedule) -> None:
    """A window of three rows slides along each strip."""
    f = s["blurred"]
    yo, y = f.split("y", 8)
    f.vectorize("x", LANES).parallel(yo)
    s["across"].compute_at(f, y).store_at(f, yo).vectorize("x", LANES)
    assert "keeps 3 of across" in str(s)


@placement("unsharp_mask", 41, 37)
def unsharp_in_strips(s: ps.Schedule) -> None:
    f = s["sharp"]
    yo, y = f.split("y", 8)
    f.parallel(yo).vectorize(f.fuse("x", "c"), LANES)
    a = s["across"].compute_at(f, y).store_at(f, yo)
    a.vectorize(a.fuse("x", "c"), LANES)
    s["image_repeat_edge"].compute_at("across", "y").store_at(f, yo)
    assert "keeps 5 of across" in str(s)
    assert "keeps 1 of image_repeat_edge" in str(s)


@placement("median_5x5", 17, 19)
def median_in_tiles(s: ps.Schedule) -> None:
    """Columns of a tile are sorted once for all pixels beside them."""
    f = s["median"]
    yo, xo, _, x = f.tile("y", "x", 8, 16)
    f.vectorize(x).parallel(yo)
    s["columns"].compute_at(f, xo).vectorize("x", LANES)
    s["image_repeat_edge"].compute_inline()
    assert "store columns[8, 20" in str(s)


@placement("camera_pipe", 17, 18)
def camera_in_strips(s: ps.Schedule) -> None:
    """Clean pixels once for all planes; the mirrored ones slide along, colours are not stored."""
    for name in "RGB":
        f = s[name]
        yo, y = f.split("y", 8)
        f.parallel(yo).vectorize("x", LANES)
    clean = s["clean"].compute_root()
    yo, y = clean.split("y", 8)
    clean.parallel(yo).vectorize("x", LANES)
    s["sensor_mirror"].compute_at(clean, y).store_at(clean, yo)
    for name in ("red", "green", "blue"):
        s[name].compute_inline()
    assert "keeps 5 of sensor_mirror" in str(s)


HARRIS = ("xx", "xy", "yy", "gx", "gy")


@placement("harris", 41, 37)
def harris_in_tiles(s: ps.Schedule) -> None:
    f = s["response"]
    yo, xo, _, x = f.tile("y", "x", 8, 16)
    f.parallel(yo).vectorize(x)
    for name in HARRIS:
        s[name].compute_at(f, xo).vectorize("x", LANES)
    s["image_repeat_edge"].compute_at(f, xo)
    assert "store image_repeat_edge[12, 20]" in str(s)


@placement("harris", 41, 37)
def harris_by_rows(s: ps.Schedule) -> None:
    f = s["response"]
    yo, y = f.split("y", 16)
    f.parallel(yo).vectorize("x", LANES)
    for name in (*HARRIS, "image_repeat_edge"):
        s[name].compute_at(f, y).store_at(f, yo)
    for name in HARRIS:
        s[name].vectorize("x", LANES)
    assert "keeps 1 of gx" in str(s)


QUARTERS = [
    "b_gb",
    "b_r",
    "b_gr",
    "b_b",
    "r_gb",
    "r_b",
    "r_gr",
    "g_b",
    "g_r",
    "g_gb",
    "g_gr",
    "r_r",
]


@placement("demosaic", 41, 37)
def demosaic_in_tiles(s: ps.Schedule) -> None:
    """The three colours of a tile in one nest, from planes that are stored whole."""
    f = s["image"]
    yo, xo, y, x = f.tile("y", "x", 8, 32)
    f.reorder("c", y, x).unroll("c").parallel(yo).vectorize(x, LANES)
    for name in ("red", "green", "blue"):
        s[name].compute_at(f, xo).vectorize("x", LANES)
    s["green"].compute_with("red", "xi")
    s["blue"].compute_with("green", "xi")


@placement("demosaic", 41, 37)
def demosaic_in_strips(s: ps.Schedule) -> None:
    """All planes of a strip: four rows of each, and what the stencils need beyond."""
    f = s["image"]
    yo, y = f.split("y", 8)
    f.parallel(yo)
    for name in ("red", "green", "blue"):
        s[name].compute_at(f, y).vectorize("x", LANES)
    for name in QUARTERS:
        s[name].compute_at(f, yo).vectorize("x", LANES)
    assert "r_gr[4, (w + 1) // 2], " in str(s)


@placement("max_filter", 41, 37)
def max_filter_by_rows(s: ps.Schedule) -> None:
    f = s["largest"]
    yo, y = f.split("y", 16)
    f.parallel(yo).vectorize("x", LANES)
    for reach in (6, 5, 4, 3, 0):
        s[f"column{reach}"].compute_at(f, y).vectorize("x", LANES)
    for k in (3, 2, 1):
        s[f"tall{k}"].compute_at(f, y).store_at(f, yo).vectorize("x", LANES)
    s["image_repeat_edge"].compute_at(f, yo)


@placement("nl_means", 33, 37)
def nl_means_in_tiles(s: ps.Schedule) -> None:
    """The distances for one offset at a time, at the loop over offsets of the sum."""
    f = s["smooth"]
    yo, xo, _, x = f.tile("y", "x", 8, 16)
    f.parallel(yo).vectorize(x, LANES)
    s["total"].compute_at(f, xo).vectorize("x", LANES)
    total = s["total"].update(0).reorder("sy", "sx", "y", "x").vectorize("x", LANES)
    for name in ("rows", "difference"):
        s[name].compute_at(total, "sx").vectorize("x", LANES)
    s["image_repeat_edge"].compute_at(f, xo)
    assert "store difference[1, 1, 10, 18]" in str(s)


@placement("bilateral_grid", 41, 37)
def bilateral_by_rows_of_cells(s: ps.Schedule) -> None:
    """The histogram of a row of cells, from the pixels that can fall into it."""
    s["smooth"].parallel("y").vectorize("x", LANES)
    s["grid_constant"].compute_at("along_z", "y")
    s["grid"].compute_at("along_z", "y")
    s["along_z"].parallel("y")
    s["along_x"].compute_at("blurred", "y")
    s["blurred"].parallel("y")
    assert "for ry in [max(y * 8 - 4, 0), min(y * 8 + 4, h)):" in str(s)


# pyramids ---------------------------------------------------------------------------------------
@placement("interpolate", 41, 37)
def interpolate_in_strips(s: ps.Schedule) -> None:
    """Down level by level, a row at a time; up again in strips, across three levels."""
    f = s["result"].reorder("y", "c", "x")
    yo, _ = f.split("y", 8)
    f.parallel(yo).vectorize("x", LANES)
    s["filled0"].compute_at(f, yo).vectorize("x", LANES)
    for k in (0, 1):
        s[f"up{k}_rows"].compute_at(f, yo).vectorize("x", LANES)
        s[f"filled{k + 1}_repeat_edge"].compute_at(f, yo)
        if k == 0:
            s["filled1"].compute_at(f, yo).vectorize("x", LANES)
    for k in (1, 2, 3):
        s[f"down{k}"].parallel("y").vectorize("x", LANES)
        s[f"down{k}_rows"].compute_at(f"down{k}", "y").vectorize("x", LANES)
        s[f"down{k - 1}_repeat_edge"].compute_at(f"down{k}", "y")


@placement("local_laplacian", 41, 37)
def local_laplacian_in_strips(s: ps.Schedule) -> None:
    for j in (1, 2, 3):
        for name in ("g", "plain") if j < 3 else ("g",):
            s[f"{name}{j}"].parallel("y").vectorize("x", LANES)
            s[f"{name}{j}_rows"].compute_at(f"{name}{j}", "y").vectorize("x", LANES)
    f = s["out0"]
    yo, y = f.split("y", 8)
    f.parallel(yo).vectorize("x", LANES)
    s["out_up0_rows"].compute_at(f, y)
    s["detail0"].compute_at(f, yo).vectorize("x", LANES)
    s["out1_repeat_edge"].compute_at(f, yo)
    s["out1"].compute_at(f, yo).vectorize("x", LANES)
    s["out_up1_rows"].compute_at("out1", "y")
    s["detail1"].compute_at(f, yo).vectorize("x", LANES)
    for k in (0, 1):
        s[f"up{k}_rows"].compute_at(f"detail{k}", "k").vectorize("x", LANES)


LEVELS = 6
PYRAMID = replace(find("deep_pyramid"), name="pyramid", build=lambda: deep_pyramid(LEVELS))


@placement(PYRAMID, 67, 45)
def pyramid_up_in_strips(s: ps.Schedule) -> None:
    """Down level by level, a row at a time; up again in strips, across all levels."""
    for k in range(1, LEVELS):
        s[f"g{k}"].vectorize("x", LANES)
        s[f"g{k}_rows"].compute_at(f"g{k}", "y").vectorize("x", LANES)
    f = s["mean0"]
    yo, _ = f.split("y", 32)
    f.parallel(yo).vectorize("x", LANES)
    for k in range(LEVELS - 2):
        s[f"up{k}_rows"].compute_at(f, yo).vectorize("x", LANES)
        s[f"mean{k + 1}_repeat_edge"].compute_at(f, yo)
        s[f"mean{k + 1}"].compute_at(f, yo).vectorize("x", LANES)


@placement(PYRAMID, 67, 45)
def pyramid_in_strips(s: ps.Schedule) -> None:
    """Down and up across all scales for each strip."""
    f = s["mean0"]
    yo, _ = f.split("y", 32)
    f.parallel(yo).vectorize("x", LANES)
    for k in range(LEVELS - 1):
        name = "mean" if k < LEVELS - 2 else "g"
        s[f"up{k}_rows"].compute_at(f, yo).vectorize("x", LANES)
        s[f"{name}{k + 1}_repeat_edge"].compute_at(f, yo)
        s[f"{name}{k + 1}"].compute_at(f, yo).vectorize("x", LANES)
    for k in reversed(range(1, LEVELS - 1)):
        s[f"g{k + 1}_rows"].compute_at(f, yo)
        s[f"g{k}_repeat_edge"].compute_at(f, yo)
        s[f"g{k}"].compute_at(f, yo)


# networks ---------------------------------------------------------------------------------------
@placement("conv_relu", 2, 3, 9, 17, 33)
def convolution_in_tiles(s: ps.Schedule) -> None:
    """The sums of 2 filters by 2 rows by 8 columns, then what is done with them."""
    f = s["relu"]
    ko, yo, k, y = f.tile("k", "y", 2, 2)
    xo, x = f.split("x", LANES)
    f.reorder(ko, yo, xo, k, y, x).vectorize(x).unroll(k).unroll(y).parallel("b")
    s["O"].compute_at(f, xo).vectorize("x", LANES)
    u = s["O"].update(0).reorder("rc", "ry", "rx", "k", "y", "x")
    u.vectorize("x", LANES).unroll("k", 2).unroll("y", 2)
    assert "store O[1, 2, 2, 8]" in str(s)


@placement("dense", 41, 53, 31)
def dense_in_tiles(s: ps.Schedule) -> None:
    """A product of matrices, and gelu of each tile of it."""
    f = s["Y"]
    io, jo, _, j = f.tile("i", "j", 4, 16)
    f.parallel(io).vectorize(j)
    s["linear"].compute_at(f, jo).vectorize("j", LANES)
    u = s["linear"].update(0).reorder("k", "i", "j")
    u.vectorize("j", LANES).unroll("i", 4)
    assert "store linear[4, 16]" in str(s)


@placement("softmax", 41, 37)
def softmax_by_rows(s: ps.Schedule) -> None:
    f = s["probability"].parallel("i").vectorize("j", LANES)
    s["total"].compute_at(f, "i")
    s["weight"].compute_at(f, "i").vectorize("j", LANES)
    s["top"].compute_at(f, "i")
    assert "weight[1, m]" in str(s)


@placement("softmax_rows", 41, 37)
def inline_softmax_by_rows(s: ps.Schedule) -> None:
    s["y"].parallel("i").vectorize("j", LANES)
    for name in ("y.sum1", "y.max0"):
        s[name].compute_at("y", "i")


@placement("layer_norm_rows", 41, 37)
def layer_norm_by_rows(s: ps.Schedule) -> None:
    s["Y"].parallel("i").vectorize("j", LANES)
    for name in ("Y.sum1", "Y.sum0"):
        s[name].compute_at("Y", "i")


@placement("attention", 33, 41, 17, 12)
def attention_by_blocks_of_rows(s: ps.Schedule) -> None:
    """At a loop of the sum over keys, which is an update."""
    u = s["O"].update(0)
    io, i = u.split("i", 4)
    u.reorder(io, "r", i, "c").parallel(io).vectorize("c", LANES)
    for name in ("attention", "total", "weight", "top", "score", "query"):
        s[name].compute_at(u, io)
    for name in ("attention", "weight"):
        s[name].vectorize("j", LANES)
    s["score"].update(0).reorder("k", "i", "j").vectorize("j", LANES)
    assert "score[4, m]" in str(s)


@placement("causal_attention", 41, 17, 12)
def causal_attention_by_blocks_of_rows(s: ps.Schedule) -> None:
    """Of the scores, only those that are seen."""
    f = s["O"]
    io, _ = f.split("i", 4)
    f.parallel(io).vectorize("c", LANES)
    for name in ("total", "mixed", "weight", "top", "score"):
        s[name].compute_at(f, io)
    s["mixed"].update(0).reorder("i", "r", "c").vectorize("c", LANES)
    s["weight"].vectorize("j", LANES)
    s["score"].update(0).reorder("k", "i", "j").vectorize("j", LANES)
    assert "for j in [0, i + 1):" in str(s)


@placement("multi_head_attention", 2, 33, 41, 17)
def heads_by_blocks_of_rows(s: ps.Schedule) -> None:
    f = s["O"]
    io, _ = f.split("i", 4)
    f.parallel(io).vectorize("c", LANES)
    for name in ("O.sum1", "O.sum0", "weight", "weight.max0", "score", "score.sum0"):
        s[name].compute_at(f, io)
    s["O.sum0"].update(0).reorder("r", "c").vectorize("c", LANES)
    s["weight"].vectorize("j", LANES)


@placement("flash_attention", 33, 7, 17, 12)
def flash_attention_by_blocks_of_keys(s: ps.Schedule) -> None:
    s["mixed.sum0"].compute_at("mixed", "b")
    s["total.sum0"].compute_at("total", "b")
    s["mixed"].vectorize("c", LANES)


@placement("flash_attention", 33, 7, 17, 12)
def flash_attention_by_blocks_of_rows(s: ps.Schedule) -> None:
    """The recurrences over blocks of keys, for four queries at a time."""
    f = s["O"]
    io, _ = f.split("i", 4)
    f.parallel(io)
    for name in ("total.piece(0)", "mixed.piece(0)", "weight", "top.piece(0)", "score"):
        s[name].compute_at(f, io)
    s["O"].vectorize("c", LANES)
    assert "keeps 1 of mixed" in str(s)


@placement("rnn_batch_first", 5, 11, 17)
def recurrence_by_sequences(s: ps.Schedule) -> None:
    """A recurrence for each row of its result, of which it keeps one state."""
    s["last"].parallel("n")
    s["h.piece(0)"].compute_at("last", "n")
    assert "keeps 1 along axis 1 of h" in str(s)


@placement("lstm_sequence", 11, 33, 17)
def lstm_by_steps_of_its_result(s: ps.Schedule) -> None:
    """A step of the recurrence for each row of the result: the window slides."""
    s["h.piece(0)"].compute_at("y", "t").store_root()
    assert "keeps 1 of h\n" in str(s)


@placement("lstm_sequence", 11, 33, 17)
def lstm_gates_by_steps(s: ps.Schedule) -> None:
    """What the inputs contribute to the gates of a step, at the loop over steps."""
    for name in ("h.sum0", "c.sum0", "c.sum2", "c.sum4"):
        s[name].compute_at("h", "t")
    assert "store c.sum4[1, U]" in str(s)


@placement("jacobi_1d", 67, 9)
def steps_by_tiles(s: ps.Schedule) -> None:
    """All steps for each tile of the result, from a cone that overlaps those of its neighbours."""
    f = s["last"]
    io, _ = f.split("i", 8)
    f.parallel(io)
    s["f.piece(0)"].compute_at(f, io)
    assert "for i in [max(io * 8 + t - T, 0), min(T + io * 8 + 8 - t, n)):" in str(s)
    assert "keeps 2 of f" in str(s)


# dynamic programs, torus, science ---------------------------------------------------------------
@placement("life_by_modulo", 41, 37, 9)
def generations_in_strips(s: ps.Schedule) -> None:
    """Each row of the torus in vectors, which are whole between its ends."""
    s["f.piece(1)"].vectorize("x", LANES).parallel("y")


@placement("viterbi", 31, 23)
def paths_by_vectors_of_states(s: ps.Schedule) -> None:
    s["score.max0"].update(0).reorder("k", "j").vectorize("j", LANES)


@placement("nussinov", 31)
def parts_of_an_rna_by_diagonals(s: ps.Schedule) -> None:
    """All parts of one length are folded at once."""
    _, j = s["N"].wavefront("i.down", "j")
    s["N"].parallel(j)


@placement("black_scholes", 301)
def options_in_vectors(s: ps.Schedule) -> None:
    """What both prices need is computed once, for a block of options at a time."""
    call, put = s["call"], s["put"]
    for f in (call, put):
        io, i = f.split("i", 64)
        f.vectorize(i, LANES).parallel(io)


@placement("n_body", 45)
def bodies_in_vectors(s: ps.Schedule) -> None:
    for axis in range(3):
        s[f"force.sum{axis}"].update(0).reorder("k", "i").vectorize("i", LANES)
    s["moved"].vectorize("i", LANES)
    s["faster"].vectorize("i", LANES)


@placement("log_mel", 13, 32, 17)
def sound_by_frames(s: ps.Schedule) -> None:
    """A few frames at a time, from samples to bands."""
    f = s["mel"]
    to, _ = f.split("t", 4)
    f.parallel(to).vectorize("m", LANES)
    for name in ("mel.sum0", "power", "real.sum0", "imaginary.sum0", "frame"):
        s[name].compute_at(f, to)
    for name in ("real.sum0", "imaginary.sum0"):
        s[name].update(0).reorder("k", "t", "b").vectorize("b", LANES)
    s["mel.sum0"].update(0).reorder("r", "t", "m").vectorize("m", LANES)


# tests ------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("p", PLACEMENTS, ids=repr)
def test_values(p: PlacedCase) -> None:
    kernel = schedule(p).compile()
    small = [p.case.small_sizes(size) for size in (0, 1, 2, 5, 9)]
    small += [p.case.small_sizes(3) | {name: 0} for name in p.case.size_names]
    for sizes in small:
        arguments = p.case.arguments(sizes, np.random.default_rng(0))
        assert_same(as_tuple(kernel(**arguments)), interpreted(p.case, arguments))
    sizes = dict(zip(p.case.size_names, p.large, strict=True))
    arguments = p.case.arguments(sizes, np.random.default_rng(0))
    assert_same(as_tuple(kernel(**arguments)), native(p.case, arguments))


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("p", PLACEMENTS, ids=repr)
def test_instances(p: PlacedCase, size: int) -> None:
    check(schedule(p), **p.case.arguments(size, np.random.default_rng(size)))
