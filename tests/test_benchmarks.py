"""The cases of the benchmarks: each schedule is accepted, and its kernel right at small sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from case import Case
from cases import CASES, find
from peers import environments

PEERS = Path(__file__).resolve().parent.parent / "benchmarks" / "peers"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_results(case: Case) -> None:
    arguments = case.arguments(case.tiny)
    wanted = case.reference(**arguments)
    kernel = case.scheduled().compile()
    given = {k: np.copy(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    assert case.error(kernel(**given), wanted) <= case.tolerance


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_peers_are_there(case: Case) -> None:
    """Each peer that a case names has a module with its kernel; none is imported here."""
    for peer in case.peers.split():
        source = (PEERS / f"{peer}.py").read_text()
        assert f"def {case.kernel}(" in source, peer
    assert case.flops(**case.sizes) > 0
    assert set(case.sizes) == set(case.tiny)


def test_names() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert find(CASES[-1].name) is CASES[-1]
    assert "" in environments("numpy", "matmul")


def test_error() -> None:
    """It is infinite where there is nothing to compare."""
    case, ones = CASES[0], np.ones(3)
    assert case.error(ones, ones) == 0
    assert case.error(ones[:2], ones) == np.inf
    assert case.error(ones * np.nan, ones) == np.inf
    assert case.error(ones * 1.5, 2 * ones) == 0.25
