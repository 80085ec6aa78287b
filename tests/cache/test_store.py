"""What is kept is found as it was, or not at all."""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from polysched.cache import place, store
from polysched.cache.entry import MAGIC, Entry, packed, unpacked

from .support import key

HEADER = {"name": "C", "sizes": [1, 2, 3], "none": None, "real": 0.1}
BLOB = bytes(range(256)) * 5
K = key("k")


def written() -> Path:
    """The file of an entry that has been written."""
    assert store.write("kernel", K, HEADER, BLOB)
    (found,) = (place.folder() / "entries").iterdir()
    return found


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(), x, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(), json_values, max_size=4), st.binary(max_size=300))
def test_what_is_written_is_read(header: dict[str, object], blob: bytes) -> None:
    assert store.write("kernel", K, header, blob)
    assert store.read("kernel", K) == Entry(header, blob)


def test_kinds_and_keys_are_told_from_each_other() -> None:
    written()
    assert store.read("plan", K) is None
    assert store.read("kernel", key("other")) is None
    assert store.read("kernel", K) == Entry(HEADER, BLOB)


def test_the_last_one_counts() -> None:
    written()
    assert store.write("kernel", K, {}, b"new")
    assert store.read("kernel", K) == Entry({}, b"new")
    assert len(store.entries()) == 1


def test_files_are_for_the_owner_only(folder: Path) -> None:
    file = written()
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_was_removed_is_made_again(folder: Path) -> None:
    file = written()
    file.unlink()
    file.parent.rmdir()
    folder.rmdir()
    assert store.read("kernel", K) is None
    assert store.write("kernel", K, HEADER, BLOB)
    assert store.read("kernel", K) == Entry(HEADER, BLOB)


def test_nothing_is_kept_where_it_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    written()
    monkeypatch.setenv(place.ENABLED, "0")
    assert store.read("kernel", K) is None
    assert not store.write("kernel", key("2"), HEADER, BLOB)
    assert len(store.entries()) == 1


@pytest.mark.parametrize("bad", ["k" * 64, "../x", "a" * 63, ""])
def test_a_key_is_64_digits(bad: str) -> None:
    with pytest.raises(ValueError, match="no kind and key of an entry"):
        store.read("kernel", bad)


def test_what_json_cannot_hold_is_no_header() -> None:
    with pytest.raises(TypeError):
        store.write("kernel", K, {"x": object()})
    with pytest.raises(ValueError, match="JSON"):
        store.write("kernel", K, {"x": float("nan")})


