"""The benchmarks of 16-bit storage: what memory is to limit is larger than the caches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cases import narrow

import polysched as ps


@pytest.mark.parametrize("last", [1 << 20, 96 << 20])
def test_what_memory_limits_is_larger_than_the_caches(
    last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every machine: in 16 bits, too, and in full tiles of rows."""
    own = ps.machine("native")
    caches = (*own.target.caches[:-1], replace(own.target.caches[-1], bytes=last))
    made = replace(own, target=replace(own.target, caches=caches))
    monkeypatch.setattr(ps, "machine", lambda _: made)
    rows = narrow.rows_beyond_caches()
    assert rows % 8 == 0
    assert 3 * last <= 2 * 2 * narrow.WIDTH * rows < 3 * last + 2 * 2 * narrow.WIDTH * 8
