"""A pool to which every parallel loop goes, and polls that are counted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from polysched.codegen.runtime import calls, pool as pools
from threads.polls import Polls, polls_that_count
from threads.programs import COUNTS, made


@pytest.fixture
def handed_out() -> Iterator[pools.Pool]:
    """Every parallel loop goes to the pool, however short."""
    pool = made(max(COUNTS))
    pool.thresholds(0, 0, 0)
    yield pool
    pool.thresholds(pools.INLINE, pools.SHARE, pools.CHUNK)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Polls:
    """Counted polls for all kernels."""
    polls = polls_that_count()
    polls.expect()
    monkeypatch.setattr(calls, "_poll", polls.address)
    return polls
