"""Each test of the cache has a directory of its own, and the cache on."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from polysched.cache import place, store


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory of the cache, whose parents every user may enter."""
    base = Path(tempfile.mkdtemp(prefix="polysched-test-"))
    base.chmod(0o755)
    found = base / "cache"
    found.mkdir(mode=0o700)
    monkeypatch.setenv(place.DIRECTORY, str(found))
    monkeypatch.delenv(place.ENABLED, raising=False)
    monkeypatch.delenv(place.SIZE, raising=False)
    monkeypatch.setattr(store, "_unseen", None)
    monkeypatch.setattr(place, "_warned", set())
    yield found
    shutil.rmtree(base, ignore_errors=True)
