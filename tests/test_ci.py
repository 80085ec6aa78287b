"""Which tests run before a change goes in: `.ci/row` and the targets of the Makefile."""

from __future__ import annotations

import os
import re
import runpy
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


# the Python of .venv ------------------------------------------------------------------------------
VERSION = "python{}.{}".format(*sys.version_info)


def chosen(options: str, system: Path) -> str:
    """What `.ci/python` chooses where this Python was configured with some options, and the
    system's is in a directory."""
    return runpy.run_path(str(ROOT / ".ci" / "python"))["chosen"](str(system), options)


def system(folder: Path, lines: str) -> Path:
    """A directory with a Python that is a script."""
    file = folder / VERSION
    file.write_text(f"#!/bin/sh\n{lines}\n")
    file.chmod(0o755)
    return folder


def test_a_python_without_optimisations_gives_way_to_that_of_the_system(tmp_path: Path) -> None:
    found = system(tmp_path, "exit 0")
    assert chosen("'--enable-shared'", found) == str(tmp_path / VERSION)
    assert chosen("'--enable-optimizations' '--with-lto'", found) == "python3"


@pytest.mark.parametrize("lines", ["exit 1", None])
def test_it_stays_where_the_system_has_none_that_makes_environments(
    lines: str | None, tmp_path: Path
) -> None:
    found = tmp_path if lines is None else system(tmp_path, lines)
    assert chosen("'--enable-shared'", found) == "python3"


def test_it_stays_where_it_is_the_system_s(tmp_path: Path) -> None:
    (tmp_path / VERSION).symlink_to(sys.executable)
    assert chosen("'--enable-shared'", tmp_path) == "python3"


def test_what_is_chosen_runs() -> None:
    said = subprocess.run([ROOT / ".ci" / "python"], capture_output=True, text=True, check=True)
    asked = [said.stdout.strip(), "-c", "import sys; print(sys.version_info >= (3, 11))"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "True\n"


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
