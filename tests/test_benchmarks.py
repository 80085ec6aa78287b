"""The cases of the benchmarks: each schedule is accepted, and its kernel right at small sizes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))

from case import Case
from cases import CASES, find
from peers import environments


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_results(case: Case) -> None:
    arguments = case.arguments(case.tiny)
    kernel = case.scheduled().compile()
    wanted = case.reference(**arguments)
    given = {
        name: value.copy() if hasattr(value, "copy") else value for name, value in arguments.items()
    }
    assert case.error(kernel(**given), wanted) <= case.tolerance


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_peers_are_there(case: Case) -> None:
    """Each peer that a case names has a module with its kernel; none is imported here."""
    for peer in case.peers.split():
        source = (BENCHMARKS / "peers" / f"{peer}.py").read_text()
        assert f"def {case.kernel}(" in source, peer
    assert case.flops(**case.sizes) >= 0
    assert set(case.sizes) == set(case.tiny)


def test_names() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert find(CASES[-1].name) is CASES[-1]
    assert "" in environments("numpy", "matmul")
