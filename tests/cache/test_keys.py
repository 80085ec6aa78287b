"""Keys cover what makes entries: the package's own sources, and versions."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from polysched.cache import keys, place, sources, store

PACKAGE = Path(keys.__file__).resolve().parent.parent


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A few sources."""
    (tmp_path / "codegen").mkdir()
    (tmp_path / "__init__.py").write_text("one = 1\n")
    (tmp_path / "codegen" / "lower.py").write_text("x = 12\n")
    return tmp_path


def test_a_key_is_the_same_in_each_process() -> None:
    here = keys.key_of("a", 1, ("b", None))
    code = "from polysched.cache import keys; print(keys.key_of('a', 1, ('b', None)))"
    found = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert found.stdout.strip() == here


def test_keys_differ_by_their_parts() -> None:
    parts: list[tuple[object, ...]] = [
        ("a", "b"), ("ab",), (("a", "b"),), ("a", "b", None), ("a", 1), ("a", "1"), ("a", 1.0),
    ]  # fmt: skip
    assert len({keys.key_of(*x) for x in parts}) == len(parts)


def test_there_is_no_key_where_the_cache_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(place.ENABLED, "0")
    assert keys.key_of("a") is None


def test_an_edit_of_the_same_size_at_the_same_time_gives_another_stamp(tree: Path) -> None:
    file = tree / "codegen" / "lower.py"
    about, before, content = file.stat(), set(sources.stamps(str(tree))), keys.contents(tree)
    time.sleep(0.05)  # beyond the granularity of the clock
    file.write_text("x = 13\n")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert set(sources.stamps(str(tree))) != before
    assert keys.contents(tree) != content


def test_a_file_that_was_changed_just_now_is_not_settled(tree: Path) -> None:
    for stamp in sources.stamps(str(tree)):
        assert not sources.is_settled(stamp, time.time())
        assert sources.is_settled(stamp, time.time() + 2 * sources.SETTLED)
    file = tree / "__init__.py"
    os.utime(file, (1, 1))  # says that it is old, and cannot
    stamp = next(x for x in sources.stamps(str(tree)) if x[0] == "__init__.py")
    assert not sources.is_settled(stamp, time.time())
    os.utime(file, (4e9, 4e9))
    stamp = next(x for x in sources.stamps(str(tree)) if x[0] == "__init__.py")
    assert not sources.is_settled(stamp, time.time() + 2 * sources.SETTLED)


def test_contents_cover_names(tree: Path) -> None:
    before = keys.contents(tree)
    (tree / "codegen" / "lower.py").rename(tree / "codegen" / "raise.py")
    assert keys.contents(tree) != before


def test_only_sources_count(tree: Path) -> None:
    before = keys.contents(tree)
    (tree / "__pycache__").mkdir()
    (tree / "__pycache__" / "x.py").write_text("")
    (tree / "notes.txt").write_text("")
    assert keys.contents(tree) == before


RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from polysched.cache import keys, sources
if len(sys.argv) > 2:
    (Path(sources.ROOT) / "codegen" / "lower.py").write_text("edited = True\\n")
print(keys.key_of("x"), keys.is_current())
"""


def _run(where: Path, *more: str) -> list[str]:
    arguments = [sys.executable, "-P", "-S", "-c", RUN, str(where), *more]
    paths = os.pathsep.join(x for x in sys.path if x.endswith("site-packages"))
    environment = {**os.environ, "PYTHONPATH": paths}
    found = subprocess.run(arguments, capture_output=True, text=True, env=environment)
    assert found.returncode == 0, found.stderr
    return found.stdout.split()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The package itself, to be edited."""
    shutil.copytree(PACKAGE, tmp_path / "polysched", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.slow
def test_an_edited_source_gives_other_keys(copied: Path) -> None:
    first = _run(copied)
    assert first == _run(copied)
    assert first[1] == "True"
    assert first[0] == keys.key_of("x")  # wherever it is installed
    file = copied / "polysched" / "codegen" / "passes" / "full_lanes.py"
    file.write_text(file.read_text() + "\n# edited\n")
    assert _run(copied)[0] != first[0]


def test_what_was_edited_after_it_was_loaded_makes_no_keys(copied: Path) -> None:
    assert _run(copied, "edit") == ["None", "False"]


def test_files_are_looked_at_once_for_what_is_written_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked, now = [], [0.0]
    seen = sources.LOADED
    monkeypatch.setattr(keys, "_current", None)
    monkeypatch.setattr(keys.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sources, "seen", lambda: looked.append(now[0]) or seen)
    assert keys.is_current()
    assert keys.is_current()
    assert looked == [0.0]
    monkeypatch.setitem(sys.modules, "a_module_that_was_imported", sys)
    assert keys.is_current()
    now[0] = keys.MOMENT
    assert keys.is_current()
    assert looked == [0.0, 0.0, keys.MOMENT]
    now[0], seen = 1.0, ()
    assert not keys.is_current()
    assert not keys.is_current()


def test_a_digest_is_kept_of_settled_sources_only(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = keys.environment.__wrapped__
    monkeypatch.setattr(sources, "SETTLED", 1e9)
    made_by = fresh()
    assert [x.kind for x in store.entries()] == []
    monkeypatch.setattr(sources, "SETTLED", -1e9)
    assert fresh() == made_by
    assert [x.kind for x in store.entries()] == ["sources"]
    monkeypatch.setattr(keys, "contents", None)  # it is not read again
    assert fresh() == made_by
    fewer = sources.LOADED[1:] if sources.LOADED else None
    assert sources.digest_of(sources.LOADED) == sources.DIGEST != sources.digest_of(fewer)
    monkeypatch.setattr(sources, "DIGEST", sources.digest_of(fewer))
    with pytest.raises(TypeError):
        fresh()


def test_other_libraries_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = keys.environment.__wrapped__
    monkeypatch.setattr(sources, "SETTLED", -1e9)
    before = fresh()
    monkeypatch.setattr(keys, "versions", lambda: ("another llvmlite",))
    assert fresh() == before  # whose files are the same
    monkeypatch.setattr(keys, "_libraries", lambda: ("other files",))
    assert fresh() != before


@pytest.mark.parametrize("name", keys.LIBRARIES)
def test_the_versions_of_all_libraries_count(name: str) -> None:
    assert any(x.startswith(f"{name} ") for x in keys.versions())
