"""The faults that `run.py` plants still fit the sources. Whether they are found, it says itself."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest


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


@pytest.mark.parametrize("fault", RUN.FAULTS, ids=lambda fault: fault.name)
def test_a_fault_can_be_planted(fault: object, tmp_path: Path) -> None:
    package = tmp_path / "polysched"
    target = package / fault.file  # type: ignore[attr-defined]
    target.parent.mkdir(parents=True)
    shutil.copy(RUN.ROOT / "sched" / fault.file, target)  # type: ignore[attr-defined]
    RUN.plant(fault, package)
