"""The store beside other processes and other users."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from polysched.cache import place, store
from polysched.cache.entry import Entry

from .support import NOBODY, in_child, key, needs_owners, needs_root

pytestmark = needs_owners
K = key("k")


def give(path: Path, user: int = NOBODY) -> None:
    """Gives a file, or a folder with all that is in it, to another user."""
    if os.geteuid() == 0:
        for each in [path, *path.rglob("*")]:
            os.chown(each, user, user)


def _used() -> list[object]:
    kept = store.write("kernel", K, {}, b"x")
    found = store.read("kernel", K)
    return [kept, None if found is None else found.blob.decode(), len(place._warned)]


def test_without_root_all_works(folder: Path) -> None:
    give(folder)
    assert in_child(_used, user=NOBODY) == [True, "x", 0]


def test_a_directory_that_may_be_read_only_is_read(folder: Path) -> None:
    assert store.write("kernel", K, {}, b"before")
    give(folder)
    (folder / "entries").chmod(0o500)
    try:
        assert in_child(_used, user=NOBODY)[:2] == [False, "before"]
    finally:
        (folder / "entries").chmod(0o700)


def test_a_directory_that_cannot_be_made_is_no_fault(folder: Path) -> None:
    give(folder)
    folder.chmod(0o500)
    try:
        assert in_child(_used, user=NOBODY)[:2] == [False, None]
    finally:
        folder.chmod(0o700)


@needs_root
def test_the_directory_of_another_user_switches_the_cache_off(folder: Path) -> None:
    assert store.write("kernel", K, {}, b"x")
    folder.chmod(0o755)
    (folder / "entries").chmod(0o755)
    assert in_child(_used, user=NOBODY) == [False, None, 1]


@needs_root
def test_the_entry_of_another_user_is_a_miss(folder: Path) -> None:
    assert store.write("kernel", K, {}, b"x")
    give(next((folder / "entries").iterdir()))
    assert store.read("kernel", K) is None
    assert store.entries() == []


@pytest.mark.parametrize("which", ["folder", "entries"])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_directory_that_others_may_write_switches_the_cache_off(
    folder: Path, which: str, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert store.write("kernel", K, {}, b"x")
    path = folder if which == "folder" else folder / "entries"
    path.chmod(mode)
    with caplog.at_level(logging.WARNING, "polysched"):
        assert _used()[:2] == _used()[:2] == [False, None]
    assert [r.message for r in caplog.records] == [
        f"nothing is cached, as {path} can be written by other users (chmod go-w makes it ours)"
    ]
    path.chmod(0o700)
    assert store.read("kernel", K) == Entry({}, b"x")


def test_an_entry_that_others_may_write_is_a_miss(folder: Path) -> None:
    assert store.write("kernel", K, {}, b"x")
    file = next((folder / "entries").iterdir())
    file.chmod(0o620)
    assert store.read("kernel", K) is None
    assert not file.exists()


def test_entries_behind_a_link_are_not_read(folder: Path) -> None:
    assert store.write("kernel", K, {}, b"x")
    (folder / "entries").rename(folder / "moved")
    (folder / "entries").symlink_to(folder / "moved")
    assert _used()[:2] == [False, None]


def test_a_file_in_place_of_the_directory_is_no_fault(folder: Path) -> None:
    (folder / "entries").write_text("")
    assert _used()[:2] == [False, None]


def test_a_limit_of_the_size_of_files_is_no_fault(folder: Path) -> None:
    import resource
    import signal

    def limited() -> list[object]:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        kept = store.write("kernel", key("large"), {}, bytes(5000))
        return [kept, os.listdir(folder / "entries"), *_used()[:2]]

    assert in_child(limited) == [False, [], True, "x"]


WORK = """
import sys
from hashlib import sha256
from polysched.cache import store
number, wrong = int(sys.argv[1]), 0
keys = [sha256(bytes([k])).hexdigest() for k in range(4)]
for k in range(120):
    key = keys[(number * k) % 4]
    store._unseen = None
    store.write("kernel", key, {"by": number}, bytes([number]) * 9000)
    found = store.read("kernel", key)
    wrong += found is not None and found.blob != bytes([found.header["by"]]) * 9000
print(wrong)
"""


@pytest.mark.slow
def test_eight_processes_read_write_and_remove(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(place.SIZE, "30K")  # three of four entries: all remove what others write
    children = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", WORK, str(k)], stdout=subprocess.PIPE, text=True
        )
        for k in range(8)
    ]
    assert [child.communicate()[0].strip() for child in children] == ["0"] * 8
    assert all(child.returncode == 0 for child in children)
    assert store.verify()[1] == []
    assert all(name.endswith(store.SUFFIX) for name in os.listdir(folder / "entries"))


def test_a_forked_child_uses_what_its_parent_does() -> None:
    assert store.write("kernel", K, {}, b"parent")
    before = store.read("kernel", K)
    assert before is not None
    assert in_child(_used) == [True, "x", 0]
    after = store.read("kernel", K)
    assert after is not None
    assert after.blob == b"x"
