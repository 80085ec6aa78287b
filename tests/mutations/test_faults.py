"""The faults that `run.py` plants still fit the sources. Whether they are found, it says itself."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType


def _load() -> ModuleType:
    path = Path(__file__).with_name("run.py")
    spec = importlib.util.spec_from_file_location("mutations_run", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


RUN = _load()


def test_commits_choose_faults_in_turn() -> None:
    names = {
        f.name for k in range(0, len(RUN.FAULTS), 5) for f in RUN.some(RUN.FAULTS, 6, f"{k:07x}")
    }
    assert names == {f.name for f in RUN.FAULTS}
    assert len(RUN.some(RUN.FAULTS, 6, "fffffff" + "0" * 33)) == 6


def test_every_fault_can_be_planted(tmp_path: Path) -> None:
    """All of them in one test, which the quick set has: a line that moves takes its fault along."""
    outdated = []
    for number, fault in enumerate(RUN.FAULTS):
        package = tmp_path / str(number)
        target = package / fault.file
        target.parent.mkdir(parents=True)
        shutil.copy(RUN.ROOT / "sched" / fault.file, target)
        try:
            RUN.plant(fault, package)
        except SystemExit as error:
            outdated.append(str(error))
    assert not outdated


def test_tests_of_faults_are_where_they_are_sought() -> None:
    sought = {test for fault in RUN.FAULTS for test in fault.tests if test.startswith("tests/")}
    assert not [x for x in sorted(sought) if not (RUN.ROOT / x.partition("::")[0]).exists()]
