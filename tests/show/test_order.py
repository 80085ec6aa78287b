"""In which order a schedule runs: what is noted, and what is drawn of it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import polysched as ps
from polysched.show.extras import MissingExtra
from polysched.show.order import Record, order_picture, recorded

h, w = ps.sizes("h w")
y, x = ps.vars("y x")


def blurred() -> tuple[ps.Func, ps.Func, ps.Schedule]:
    """Three rows of the image above each other; g is half of it, and has a row -1."""
    image = ps.Input("image", ps.float32, (h, w))
    g, f = ps.Func("g"), ps.Func("f", (h - 2, w))
    g[y, x] = image[y + 1, x] / 2
    f[y, x] = g[y - 1, x] + g[y, x] + g[y + 1, x]
    return g, f, ps.Schedule(f)


def run(s: ps.Schedule) -> Record:
    return recorded(s, np.ones((6, 4), np.float32))


def test_one_after_the_other() -> None:
    _, _, s = blurred()
    record = run(s)
    assert (record.steps, record.outputs) == (24 + 16, {"f"})
    g, f = record.funcs["g"], record.funcs["f"]
    np.testing.assert_array_equal(g.times, np.arange(24).reshape(6, 4))
    np.testing.assert_array_equal(f.times, 24 + np.arange(16).reshape(4, 4))
    np.testing.assert_array_equal(g.repeats, np.ones((6, 4)))
    assert g.origin.tolist() == [-1, 0]
    assert (g.bytes, f.bytes) == (24 * 4, 16 * 4)
    assert g.live.tolist() == [*range(1, 25), *range(23, 11, -1), 9, 6, 3, 0]
    assert f.live.tolist() == [0] * 24 + [*range(1, 17)]


def test_anew_for_each_row() -> None:
    g, f, s = blurred()
    s[g].compute_at(f, y)
    found = run(s).funcs["g"]
    assert found.repeats[:, 0].tolist() == [1, 2, 3, 3, 2, 1]
    assert found.live.max() == 12
    assert found.bytes == 12 * 4


def test_a_window_that_slides() -> None:
    g, f, s = blurred()
    s[g].compute_at(f, y).store_root()
    found = run(s).funcs["g"]
    assert set(found.counts.values()) == {1}
    assert found.bytes == 3 * 4 * 4
    assert found.times[:, 0].tolist() == [0, 4, 8, 16, 24, 32]


def test_lanes_compute_at_one_time() -> None:
    _, f, s = blurred()
    s[f].vectorize(x, 4)
    assert set(run(s).funcs["f"].times[0]) == {24}


@pytest.mark.slow
def test_an_accumulation_counts_each_time() -> None:
    A, C, k = ps.Input("A", ps.int64, (h, w)), ps.Func("C", (h,)), ps.RVar("k", 0, w)
    C[y] = 0
    C[y] += A[y, k]
    s = ps.Schedule(C)
    s["C"].update(0).accumulate_at(y)
    found = recorded(s, np.ones((2, 3), np.int64)).funcs["C"]
    assert found.counts == {(0,): 4, (1,): 4}
    assert order_picture(recorded(s, np.ones((2, 3), np.int64)))._repr_png_()


def test_a_tuple_is_computed_once() -> None:
    A, f = ps.Input("A", ps.int64, (h,)), ps.Func("f", (h,))
    f[y] = (A[y], -A[y])
    assert recorded(ps.Schedule(f), np.ones(3, np.int64)).funcs["f"].counts == {
        (k,): 1 for k in range(3)
    }


def test_in_place_the_array_stays_as_it_was() -> None:
    a, r = ps.InOut("a", ps.int64, (h,)), ps.RVar("r", 1, h)
    a[r] += a[r - 1]
    array = np.ones(4, np.int64)
    assert recorded(ps.Schedule(a), array).funcs["a"].first == {(1,): 0, (2,): 1, (3,): 2}
    assert array.tolist() == [1, 1, 1, 1]


def test_an_extern_stage_is_refused() -> None:
    A = ps.Input("A", ps.float64, (h,))
    f = ps.extern("f", lambda a: a + 1, [(A, ((0, h),))], (h,), ps.float64)
    with pytest.raises(ps.LanguageError, match="f is an extern stage"):
        recorded(ps.Schedule(f), np.ones(3))


@pytest.mark.slow
def test_a_picture(tmp_path: Path) -> None:
    from matplotlib.image import imread

    g, f, s = blurred()
    s[g].compute_at(f, y)
    picture = order_picture(run(s))
    path = picture.save(tmp_path / "made" / "order.png")
    assert imread(path).shape[1] > imread(path).shape[0]
    titles = [axes.get_title() for axes in picture.figure.axes if axes.get_title()]
    assert titles == ["g", "f", "values of g kept"]
    written = [text.get_text() for text in picture.figure.axes[0].texts]
    assert sorted(set(written)) == ["2", "3"]
    assert (
        "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    )


@pytest.mark.slow
def test_labels_keep_clear_of_other_plots_and_notebooks_need_not_shrink_them() -> None:
    g, f, s = blurred()
    s[g].compute_at(f, y)
    figure = order_picture(run(s)).figure
    figure.draw_without_rendering()
    assert figure.get_figwidth() * figure.get_dpi() <= 960
    one, other, bar, kept = figure.axes
    label = bar.yaxis.label.get_window_extent()
    assert not [x for x in (one, other, kept) if x.get_tightbbox().overlaps(label)]
    labels = [t for x in figure.axes for t in (*x.get_xticklabels(), *x.get_yticklabels())]
    assert min(label.get_size() for label in labels) >= 9


@pytest.mark.slow
def test_what_has_no_pictures_says_so() -> None:
    f = ps.Func("f", (2, 2, 2), ps.int32)
    a, b, c = ps.vars("a b c")
    f[a, b, c] = a + b + c
    (said,) = order_picture(recorded(ps.Schedule(f))).figure.texts
    assert said.get_text() == "no Func has one or two axes"


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, s = blurred()
    record = run(s)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"matplotlib: pip install 'polysched\[viz\]'"):
        order_picture(record)
