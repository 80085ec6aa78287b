"""What `import polysched` costs, and what it leaves alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIMIT = 40_000  # calls of functions while it is imported: a third more than is needed

_COUNTED = """
import sys
import numpy
before, count = set(sys.modules), 0

def note(frame, event, argument):
    global count
    count += event in ("call", "c_call")

sys.setprofile(note)
import polysched
sys.setprofile(None)
print(count, *({name.partition(".")[0] for name in {*sys.modules} - before}))
"""
_LOADED = "import sys, polysched; print(*sys.modules)"


def _run(program: str, **variables: str) -> str:
    command = [sys.executable, "-P", "-c", program]
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout


@pytest.mark.slow
def test_import_takes_little(tmp_path: Path) -> None:
    """No packages but NumPy and what comes with Python, and few calls of functions."""
    # With bytecode, as after an installation, also where this process may write none.
    variables = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    _run("import polysched", **variables)
    count, *packages = _run(_COUNTED, **variables).split()
    assert int(count) < LIMIT
    assert set(packages) <= {"polysched", *sys.stdlib_module_names}


@pytest.mark.slow
def test_import_leaves_optional_packages_alone() -> None:
    optional = {"hypothesis", "matplotlib", "skimage", "scipy", "IPython", "torch", "numba"}
    assert not optional & set(_run(_LOADED).split())


@pytest.mark.slow
def test_import_loads_isl_and_llvm_when_first_used() -> None:
    assert not {"islpy", "llvmlite"} & set(_run(_LOADED).split())


@pytest.mark.slow
def test_names_that_come_later_are_found_as_any_other() -> None:
    program = """
import polysched as ps
from polysched import Schedule
print(Schedule is ps.Schedule, {"Kernel", "Schedule", "interpret"} <= set(dir(ps)))
from polysched import *
print(Kernel is ps.Kernel, interpret is ps.interpret, hasattr(ps, "Scheduel"))
"""
    assert _run(program).split() == ["True", "True", "True", "True", "False"]


@pytest.mark.slow
def test_import_loads_neither_demo_nor_pictures() -> None:
    outer = ("polysched.demo", "polysched.show", "polysched.testing")
    assert [name for name in _run(_LOADED).split() if name.startswith(outer)] == []


@pytest.mark.slow
def test_no_room_hides_a_public_name() -> None:
    """Importing a submodule sets an attribute of the package: `polysched/log.py` hid `ps.log`."""
    program = """
import pkgutil, types
import polysched as ps
public = set(ps.__all__) - {"boundary"}
print(*public & {m.name for m in pkgutil.iter_modules(ps.__path__)})
print(*(name for name in public if isinstance(getattr(ps, name), types.ModuleType)))
"""
    assert _run(program).split() == []