# damage -----------------------------------------------------------------------------------------
def test_each_flipped_bit_is_a_miss_and_removes_the_entry() -> None:
    file = written()
    good = file.read_bytes()
    places = sorted({k * (8 * len(good) - 1) // 199 for k in range(200)})
    assert len(places) == 200
    for bit in places:
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        file.write_bytes(bad)
        file.chmod(0o600)
        assert store.read("kernel", K) is None, bit
        assert not file.exists()
    file.write_bytes(good)
    assert store.read("kernel", K) == Entry(HEADER, BLOB)


def test_each_truncation_is_a_miss_and_removes_the_entry() -> None:
    file = written()
    good = file.read_bytes()
    for length in [*range(120), len(good) - 1, len(good) // 2]:
        file.write_bytes(good[:length])
        assert store.read("kernel", K) is None
        assert not file.exists()
    file.write_bytes(good + b"x")
    assert store.read("kernel", K) is None


def test_the_file_of_another_entry_is_a_miss() -> None:
    file = written()
    other = store._name("kernel", key("other"))
    file.rename(file.parent / other)
    assert store.read("kernel", key("other")) is None


@pytest.mark.parametrize(
    "header",
    [b"", b"{", b"[]", b"null", b'{"kind": "kernel"}', b"\xff", b"[" * 100_000,
     b'{"kind":"kernel","key":"' + K.encode() + b'","header":[]}'],
)  # fmt: skip
def test_a_header_that_means_nothing_is_a_miss(header: bytes) -> None:
    from hashlib import sha256

    rest = len(header).to_bytes(8, "little") + header
    data = MAGIC + sha256(rest).digest() + rest
    assert unpacked("kernel", K, data) is None
    short = (len(header) + 1).to_bytes(8, "little") + header
    assert unpacked("kernel", K, MAGIC + sha256(short).digest() + short) is None


def test_a_link_is_not_followed(folder: Path) -> None:
    file = written()
    elsewhere = folder / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert store.read("kernel", K) is None
    assert elsewhere.exists()
    assert not file.is_symlink()


def test_a_pipe_and_a_directory_are_no_entries() -> None:
    file = written()
    file.unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(file)
        assert store.read("kernel", K) is None
        assert not file.exists()
    file.mkdir()
    assert store.read("kernel", K) is None
    assert not store.write("kernel", K, HEADER, BLOB)


# what goes wrong with the disk ------------------------------------------------------------------
def test_a_full_disk_leaves_what_there_was(monkeypatch: pytest.MonkeyPatch) -> None:
    file = written()
    write, calls = os.write, []

    def full(descriptor: int, data: bytes) -> int:
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, bytes(data[:100]))

    monkeypatch.setattr(os, "write", full)
    assert not store.write("kernel", K, {}, b"new" * 1000)
    monkeypatch.undo()
    assert len(calls) == 2
    assert [x.name for x in file.parent.iterdir()] == [file.name]


def test_what_interrupts_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    file = written()

    def interrupted(descriptor: int, data: bytes) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.write("kernel", K, {}, b"new")
    assert [x.name for x in file.parent.iterdir()] == [file.name]
    assert store.read("kernel", K) == Entry(HEADER, BLOB)


def test_a_short_write_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda d, data: write(d, bytes(data[:7])))
    written()
    assert store.read("kernel", K) == Entry(HEADER, BLOB)


def test_no_descriptor_stays_open() -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("the system does not list them")
    before = len(os.listdir("/proc/self/fd"))
    for k in range(50):
        store.write("kernel", key(str(k)), HEADER, BLOB)
        store.read("kernel", key(str(k + 1)))
        store.read("kernel", key(str(k)))
    store.verify()
    store.entries()
    store.clear()
    assert len(os.listdir("/proc/self/fd")) == before


# the limit --------------------------------------------------------------------------------------
def _fill(monkeypatch: pytest.MonkeyPatch, count: int, size: int = 1000) -> list[str]:
    keys = [key(f"fill {k}") for k in range(count)]
    for k, each in enumerate(keys):
        monkeypatch.setattr(store, "_unseen", None)
        assert store.write("kernel", each, {}, bytes(size))
        os.utime(place.folder() / "entries" / store._name("kernel", each), (k + 1, k + 1))
    return keys


def test_what_was_used_longest_ago_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = _fill(monkeypatch, 10)
    assert store.read("kernel", keys[0]) is not None  # a use
    each = len(packed("kernel", K, Entry({}, bytes(1000))))
    monkeypatch.setenv(place.SIZE, str(each * 10))
    monkeypatch.setattr(store, "_unseen", None)
    assert store.write("kernel", K, {}, bytes(1000))
    left = {x.key for x in store.entries()}
    assert left == {K, keys[0], *keys[4:]}


def test_a_clock_that_went_back_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = _fill(monkeypatch, 10)
    future = time.time() + 1e6
    entries = place.folder() / "entries"
    for each in keys:
        os.utime(entries / store._name("kernel", each), (future, future))
    part = entries / f"left{store.PART}"
    part.write_bytes(b"x")
    os.utime(part, (future, future))
    monkeypatch.setenv(place.SIZE, "5000")
    monkeypatch.setattr(store, "_unseen", None)
    assert store.write("kernel", K, {}, bytes(1000))
    assert sum(x.bytes for x in store.entries()) <= 5000
    assert not part.exists()
    assert store.write("kernel", K, {}, bytes(1000))
    assert store.read("kernel", K) is not None


def test_files_that_are_being_written_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    written()
    part = place.folder() / "entries" / f"mine{store.PART}"
    part.write_bytes(b"x")
    monkeypatch.setattr(store, "_unseen", None)
    assert store.write("kernel", key("2"), {})
    assert part.exists()


def test_what_is_larger_than_the_limit_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(place.SIZE, "1K")
    assert not store.write("kernel", K, HEADER, BLOB)
    assert store.entries() == []


@pytest.mark.parametrize(
    ("text", "size"),
    [("", 512 << 20), ("123", 123), ("2k", 2048), ("1G", 1 << 30), ("3MiB", 3 << 20), ("0", 0)],
)
def test_sizes(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv(place.SIZE, text)
    assert place.size_limit() == size


@pytest.mark.parametrize("text", ["much", "-1", "1.5G", "1T", "9" * 30])
def test_a_size_that_is_none_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    monkeypatch.setenv(place.SIZE, text)
    with caplog.at_level(logging.WARNING, "polysched"):
        assert place.size_limit() == place.size_limit() == 512 << 20
    assert [(r.message, getattr(r, "step", None)) for r in caplog.records] == [
        (f"POLYSCHED_CACHE_SIZE='{text}' is no size such as 100M or 2G; 512M is used", "cache")
    ]


# looking ----------------------------------------------------------------------------------------
def test_entries_are_listed_verified_and_cleared() -> None:
    file = written()
    store.write("plan", key("2"), {}, b"")
    assert {(x.kind, x.key) for x in store.entries()} == {("kernel", K), ("plan", key("2"))}
    assert store.verify() == (2, [])
    file.write_bytes(b"damaged")
    assert store.verify() == (1, [file.name])
    assert store.clear() == 1
    assert store.entries() == []


def test_many_threads_read_and_write() -> None:
    keys, wrong = [key(str(k)) for k in range(3)], []

    def work(number: int) -> None:
        for k in range(40):
            each = keys[(number + k) % 3]
            store.write("kernel", each, {"by": number}, bytes([number]) * 5000)
            found = store.read("kernel", each)
            if found is None or found.blob != bytes([found.header["by"]]) * 5000:
                wrong.append(found)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
