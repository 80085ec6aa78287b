"""Pictures side by side."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from polysched.show.extras import MissingExtra
from polysched.show.panels import Panel, save_panels


def _read(path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    from matplotlib.image import imread

    picture: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = imread(path)
    return picture


@pytest.mark.slow
def test_panels_stand_side_by_side(tmp_path: Path) -> None:
    red, blue = np.zeros((2, 40, 60, 3), np.float32)
    red[..., 0] = blue[..., 2] = 1
    path = save_panels(tmp_path / "made" / "two.png", [Panel(red, "red"), Panel(blue, "blue")])
    assert path == tmp_path / "made" / "two.png"
    picture = _read(path)
    height, width = picture.shape[:2]
    assert 2.4 < width / height < 3.2
    np.testing.assert_allclose(picture[height // 2, width // 4, :3], [1, 0, 0], atol=0.02)
    np.testing.assert_allclose(picture[height // 2, 3 * width // 4, :3], [0, 0, 1], atol=0.02)


@pytest.mark.slow
def test_marks_are_drawn_where_they_are(tmp_path: Path) -> None:
    grey = np.linspace(0.4, 0.6, 100 * 100, dtype=np.float32).reshape(100, 100)
    marks = np.array([[20, 50], [80, 50]])
    plain = _read(save_panels(tmp_path / "plain.png", [Panel(grey, "")]))
    marked = _read(save_panels(tmp_path / "marked.png", [Panel(grey, "", marks)]))
    rows, columns = np.nonzero((plain != marked).any(axis=2))
    height, width = plain.shape[:2]
    assert abs(columns.mean() / width - 0.5) < 0.05
    assert rows.min() / height < 0.3 < 0.7 < rows.max() / height
    assert not np.any((rows / height > 0.35) & (rows / height < 0.65))


@pytest.mark.slow
def test_no_window_and_no_state_are_left_behind(tmp_path: Path) -> None:
    save_panels(tmp_path / "one.png", [Panel(np.eye(4), "")])
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


def test_without_matplotlib_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"matplotlib: pip install 'polysched\[viz\]'"):
        save_panels(tmp_path / "one.png", [Panel(np.eye(4), "")])
