"""A fixed part of the fuzzer: random programs, native code against the interpreter.

More of them: `python -P tests/fuzz/run.py --minutes 15 --seed 7`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from polysched.testing.choices import Choices

from .programs import make_case
from .worker import Worker

QUICK = range(3100, 3110)
MORE = range(3110, 3150)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """A process of its own, so that a crash is a finding."""
    with Worker() as started:
        yield started


def _check(worker: Worker, seed: int) -> None:
    findings = worker.run(make_case(Choices.from_seed(seed))).findings
    assert not findings, "\n".join(map(str, findings))


@pytest.mark.parametrize("seed", QUICK)
def test_random_programs(worker: Worker, seed: int) -> None:
    _check(worker, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE)
def test_more_random_programs(worker: Worker, seed: int) -> None:
    _check(worker, seed)
