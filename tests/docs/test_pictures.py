"""The pictures of the documentation are those that are drawn now."""

from __future__ import annotations

import pytest

from .pictures import FOLDER, PICTURES


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_drawn_as_it_stands(name: str) -> None:
    drawn = PICTURES[name]()
    written = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    missing = [x for x in drawn.drawing.shapes if x not in written]
    assert not missing, f"python -P tests/docs/pictures.py: {missing[0]}"
    assert all(note.replace('"', "&quot;") in written for note in drawn.notes)
