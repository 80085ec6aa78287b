"""What `polysched.show` offers by name is no folder of it: importing that would take its place."""

from __future__ import annotations

from pathlib import Path

import polysched.show as room


def test_no_folder_has_the_name_of_a_function() -> None:
    folder = Path(room.__file__).parent
    inside = {x.stem for x in folder.iterdir()}
    assert not inside & set(room.__all__)
