"""What type checkers are told of the package is right for a user's program, and finds mistakes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import polysched as ps
from polysched.poly.directives.loops import Split
from polysched.poly.directives.storage import StoreIn
from polysched.poly.directives.tails import TAILS, Tail
from polysched.poly.schedule.stages import StageHandle
from polysched.poly.tree.kinds import Kind
from polysched.poly.tree.memory import PLACES, Place

FOLDER = Path(__file__).parent
PACKAGE = Path(ps.__file__).parent


def checked(folder: Path, *files: Path) -> str:
    """What mypy prints of some files in its strictest mode, after an installation of the package
    somewhere else."""
    pytest.importorskip("mypy", reason="it comes with the extra lint")
    (folder / "polysched").symlink_to(PACKAGE)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent",
         "--no-error-summary", f"--cache-dir={folder / 'cache'}", *map(str, files)],
        cwd=folder, env={**os.environ, "MYPYPATH": str(folder)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert not done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_program_is_accepted_and_mistakes_are_found(tmp_path: Path) -> None:
    """Each comment in `mistakes.py` stands at a mistake, else it would be refused as unused. Names
    that are loaded later are known as all others are."""
    names = tmp_path / "names.py"
    names.write_text("import polysched as ps\n" + "".join(f"ps.{x}\n" for x in ps.__all__))
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import polysched as ps\n"
        "def scheduled(s: ps.Schedule, f: ps.Func) -> None:\n"
        "    s[f].split('i', 8, tail='peeled')\n"
        "    s[f].store_in('disk')\n"
        "    ps.Fnuc('f')\n"
    )
    files = (FOLDER / "program.py", FOLDER / "mistakes.py", names, wrong)
    said = checked(tmp_path, *files).splitlines()
    assert [x for x in said if not x.startswith("wrong.py:")] == []
    tail, place, name = said
    assert tail.startswith('wrong.py:3: error: Argument "tail" to "split" of "LoopDirectives" has')
    assert set(re.findall(r"'(\w+)'", tail)) == {"peeled", *TAILS}
    assert place.startswith('wrong.py:4: error: Argument 1 to "store_in"')
    assert set(re.findall(r"'(\w+)'", place)) == {"disk", *PLACES}
    assert name == 'wrong.py:5: error: Module has no attribute "Fnuc"  [attr-defined]'


@pytest.mark.slow
def test_the_program_runs() -> None:
    command = [sys.executable, "-P", str(FOLDER / "program.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_literals_are_the_words_that_are_taken() -> None:
    assert set(get_args(Tail)) == set(TAILS)
    assert set(get_args(Place)) == set(PLACES)
    for tail in TAILS:
        assert Split("f", loop="i", factor=8, tail=tail).tail == tail
    for place in PLACES:
        assert StoreIn("f", place=place).place == place
    with pytest.raises(ps.ScheduleError, match="the tail of split is one of auto, guard, mask"):
        Split("f", loop="i", factor=8, tail="peeled")
    with pytest.raises(ps.ScheduleError, match="the place of store_in is one of auto, heap"):
        StoreIn("f", place="disk")


def test_kinds_of_loops_are_those_that_directives_make() -> None:
    i = ps.vars("i")
    f = ps.Func("f", (8,))
    f[i] = i
    found = {ps.Schedule(f)[f][i].kind}
    for directive in ("parallel", "vectorize", "unroll"):
        s = ps.Schedule(f)
        getattr(s[f], directive)(i)
        found.add(s[f][i].kind)
    assert found == set(get_args(Kind))


@pytest.mark.parametrize("function", [ps.sizes, ps.vars, ps.Func.__getitem__, StageHandle.split])
def test_annotations_can_be_evaluated(function: object) -> None:
    assert get_type_hints(function)


def test_the_package_says_that_it_is_annotated() -> None:
    assert (PACKAGE / "py.typed").exists()
