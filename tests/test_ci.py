"""Which tests run before a change goes in: `.ci/row` and the targets of the Makefile."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Written out in full, as Git does.
COMMITS = [f"{k:x}".zfill(7) + "0" * 33 for k in range(8)]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs bash")


def row(commit: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / ".ci" / "row", commit],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def targets() -> set[str]:
    return set(re.findall(r"^(test-[a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))


def test_every_row_is_a_part_of_the_matrix() -> None:
    made = re.search(r"^test-matrix: ([^#]*)", (ROOT / "Makefile").read_text(), re.M)
    assert made is not None
    assert {"test", *targets()} - {"test-matrix"} == set(made[1].split())


def test_commits_choose_rows_in_turn() -> None:
    chosen = [row(commit).stdout.strip() for commit in COMMITS]
    assert set(chosen) <= targets() - {"test-matrix"}
    assert len(set(chosen)) > 1
    assert chosen == [row(commit).stdout.strip() for commit in COMMITS]


def test_what_cannot_run_is_left_out_and_said(tmp_path: Path) -> None:
    """A machine of another kind, without taskset."""
    for tool in ("bash", "env", "dirname"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or tool)
    (tmp_path / "uname").write_text("#!/usr/bin/env bash\necho aarch64\n")
    (tmp_path / "uname").chmod(0o755)
    found = [row(commit, PATH=str(tmp_path)) for commit in COMMITS]
    assert {x.stdout.strip() for x in found} == {"test-one-thread", "test-busy"}
    assert {x.stderr for x in found} == {
        "no test-v3: this is no x86-64\nno test-one-core: taskset is missing\n"
    }


def test_the_makefile_names_what_the_package_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it asks of the package in a line of its own runs, here for this machine."""
    monkeypatch.delenv("POLYSCHED_TARGET", raising=False)
    lines = re.findall(r"-c '([^']*polysched[^']*)'", (ROOT / "Makefile").read_text())
    assert lines
    for line in lines:
        exec(line, {})


def test_no_folder_of_tests_is_left_out(request: pytest.FixtureRequest) -> None:
    """As pytest does by itself with those that are called build or dist."""
    tests = ROOT / "tests"
    folders = {folder for file in tests.rglob("test_*.py") for folder in file.parents}
    names = {folder.name for folder in folders if tests in folder.parents}
    left_out = request.config.getini("norecursedirs")
    assert [x for x in sorted(names) if any(fnmatch(x, pattern) for pattern in left_out)] == []
    assert "build" in names
