"""`python -m polysched cache`."""

from __future__ import annotations

from pathlib import Path

import pytest

from polysched.__main__ import main
from polysched.cache import store
from polysched.show import cache as shown

from .support import key


def test_what_there_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == (
        f"directory  {folder / 'entries'}\n"
        "entries    0, 0 bytes of 512 MiB (POLYSCHED_CACHE_SIZE sets another)\n"
    )
    for k in range(3):
        store.write("code", key(str(k)), {}, bytes(1000))
    store.write("other", key("x"), {}, b"")
    used = max(x.used for x in store.entries())
    lines = shown.report(now=used + 7200).splitlines()
    assert lines[1].startswith("entries    4, 3.")
    assert lines[2].startswith("  code          3  3.")
    assert lines[2].endswith(" KiB  machine code of kernels; last used 2 hours ago")
    assert lines[3].endswith(" bytes  last used 2 hours ago")
    assert len(lines) == 4


def test_off_and_another_size(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POLYSCHED_CACHE", "0")
    monkeypatch.setenv("POLYSCHED_CACHE_SIZE", "3K")
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == (
        f"directory  {folder / 'entries'} (off: POLYSCHED_CACHE=0)\n"
        "entries    0, 0 bytes of 3 KiB\n"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "just now"), (119, "just now"), (120, "2 minutes ago"), (3 * 86400, "3 days ago")],
)
def test_how_long_ago(seconds: float, text: str) -> None:
    store.write("code", key("a"), {})
    assert shown.report(now=store.entries()[0].used + seconds).endswith(text)


def test_damaged_entries_are_removed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(2):
        store.write("code", key(str(k)), {}, b"x")
    assert main(["cache", "--verify"]) == 0
    assert capsys.readouterr().out == "2 intact\n"
    file = min((folder / "entries").iterdir())
    file.write_bytes(file.read_bytes()[:-1])
    assert main(["cache", "--verify"]) == 1
    assert capsys.readouterr().out == f"1 intact\ndamaged, removed: {file.name}\n"
    assert main(["cache", "--verify"]) == 0


def test_all_is_removed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store.write("code", key("a"), {}, b"x")
    assert main(["cache", "--clear"]) == 0
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == "1 file removed\n0 files removed\n"
    assert list((folder / "entries").iterdir()) == []


def test_one_thing_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["cache", "--verify", "--clear"])
    assert exited.value.code == 2
    assert "not allowed with argument" in capsys.readouterr().err
