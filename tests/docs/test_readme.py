"""The README's examples run as they are printed, and show what it says they show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .around import FILE_NAME
from .pages import explain, run, sections

PAGE = "README.md"


@pytest.mark.slow
def test_examples_show_what_is_so() -> None:
    (page,) = sections(PAGE)
    differences = run(page)
    assert not differences, explain(PAGE, differences)


@pytest.mark.slow
def test_first_example_runs_as_a_script(tmp_path: Path) -> None:
    """Copied into a file and run by itself, as a reader would."""
    first = sections(PAGE)[0].blocks[0]
    (tmp_path / FILE_NAME).write_text(first.code, encoding="utf-8")
    found = subprocess.run(
        [sys.executable, FILE_NAME], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout == first.shown


def test_each_example_stands_alone() -> None:
    """Each block imports what it needs, so that any of them can be copied."""
    for block in sections(PAGE)[0].blocks:
        assert "import polysched as ps" in block.code
