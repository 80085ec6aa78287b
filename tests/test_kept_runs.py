"""What a run of the benchmarks keeps of the one before."""

from __future__ import annotations

from pathlib import Path

import pytest
import runs
from peak import Peak
from runs import Run, load
from setting import Setting


def test_the_most_that_a_machine_did_is_its_peak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each number of its own: lines that stay were measured beside the earlier ones."""
    monkeypatch.setattr(runs, "RESULTS", tmp_path)
    setting = Setting(threads=1, level="x86-64-v3")
    Run(setting, "made-up", "", Peak(1, {"f32": 2.0, "f64": 1.0}, 3.0)).save([])
    path = Run(setting, "made-up", "", Peak(1, {"f32": 1.5, "f64": 1.25}, 2.0)).save([])
    kept = load(path)
    assert kept is not None
    assert kept.peak == Peak(1, {"f32": 2.0, "f64": 1.25}, 3.0)
