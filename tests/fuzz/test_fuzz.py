"""A fixed part of the fuzzer: random programs and schedules, native code against the interpreter.

More of them: `python -P tests/fuzz/run.py schedules --minutes 15 --seed 7`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .worker import Worker


@pytest.fixture(scope="module")
def programs() -> Iterator[Worker]:
    """A process of its own, so that a crash is a finding."""
    with Worker("programs") as started:
        yield started


@pytest.fixture(scope="module")
def schedules() -> Iterator[Worker]:
    with Worker("schedules") as started:
        yield started


@pytest.fixture(scope="module")
def found() -> Iterator[Worker]:
    with Worker("auto") as started:
        yield started


def _check(worker: Worker, seed: int) -> None:
    """Tests time nothing: what is slow is found by the command alone."""
    found = [f for f in worker.seed(seed)[1].findings if not f.kind.startswith("slow")]
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("seed", [*range(3100, 3104), *range(3106, 3111)])
def test_random_programs(programs: Worker, seed: int) -> None:
    _check(programs, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3104, 3105, *range(3111, 3150)])
def test_more_random_programs(programs: Worker, seed: int) -> None:
    _check(programs, seed)


@pytest.mark.parametrize(
    "seed", [*(pytest.param(k, marks=pytest.mark.slow) for k in (3101, 3103, 3107)), 3109, 3116]
)
def test_random_schedules(schedules: Worker, seed: int) -> None:
    _check(schedules, seed)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [*range(3104, 3107), 3108, *range(3110, 3116), *range(3117, 3124), 94000139]
)
def test_more_random_schedules(schedules: Worker, seed: int) -> None:
    _check(schedules, seed)


@pytest.mark.parametrize(
    "seed",
    [*(pytest.param(k, marks=pytest.mark.slow) for k in (920004, 900000, 910042)), 910055, 910059],
)
def test_random_programs_as_they_are_scheduled(found: Worker, seed: int) -> None:
    _check(found, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [900018, *range(3104, 3114)])
def test_more_random_programs_as_they_are_scheduled(found: Worker, seed: int) -> None:
    _check(found, seed)
