"""A pool to which every parallel loop goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from polysched.codegen import pool as pools
from threads.programs import COUNTS, made


@pytest.fixture
def handed_out() -> Iterator[pools.Pool]:
    """Every parallel loop goes to the pool, however short."""
    pool = made(max(COUNTS))
    pool.thresholds(0, 0, 0)
    yield pool
    pool.thresholds(pools.INLINE, pools.SHARE, pools.CHUNK)
