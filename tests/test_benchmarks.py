"""The cases of the benchmarks: each schedule is accepted, and its kernel right at small sizes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from case import Case
from cases import CASES, find
from measure import Measured, race
from peak import Peak
from peers import environments
from peers.polysched import implementation
from report import Line, fastest, row, save_results
from scheduling import FAMILIES, operations

PEERS = Path(__file__).resolve().parent.parent / "benchmarks" / "peers"


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_results(case: Case) -> None:
    arguments = case.arguments(case.tiny)
    wanted = case.reference(**arguments)
    copies = {k: np.copy(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    assert case.error(implementation(case)(**copies)(), wanted) <= case.tolerance


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


def _measured(peer: str, seconds: float, variant: str = "") -> Measured:
    return Measured(peer, variant, version="1.0", times=[seconds, 9.0], medians=[seconds])


@pytest.mark.slow
def test_report(tmp_path: Path) -> None:
    case = find("sgemm 1024")
    found = {
        "polysched": _measured("polysched", 0.5),
        "numpy": _measured("numpy", 0.25, "SkylakeX"),
        "torch": Measured("torch", problem="not here", missing=True),
        "halide": Measured("halide", problem="WRONG"),
    }
    line = Line(case, found, nbytes=1e6)
    peak = Peak(1, {"f32": 2.0**33, "f64": 2.0**32}, bandwidth=1e9)  # 0.25 s are the least
    assert line.ratio == 0.5
    assert row(line, peak).split()[-4:] == ["0.500x", "0.500x", "50%", "100%"]
    page, picture = save_results([line], peak, {"torch": "not here"}, tmp_path)
    text = page.read_text()
    assert "| 500 (500) | *250 (250) | missing | failed | 0.500 | 0.500 | 50% | 100% |" in text
    assert "numpy 1.0" in text
    assert "torch is missing: not here." in text
    assert picture.stat().st_size


def test_report_of_ways_to_start_a_peer() -> None:
    """The faster one counts, and a time more than a failure."""
    failed, slow, fast = Measured("numpy"), _measured("numpy", 2.0), _measured("numpy", 1.0, "told")
    for found in ([slow, failed, fast], [fast, slow], [failed, fast]):
        assert fastest(CASES[0], found).found == {"numpy": fast}


@pytest.mark.slow
def test_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours against a peer that is not there: no compiler is on the path."""
    monkeypatch.setenv("PATH", "")
    missing: dict[str, str] = {}
    case = replace(find("histogram"), peers="gcc")
    for _ in range(2):
        ours, gcc = race(case, 1, missing)
        assert gcc.missing
        assert gcc.problem == "there is no gcc on the path"
    assert missing == {"gcc": gcc.problem}
    assert not ours.problem
    assert 0 < ours.best <= ours.median
    assert ours.error == 0


@pytest.mark.parametrize(
    ("name", "few", "many"), [("convolutions", 4, 8), ("sums in a chain", 10, 40)]
)
def test_a_directive_costs_what_it_changes(name: str, few: int, many: int) -> None:
    """However many stages there are that it does not touch. Counted, for the part in the middle."""
    family = next(f for f in FAMILIES if f.name == name)
    assert operations(family, many) < 1.03 * operations(family, few)


@pytest.mark.slow
def test_layers_of_an_encoder_cost_what_they_change() -> None:
    family = next(f for f in FAMILIES if f.name == "encoder layers")
    assert operations(family, 4) < 1.5 * operations(family, 2)
